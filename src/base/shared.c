// SPDX-License-Identifier: MIT
#include "base/shared.h"

#include "base/hash.h"

#include <search.h>
#include <string.h>

// The hash comes first, since not every system balances the tree: keys in order would make a list of it.
static int by_key(const void *a, const void *b)
{
    const struct shared *const x = a, *const y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    if (x->len != y->len)
        return x->len < y->len ? -1 : 1;
    return memcmp(x->key, y->key, x->len);
}

void *shared_any(const struct shared_set *s) { return s->root ? *(struct shared *const *)s->root : NULL; }

void *shared_find(const struct shared_set *s, const void *key, size_t len, uint32_t *hash)
{
    const struct shared wanted = {.key = key, .len = len, .hash = *hash = hash_bytes(key, len)};
    struct shared *const *const node = tfind(&wanted, &s->root, by_key);
    return node ? shared_keep(*node) : NULL;
}

void *shared_add(struct shared_set *s, struct shared *thing, uint32_t hash)
{
    thing->users = 1;
    thing->hash = hash;
    if (!tsearch(thing, &s->root, by_key)) {
        thing->free(thing);
        return NULL;
    }
    thing->set = s;
    return thing;
}

void *shared_keep(void *thing)
{
    if (thing)
        ((struct shared *)thing)->users++;
    return thing;
}

void shared_drop(void *thing)
{
    struct shared *const t = thing;
    if (!t || --t->users)
        return;
    if (t->set)
        tdelete(t, &t->set->root, by_key);
    t->free(t);
}
