// SPDX-License-Identifier: MIT
// A hash table of numbers. The things themselves, numbered by the caller, stay in arrays of the caller's, who also says
// which are equal:
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

// The middle bits of id * 2^64/phi, which spread runs and multiples alike.
static inline uint32_t hash_id(uint32_t id) { return (uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32); }

#define IDMAP_NONE HASH_NONE

// A set of token ids numbered 0, 1, 2, ... in the order they were added: the caller keeps whatever belongs to an id in
// arrays of its own under that number. Adding, finding and clearing cost O(ids held), never O(vocabulary).
//
// A zeroed struct is an empty map.
struct idmap {
    uint32_t *id;  // [n] the ids, by number
    size_t n, cap; // ids held; room in id
    struct hash_table numbers;
};

void idmap_free(struct idmap *m);

// Forgets every id and keeps the memory.
void idmap_clear(struct idmap *m);

// The number of id, or IDMAP_NONE.
size_t idmap_find(const struct idmap *m, uint32_t id);

// The number of id, which is added when new. IDMAP_NONE when memory is short.
size_t idmap_add(struct idmap *m, uint32_t id);

#endif
