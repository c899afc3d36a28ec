// SPDX-License-Identifier: MIT
// The kernel sum_falling. A part of kern_template.h, with the same parameters.
//
// Plain algorithm: sort the elements, falling, and add them in that order.
// Why it is too slow: the sort takes far longer than the sum, and typ_p would sort every row for it.
// Idea: ordered_template.h shows that, while a sum stays in its binade and meets no tie, each element moves it by a
// number that does not depend on the sum. No element is negative, so the sum only grows: if it has not left its binade
// at the end, it did not leave it on the way, in whatever order. So the elements are split by size only where the sum
// leaves the binade (add_falling, as quicksort does), until few are left to be sorted. Most elements are far below the
// largest and leave the sum in its binade; for them no key is made (row_sum_falling).
// Why the bits are the same: each part that is added without an order comes to the same sum in every order. If there
// are ties, everything above the largest tie is added first, then that tie as often as it occurs, then the rest.
//
// A key is a number to order by, which is not negative, above the term that goes with it, both as bits of f32. Elements
// with equal keys are interchangeable, and keys of 0 add nothing.
#ifndef SAMPL_KERN_FALLING_TEMPLATE_H
#define SAMPL_KERN_FALLING_TEMPLATE_H

#include "kern/ordered_template.h"

static inline float key_term(uint64_t key) { return f32_of_bits((uint32_t)key); }

// In the even lanes; 0 in the others.
static inline vf32 key_terms(vu64 keys) { return (vf32)(keys & UINT32_MAX); }

static inline vu64 smaller_64(vu64 a, vu64 b) { return a ^ ((a ^ b) & (vu64)(a > b)); }

// Like run_f32, for keys.
static inline struct ordered_run run_keys(const uint64_t *key, size_t n, double low)
{
    const float magic = (float)rounder(low, SUM);
    vf32 sum = {0}, rest = {0};
    for (size_t i = 0; i < n; i += LANES_F64) {
        const vf32 a = key_terms(load_keys(key + i, n - i)), q = (magic + a) - magic;
        sum += q;
        rest = max_f32(rest, abs_f32(a - q));
    }
    const double all = sum_f32(sum);
    return (struct ordered_run){all, all, any(rest >= (float)half_ulp(low, SUM))};
}

// The largest key whose term is a tie; there is one.
static inline uint64_t largest_tie(const uint64_t *key, size_t n, double low)
{
    const float magic = (float)rounder(low, SUM), tie = (float)half_ulp(low, SUM);
    uint64_t largest = 0;
    for (size_t i = 0; i < n; i += LANES_F64) {
        const vf32 a = key_terms(load_keys(key + i, n - i)), q = (magic + a) - magic;
        for (unsigned ties = equal_32(abs_f32(a - q), tie); ties; ties &= ties - 1) {
            const uint64_t here = key[i + (size_t)__builtin_ctz(ties) / 2];
            largest = here > largest ? here : largest;
        }
    }
    return largest;
}

// Adds the keys above the tie to s, and then the tie as often as it occurs. Sets these keys to 0.
static inline float add_through(uint64_t *key, size_t n, uint64_t tie, double low, float s)
{
    const float magic = (float)rounder(low, SUM);
    vf32 sum = {0};
    size_t ties = 0;
    for (size_t i = 0; i < n; i += LANES_F64) {
        const vu64 keys = load_keys(key + i, n - i), above = (vu64)(keys > tie), below = (vu64)(keys < tie);
        sum += (magic + key_terms(keys & above)) - magic;
        ties += (size_t)__builtin_popcount(signs_64((vi64) ~(above | below)));
        if (n - i < LANES_F64)
            store_first(key + i, 2 * (n - i), (vf32)(keys & below));
        else
            store_vu64(key + i, keys & below);
    }
    s = (float)(s + sum_f32(sum));
    for (; ties; ties--)
        s += key_term(tie);
    return s;
}

// Returns the middle between the smallest and the largest key that is not 0. Some key is above it, unless all those
// keys are equal.
static inline uint64_t middle_key(const uint64_t *key, size_t n)
{
    vu64 least = {0}, most = {0}; // least: less 1, for 0 to be the largest
    least -= 1;
    for (size_t i = 0; i < n; i += LANES_F64) {
        const vu64 keys = load_keys(key + i, n - i);
        least = smaller_64(least, keys - 1);
        most = ~smaller_64(~most, ~keys);
    }
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < LANES_F64; i++) {
        low = least[i] < low ? least[i] : low;
        high = most[i] > high ? most[i] : high;
    }
    low++;
    return low + (high - low) / 2;
}

