// SPDX-License-Identifier: MIT
#include "in/gguf.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { NESTING_MAX = 8, KEY_MAX = 65535 };

size_t gguf_size(uint32_t type)
{
    static const unsigned char size[TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    assert(type < TYPES);
    return size[type];
}

bool gguf_probe(const unsigned char *head, size_t len) { return !memcmp(head, "GGUF", len < 4 ? len : 4); }

// Skips n bytes, which stay in g->p. Returns g->ok.
static bool step(struct gguf *g, uint64_t n)
{
    if (g->ok && n > g->have - g->at) {
        const size_t want = n < SIZE_MAX - g->at ? g->at + (size_t)n : SIZE_MAX;
        g->ok = source_peek(g->source, want, &g->p, &g->have, g->e);
        if (g->ok && n > g->have - g->at)
            g->ok = err_set(g->e, STATUS_DATA, "the file ends at byte %zu, inside the GGUF metadata", g->have);
    }
    g->at += g->ok ? (size_t)n : 0;
    return g->ok;
}

uint64_t gguf_integer(struct gguf *g, size_t size)
{
    uint64_t v = 0;
    if (step(g, size))
        memcpy(&v, g->p + g->at - size, size);
    return v;
}

uint32_t gguf_type(struct gguf *g)
{
    const uint32_t type = (uint32_t)gguf_integer(g, 4);
    if (type < TYPES)
        return type;
    g->ok = err_set(g->e, STATUS_DATA, "byte %zu: GGUF has no value type %" PRIu32, g->at - 4, type);
    return 0;
}

struct gguf_value gguf_pass(struct gguf *g, uint32_t type, int depth)
{
    struct gguf_value v = {.given = true, .n = 1};
    assert(type < TYPES);
    if (type == TYPE_ARRAY && depth > NESTING_MAX)
        g->ok = err_set(g->e, STATUS_DATA, "byte %zu: arrays in arrays more than %d deep", g->at, NESTING_MAX);
    if (type == TYPE_ARRAY)
        v.elements = gguf_type(g);
    if (type == TYPE_ARRAY || type == TYPE_STRING)
        v.n = gguf_integer(g, 8);
    v.at = g->at;
    const uint64_t size = type == TYPE_STRING ? 1 : gguf_size(type == TYPE_ARRAY ? v.elements : type);
    if (size)
        step(g, v.n > UINT64_MAX / size ? UINT64_MAX : v.n * size);
    for (uint64_t i = 0; !size && g->ok && i < v.n;
         i++) // an element has at least 8 bytes, so the file's length bounds n
        gguf_pass(g, v.elements, depth + 1);
    return v;
}

void gguf_key(struct gguf *g, char key[GGUF_KEY])
{
    const size_t begin = g->at;
    const uint64_t len = gguf_integer(g, 8);
    memset(key, 0, GGUF_KEY);
    if (len > KEY_MAX)
        g->ok = err_set(g->e, STATUS_DATA, "byte %zu: a key of %" PRIu64 " bytes, more than GGUF's %d", begin, len,
                        KEY_MAX);
    if (step(g, len) && len < GGUF_KEY && !memchr(g->p + g->at - len, '\0', (size_t)len))
        memcpy(key, g->p + g->at - len, (size_t)len);
}

void gguf_begin(struct gguf *g, uint64_t *tensors, uint64_t *pairs)
{
    step(g, 4);
    const uint32_t version = (uint32_t)gguf_integer(g, 4);
    if (!g->ok)
        return;
    if (version && !(version & 0xffff))
        g->ok = err_set(g->e, STATUS_DATA, "a big-endian GGUF file; only little-endian ones are read");
    else if (version == 1)
        g->ok = err_set(g->e, STATUS_DATA, "GGUF version 1 is not read; newer programs write 2 and 3");
    else if (version != 2 && version != 3)
        g->ok = err_set(g->e, STATUS_DATA, "GGUF version %" PRIu32 " is not known, only 2 and 3", version);
    *tensors = gguf_integer(g, 8);
    *pairs = gguf_integer(g, 8);
}
