// SPDX-License-Identifier: MIT
#include "vocab/tokenize.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPACE_SPM  "\xe2\x96\x81" // U+2581
#define SPACE_GPT2 "\xc4\xa0"     // U+0120
#define NO_VALUE   INFINITY       // of symbols that do not merge

// The spelt text of a token.
static struct piece spelt(const struct vocab *v, size_t id)
{
    const struct tokenizer *const k = &v->tokenizer;
    const size_t start = id ? k->end[id - 1] : 0;
    return (struct piece){(const unsigned char *)k->spelt.text + start, k->end[id] - start};
}

void token_tables_free(struct token_tables *t)
{
    hash_free(&t->texts);
    hash_free(&t->merges);
    free(t->merge);
    *t = (struct token_tables){0};
}

bool token_tables_build(struct token_tables *t, const struct vocab *v)
{
    const struct builder *const merges = &v->tokenizer.merges;
    size_t cap = 0;
    bool ok = true;
    *t = (struct token_tables){.vocab = v};
    for (uint32_t id = 0; ok && id < v->n; id++) {
        const struct piece text = spelt(v, id);
        ok = hash_add(&t->texts, hash_bytes(text.p, text.len), id);
    }
    for (size_t at = 0; ok && at < merges->len; at += strlen(merges->text + at) + 1) {
        const uint32_t rank = (uint32_t)t->n_merges;
        ok = mem_push(&t->merge, &t->n_merges, &cap, &at, sizeof at) &&
             hash_add(&t->merges, hash_bytes(merges->text + at, strlen(merges->text + at)), rank);
    }
    if (!ok)
        token_tables_free(t);
    return ok;
}

// Returns the last token that is spelt so, as in llama.cpp, or VOCAB_NONE.
static uint32_t find_spelt(const struct token_tables *t, const void *text, size_t len)
{
    const uint32_t hash = hash_bytes(text, len);
    uint32_t found = VOCAB_NONE;
    size_t at = hash, id;
    while ((id = hash_next(&t->texts, hash, &at)) != HASH_NONE) {
        const struct piece p = spelt(t->vocab, id);
        if (p.len == len && !memcmp(p.p, text, len) && (found == VOCAB_NONE || id > found))
            found = (uint32_t)id;
    }
    return found;
}

// Parts of a text that are tokens, or will be merged to tokens.
struct symbol {
    size_t start, len; // len 0: it was merged into one before it
    size_t next;       // SIZE_MAX: the last
    double value;      // of merging it with the next; the lowest comes first. NO_VALUE: they are not merged
};

struct merging {
    const struct token_tables *t;
    const char *text;
    struct symbol *symbol; // [n]
    size_t n;
    struct builder key; // scratch
};

// The rank of merging two symbols; NO_VALUE if there is no such merge. As llama.cpp reads them, a merge is split at its
// first space behind the first byte, and of equal merges the first counts.
static double merge_rank(struct merging *m, const struct symbol *left, const struct symbol *right)
{
    const struct token_tables *const t = m->t;
    builder_clear(&m->key);
    builder_bytes(&m->key, m->text + left->start, left->len);
    builder_byte(&m->key, ' ');
    builder_bytes(&m->key, m->text + right->start, right->len);
    if (m->key.failed)
        return NO_VALUE;
    const uint32_t hash = hash_bytes(m->key.text, m->key.len);
    size_t at = hash, i, best = SIZE_MAX;
    while ((i = hash_next(&t->merges, hash, &at)) != HASH_NONE)
        if (i < best && !strcmp(t->vocab->tokenizer.merges.text + t->merge[i], m->key.text))
            best = i;
    return best == SIZE_MAX ? NO_VALUE : (double)best;
}

// Sets the value of merging symbol i with the next.
static void set_value(struct merging *m, size_t i)
{
    struct symbol *const s = &m->symbol[i];
    const struct tokenizer *const k = &m->t->vocab->tokenizer;
    s->value = NO_VALUE;
    if (s->next == SIZE_MAX)
        return;
    const struct symbol *const right = &m->symbol[s->next];
    const uint32_t id =
        k->kind == TOKENIZER_SPM ? find_spelt(m->t, m->text + s->start, s->len + right->len) : VOCAB_NONE;
    if (k->kind == TOKENIZER_BPE)
        s->value = merge_rank(m, s, right);
    else if (id != VOCAB_NONE)
        s->value = -(double)k->score[id];
} // NOLINT(clang-analyzer-unix.Malloc): the caller owns the symbols

// Splits the text into characters, by their first bytes.
static bool split_characters(struct merging *m, size_t len)
{
    static const unsigned char lengths[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4}; // by the upper four bits
    m->symbol = malloc((len + 1) * sizeof *m->symbol);
    for (size_t at = 0; m->symbol && at < len; m->n++) {
        const size_t size = lengths[(unsigned char)m->text[at] >> 4], n = size < len - at ? size : len - at;
        at += n;
        m->symbol[m->n] = (struct symbol){at - n, n, at < len ? m->n + 1 : SIZE_MAX, NO_VALUE};
    }
    return m->symbol;
}

