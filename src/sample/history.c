// SPDX-License-Identifier: MIT
#include "sample/history.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void history_free(struct history *h)
{
    free(h->token);
    memset(h, 0, sizeof *h);
}

void history_widen(struct history *h, size_t window)
{
    if (window > h->window)
        h->window = window;
}

void history_clear(struct history *h)
{
    h->total = 0;
}

// A ring that is full before it reached its window moves to a larger one; as total < window until then, it has not wrapped.
struct fault history_add(struct history *h, uint32_t token)
{
    if (h->window == 0) {
        h->total++;
        return fault_none();
    }
    if (h->total >= h->cap && h->cap < h->window) {
        size_t cap = h->cap ? h->cap * 2 : 256;
        cap = cap < h->window ? cap : h->window;
        if (!mem_grow(&h->token, &h->cap, cap, sizeof *h->token))
            return fault_memory();
    }
    h->token[h->total++ % h->cap] = token;
    return fault_none();
}

size_t history_len(const struct history *h, size_t window)
{
    return h->total < window ? h->total : window;
}

uint32_t history_newest(const struct history *h, size_t i)
{
    return h->token[(h->total - 1 - i) % h->cap];
}

void history_copy(const struct history *h, uint32_t *to, size_t n)
{
    size_t at = n ? h->total % h->cap : 0;
    for (size_t i = 0; i < n; i++) {
        at = at ? at - 1 : h->cap - 1;
        to[i] = h->token[at];
    }
}

void tally_attach(struct tally *t, struct history *h)
{
    // one more than the window, to see which token leaves it
    history_widen(h, t->window == HISTORY_ALL ? HISTORY_ALL : t->window + 1);
}

void tally_free(struct tally *t)
{
    idmap_free(&t->tokens);
    free(t->count);
    memset(t, 0, sizeof *t);
}

void tally_clear(struct tally *t)
{
    idmap_clear(&t->tokens);
}

static struct fault count_up(struct tally *t, uint32_t token)
{
    const size_t known = t->tokens.n, i = idmap_add(&t->tokens, token);
    if (i == IDMAP_NONE || !mem_grow(&t->count, &t->count_cap, i + 1, sizeof *t->count))
        return fault_memory();
    if (i == known)
        t->count[i] = 0;
    t->count[i]++;
    return fault_none();
}

struct fault tally_update(struct tally *t, const struct history *h)
{
    if (!t->window)
        return fault_none();
    const size_t len = history_len(h, t->window);
    if (h->total > len && len == t->window)
        t->count[idmap_find(&t->tokens, history_newest(h, len))]--;
    struct fault fault = count_up(t, history_newest(h, 0));
    if (fault.code || t->tokens.n <= 2 * len + 64)
        return fault;
    // Mostly tokens that have left: count afresh. Happens once in `window` tokens at most.
    idmap_clear(&t->tokens);
    for (size_t i = len; i-- && !fault.code;)
        fault = count_up(t, history_newest(h, i));
    return fault;
}
