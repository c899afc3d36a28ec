// SPDX-License-Identifier: MIT
// kern.h's rank for one tier, after its row_collect_f32 and row_sort: by way of rank keys; or, where the tier's file defines HAS_RANK, by quicksort
// of words, which are half as wide. A word is an element's place in a coarse order, above its index. Pivots split between places only, and
// where few words are left the values that they stand for are looked up and decide. Words of one place that are many get places of their
// own, by the bits of their values. Words of equal values keep the order of their indices throughout. Such a file has defined FEW_WORDS and,
// before it includes this:
//
//   size_t partition_words(uint32_t *below, uint32_t *w, size_t n, uint32_t pivot)
//                                          the words below the pivot go to `below`, the others to the front of w, each in the order they
//                                          were in; returns how many are below
//   unsigned words_below(vu32 w, uint32_t pivot)
//                                          the lanes whose word is below the pivot
//   void rank_few(uint32_t *id, float *y, const float *x, const uint32_t *w, size_t n, uint32_t index)
//                                          the elements x[w[i] & index] by rank to id and y, 0 < n <= FEW_WORDS
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

struct ranking {
    const float *x;
    uint32_t index; // the bits of a word that hold the index
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

static uint32_t median_of_nine(const uint32_t *w, size_t n)
{
    const size_t step = n / 8;
    return median_word(median_word(w[0], w[step], w[2 * step]), median_word(w[3 * step], w[4 * step], w[5 * step]),
                       median_word(w[6 * step], w[7 * step], w[n - 1]));
}

// A word near the middle: of many, the median of those of their thirds.
static uint32_t sampled_word(const uint32_t *w, size_t n)
{
    enum { MANY = 4096 };
    const size_t third = n / 3;
    if (n < MANY)
        return median_of_nine(w, n);
    return median_word(sampled_word(w, third), sampled_word(w + third, third), sampled_word(w + 2 * third, third));
}

// Where ranked elements go, of which the first k need be right.
struct rank_target {
    uint32_t *id;
    float *y;
    size_t k;
};

static void rank_words(const struct ranking *r, const struct rank_target *to, uint32_t *w, uint32_t *spare, size_t n,
                       bool sample);

// Words of one place: places by the bits of the values, of which there are at least as many times fewer as a word has bits for them.
static void rank_place(const struct ranking *r, const struct rank_target *to, uint32_t *w, uint32_t *spare, size_t n)
{
    uint32_t low = UINT32_MAX, high = 0;
    for (size_t i = 0; i < n; i++) {
        w[i] &= r->index;
        spare[i] = order_bits(r->x[w[i]]);
        low = smaller_word(low, spare[i]);
        high = larger_word(high, spare[i]);
    }
    if (low == high) { // in order, all of them
        for (size_t i = 0; i < to->k; i++) {
            to->id[i] = w[i];
            to->y[i] = r->x[w[i]];
        }
        return;
    }
    const int index_bits = 32 - __builtin_clz(r->index), shift = index_bits - __builtin_clz(high - low);
    for (size_t i = 0; i < n; i++)
        w[i] |= (high - spare[i]) >> (shift > 0 ? shift : 0) << index_bits;
    rank_words(r, to, w, spare, n, true);
}

// spare has room for n words, too.
static void rank_words(const struct ranking *r, const struct rank_target *to, uint32_t *w, uint32_t *spare, size_t n,
                       bool sample)
{
    if (!to->k)
        return;
    if (n <= FEW_WORDS) {
        rank_few(to->id, to->y, r->x, w, n, r->index);
        return;
    }
    uint32_t pivot = sample ? sampled_word(w, n) & ~r->index : 0;
    if (!sample) {
        uint32_t low = w[0], high = w[0];
        for (size_t i = 1; i < n; i++) {
            low = smaller_word(low, w[i]);
            high = larger_word(high, w[i]);
        }
        low &= ~r->index;
        high &= ~r->index;
        if (low == high) {
            rank_place(r, to, w, spare, n);
            return;
        }
        pivot = ((low + (high - low) / 2) & ~r->index) + r->index + 1;
    }
    const size_t below = partition_words(spare, w, n, pivot), rest = n - below;
    const bool fair = (below < rest ? below : rest) >= n / 16;
    const struct rank_target first = {to->id, to->y, to->k < below ? to->k : below};
    const struct rank_target second = {to->id + below, to->y + below, to->k - first.k};
    rank_words(r, &first, spare, w + rest, below, fair);
    rank_words(r, &second, w, spare, rest, fair);
}

// What most elements are between, from a sample, and as much again; and what they fall into quarters at.
struct spread {
    float low, high, quarter[3]; // falling
};

// False: the values are few, and better sorted by radix.
static bool sampled_spread(const float *x, size_t n, struct spread *s)
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
    s->low = a - (b - a) / 2;
    s->high = b + (b - a) / 2;
    for (size_t q = 0; q < 3; q++)
        s->quarter[q] = order_value((uint32_t)(key[(q + 1) * m / 4] >> 32));
    return true;
}

