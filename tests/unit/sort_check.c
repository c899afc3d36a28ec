// SPDX-License-Identifier: MIT
// sort_check: compares sort and rank of every tier with the C library's sort, on random and hostile orders.
#include "base/bits.h"
#include "kern/kern.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int failed, passed;

static int descending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void expect(int ok, const char *tier, size_t n, size_t k, int order)
{
    passed += ok;
    failed += !ok;
    if (!ok && failed < 10)
        printf("tier %s: wrong for the first %zu of %zu keys in order %d\n", tier, k, n, order);
}

// Makes keys with many equal logits, in one of several orders.
static void fill(uint64_t *key, size_t n, int order)
{
    for (size_t i = 0; i < n; i++) {
        if (order == 5) { // falling, different in the last bits only
            key[i] = (uint64_t)(0x9f000000u + (uint32_t)(n - i) % 1021) << 32 | (uint32_t)~i;
            continue;
        }
        if (order ==
            6) { // rarer and rarer values, so that a pivot from the middle or from a sample splits off few keys
            key[i] = (random_bits() | 1) >> random_bits() % 64 << 15 ^ i;
            continue;
        }
        const float logit = (float)((double)(random_bits() % 1000) / 50 - 10);
        const float x = order == 1   ? (float)i
                        : order == 2 ? -(float)i
                        : order == 3 ? 1.0f
                        : order == 4 ? (float)(i % 7)
                                     : logit;
        key[i] = rank_key(i % 11 == 5 && !order ? -INFINITY : x, (uint32_t)i);
    }
}

// Checks that the first k keys fall, and that no key is lost.
static void check(const struct kern *kern, size_t n, size_t k, int order, uint64_t *key, uint64_t *want, uint64_t *tmp)
{
    fill(key, n, order);
    memcpy(want, key, n * sizeof *key);
    qsort(want, n, sizeof *want, descending);
    kern->sort(key, n, k, tmp);
    int ok = !memcmp(key, want, k * sizeof *key);
    qsort(key, n, sizeof *key, descending);
    expect(ok && !memcmp(key, want, n * sizeof *key), kern->name, n, k, order);
}

// Makes logits for rank: of all magnitudes, few, equal, far apart, with masked ones and both zeros.
static float logit(size_t i, size_t n, int order)
{
    const float u = (float)((double)(random_bits() % 10000000) / 1e6 - 5);
    if (order == 1 || order == 2)
        return order == 1 ? (float)i : -(float)i;
    if (order == 3)
        return 1.0f;
    if (order == 4)
        return (float)(random_bits() % 7) - 3.0f;
    if (order == 5) // of all magnitudes
        return f32_of_bits((uint32_t)(random_bits() % 0x7f800000) | (random_bits() % 2 ? 0x80000000u : 0));
    if (order == 6) // most of them in one bucket of a coarse order
        return i % 16 ? u * 1e-6f : u * 1e6f;
    return i % 11 == 5   ? -INFINITY
           : i % 11 == 6 ? 0.0f
           : i % 11 == 7 ? -0.0f
           : i < n / 8   ? f32_of_f16(f16_of_f32(u))
                         : u;
}

static void check_rank(const struct kern *kern, size_t n, size_t k, int order, uint64_t *key, uint64_t *want,
                       uint64_t *tmp)
{
    static float x[1 << 18], y[1 << 18];
    static uint32_t id[1 << 18];
    for (size_t i = 0; i < n; i++) {
        x[i] = logit(i, n, order);
        want[i] = rank_key(x[i], (uint32_t)i);
    }
    qsort(want, n, sizeof *want, descending);
    kern->rank(id, y, x, n, k, key, tmp);
    int ok = 1;
    for (size_t i = 0; i < k; i++)
        ok = ok && id[i] == rank_id(want[i]) && bits_of_f32(y[i]) == bits_of_f32(x[id[i]]);
    expect(ok, kern->name, n, k, 10 + order);
}

int main(void)
{
    enum { MOST = 20000, ORDERS = 7, RANKED = 140000 };
    static uint64_t key[RANKED], want[RANKED], tmp[RANKED];
    const struct kern *kern;
    for (size_t t = 0; (kern = kern_tier(t)); t++)
        for (int order = 0; order < ORDERS; order++) {
            for (size_t n = 0; n < 200; n++)
                for (int round = 0; round < 3; round++)
                    check(kern, n, random_bits() % (n + 1), order, key, want, tmp);
            for (size_t n = 4096; n <= MOST; n += MOST - 4096) {
                check(kern, n, n, order, key, want, tmp);
                check(kern, n, 1, order, key, want, tmp);
                check(kern, n, random_bits() % n, order, key, want, tmp);
            }
            for (size_t n = 1; n <= RANKED; n = n * 5 / 2 + random_bits() % 5) {
                check_rank(kern, n, n, order, key, want, tmp);
                check_rank(kern, n, 1 + random_bits() % n, order, key, want, tmp);
            }
        }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