// Merges the neighbours of the lowest value, the first of equals, until none are left.
static void merge_all(struct merging *m)
{
    for (size_t i = 0; i < m->n; i++)
        set_value(m, i);
    for (;;) {
        size_t best = SIZE_MAX, before = SIZE_MAX, at_best_before = SIZE_MAX;
        for (size_t i = 0; i != SIZE_MAX && m->n; before = i, i = m->symbol[i].next)
            if (m->symbol[i].value < (best == SIZE_MAX ? NO_VALUE : m->symbol[best].value)) {
                best = i;
                at_best_before = before;
            }
        if (best == SIZE_MAX)
            return;
        struct symbol *const left = &m->symbol[best], *const right = &m->symbol[left->next];
        left->len += right->len;
        left->next = right->next;
        right->len = 0;
        set_value(m, best);
        if (at_best_before != SIZE_MAX)
            set_value(m, at_best_before);
    }
}

// Writes the tokens of a symbol that is no token: those of its bytes. False: a byte has none.
static bool write_bytes(const struct merging *m, const struct symbol *s, uint32_t *id, size_t *n)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < s->len; i++) {
        const unsigned char byte = (unsigned char)m->text[s->start + i];
        const char spelling[] = {'<', '0', 'x', digits[byte >> 4], digits[byte & 15], '>'};
        id[*n] =
            m->t->vocab->tokenizer.kind == TOKENIZER_SPM ? find_spelt(m->t, spelling, sizeof spelling) : VOCAB_NONE;
        if (id[*n] == VOCAB_NONE)
            id[*n] = find_spelt(m->t, &byte, 1);
        if (id[*n] == VOCAB_NONE)
            return false;
        ++*n;
    }
    return true;
}

// Tokenizes a spelt text.
static enum tokenized tokenize_spelt(const struct token_tables *t, const char *text, size_t len, uint32_t *id,
                                     size_t *n)
{
    struct merging m = {.t = t, .text = text};
    enum tokenized outcome = split_characters(&m, len) ? TOKENIZED : TOKENIZE_MEMORY;
    if (outcome == TOKENIZED)
        merge_all(&m);
    if (m.key.failed)
        outcome = TOKENIZE_MEMORY;
    for (size_t i = 0; outcome == TOKENIZED && i != SIZE_MAX && m.n; i = m.symbol[i].next) {
        const struct symbol *const s = &m.symbol[i];
        const uint32_t token = find_spelt(t, text + s->start, s->len);
        if (token != VOCAB_NONE)
            id[(*n)++] = token;
        else if (!write_bytes(&m, s, id, n))
            outcome = TOKENIZE_UNKNOWN;
    }
    builder_free(&m.key);
    free(m.symbol);
    return outcome;
}

// Returns true if no pre-tokenizer divides the text.
static bool one_piece(const unsigned char *p, size_t len)
{
    size_t i = len && *p == ' ', letters = 0;
    if (len == 1 && *p >= ' ' && *p <= '~')
        return true;
    if (i < len && p[i] >= 'A' && p[i] <= 'Z') {
        i++;
        letters++;
    }
    for (; i < len && p[i] >= 'a' && p[i] <= 'z'; i++)
        letters++;
    return letters && i == len;
}

enum tokenized tokenize(const struct token_tables *t, const void *text, size_t len, uint32_t *id, size_t *n)
{
    const struct vocab *const v = t->vocab;
    const bool spm = v->tokenizer.kind == TOKENIZER_SPM;
    const unsigned char *const p = text;
    struct builder b = {0};
    bool within = false; // a user-defined token stands in the text: what is around it depends on more
    *n = 0;
    for (uint32_t token = 0; len && v->any & VOCAB_DEFINED && token < v->n; token++) {
        const struct piece s = v->flags[token] & VOCAB_DEFINED ? spelt(v, token) : (struct piece){NULL, 0};
        if (s.len == len && !memcmp(s.p, text, len)) {
            id[(*n)++] = token;
            return TOKENIZED;
        }
        within = within || (s.len && s.len < len && mem_find(text, len, s.p, s.len));
    }
    if (!len)
        return TOKENIZED;
    if (within || len > TOKENIZE_LONGEST || (!spm && !one_piece(p, len)))
        return TOKENIZE_UNKNOWN;
    if (spm && v->space_prefix)
        builder_string(&b, SPACE_SPM);
    for (size_t i = 0; i < len; i++)
        if (p[i] == ' ')
            builder_string(&b, spm ? SPACE_SPM : SPACE_GPT2);
        else
            builder_byte(&b, (char)p[i]);
    enum tokenized outcome = b.failed ? TOKENIZE_MEMORY : TOKENIZED;
    const uint32_t whole = outcome == TOKENIZED && v->tokenizer.whole_words ? find_spelt(t, b.text, b.len) : VOCAB_NONE;
    if (whole != VOCAB_NONE)
        id[(*n)++] = whole;
    else if (outcome == TOKENIZED)
        outcome = tokenize_spelt(t, b.text, b.len, id, n);
    builder_free(&b);
    return outcome;
}
