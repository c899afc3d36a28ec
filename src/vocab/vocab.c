// SPDX-License-Identifier: MIT
#include "vocab/vocab.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void vocab_init(struct vocab *v)
{
    *v = (struct vocab){.eos = VOCAB_NONE, .eot = VOCAB_NONE};
}

void vocab_free(struct vocab *v)
{
    free(v->end);
    free(v->bytes);
    free(v->flags);
    vocab_init(v);
}

bool vocab_add(struct vocab *v, const void *text, size_t len, unsigned flags)
{
    const size_t start = v->n ? v->end[v->n - 1] : 0;
    if (len > SIZE_MAX - start || !mem_grow(&v->bytes, &v->bytes_cap, start + len, 1) ||
        !mem_grow(&v->end, &v->end_cap, v->n + 1, sizeof *v->end) || !mem_grow(&v->flags, &v->flags_cap, v->n + 1, 1))
        return false;
    if (len)
        memcpy(v->bytes + start, text, len);
    v->end[v->n] = start + len;
    v->flags[v->n++] = (unsigned char)flags;
    return true;
}

struct piece vocab_text(const struct vocab *v, uint32_t id)
{
    if (id >= v->n)
        return (struct piece){(const unsigned char *)"", 0};
    const size_t start = id ? v->end[id - 1] : 0;
    return (struct piece){v->bytes + start, v->end[id] - start};
}

struct piece vocab_output(const struct vocab *v, uint32_t id)
{
    const struct piece none = {(const unsigned char *)"", 0};
    return id < v->n && v->flags[id] & VOCAB_SPECIAL ? none : vocab_text(v, id);
}

bool vocab_ends(const struct vocab *v, uint32_t id)
{
    return id < v->n && v->flags[id] & VOCAB_EOG;
}

uint32_t vocab_find(const struct vocab *v, const void *text, size_t len)
{
    for (uint32_t id = 0; id < v->n; id++) {
        const struct piece t = vocab_text(v, id);
        if (t.len == len && (!len || !memcmp(t.p, text, len)))
            return id;
    }
    return VOCAB_NONE;
}
