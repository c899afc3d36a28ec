// SPDX-License-Identifier: MIT
#include "vocab/lookup.h"

#include <stdlib.h>
#include <string.h>

// Where the text is, or the free slot where it belongs. Hash: FNV-1a, 64 bits.
static size_t probe(const struct lookup *l, const unsigned char *text, size_t len)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ text[i]) * UINT64_C(0x100000001b3);
    size_t at = (hash ^ hash >> 32) & (l->slots - 1);
    for (; l->slot[at]; at = (at + 1) & (l->slots - 1)) {
        const struct piece t = vocab_text(l->vocab, l->slot[at] - 1);
        if (t.len == len && (!len || !memcmp(t.p, text, len)))
            break;
    }
    return at;
}

bool lookup_build(struct lookup *l, const struct vocab *v)
{
    size_t slots = 64;
    while (slots / 2 < v->n)
        slots *= 2;
    *l = (struct lookup){v, calloc(slots, sizeof *l->slot), slots};
    if (!l->slot)
        return false;
    for (uint32_t id = 0; id < v->n; id++) {
        const struct piece t = vocab_text(v, id);
        const size_t at = probe(l, t.p, t.len);
        const uint32_t there = l->slot[at];
        if (!there || (v->flags[there - 1] & VOCAB_BYTE && !(v->flags[id] & VOCAB_BYTE)))
            l->slot[at] = id + 1;
    }
    return true;
}

void lookup_free(struct lookup *l)
{
    free(l->slot);
    *l = (struct lookup){0};
}

uint32_t lookup_find(const struct lookup *l, const void *text, size_t len)
{
    const uint32_t found = l->slot[probe(l, text, len)];
    return found ? found - 1 : VOCAB_NONE;
}
