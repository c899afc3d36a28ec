// SPDX-License-Identifier: MIT
// Texts of settings as tokens.
#include "base/mem.h"
#include "settings/new_recipe.h"
#include "vocab/spelling.h"
#include "vocab/split.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

unsigned char *plain_text(const char *text, size_t len, bool escapes, size_t *n, struct err *e)
{
    unsigned char *const plain = malloc(len + 1);
    if (plain)
        *n = escapes ? text_unescape(plain, text, len) : (memcpy(plain, text, len), len);
    else
        err_from_fault(e, fault_memory());
    return plain;
}

static bool text_needs_vocab(const struct recipes *r, const char *name, const char *text, size_t len, struct err *e)
{
    return r->vocab ||
           err_set(e, STATUS_USAGE, "%s: the text '%.*s' needs --vocab", name, err_clip_part(text, len, 40), text);
}

bool recipes_find_token(const struct recipes *r, const char *text, size_t len, bool escapes, uint32_t *id,
                        struct err *e)
{
    const int shown = err_clip_part(text, len, 40);
    uint32_t other = VOCAB_NONE;
    size_t n;
    unsigned char *const plain =
        text_needs_vocab(r, "--logit-bias", text, len, e) ? plain_text(text, len, escapes, &n, e) : NULL;
    if (!plain)
        return false;
    *id = n ? vocab_find_only(r->vocab, plain, n, &other) : VOCAB_NONE;
    free(plain);
    if (*id == VOCAB_NONE)
        return err_set(e, STATUS_USAGE, "--logit-bias: no token of the vocabulary has the text '%.*s'", shown, text);
    if (other != VOCAB_NONE)
        return err_set(e, STATUS_USAGE,
                       "--logit-bias: tokens %" PRIu32 " and %" PRIu32 " both have the text '%.*s'; name one by its id",
                       *id, other, shown, text);
    return true;
}

bool recipes_split_text(const struct recipes *r, const char *name, const char *text, bool escapes, struct ids *ids,
                        struct err *e)
{
    const size_t len = strlen(text);
    size_t n;
    ids->n = 0;
    if (!len)
        return true;
    unsigned char *const plain = text_needs_vocab(r, name, text, len, e) ? plain_text(text, len, escapes, &n, e) : NULL;
    if (!plain)
        return false;
    const bool ok =
        mem_grow(&ids->id, &ids->cap, n + 1, sizeof *ids->id) && vocab_split(r->vocab, plain, n, ids->id, &ids->n);
    free(plain);
    if (!ok)
        return err_from_fault(e, fault_memory());
    return ids->n ||
           err_set(e, STATUS_USAGE, "%s: no tokens of the vocabulary spell '%.*s'", name, err_clip(text, 40), text);
}

bool recipes_tokenize(const struct recipes *r, struct token_tables *t, unsigned kinds, const char *text, size_t len,
                      bool escapes, struct ids *ids, bool *known, struct err *e)
{
    const struct vocab *const v = r->vocab;
    size_t n;
    *known = false;
    if (!v || v->tokenizer.kind == TOKENIZER_NONE)
        return true;
    unsigned char *const plain = plain_text(text, len, escapes, &n, e);
    const bool ready =
        plain && (t->vocab || token_tables_build(t, v)) && mem_grow(&ids->id, &ids->cap, 4 * n + 3, sizeof *ids->id);
    const enum tokenized outcome = ready ? tokenize(t, kinds, plain, n, ids->id, &ids->n) : TOKENIZE_MEMORY;
    free(plain);
    *known = outcome == TOKENIZED;
    return outcome != TOKENIZE_MEMORY || err_from_fault(e, fault_memory());
}

bool recipes_tag_tokens(const struct recipes *r, struct token_tables *t, const char *name, const char *text,
                        bool escapes, struct ids *ids, bool *known, struct err *e)
{
    return recipes_tokenize(r, t, VOCAB_DEFINED | VOCAB_SPECIAL, text, strlen(text), escapes, ids, known, e) &&
           (*known || recipes_split_text(r, name, text, escapes, ids, e));
}

void recipes_tag_text(const struct recipes *r, const struct tokens *tag, struct builder *text)
{
    const struct vocab *const v = r->vocab;
    bool behind_special = true; // or at the beginning
    for (size_t i = 0; i < tag->n; i++) {
        const struct piece token = vocab_text(v, tag->id[i]);
        const bool added =
            behind_special && v->tokenizer.kind == TOKENIZER_SPM && v->space_prefix && token.len && *token.p == ' ';
        builder_bytes(text, token.p + added, token.len - added);
        behind_special = v->flags[tag->id[i]] & (VOCAB_SPECIAL | VOCAB_DEFINED);
    }
}