// The coarse order: from 0 to last as values fall from high. What is no number, the range being infinite, becomes 0, whose words rank_place
// sorts.
struct rank_scale {
    float high, scale, last;
};

static inline vu32 places_of(const struct rank_scale *p, vf32 x)
{
    return (vu32) __builtin_convertvector(min_f32(max_f32((p->high - x) * p->scale, splat(0)), splat(p->last)), vi32);
}

// Words for x in four areas of n words each, of which each takes a quarter or so.
struct quarters {
    uint32_t *area[4];
    size_t count[4];
};

static struct quarters deal_words(uint64_t *key, uint64_t *tmp, const float *x, size_t n, const struct spread *s,
                                  int index_bits)
{
    uint32_t *const one = (uint32_t *)(void *)key, *const two = (uint32_t *)(void *)tmp;
    const float last = (float)(UINT32_MAX >> index_bits);
    const struct rank_scale p = {s->high, last / (s->high - s->low), last};
    struct quarters to = {{one, one + n, two, two + n}, {0}};
    uint32_t pivot[3];
    for (size_t q = 0; q < 3; q++)
        pivot[q] = places_of(&p, splat(s->quarter[q]))[0] << index_bits;
    for (size_t i = 0; i < n; i += LANES) {
        const size_t there = n - i < LANES ? n - i : LANES;
        const vf32 a = there < LANES ? load_first(x + i, there, splat(0)) : load_vf32(x + i);
        const vu32 word = places_of(&p, a) << index_bits | (lane_numbers() + (uint32_t)i);
        unsigned rest = ALL_LANES >> (LANES - there);
        UNROLL
        for (size_t q = 0; q < 4; q++) { // whole registers, of which at most `there` count: an area has room for that
            const unsigned here = q < 3 ? rest & words_below(word, pivot[q]) : rest;
            if (there < LANES)
                store_first(to.area[q] + to.count[q], there, (vf32)compress(word, here));
            else
                store_vu32(to.area[q] + to.count[q], compress(word, here));
            to.count[q] += (size_t)__builtin_popcount(here);
            rest &= ~here;
        }
    }
    return to;
}

static void row_rank(uint32_t *id, float *y, const float *x, size_t n, size_t k, uint64_t *key, uint64_t *tmp)
{
    enum { LEAST = 4096, MOST = 1 << 22 };
    struct spread s;
    if (n < LEAST || n > MOST || !sampled_spread(x, n, &s)) {
        rank_by_keys(id, y, x, n, k, key, tmp);
        return;
    }
    const int index_bits = 32 - __builtin_clz((uint32_t)n - 1);
    const struct ranking r = {x, (1u << index_bits) - 1};
    const struct quarters w = deal_words(key, tmp, x, n, &s, index_bits);
    for (size_t q = 0, done = 0; q < 4 && done < k; q++) {
        const size_t wanted = k - done < w.count[q] ? k - done : w.count[q], next = (q + 1) % 4;
        const struct rank_target to = {id + done, y + done, wanted};
        rank_words(&r, &to, w.area[q], w.area[next] + w.count[next], w.count[q], true);
        done += w.count[q];
    }
}

#endif

#endif
