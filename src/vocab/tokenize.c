// SPDX-License-Identifier: MIT
#include "vocab/tokenize.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPACE_SPM "\xe2\x96\x81" // U+2581
#define DEL       0x7f
#define NO_VALUE  INFINITY // of symbols that do not merge

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
    if (len == 1 && *p <= DEL)
        return true;
    if (i < len && p[i] >= 'A' && p[i] <= 'Z') {
        i++;
        letters++;
    }
    for (; i < len && p[i] >= 'a' && p[i] <= 'z'; i++)
        letters++;
    return letters && i == len;
}

// Adds a byte as the vocabulary spells it.
static void spell_byte(struct builder *b, const struct vocab *v, unsigned char byte)
{
    if (v->tokenizer.kind == TOKENIZER_SPM && byte == ' ') {
        builder_string(b, SPACE_SPM);
    } else if (v->tokenizer.kind == TOKENIZER_BPE && (byte <= ' ' || byte == DEL)) { // U+0100 to U+0121
        builder_byte(b, '\xc4');
        builder_byte(b, (char)(0x80 + (byte == DEL ? ' ' + 1 : byte)));
    } else {
        builder_byte(b, (char)byte);
    }
}

// Adds the tokens of p[0..len), which is text between special tokens, to id[*n].
static enum tokenized tokenize_fragment(const struct token_tables *t, const char *prefix, const unsigned char *p,
                                        size_t len, uint32_t *id, size_t *n)
{
    const struct vocab *const v = t->vocab;
    struct builder b = {0};
    if (v->tokenizer.kind == TOKENIZER_BPE && !one_piece(p, len))
        return TOKENIZE_UNKNOWN;
    builder_string(&b, prefix);
    for (size_t i = 0; i < len; i++)
        spell_byte(&b, v, p[i]);
    enum tokenized outcome = b.failed ? TOKENIZE_MEMORY : TOKENIZED;
    const uint32_t whole = outcome == TOKENIZED && v->tokenizer.whole_words ? find_spelt(t, b.text, b.len) : VOCAB_NONE;
    if (whole != VOCAB_NONE)
        id[(*n)++] = whole;
    else if (outcome == TOKENIZED)
        outcome = tokenize_spelt(t, b.text, b.len, id, n);
    builder_free(&b);
    return outcome;
}

// ---- special tokens

// What a byte of a text belongs to: to the special token that begins there, or to one of these.
#define NO_SPECIAL VOCAB_NONE
#define INSIDE     (VOCAB_NONE - 1) // the rest of a special token, or the white space that it drops

struct special {
    uint32_t id;
    struct piece text;
};

static int compare_specials(const void *a, const void *b)
{
    const struct special *const x = a, *const y = b;
    if (x->text.len != y->text.len)
        return x->text.len < y->text.len ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

static bool stands_at(const struct special *s, const unsigned char *text, size_t len, size_t at)
{
    return s->text.len <= len - at && !memcmp(text + at, s->text.p, s->text.len);
}

// Returns true if two special tokens of one length overlap in the text: which of them llama.cpp cuts out first depends
// on how its sort orders equals. s[0..n) are sorted.
static bool equals_overlap(const struct special *s, size_t n, const unsigned char *text, size_t len)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n && s[k].text.len == s[i].text.len; k++)
            for (size_t at = 0, x = SIZE_MAX, y = SIZE_MAX; at < len; at++) {
                x = stands_at(&s[i], text, len, at) ? at : x;
                y = stands_at(&s[k], text, len, at) ? at : y;
                if (x != SIZE_MAX && y != SIZE_MAX && (x > y ? x - y : y - x) < s[i].text.len)
                    return true;
            }
    return false;
}

// Cuts a special token out wherever it stands in what is left of the text, from left to right.
static void cut_out(const struct vocab *v, const struct special *s, const unsigned char *text, size_t len,
                    uint32_t *owner)
{
    for (size_t at = 0; at < len;) {
        size_t end = at;
        while (end < len && end - at < s->text.len && owner[end] == NO_SPECIAL)
            end++;
        if (end - at < s->text.len || !stands_at(s, text, len, at)) {
            at++;
            continue;
        }
        while (v->flags[s->id] & VOCAB_STRIPS && end < len && owner[end] == NO_SPECIAL &&
               (text[end] == ' ' || (text[end] >= '\t' && text[end] <= '\r')))
            end++;
        owner[at] = s->id;
        while (++at < end)
            owner[at] = INSIDE;
    }
}

// Finds the special tokens in a text, as llama.cpp does: the longest first. Sets owner[0..len).
static enum tokenized find_specials(const struct vocab *v, unsigned kinds, const unsigned char *text, size_t len,
                                    uint32_t *owner)
{
    struct special *found = NULL;
    size_t n = 0, cap = 0;
    bool ok = true;
    for (size_t i = 0; i < len; i++)
        owner[i] = NO_SPECIAL;
    for (uint32_t id = 0; ok && v->any & kinds && id < v->n; id++) {
        const struct special s = {id, v->flags[id] & kinds ? spelt(v, id) : (struct piece){NULL, 0}};
        if (s.text.len && s.text.len <= len && mem_find(text, len, s.text.p, s.text.len))
            ok = mem_push(&found, &n, &cap, &s, sizeof s);
    }
    if (n)
        qsort(found, n, sizeof *found, compare_specials);
    const bool decided = ok && !equals_overlap(found, n, text, len);
    for (size_t i = 0; decided && i < n; i++)
        cut_out(v, &found[i], text, len, owner);
    free(found);
    return !ok ? TOKENIZE_MEMORY : decided ? TOKENIZED : TOKENIZE_UNKNOWN;
}

enum tokenized tokenize(const struct token_tables *t, unsigned kinds, const void *text, size_t len, uint32_t *id,
                        size_t *n)
{
    const struct vocab *const v = t->vocab;
    const char *const space = v->tokenizer.kind == TOKENIZER_SPM && v->space_prefix ? SPACE_SPM : "";
    const unsigned char *const p = text;
    bool behind_special = true; // or at the beginning
    *n = 0;
    if (len > TOKENIZE_LONGEST)
        return TOKENIZE_UNKNOWN;
    uint32_t *const owner = malloc((len + 1) * sizeof *owner);
    enum tokenized outcome = owner ? find_specials(v, kinds, p, len, owner) : TOKENIZE_MEMORY;
    for (size_t at = 0, end = 0; outcome == TOKENIZED && at < len; at = end) {
        while (end < len && owner[end] == NO_SPECIAL)
            end++;
        if (end > at)
            outcome = tokenize_fragment(t, behind_special ? space : "", p + at, end - at, id, n);
        else if (owner[end++] != INSIDE)
            id[(*n)++] = owner[at];
        behind_special = owner[at] != NO_SPECIAL;
    }
    free(owner);
    return outcome;
}
