// SPDX-License-Identifier: MIT
// The kernel `rank` for one tier, after its collect and row_sort.
//
// Plain algorithm: make a rank key of each element and sort the keys.
// Why it is too slow: quicksort passes over a row of 128256 elements eleven times before its parts are short.
// Idea: logits spread evenly enough that buckets of equal width hold few elements each. One pass counts the elements of
// each bucket, another moves the keys to their buckets, and quicksort sorts each bucket that is asked for. (A radix
// sort is better still where a sample of the row has few values, as in rows of f16.) Why the order is the same: the
// bucket of x is (high - x) * scale, held between 0 and the last bucket and rounded down. Each of these steps is
// monotone. So equal elements share a bucket, and every element of a bucket ranks before every element of the next one.
#ifndef SAMPL_KERN_RANK_TEMPLATE_H
#define SAMPL_KERN_RANK_TEMPLATE_H

#include "base/bits.h"
#include "kern/kern.h"

#include <math.h>
#include <stdbool.h>

enum {
    BUCKETS = 8192, // at most: their ends stay in the second cache
    BUCKET = 16,    // elements in one on the average, in rows with fewer buckets
};

// The first bucket holds everything above high as well, the last one everything below it.
struct buckets {
    float high, scale; // scale: buckets per unit of logit
    float last;        // the last bucket's number
};

static inline uint32_t bucket_of(struct buckets b, float x)
{
    const float at = (b.high - x) * b.scale;
    const float most = at < b.last ? at : b.last;
    return (uint32_t)(int32_t)(most > 0.0f ? most : 0.0f);
}

// Chooses buckets from a sample of x[0..n): they span twice the range from its 64th part to its last but one 64th.
// Returns false if a radix sort is better, or if the range is not finite.
static bool choose_buckets(const float *x, size_t n, struct buckets *b)
{
    enum { SAMPLE = 256 };
    uint64_t key[SAMPLE], tmp[SAMPLE];
    size_t m = 0;
    for (size_t i = 0; i < SAMPLE; i++)
        if (x[i * (n / SAMPLE)] > -INFINITY)
            key[m++] = rank_key(x[i * (n / SAMPLE)], (uint32_t)i);
    if (digits(differing_bits(key, m, 1)) <= PASSES)
        return false;
    quicksort(key, tmp, key, m, m, true);
    const float low = order_value((uint32_t)(key[m - 1 - m / 64] >> 32)),
                high = order_value((uint32_t)(key[m / 64] >> 32));
    const float count = n / BUCKET < BUCKETS ? (float)(n / BUCKET) : (float)BUCKETS;
    *b = (struct buckets){high + (high - low) / 2, count / (2 * (high - low)), count - 1};
    return b->high < INFINITY && b->scale < INFINITY && b->scale > 0.0f;
}

// Writes the bucket of each x[i] to at[i].
static void find_buckets(uint32_t *at, const float *x, size_t n, struct buckets b)
{
    size_t i = 0;
#ifdef VECTOR
    for (; i + LANES <= n; i += LANES) {
        const vf32 place = min_f32(max_f32((b.high - load_vf32(x + i)) * b.scale, splat(0)), splat(b.last));
        store_vi32(at + i, __builtin_convertvector(place, vi32));
    }
#endif
    for (; i < n; i++)
        at[i] = bucket_of(b, x[i]);
}

// Moves the k largest of n keys to the front of `to`, falling. at[i]: the bucket of from[i].
static void sort_by_buckets(uint64_t *to, uint64_t *from, const uint32_t *at, size_t n, size_t k)
{
    uint32_t end[BUCKETS] = {0};
    for (size_t i = 0; i < n; i++)
        end[at[i]]++;
    for (size_t b = 0, start = 0; b < BUCKETS; b++) { // from how many keys a bucket has to where it begins
        const uint32_t here = end[b];
        end[b] = (uint32_t)start;
        start += here;
    }
    for (size_t i = 0; i < n; i++)
        to[end[at[i]]++] = from[i];
    for (size_t b = 0, start = 0; start < k; start = end[b++]) {
        const size_t len = end[b] - start;
        quicksort(to + start, from, to + start, len, k - start < len ? k - start : len, true);
    }
}

static void row_rank(uint32_t *id, float *y, const float *x, size_t n, size_t k, uint64_t *key, uint64_t *tmp)
{
    enum { MANY = 4096 };
    struct buckets b;
    const bool buckets = n >= MANY && k > n / 4 && choose_buckets(x, n, &b);
    if (buckets)
        find_buckets(id, x, n, b);
    collect(buckets ? tmp : key, (const void *)x, n, 0, -INFINITY, DTYPE_F32);
    if (buckets)
        sort_by_buckets(key, tmp, id, n, k);
    else
        row_sort(key, n, k, tmp);
    for (size_t i = 0; i < k; i++) {
        const uint32_t order = (uint32_t)(key[i] >> 32);
        id[i] = rank_id(key[i]);
        y[i] = order == order_bits(0.0f) ? x[id[i]] : order_value(order); // of -0 and 0 the key does not tell which
    }
}

#endif
