// SPDX-License-Identifier: MIT
#include "sample/sort.h"

#include "base/bits.h"

static inline uint64_t median(uint64_t a, uint64_t b, uint64_t c)
{
    if (a < b)
        return b < c ? b : a < c ? c : a;
    return a < c ? a : b < c ? c : b;
}

static void insertion(uint64_t *key, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const uint64_t x = key[i];
        size_t j = i;
        for (; j && key[j - 1] < x; j--)
            key[j] = key[j - 1];
        key[j] = x;
    }
}

// The middle of the values in key[0..n): splitting there needs at most 64 rounds whatever the order.
static uint64_t midpoint(const uint64_t *key, size_t n)
{
    uint64_t min = key[0], max = key[0];
    for (size_t i = 1; i < n; i++) {
        min = key[i] < min ? key[i] : min;
        max = key[i] > max ? key[i] : max;
    }
    return min + (max - min) / 2;
}

// Hoare's partition: returns i such that key[0..i) >= pivot >= key[i..n). Some key is above the pivot, some below.
static size_t partition(uint64_t *key, size_t n, uint64_t pivot)
{
    for (size_t i = 0, j = n - 1;; i++, j--) {
        while (key[i] > pivot)
            i++;
        while (key[j] < pivot)
            j--;
        if (i >= j)
            return i;
        const uint64_t t = key[i];
        key[i] = key[j];
        key[j] = t;
    }
}

// Quickselect by the median of three; an order that keeps that from shrinking the range is met with midpoints.
void sort_select(uint64_t *key, size_t n, size_t k)
{
    enum { FEW = 24, ROUNDS = 40 };
    size_t lo = 0, hi = n; // the k-th largest lies in [lo, hi)
    for (int round = 0; hi - lo > FEW; round++) {
        const uint64_t pivot =
            round < ROUNDS ? median(key[lo], key[lo + (hi - lo) / 2], key[hi - 1]) : midpoint(key + lo, hi - lo);
        const size_t split = lo + partition(key + lo, hi - lo, pivot);
        if (k <= split)
            hi = split;
        else
            lo = split;
    }
    insertion(key + lo, hi - lo);
}

float sort_prune(uint64_t *key, size_t n, size_t k)
{
    sort_select(key, n, k);
    return order_value((uint32_t)(key[k - 1] >> 32) + 1);
}

// Merges the descending runs a[0..m) and a[m..n) into out.
static void merge(const uint64_t *a, size_t m, size_t n, uint64_t *out)
{
    size_t i = 0, j = m;
    for (size_t o = 0; o < n; o++)
        out[o] = j >= n || (i < m && a[i] > a[j]) ? a[i++] : a[j++];
}

void sort_keys(uint64_t *key, size_t n, uint64_t *tmp)
{
    enum { RUN = 16 };
    for (size_t at = 0; at < n; at += RUN)
        insertion(key + at, n - at < RUN ? n - at : RUN);
    uint64_t *from = key, *to = tmp;
    for (size_t run = RUN; run < n; run *= 2) {
        for (size_t at = 0; at < n; at += 2 * run) {
            const size_t left = n - at;
            merge(from + at, left < run ? left : run, left < 2 * run ? left : 2 * run, to + at);
        }
        uint64_t *const t = from;
        from = to;
        to = t;
    }
    if (from != key)
        memcpy(key, from, n * sizeof *key);
}

static void complement(uint64_t *key, size_t n)
{
    for (size_t i = 0; i < n; i++)
        key[i] = ~key[i];
}

// The radix sorts take 32 bits in three passes, counted in one go.
enum { DIGIT = 11, DIGITS = 1 << DIGIT, PASSES = 3 };

// Adds up counts so that each becomes the place where its digit starts.
static void starts(uint32_t place[DIGITS])
{
    uint32_t sum = 0;
    for (size_t d = 0; d < DIGITS; d++) {
        const uint32_t here = place[d];
        place[d] = sum;
        sum += here;
    }
}

void sort_rising(uint64_t *key, size_t n, uint64_t *tmp)
{
    enum { FEW = 1024 }; // below this merging is faster
    if (n <= FEW) {
        complement(key, n);
        sort_keys(key, n, tmp);
        complement(key, n);
        return;
    }
    uint32_t place[PASSES][DIGITS] = {0};
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < PASSES; d++)
            place[d][key[i] >> (32 + d * DIGIT) & (DIGITS - 1)]++;
    uint64_t *from = key, *to = tmp;
    for (int d = 0; d < PASSES; d++) {
        starts(place[d]);
        for (size_t i = 0; i < n; i++)
            to[place[d][from[i] >> (32 + d * DIGIT) & (DIGITS - 1)]++] = from[i];
        uint64_t *const t = from;
        from = to;
        to = t;
    }
    memcpy(key, tmp, n * sizeof *key); // where an odd number of passes ends
}

void sort_values(uint32_t *key, uint32_t *tmp, size_t n)
{
    uint32_t place[PASSES][DIGITS] = {0};
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < PASSES; d++)
            place[d][key[i] >> (d * DIGIT) & (DIGITS - 1)]++;
    uint32_t *from = key, *to = tmp;
    for (int d = 0; d < PASSES; d++) {
        starts(place[d]);
        for (size_t i = 0; i < n; i++)
            to[place[d][from[i] >> (d * DIGIT) & (DIGITS - 1)]++] = from[i];
        uint32_t *const t = from;
        from = to;
        to = t;
    }
    memcpy(key, tmp, n * sizeof *key);
}
