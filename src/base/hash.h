// SPDX-License-Identifier: MIT
// A hash table of numbers. The things themselves, numbered by the caller, stay in arrays of the caller's, who also says which are equal:
//
//     size_t at = hash, i;
//     while ((i = hash_next(table, hash, &at)) != HASH_NONE)
//         if (is_the_one(thing[i]))
//             break;
//
// Open addressing at half load at most; every slot keeps its hash, so that most things need not be looked at.
#ifndef SAMPL_BASE_HASH_H
#define SAMPL_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_NONE SIZE_MAX

struct hash_slot {
    uint32_t hash;
    uint32_t item; // the number + 1; 0: free
};

// A zeroed struct is an empty table.
struct hash_table {
    struct hash_slot *slot; // [slots], a power of two or 0
    size_t slots, n;
};

void hash_free(struct hash_table *t);

// Adds a number that is not there yet, below 2^32 - 1. False (nothing changed) when memory is short.
bool hash_add(struct hash_table *t, uint32_t hash, uint32_t item);

// Takes out a number that was added under this hash.
void hash_remove(struct hash_table *t, uint32_t hash, uint32_t item);

// Makes the number that was added under this hash another one.
void hash_renumber(struct hash_table *t, uint32_t hash, uint32_t item, uint32_t to);

// The next number that was added under this hash. *at starts as hash. HASH_NONE: no more.
static inline size_t hash_next(const struct hash_table *t, uint32_t hash, size_t *at)
{
    while (t->slots) {
        const struct hash_slot s = t->slot[(*at)++ & (t->slots - 1)];
        if (!s.item)
            break;
        if (s.hash == hash)
            return s.item - 1;
    }
    return HASH_NONE;
}

uint32_t hash_bytes(const void *p, size_t n); // n bytes
uint32_t hash_id(uint32_t id);                // runs and multiples alike are spread

#endif
