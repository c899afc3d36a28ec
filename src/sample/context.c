// SPDX-License-Identifier: MIT
#include "sample/context.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool bias_table_build(struct bias_table *t, const struct bias *bias, size_t n)
{
    t->end = calloc(n + 1, sizeof *t->end);
    t->bias = calloc(n + 1, sizeof *t->bias);
    if (!t->end || !t->bias)
        return false;
    for (size_t i = 0; i < n; i++) {
        const size_t j = idmap_add(&t->ids, bias[i].id);
        if (j == IDMAP_NONE)
            return false;
        t->end[j + 1]++;
    }
    for (size_t j = 0; j < t->ids.n; j++)
        t->end[j + 1] += t->end[j];
    for (size_t i = 0; i < n; i++) // end[j] serves as the place to fill and so becomes the end
        t->bias[t->end[idmap_find(&t->ids, bias[i].id)]++] = bias[i].bias;
    return true;
}

void bias_table_free(struct bias_table *t)
{
    idmap_free(&t->ids);
    free(t->end);
    free(t->bias);
}

// ---- breakers

static bool add_tail(struct breakers *b, uint32_t head, struct piece text)
{
    const size_t known = b->heads.n, j = idmap_add(&b->heads, head);
    if (j == IDMAP_NONE || !mem_grow(&b->first, &b->first_cap, j + 1, sizeof *b->first) ||
        !mem_grow(&b->tail, &b->tail_cap, b->n_tails + 1, sizeof *b->tail))
        return false;
    if (j == known)
        b->first[j] = 0;
    b->tail[b->n_tails++] = (struct tail){text, b->first[j]};
    b->first[j] = b->n_tails;
    return true;
}

// Adds the token as a head for each beginning of the breaker that it ends with, or for the whole breaker if it contains
// that.
static bool add_token(struct breakers *b, uint32_t id, struct piece word, struct piece breaker)
{
    bool ok = true;
    if (mem_find(word.p, word.len, breaker.p, breaker.len))
        return add_tail(b, id, (struct piece){breaker.p, 0});
    for (size_t n = 1; n < breaker.len && n <= word.len && ok; n++)
        if (!memcmp(word.p + word.len - n, breaker.p, n))
            ok = add_tail(b, id, (struct piece){breaker.p + n, breaker.len - n});
    return ok;
}

bool breakers_find_heads(struct breakers *b, const struct vocab *v)
{
    bool ok = true;
    assert(!b->vocab);
    b->vocab = v;
    for (uint32_t id = 0; v && id < v->n && ok; id++) {
        struct piece word = vocab_text(v, id);
        if (v->space_prefix && word.len && *word.p == ' ') { // it only stands for the space before a text
            word.p++;
            word.len--;
        }
        for (size_t i = 0; i < b->n_texts && ok; i++)
            ok = add_token(b, id, word, b->text[i]);
    }
    return ok;
}

void breakers_free(struct breakers *b)
{
    idmap_free(&b->heads);
    free(b->first);
    free(b->tail);
}

// Returns how many tokens behind the i-th newest spell just this text; SIZE_MAX if none do.
static size_t follows(const struct breakers *b, struct piece text, const uint32_t *recent, size_t i)
{
    size_t n = 0;
    while (text.len) {
        if (n == i)
            return SIZE_MAX;
        const struct piece word = vocab_text(b->vocab, recent[i - ++n]);
        if (!word.len || word.len > text.len || memcmp(word.p, text.p, word.len) != 0)
            return SIZE_MAX;
        text.p += word.len;
        text.len -= word.len;
    }
    return n;
}

// Returns how many tokens the longest breaker has that begins at the i-th newest one; 0 if none does.
static size_t longest_at(const struct breakers *b, const uint32_t *recent, size_t i)
{
    size_t longest = 0;
    for (size_t k = 0; k < b->n_sequences; k++)
        if (b->sequence[k].n > longest && b->sequence[k].n <= i + 1 &&
            tokens_oldest(b->sequence[k].id, b->sequence[k].n, recent, i + 1))
            longest = b->sequence[k].n;
    const size_t j = idmap_find(&b->heads, recent[i]);
    for (size_t t = j == IDMAP_NONE ? 0 : b->first[j]; t; t = b->tail[t - 1].next) {
        const size_t n = follows(b, b->tail[t - 1].text, recent, i);
        if (n != SIZE_MAX && n + 1 > longest)
            longest = n + 1;
    }
    return longest;
}

size_t breakers_longest(const struct breakers *b)
{
    size_t longest = 0;
    for (size_t k = 0; k < b->n_sequences; k++)
        longest = b->sequence[k].n > longest ? b->sequence[k].n : longest;
    for (size_t k = 0; k < b->n_texts; k++)
        longest = b->text[k].len > longest ? b->text[k].len : longest;
    return longest;
}

size_t breakers_since(const struct breakers *b, const uint32_t *recent, size_t n, size_t *begin)
{
    for (*begin = 0; *begin < n; ++*begin) {
        const size_t longest = longest_at(b, recent, *begin);
        if (longest)
            return *begin - (longest - 1);
    }
    return n;
}

bool breakers_single(const struct breakers *b, uint32_t token)
{
    for (size_t k = 0; k < b->n_sequences; k++)
        if (b->sequence[k].n == 1 && b->sequence[k].id[0] == token)
            return true;
    const size_t j = idmap_find(&b->heads, token);
    for (size_t t = j == IDMAP_NONE ? 0 : b->first[j]; t; t = b->tail[t - 1].next)
        if (!b->tail[t - 1].text.len)
            return true;
    return false;
}
