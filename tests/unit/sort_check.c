// SPDX-License-Identifier: MIT
// Selection and the sorts against the obvious way (qsort), on random and on hostile orders.
#include "sample/sort.h"

#include "base/bits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state = 7;
static int failed, passed;

static uint64_t random_bits(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(2685821657736338717);
}

static int descending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void expect(int ok, const char *what, size_t n, int order)
{
    passed += ok;
    failed += !ok;
    if (!ok && failed < 10)
        printf("%s: wrong for %zu keys in order %d\n", what, n, order);
}

// Keys with many equal logits, in one of several orders.
static void fill(uint64_t *key, size_t n, int order)
{
    for (size_t i = 0; i < n; i++) {
        if (order == 5) { // neighbours in the last bits only, falling
            key[i] = (uint64_t)(0x9f000000u + (uint32_t)(n - i) % 1021) << 32 | (uint32_t)~i;
            continue;
        }
        const float logit = (float)((double)(random_bits() % 1000) / 50 - 10);
        const float x = order == 1 ? (float)i : order == 2 ? -(float)i : order == 3 ? 1.0f : order == 4 ? (float)(i % 7) : logit;
        key[i] = rank_key(i % 11 == 5 && !order ? -INFINITY : x, (uint32_t)i);
    }
}

static void check(size_t n, int order, uint64_t *key, uint64_t *want, uint64_t *tmp)
{
    fill(key, n, order);
    memcpy(want, key, n * sizeof *key);
    qsort(want, n, sizeof *want, descending);

    for (int round = 0; round < 3 && n; round++) {
        fill(key, n, order);
        memcpy(tmp, key, n * sizeof *key);
        qsort(tmp, n, sizeof *tmp, descending);
        const size_t k = 1 + random_bits() % n;
        sort_select(key, n, k);
        expect(key[k - 1] == tmp[k - 1], "sort_select: the k-th", n, order);
        qsort(key, k, sizeof *key, descending);
        expect(!memcmp(key, tmp, k * sizeof *key), "sort_select: the first k", n, order);
    }
    memcpy(key, want, n * sizeof *key);
    for (size_t i = n; i > 1; i--) { // shuffle
        const size_t j = random_bits() % i;
        const uint64_t t = key[i - 1];
        key[i - 1] = key[j];
        key[j] = t;
    }
    uint64_t *const rising = malloc((n + 1) * sizeof *rising);
    uint32_t *const value = malloc((n + 1) * sizeof *value), *const value_tmp = malloc((n + 1) * sizeof *value);
    for (size_t i = 0; i < n; i++) {
        rising[i] = (~key[i] & 0xffffffff00000000) | i; // equal ones in order
        value[i] = (uint32_t)(~key[i] >> 32);
    }
    sort_rising(rising, n, tmp);
    sort_values(value, value_tmp, n);
    int stable = 1, ordered = 1;
    for (size_t i = 0; i < n; i++) {
        stable &= (uint32_t)(rising[i] >> 32) == (uint32_t)(~want[i] >> 32) && (!i || rising[i - 1] < rising[i]);
        ordered &= value[i] == (uint32_t)(~want[i] >> 32);
    }
    expect(stable, "sort_rising", n, order);
    expect(ordered, "sort_values", n, order);
    free(rising);
    free(value);
    free(value_tmp);
    sort_keys(key, n, tmp);
    expect(!memcmp(key, want, n * sizeof *key), "sort_keys", n, order);
}

int main(void)
{
    enum { MOST = 20000 };
    static uint64_t key[MOST], want[MOST], tmp[MOST];
    for (size_t n = 0; n < 200; n++)
        for (int order = 0; order < 6; order++)
            check(n, order, key, want, tmp);
    for (int order = 0; order < 6; order++) {
        check(4096, order, key, want, tmp);
        check(MOST, order, key, want, tmp);
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
