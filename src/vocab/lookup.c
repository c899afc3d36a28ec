// SPDX-License-Identifier: MIT
#include "vocab/lookup.h"

#include <assert.h>

static uint32_t find(const struct lookup *l, uint32_t hash, const void *text, size_t len, size_t *at)
{
    size_t id;
    for (*at = hash; (id = hash_next(&l->ids, hash, at)) != HASH_NONE;)
        if (vocab_says(l->vocab, (uint32_t)id, text, len))
            return (uint32_t)id;
    return VOCAB_NONE;
}

static bool add(struct lookup *l, uint32_t id)
{
    const struct piece t = vocab_text(l->vocab, id);
    const unsigned char *const flags = l->vocab->flags;
    const uint32_t hash = hash_bytes(t.p, t.len);
    size_t at;
    const uint32_t there = find(l, hash, t.p, t.len, &at);
    if (there == VOCAB_NONE)
        return hash_add_at(&l->ids, hash, id, at);
    if (flags[there] & VOCAB_BYTE && !(flags[id] & VOCAB_BYTE))
        hash_renumber(&l->ids, hash, there, id);
    return true;
}

bool lookup_build(struct lookup *l, const struct vocab *v)
{
    bool ok = true;
    *l = (struct lookup){.vocab = v};
    for (uint32_t id = 0; ok && id < v->n; id++)
        ok = add(l, id);
    if (!ok)
        lookup_free(l);
    return ok;
}

void lookup_free(struct lookup *l)
{
    hash_free(&l->ids);
    l->vocab = NULL;
}

uint32_t lookup_find(const struct lookup *l, const void *text, size_t len)
{
    size_t at;
    assert(l->vocab);
    return find(l, hash_bytes(text, len), text, len, &at);
}
