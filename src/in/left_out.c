// SPDX-License-Identifier: MIT
#include "in/left_out.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void left_out_free(struct left_out *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->sequence[i].name);
    free(l->sequence);
    hash_free(&l->names);
}

static struct left_out_sequence *find_name(const struct left_out *l, const char *name, uint32_t hash)
{
    for (size_t at = hash, i; (i = hash_next(&l->names, hash, &at)) != HASH_NONE;)
        if (!strcmp(l->sequence[i].name, name))
            return &l->sequence[i];
    return NULL;
}

bool left_out_add(struct left_out *l, const char *name, bool ends)
{
    const size_t len = strlen(name);
    const uint32_t hash = hash_bytes(name, len);
    struct left_out_sequence *s = find_name(l, name, hash);
    if (!s) {
        if (!mem_grow(&l->sequence, &l->cap, l->n + 1, sizeof *l->sequence) ||
            !(l->sequence[l->n].name = malloc(len + 1)))
            return false;
        s = &l->sequence[l->n++];
        memcpy(s->name, name, len + 1);
        s->rows = 0;
        s->ended = false;
        if (!hash_add(&l->names, hash, (uint32_t)(l->n - 1)))
            return false;
    }
    s->rows = ends ? 0 : s->rows + 1;
    s->ended = s->ended || ends;
    return true;
}

uint64_t left_out_take(struct left_out *l, const char *name, bool *ended)
{
    struct left_out_sequence *const s = l->n ? find_name(l, name, hash_bytes(name, strlen(name))) : NULL;
    const uint64_t rows = s ? s->rows : 0;
    *ended = s && s->ended;
    if (s) {
        s->rows = 0;
        s->ended = false;
    }
    return rows;
}
