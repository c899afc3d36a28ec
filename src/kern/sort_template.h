// SPDX-License-Identifier: MIT
// The kernel sort for one tier.
//
// Plain algorithm: quicksort in place, insertion sort of short parts.
// Why it is too slow: half of its branches are guessed wrong, and a chain needs only the first k keys in order.
// Idea: partition from one buffer into the other, writing each key to both ends and moving the end that it belongs to,
// so that nothing branches on keys. A part behind the first k keys is not sorted. A whole row whose keys differ in few
// bits, as f16 rows do, is sorted by radix in one or two passes.
// Why the order is the same: no two keys are equal, so there is one sorted order.
//
// A SIMD tier includes this after vector.h; with HAS_SPLIT it has defined split (kern_template.h).
#ifndef SAMPL_KERN_SORT_TEMPLATE_H
#define SAMPL_KERN_SORT_TEMPLATE_H

#include "kern/kern.h"

#include <stdbool.h>
#include <string.h>

// Moves the keys above the pivot to the front of `to`, the others behind them. Returns how many are above. The gap
// between front and back is as large as what is not yet distributed.
static size_t partition(uint64_t *to, const uint64_t *from, size_t n, uint64_t pivot)
{
    size_t front = 0, back = n, i = 0;
#ifdef HAS_SPLIT
    for (; i + 2 * LANES_F64 <= n; i += LANES_F64) { // both may write a whole vector
        const size_t above = split(to + front, to + back, load_vu64(from + i), pivot - (vu64){0});
        front += above;
        back -= LANES_F64 - above;
    }
#endif
    for (; i < n; i++) { // without a branch that could be guessed wrong
        to[front] = to[back - 1] = from[i];
        front += from[i] > pivot;
        back -= from[i] <= pivot;
    }
    return front;
}

// Writes n keys to `to`, falling. to may be from.
static inline void insert_keys(uint64_t *to, const uint64_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t x = from[i];
        size_t j = i;
        for (; j && to[j - 1] < x; j--)
            to[j] = to[j - 1];
        to[j] = x;
    }
}

#ifdef VECTOR
// FEW: keys that sort_few sorts, at most. PASSES: of a radix sort, at most, that beat quicksort.
enum { FEW = 32, PASSES = 2 };

// Loads the first LANES_F64 of n keys; 0 in the lanes beyond n.
static inline vu64 load_keys(const uint64_t *key, size_t n)
{
    return n < LANES_F64 ? (vu64)load_first(key, 2 * n, (vf32){0}) : load_vu64(key);
}

// A key's place is the number of larger keys, counted for two vectors of keys at a time. No branch depends on keys.
static void sort_few(uint64_t *to, const uint64_t *from, size_t n)
{
    uint64_t key[FEW], place[FEW];
    for (size_t i = 0; i < n; i += 2 * LANES_F64) {
        const size_t next = i + LANES_F64;
        const vu64 a = load_keys(from + i, n - i), b = next < n ? load_keys(from + next, n - next) : (vu64){0};
        vi64 above_a = {0}, above_b = {0};
        for (size_t k = 0; k < n; k++) {
            const vu64 one = from[k] - (vu64){0};
            above_a -= one > a; // true is -1
            above_b -= one > b;
        }
        store_vu64(key + i, a);
        store_vu64(key + next, b);
        store_vi64(place + i, above_a);
        store_vi64(place + next, above_b);
    }
    for (size_t i = 0; i < n; i++)
        to[place[i]] = key[i];
}
#else
enum { FEW = 16, PASSES = 3 };

static void sort_few(uint64_t *to, const uint64_t *from, size_t n) { insert_keys(to, from, n); }
#endif

static inline uint64_t larger_key(uint64_t a, uint64_t b) { return a > b ? a : b; }

static inline uint64_t smaller_key(uint64_t a, uint64_t b) { return a < b ? a : b; }

// Without branches, half of which would be guessed wrong.
static inline uint64_t median(uint64_t a, uint64_t b, uint64_t c)
{
    return larger_key(smaller_key(a, b), smaller_key(larger_key(a, b), c));
}

// The median of three keys, or of three such medians. Some key is above it.
static uint64_t sampled_pivot(const uint64_t *key, size_t n)
{
    enum { MANY = 512 };
    const size_t step = n / 8;
    if (n < MANY)
        return median(key[0], key[n / 2], key[n - 1]);
    return median(median(key[0], key[step], key[2 * step]), median(key[3 * step], key[4 * step], key[5 * step]),
                  median(key[6 * step], key[7 * step], key[n - 1]));
}

