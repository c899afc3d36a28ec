// SPDX-License-Identifier: MIT
// A set of token ids numbered 0, 1, 2, ... in the order they were added: the caller keeps whatever belongs to an id in arrays of
// its own under that number. Adding, finding and clearing cost O(ids held), never O(vocabulary).
#ifndef SAMPL_BASE_IDMAP_H
#define SAMPL_BASE_IDMAP_H

#include "base/hash.h"

#define IDMAP_NONE HASH_NONE

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
