// SPDX-License-Identifier: MIT
#include "base/shared.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void shared_set_free(struct shared_set *s)
{
    assert(!s->table.n);
    hash_free(&s->table);
    free(s->thing);
}

void *shared_find(struct shared_set *s, const void *key, size_t len, uint32_t *hash)
{
    *hash = hash_bytes(key, len);
    size_t at = *hash, i;
    while ((i = hash_next(&s->table, *hash, &at)) != HASH_NONE)
        if (s->thing[i]->len == len && !memcmp(s->thing[i]->key, key, len))
            return shared_keep(s->thing[i]);
    return NULL;
}

void *shared_add(struct shared_set *s, struct shared *thing, uint32_t hash)
{
    thing->users = 1;
    thing->hash = hash;
    thing->item = (uint32_t)s->table.n;
    if (!mem_grow(&s->thing, &s->cap, s->table.n + 1, sizeof(struct shared *)) ||
        !hash_add(&s->table, thing->hash, thing->item)) {
        thing->free(thing);
        return NULL;
    }
    thing->set = s;
    s->thing[thing->item] = thing;
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
    if (t->set) { // the last one takes its number
        struct shared_set *const s = t->set;
        struct shared *const last = s->thing[s->table.n - 1];
        hash_remove(&s->table, t->hash, t->item);
        if (last != t) {
            hash_renumber(&s->table, last->hash, last->item, t->item);
            last->item = t->item;
            s->thing[last->item] = last;
        }
    }
    t->free(t);
}