// The middle of the values: splitting there 64 times ends whatever the keys. Some key is above it.
static uint64_t middle_pivot(const uint64_t *key, size_t n)
{
    uint64_t min = key[0], max = key[0];
    for (size_t i = 1; i < n; i++) {
        min = smaller_key(min, key[i]);
        max = larger_key(max, key[i]);
    }
    return min + (max - min) / 2;
}

// Sorts from[0..n) into to, which is from or other; only the first k places need be right, and what belongs there.
// Where the sample's pivot splits off little, the next one is the middle.
static void quicksort(uint64_t *from, uint64_t *other, uint64_t *to, size_t n, size_t k, bool sample)
{
    if (!k || n <= FEW) {
        if (k)
            sort_few(to, from, n);
        else if (to != from)
            memcpy(to, from, n * sizeof *to);
        return;
    }
    const size_t above = partition(other, from, n, sample ? sampled_pivot(from, n) : middle_pivot(from, n)),
                 below = n - above;
    const bool fair = (above < below ? above : below) >= n / 16;
    quicksort(other, from, to, above, k < above ? k : above, fair);
    quicksort(other + above, from + above, to + above, below, k < above ? 0 : k - above, fair);
}

enum { DIGIT = 11 }; // bits of a radix sort's digits, at most: more counters would not stay in the first cache

// Returns how many digits there are from the lowest bit that is set to the highest.
static int digits(uint32_t differ)
{
    if (!differ)
        return 0;
    const int width = 32 - __builtin_clz(differ) - __builtin_ctz(differ);
    return (width + DIGIT - 1) / DIGIT;
}

// Sorts keys whose lower halves fall, by those bits of the upper halves in which they differ, the lowest first. passes
// is a constant, for the loops over it to be written out.
static inline __attribute__((always_inline)) void radix_sort(uint64_t *key, size_t n, uint64_t *tmp, uint32_t differ,
                                                             int passes)
{
    uint32_t place[3][1 << DIGIT] = {{0}};
    const int low = 32 + __builtin_ctz(differ), width = 64 - __builtin_clz(differ) - low,
              digit = (width + passes - 1) / passes;
    const uint32_t mask = (1u << digit) - 1;
    for (size_t i = 0; i < n; i++)
        for (int pass = 0; pass < passes; pass++)
            place[pass][~key[i] >> (low + pass * digit) & mask]++;
    uint64_t *from = key, *to = tmp;
    for (int pass = 0; pass < passes; pass++) {
        uint32_t sum = 0;
        for (size_t d = 0; d <= mask; d++) { // from how many there are to where the first goes
            const uint32_t here = place[pass][d];
            place[pass][d] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++)
            to[place[pass][~from[i] >> (low + pass * digit) & mask]++] = from[i];
        uint64_t *const t = from;
        from = to;
        to = t;
    }
    if (from != key)
        memcpy(key, from, n * sizeof *key);
}

// The bits of their upper halves in which keys differ: of all keys, or of a few here and there.
static uint32_t differing_bits(const uint64_t *key, size_t n, size_t step)
{
    uint32_t differ = 0;
    for (size_t i = 0; i < n; i += step)
        differ |= (uint32_t)((key[i] ^ key[0]) >> 32);
    return differ;
}

static bool lower_halves_fall(const uint64_t *key, size_t n)
{
    uint32_t rise = 0; // without an exit that would keep the loop from being vectorised
    for (size_t i = 1; i < n; i++)
        rise |= (uint32_t)key[i] >= (uint32_t)key[i - 1];
    return !rise;
}

// Returns whether a radix sort of so many passes costs less than quicksort for k of n.
static bool worth(int passes, size_t n, size_t k) { return passes <= PASSES && (size_t)passes * n <= 4 * k; }

// Many keys whose lower halves fall, as those of a whole row do, are sorted by radix, unless they differ in too many
// bits.
static bool sort_by_radix(uint64_t *key, size_t n, size_t k, uint64_t *tmp)
{
    if (!worth(digits(differing_bits(key, n, n / 64)), n, k))
        return false;
    const uint32_t differ = differing_bits(key, n, 1);
    const int passes = digits(differ);
    if (!worth(passes, n, k) || !lower_halves_fall(key, n))
        return false;
    if (passes == 1)
        radix_sort(key, n, tmp, differ, 1);
    else if (passes == 2)
        radix_sort(key, n, tmp, differ, 2);
    else if (passes)
        radix_sort(key, n, tmp, differ, 3);
    return true;
}

static void row_sort(uint64_t *key, size_t n, size_t k, uint64_t *tmp)
{
    enum { MANY = 4096 };
    if (n < MANY || !sort_by_radix(key, n, k, tmp))
        quicksort(key, tmp, key, n, k, true);
}

#endif
