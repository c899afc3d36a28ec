// SPDX-License-Identifier: MIT
#include "vocab/split.h"

#include <stdlib.h>
#include <string.h>

// The best split of the text from some byte to its end.
struct rest {
    size_t tokens; // how many; SIZE_MAX: there is no split
    uint32_t id;   // the first token
    size_t len;    // bytes of its text
};

// Returns true if split a of a rest is preferred to split b.
static bool better(const struct vocab *v, const struct rest *a, const struct rest *b)
{
    if (a->tokens != b->tokens)
        return a->tokens < b->tokens;
    if (a->len != b->len)
        return a->len > b->len;
    return v->flags[b->id] & VOCAB_BYTE && !(v->flags[a->id] & VOCAB_BYTE);
}

// Finds the best split *rest of text[0..len), len > 0. rest[1..len] are the best splits from the later bytes on;
// rest[len] is that of the empty text.
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
