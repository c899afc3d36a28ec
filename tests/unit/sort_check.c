// SPDX-License-Identifier: MIT
// Every tier's sort against the C library's, on random and on hostile orders.
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

// Keys with many equal logits, in one of several orders.
static void fill(uint64_t *key, size_t n, int order)
{
    for (size_t i = 0; i < n; i++) {
        if (order == 5) { // neighbours in the last bits only, falling
            key[i] = (uint64_t)(0x9f000000u + (uint32_t)(n - i) % 1021) << 32 | (uint32_t)~i;
            continue;
        }
        if (order == 6) { // ever rarer, so that a middle splits off little, and a sample too
            key[i] = (random_bits() | 1) >> random_bits() % 64 << 15 ^ i;
            continue;
        }
        const float logit = (float)((double)(random_bits() % 1000) / 50 - 10);
        const float x = order == 1 ? (float)i : order == 2 ? -(float)i : order == 3 ? 1.0f : order == 4 ? (float)(i % 7) : logit;
        key[i] = rank_key(i % 11 == 5 && !order ? -INFINITY : x, (uint32_t)i);
    }
}

// The first k fall, and the rest is still there.
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

int main(void)
{
    enum { MOST = 20000, ORDERS = 7 };
    static uint64_t key[MOST], want[MOST], tmp[MOST];
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
        }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
