// SPDX-License-Identifier: MIT
#include "sample/history.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void history_free(struct history *h)
{
    free(h->token);
    idmap_free(&h->prompt);
    memset(h, 0, sizeof *h);
}

void history_widen(struct history *h, size_t window)
{
    if (window > h->window)
        h->window = window;
}

// A ring that is full below its window moves to a larger one. It has not wrapped until then, as total < window.
bool history_add(struct history *h, uint32_t token)
{
    if (h->window == 0) {
        h->total++;
        return true;
    }
    if (h->total >= h->cap && h->cap < h->window) {
        size_t cap = h->cap ? h->cap * 2 : 32;
        cap = cap < h->window ? cap : h->window;
        if (!mem_grow(&h->token, &h->cap, cap, sizeof *h->token))
            return false;
    }
    h->token[h->total++ % h->cap] = token;
    return true;
}

bool history_add_prompt(struct history *h, uint32_t token)
{
    h->n_prompt++;
    return idmap_add(&h->prompt, token) != IDMAP_NONE && history_add(h, token);
}

void history_clear(struct history *h)
{
    h->total = h->n_prompt = 0;
    idmap_clear(&h->prompt);
}

size_t history_len(const struct history *h, size_t window) { return h->total < window ? h->total : window; }

uint32_t history_newest(const struct history *h, size_t i) { return h->token[(h->total - 1 - i) % h->cap]; }

void history_copy(const struct history *h, uint32_t *to, size_t n)
{
    size_t at = n ? h->total % h->cap : 0;
    for (size_t i = 0; i < n; i++) {
        at = at ? at - 1 : h->cap - 1;
        to[i] = h->token[at];
    }
}

bool tokens_oldest(const uint32_t *id, size_t n, const uint32_t *recent, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (recent[len - 1 - i] != id[i])
            return false;
    return true;
}

void tally_free(struct tally *t)
{
    idmap_free(&t->tokens);
    free(t->count);
}

// Adds `by` to the count of each of the history's tokens with a number from begin on, below end. Returns false when
// memory is short.
static bool count_tokens(struct tally *t, const struct history *h, size_t begin, size_t end, uint32_t by)
{
    for (size_t i = begin; i < end; i++) {
        const size_t known = t->tokens.n, at = idmap_add(&t->tokens, history_newest(h, h->total - 1 - i));
        if (at == IDMAP_NONE || !mem_grow(&t->count, &t->count_cap, at + 1, sizeof *t->count))
            return false;
        t->count[at] = (at == known ? 0 : t->count[at]) + by;
    }
    return true;
}

bool tally_update(struct tally *t, const struct history *h, size_t window)
{
    const size_t len = history_len(h, window), begin = h->total - len;
    const size_t oldest = h->total - history_len(h, h->window); // that is kept
    bool ok;
    if (t->begin < oldest || t->end <= begin || t->tokens.n > 2 * len + 64) {
        // Counts anew if a token that left the window is no longer known, if all have left, or if the map holds mostly
        // tokens that have left.
        idmap_clear(&t->tokens);
        ok = count_tokens(t, h, begin, h->total, 1);
    } else {
        ok = count_tokens(t, h, t->begin, begin, UINT32_MAX) && count_tokens(t, h, begin, t->begin, 1) &&
             count_tokens(t, h, t->end, h->total, 1);
    }
    t->begin = begin;
    t->end = ok ? h->total : begin;
    return ok;
}
