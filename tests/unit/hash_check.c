// SPDX-License-Identifier: MIT
// hash_check: compares the hash table with an array and a linear search, for random additions and removals.
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>

enum { ITEMS = 500, HASHES = 97 }; // few hashes, so that many are equal

static uint32_t seed = 1;

static uint32_t dice(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static void same(const struct hash_table *t, const uint32_t *hash, const bool *there)
{
    size_t n = 0;
    for (uint32_t i = 0; i < ITEMS; i++) {
        size_t at = hash[i], found;
        do
            found = hash_next(t, hash[i], &at);
        while (found != HASH_NONE && found != i);
        n += there[i];
        if ((found == i) != there[i] || t->n > ITEMS) {
            printf("item %u is %s\n", i, there[i] ? "lost" : "still there");
            exit(1);
        }
    }
    if (t->n != n) {
        printf("%zu items, not %zu\n", t->n, n);
        exit(1);
    }
}

int main(void)
{
    struct hash_table t = {0};
    uint32_t hash[ITEMS];
    bool there[ITEMS] = {false};
    for (uint32_t i = 0; i < ITEMS; i++)
        hash[i] = dice(HASHES) * (i % 3 ? 1u : 0x10000u);
    for (int step = 0; step < 20000; step++) {
        const uint32_t i = dice(ITEMS);
        if (!there[i] && !hash_add(&t, hash[i], i))
            return 2;
        if (there[i])
            hash_remove(&t, hash[i], i);
        there[i] = !there[i];
        if (step % 50 == 0)
            same(&t, hash, there);
    }
    hash_free(&t);
    puts("ok");
    return 0;
}
