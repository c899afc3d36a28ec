// SPDX-License-Identifier: MIT
#include "vocab/vocab.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void vocab_init(struct vocab *v) { *v = (struct vocab){.eos = VOCAB_NONE, .eot = VOCAB_NONE}; }

void vocab_free(struct vocab *v)
{
    free(v->end);
    free(v->flags);
    builder_free(&v->bytes);
    builder_free(&v->recommended);
    builder_free(&v->tokenizer.spelt);
    builder_free(&v->tokenizer.merges);
    free(v->tokenizer.end);
    free(v->tokenizer.score);
    idmap_free(&v->known);
    vocab_init(v);
}

bool vocab_add(struct vocab *v, const void *text, size_t len, unsigned flags)
{
    if (!mem_grow(&v->end, &v->end_cap, v->n + 1, sizeof *v->end) || !mem_grow(&v->flags, &v->flags_cap, v->n + 1, 1))
        return false;
    builder_bytes(&v->bytes, text, len);
    v->end[v->n] = v->bytes.len;
    v->flags[v->n++] = (unsigned char)flags;
    return builder_whole(&v->bytes);
}

bool vocab_set_text(struct vocab *v, uint32_t id, const void *text, size_t len)
{
    return idmap_find(&v->known, id) != IDMAP_NONE ||
           (vocab_add(v, text, len, 0) && idmap_add(&v->known, id) != IDMAP_NONE);
}

void vocab_clear(struct vocab *v)
{
    idmap_clear(&v->known);
    builder_clear(&v->bytes);
    v->n = 0;
}

bool vocab_recommend(struct vocab *v, const char *key, const char *value)
{
    builder_bytes(&v->recommended, key, strlen(key) + 1);
    builder_bytes(&v->recommended, value, strlen(value) + 1);
    return builder_whole(&v->recommended);
}

bool vocab_keep_spelt(struct vocab *v, size_t i, const void *text, size_t len, float score)
{
    struct tokenizer *const t = &v->tokenizer;
    if (!i && (!(t->end = calloc(v->n, sizeof *t->end)) || !(t->score = calloc(v->n, sizeof *t->score))))
        return false;
    builder_bytes(&t->spelt, text, len);
    t->end[i] = t->spelt.len;
    t->score[i] = score;
    return builder_whole(&t->spelt);
}

// Returns a token's index in the arrays; v->n or more if v does not have the token.
static size_t token_index(const struct vocab *v, uint32_t id) { return v->known.n ? idmap_find(&v->known, id) : id; }

struct piece vocab_text(const struct vocab *v, uint32_t id)
{
    const size_t at = token_index(v, id);
    if (at >= v->n)
        return (struct piece){(const unsigned char *)"", 0};
    const size_t start = at ? v->end[at - 1] : 0;
    return (struct piece){(const unsigned char *)v->bytes.text + start, v->end[at] - start};
}

struct piece vocab_output(const struct vocab *v, uint32_t id)
{
    const size_t at = token_index(v, id);
    return vocab_text(v, at < v->n && v->flags[at] & VOCAB_SPECIAL ? VOCAB_NONE : id);
}

bool vocab_ends(const struct vocab *v, uint32_t id) { return id < v->n && v->flags[id] & VOCAB_EOG; }

// Returns true if a token has exactly this text.
static bool has_text(const struct vocab *v, uint32_t id, const void *text, size_t len)
{
    const struct piece t = vocab_text(v, id);
    return t.len == len && (!len || !memcmp(t.p, text, len));
}

uint32_t vocab_find(const struct vocab *v, const void *text, size_t len, unsigned flags)
{
    for (uint32_t id = 0; id < v->n; id++)
        if ((v->flags[id] & flags) == flags && has_text(v, id, text, len))
            return id;
    return VOCAB_NONE;
}

uint32_t vocab_find_only(const struct vocab *v, const void *text, size_t len, uint32_t *other)
{
    uint32_t found = VOCAB_NONE;
    *other = VOCAB_NONE;
    for (uint32_t id = 0; id < v->n; id++) {
        if (v->flags[id] & VOCAB_BYTE || !has_text(v, id, text, len))
            continue;
        if (found == VOCAB_NONE)
            found = id;
        else if (*other == VOCAB_NONE)
            *other = id;
    }
    return found != VOCAB_NONE ? found : vocab_find(v, text, len, VOCAB_BYTE);
}

// Returns the token in the table with this text, or VOCAB_NONE.
static uint32_t find_text(const struct lookup *l, uint32_t hash, const void *text, size_t len)
{
    size_t id, at = hash;
    while ((id = hash_next(&l->ids, hash, &at)) != HASH_NONE)
        if (has_text(l->vocab, (uint32_t)id, text, len))
            return (uint32_t)id;
    return VOCAB_NONE;
}

// Adds the tokens that are byte tokens, or those that are not, unless their text is there. Returns false if memory is
// short.
static bool add_absent(struct lookup *l, unsigned byte)
{
    const struct vocab *const v = l->vocab;
    for (uint32_t id = 0; id < v->n; id++) {
        const struct piece t = vocab_text(v, id);
        const uint32_t hash = hash_bytes(t.p, t.len);
        if ((v->flags[id] & VOCAB_BYTE) == byte && find_text(l, hash, t.p, t.len) == VOCAB_NONE &&
            !hash_add(&l->ids, hash, id))
            return false;
    }
    return true;
}

bool lookup_build(struct lookup *l, const struct vocab *v)
{
    *l = (struct lookup){.vocab = v};
    if (add_absent(l, 0) && add_absent(l, VOCAB_BYTE))
        return true;
    lookup_free(l);
    return false;
}

void lookup_free(struct lookup *l)
{
    hash_free(&l->ids);
    l->vocab = NULL;
}

uint32_t lookup_find(const struct lookup *l, const void *text, size_t len)
{
    assert(l->vocab);
    return find_text(l, hash_bytes(text, len), text, len);
}
