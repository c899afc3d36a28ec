// SPDX-License-Identifier: MIT
#include "vocab/split.h"

#include <stdlib.h>
#include <string.h>

// How the rest of the text, from some byte on, is best split.
struct rest {
    size_t tokens; // SIZE_MAX: not at all
    uint32_t id;   // the first of them
    size_t len;    // of its text
};

static bool better(const struct vocab *v, const struct rest *a, const struct rest *b)
{
    if (a->tokens != b->tokens)
        return a->tokens < b->tokens;
    if (a->len != b->len)
        return a->len > b->len;
    return v->flags[b->id] & VOCAB_BYTE && !(v->flags[a->id] & VOCAB_BYTE);
}

// rest[1..len] are known, the last of which is the empty text; len > 0.
static void find_rest(const struct vocab *v, const unsigned char *text, size_t len, struct rest *rest)
{
    *rest = (struct rest){.tokens = SIZE_MAX};
    for (uint32_t id = 0; id < v->n; id++) {
        const struct piece t = vocab_text(v, id);
        if (!t.len || t.len > len || *t.p != *text || rest[t.len].tokens == SIZE_MAX || memcmp(t.p, text, t.len) != 0)
            continue;
        const struct rest found = {rest[t.len].tokens + 1, id, t.len};
        if (better(v, &found, rest))
            *rest = found;
    }
}

bool vocab_split(const struct vocab *v, const void *text, size_t len, uint32_t *id, size_t *n)
{
    struct rest *const rest = malloc((len + 1) * sizeof *rest);
    if (!rest)
        return false;
    rest[len] = (struct rest){0};
    for (size_t at = len; at--;)
        find_rest(v, (const unsigned char *)text + at, len - at, &rest[at]);
    *n = rest->tokens == SIZE_MAX ? 0 : rest->tokens;
    for (size_t i = 0, at = 0; i < *n; i++, at += rest[at].len)
        id[i] = rest[at].id;
    free(rest);
    return true;
}
