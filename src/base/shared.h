// SPDX-License-Identifier: MIT
// Things that are kept once however many want them: who needs one looks for its key, and makes it only when it is not
// there. A thing goes with its last user, and does not change while it has several. Not for several threads at a time.
#ifndef SAMPL_BASE_SHARED_H
#define SAMPL_BASE_SHARED_H

#include <stddef.h>
#include <stdint.h>

// The first member of such a thing. Its maker fills key, len and free.
struct shared {
    const void *key; // [len] bytes that belong to the thing; equal keys are equal things
    size_t len;
    void (*free)(void *thing);

    struct shared_set *set; // NULL: in none, the thing has its maker as only user
    size_t users;
    uint32_t hash; // of the key
};

// A zeroed struct is an empty set. An empty set holds no memory.
struct shared_set {
    void *root; // of the tree of tsearch(), whose nodes begin with a pointer to a thing; NULL: there is none
};

// Some thing of a set; NULL: the set is empty.
void *shared_any(const struct shared_set *s);

// The thing with this key, with one user more; NULL: there is none, and *hash is what shared_add wants of it.
void *shared_find(const struct shared_set *s, const void *key, size_t len, uint32_t *hash);

// Adds a thing that the set does not have, and returns it; its maker is its first user. NULL: memory is short, and the
// thing is freed.
void *shared_add(struct shared_set *s, struct shared *thing, uint32_t hash);

// One user more, and one less, of a thing or of NULL.
void *shared_keep(void *thing);
void shared_drop(void *thing);

#endif
