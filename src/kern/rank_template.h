// SPDX-License-Identifier: MIT
// kern.h's rank for one tier, after its row_collect_f32 and row_sort: by way of rank keys; or, where the tier's file defines HAS_RANK, by quicksort
// of words, which are half as wide. A word is an element's place in a coarse order, above its index. Pivots split between places only, and
// where few words are left the values that they stand for are looked up and decide. Words of one place that are many get places of their
// own, by the bits of their values. Such a file has defined FEW and, before it includes this:
//
//   size_t partition_words(uint32_t *to, const uint32_t *from, size_t n, uint32_t pivot)
//                                          the words below the pivot to the front of to, the others behind them; returns how many are below
//   void rank_few(uint32_t *id, float *y, const float *x, const uint32_t *from, size_t n, uint32_t index)
//                                          the elements x[from[i] & index] by rank to id and y, n <= FEW; from may be id or y
#ifndef SAMPL_KERN_RANK_TEMPLATE_H
#define SAMPL_KERN_RANK_TEMPLATE_H

#include "base/bits.h"
#include "kern/kern.h"

#include <math.h>
#include <stdbool.h>

static void rank_by_keys(uint32_t *id, float *y, const float *x, size_t n, size_t k, uint64_t *key, uint64_t *tmp)
{
    row_sort(key, row_collect_f32(key, x, n, 0, -INFINITY), k, tmp);
    for (size_t i = 0; i < k; i++) {
        id[i] = rank_id(key[i]);
        y[i] = x[id[i]];
    }
}

#ifndef HAS_RANK
static void row_rank(uint32_t *id, float *y, const float *x, size_t n, size_t k, uint64_t *key, uint64_t *tmp)
{
    rank_by_keys(id, y, x, n, k, key, tmp);
}
#else

// The words stand in id or in y, which are both free until they are replaced by what is ranked.
struct ranking {
    const float *x;
    uint32_t *id;
    float *y;
    unsigned index_bits;
};

static inline uint32_t smaller_word(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t larger_word(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static inline uint32_t median_word(uint32_t a, uint32_t b, uint32_t c)
{
    return larger_word(smaller_word(a, b), smaller_word(larger_word(a, b), c));
}

static uint32_t sampled_word(const uint32_t *w, size_t n)
{
    const size_t step = n / 8;
    if (n < 256)
        return median_word(w[0], w[n / 2], w[n - 1]);
    return median_word(median_word(w[0], w[step], w[2 * step]), median_word(w[3 * step], w[4 * step], w[5 * step]),
                       median_word(w[6 * step], w[7 * step], w[n - 1]));
}

static uint32_t *words_at(const struct ranking *r, size_t at, bool in_y)
{
    return in_y ? (uint32_t *)(void *)(r->y + at) : r->id + at;
}

static void rank_words(const struct ranking *r, size_t at, size_t n, size_t k, bool in_y, uint32_t index, bool sample);

// Words of one place: places by the bits of the values, of which there are at least 2^(32 - index_bits) times fewer each time; or by index, if all
// are equal.
static void rank_place(const struct ranking *r, size_t at, size_t n, size_t k, bool in_y)
{
    const uint32_t index = (1u << r->index_bits) - 1;
    uint32_t *const w = words_at(r, at, in_y), *const value = words_at(r, at, !in_y), low = UINT32_MAX, high = 0;
    for (size_t i = 0; i < n; i++) {
        w[i] &= index;
        value[i] = order_bits(r->x[w[i]]);
        low = smaller_word(low, value[i]);
        high = larger_word(high, value[i]);
    }
    const int bits = low < high ? 32 - __builtin_clz(high - low) : 0, shift = bits + (int)r->index_bits - 32;
    for (size_t i = 0; i < n && bits; i++)
        w[i] |= (high - value[i]) >> (shift > 0 ? shift : 0) << r->index_bits;
    rank_words(r, at, n, k, in_y, bits ? index : 0, true);
}

// Of the n words from place `at` on, which are in id or y, the first k places need be right. index: which bits of them do not count.
static void rank_words(const struct ranking *r, size_t at, size_t n, size_t k, bool in_y, uint32_t index, bool sample)
{
    uint32_t *const w = words_at(r, at, in_y);
    if (!k)
        return;
    if (n <= FEW) {
        rank_few(r->id + at, r->y + at, r->x, w, n, (1u << r->index_bits) - 1);
        return;
    }
    uint32_t pivot = sample ? sampled_word(w, n) & ~index : 0;
    if (!sample) {
        uint32_t low = w[0], high = w[0];
        for (size_t i = 1; i < n; i++) {
            low = smaller_word(low, w[i]);
            high = larger_word(high, w[i]);
        }
        low &= ~index;
        high &= ~index;
        if (low == high) {
            rank_place(r, at, n, k, in_y);
            return;
        }
        pivot = ((low + (high - low) / 2) & ~index) + index + 1;
    }
    const size_t below = partition_words(words_at(r, at, !in_y), w, n, pivot), rest = n - below;
    const bool fair = (below < rest ? below : rest) >= n / 16;
    rank_words(r, at, below, k < below ? k : below, !in_y, index, fair);
    rank_words(r, at + below, rest, k < below ? 0 : k - below, !in_y, index, fair);
}

// The values that most elements are between, from a sample, and as much again. False: they are few, and better sorted by radix.
static bool sampled_range(const float *x, size_t n, float *low, float *high)
{
    enum { SAMPLE = 256 };
    uint64_t key[SAMPLE], tmp[SAMPLE];
    size_t m = 0;
    for (size_t i = 0; i < SAMPLE; i++)
        if (x[i * (n / SAMPLE)] > -INFINITY)
            key[m++] = rank_key(x[i * (n / SAMPLE)], (uint32_t)i);
    if (digits(differing(key, m, 1)) <= PASSES)
        return false;
    quicksort(key, tmp, key, m, m, true);
    const float a = order_value((uint32_t)(key[m - 1 - m / 64] >> 32)), b = order_value((uint32_t)(key[m / 64] >> 32));
    *low = a - (b - a) / 2;
    *high = b + (b - a) / 2;
    return true;
}

static void row_rank(uint32_t *id, float *y, const float *x, size_t n, size_t k, uint64_t *key, uint64_t *tmp)
{
    enum { LEAST = 4096, MOST = 1 << 22 };
    float low, high;
    if (n < LEAST || n > MOST || !sampled_range(x, n, &low, &high)) {
        rank_by_keys(id, y, x, n, k, key, tmp);
        return;
    }
    const struct ranking r = {x, id, y, 32 - (unsigned)__builtin_clz((uint32_t)n - 1)};
    const float last = (float)((1u << (32 - r.index_bits)) - 1), scale = last / (high - low);
    for (size_t i = 0; i < n;
         i += LANES) { // what is no number because of an infinite range becomes 0, whose words rank_place sorts
        const vf32 a = n - i < LANES ? load_first(x + i, n - i, splat(0)) : load_vf32(x + i);
        const vf32 place = min_f32(max_f32((high - a) * scale, splat(0)), splat(last));
        const vu32 word = (vu32) __builtin_convertvector(place, vi32) << r.index_bits | (lane_numbers() + (uint32_t)i);
        if (n - i < LANES)
            store_first(id + i, n - i, (vf32)word);
        else
            store_vu32(id + i, word);
    }
    rank_words(&r, 0, n, k, false, (1u << r.index_bits) - 1, true);
}

#endif

#endif
