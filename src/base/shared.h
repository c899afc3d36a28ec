// SPDX-License-Identifier: MIT
// Things that are kept once however many want them: who needs one looks for its key, and makes it only when it is not
// there. A thing goes with its last user, and does not change while it has several. Not for several threads at a time.
#ifndef SAMPL_BASE_SHARED_H
#define SAMPL_BASE_SHARED_H

#include "base/hash.h"

// The first member of such a thing. Its maker fills key, len and free.
struct shared {
    const void *key; // [len] bytes that belong to the thing; equal keys are equal things
    size_t len;
    void (*free)(void *thing);

    struct shared_set *set; // NULL: in none, the thing has its maker as only user
    size_t users;
    uint32_t hash, item;
};

// A zeroed struct is an empty set. Its things must be gone before it is freed.
struct shared_set {
    struct hash_table table;
    struct shared **thing; // [table.n]
    size_t cap;
};

void shared_set_free(struct shared_set *s);

// The thing with this key, with one user more; NULL: there is none, and *hash is what shared_add wants of it.
void *shared_find(struct shared_set *s, const void *key, size_t len, uint32_t *hash);

// Takes in a thing that is not there; its maker is its first user. When memory is short the thing is freed and NULL
// returned, else the thing.
void *shared_add(struct shared_set *s, struct shared *thing, uint32_t hash);

// One user more, and one less, of a thing or of NULL.
void *shared_keep(void *thing);
void shared_drop(void *thing);

#endif