static inline float add_equal(float x, size_t n, float s)
{
    float same[LONG_RUN];
    for (size_t i = 0; i < LONG_RUN; i++)
        same[i] = x;
    for (; n > LONG_RUN; n -= LONG_RUN)
        s = row_sum(same, LONG_RUN, s);
    return row_sum(same, n, s);
}

// Adds the terms of n keys to s, in falling order of the keys. other has room for n keys. Overwrites key and other.
static float add_falling(uint64_t *key, uint64_t *other, size_t n, float s)
{
    enum { FEW_KEYS = 32, TIES = 4 }; // each tie looks at all keys
    for (int ties = 0; n > FEW_KEYS;) {
        const double low = binade(s);
        if (is_usual(low)) {
            const struct ordered_run r = run_keys(key, n, low);
            const bool stays = r.size < low / 2 && s + r.sum < 2 * low;
            if (stays && !r.tied)
                return (float)(s + r.sum);
            if (stays && ties++ < TIES) {
                s = add_through(key, n, largest_tie(key, n, low), low, s);
                continue;
            }
        }
        const uint64_t pivot = middle_key(key, n);
        const size_t above = partition(other, key, n, pivot);
        if (!above) {
            size_t equal = 0;
            for (size_t i = 0; i < n; i++)
                equal += key[i] != 0;
            return add_equal(key_term(pivot), equal, s);
        }
        s = add_falling(other, key, above, s);
        uint64_t *const rest = other + above;
        other = key + above;
        key = rest;
        n -= above;
        ties = 0;
    }
    insert_keys(other, key, n); // row_sort would have no two equal
    for (size_t i = 0; i < n; i++)
        s += key_term(other[i]);
    return s;
}

ALWAYS_INLINE vi32 between(const float *by, float floor, float most)
{
    const vf32 b = load_vf32(by);
    return (b > floor) & (b <= most);
}

// Makes keys of the pairs whose `by` is above floor, and not above most. Looks at four vectors at once, as most hold
// none or all. Returns how many.
ALWAYS_INLINE size_t make_keys(uint64_t *key, const float *by, const float *x, size_t n, float floor, float most)
{
    size_t made = 0, i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        vi32 some = {0};
        UNROLL
        for (size_t k = 0; k < 4; k++)
            some |= between(by + i + k * LANES, floor, most);
        for (size_t k = i; any(some) && k < i + 4 * LANES; k += LANES) {
            unsigned hit = signs_32(between(by + k, floor, most));
            if (hit == ALL_LANES) {
                store_pairs(key + made, load_vu32(x + k), load_vu32(by + k));
                made += LANES;
                continue;
            }
            for (; hit; hit &= hit - 1) {
                const size_t at = k + (size_t)__builtin_ctz(hit);
                key[made++] = (uint64_t)bits_of_f32(by[at]) << 32 | bits_of_f32(x[at]);
            }
        }
    }
    for (; i < n; i++)
        if (by[i] > floor && by[i] <= most)
            key[made++] = (uint64_t)bits_of_f32(by[i]) << 32 | bits_of_f32(x[i]);
    return made;
}

// Like run_keys, for elements whose `by` is not above floor.
static struct ordered_run run_below(const float *by, const float *x, size_t n, float floor, double low)
{
    const float magic = (float)rounder(low, SUM);
    vf32 sum = {0}, rest = {0};
    for (size_t i = 0; i < n; i += LANES) {
        const bool whole = n - i >= LANES;
        const vf32 b = whole ? load_vf32(by + i) : load_first(by + i, n - i, (vf32){0});
        const vf32 v = whole ? load_vf32(x + i) : load_first(x + i, n - i, (vf32){0});
        const vf32 a = (vf32)((vi32)v & (b <= floor)), q = (magic + a) - magic;
        sum += q;
        rest = max_f32(rest, abs_f32(a - q));
    }
    const double all = sum_f32(sum);
    return (struct ordered_run){all, all, any(rest >= (float)half_ulp(low, SUM))};
}

// Adds the largest elements by keys, then smaller ones, until the others leave the sum in its binade. Those need no
// keys.
static float row_sum_falling(const float *by, const float *x, size_t n, float s, uint64_t *key, uint64_t *tmp)
{
    enum { FLOORS = 5 };
    float most = row_max(by, n), floor = most * 0x1p-10f;
    for (int i = 0; i < FLOORS; i++) {
        s = add_falling(key, tmp, make_keys(key, by, x, n, floor, most), s);
        const double low = binade(s);
        if (is_usual(low)) {
            const struct ordered_run r = run_below(by, x, n, floor, low);
            if (r.size < low / 2 && s + r.sum < 2 * low && !r.tied)
                return (float)(s + r.sum);
        }
        most = floor;
        floor *= 0x1p-5f;
    }
    return add_falling(key, tmp, make_keys(key, by, x, n, -1.0f, most), s);
}

#endif
