// SPDX-License-Identifier: MIT
#include "sample/suffixes.h"

#include "base/mem.h"

#include <stdlib.h>

void suffixes_free(struct suffixes *s)
{
    free(s->state);
    free(s->edge);
    hash_free(&s->edges);
    *s = (struct suffixes){0};
}

static uint32_t edge_hash(uint32_t from, uint32_t token) { return hash_id(hash_id(from) ^ token); }

static struct suffix_edge *find_edge(const struct suffixes *s, uint32_t from, uint32_t token)
{
    const uint32_t hash = edge_hash(from, token);
    size_t at = hash, i;
    while ((i = hash_next(&s->edges, hash, &at)) != HASH_NONE)
        if (s->edge[i].from == from && s->edge[i].token == token)
            return &s->edge[i];
    return NULL;
}

static bool add_edge(struct suffixes *s, uint32_t from, uint32_t token, uint32_t to)
{
    const size_t n = s->edges.n;
    if (!mem_grow(&s->edge, &s->edge_cap, n + 1, sizeof *s->edge) ||
        !hash_add(&s->edges, edge_hash(from, token), (uint32_t)n))
        return false;
    s->edge[n] = (struct suffix_edge){from, token, to, s->state[from].edge};
    s->state[from].edge = (uint32_t)n;
    return true;
}

static bool add_state(struct suffixes *s, size_t length, uint32_t shorter)
{
    if (!mem_grow(&s->state, &s->state_cap, s->n_states + 1, sizeof *s->state))
        return false;
    s->state[s->n_states++] = (struct suffix_state){(uint32_t)length, shorter, SUFFIX_NONE};
    return true;
}

// Splits the state `whole`, reached from `from` with the token: its sequences of at most length(from) + 1 tokens now
// end at one position more than its longer ones, and move to a state of their own. That state has the same edges, since
// what followed these sequences so far is the same.
static bool split_state(struct suffixes *s, uint32_t whole, uint32_t from, uint32_t token)
{
    const uint32_t made = (uint32_t)s->n_states;
    if (!add_state(s, s->state[from].length + 1, s->state[whole].shorter))
        return false;
    for (uint32_t i = s->state[whole].edge; i != SUFFIX_NONE; i = s->edge[i].next)
        if (!add_edge(s, made, s->edge[i].token, s->edge[i].to))
            return false;
    s->state[whole].shorter = made;
    for (; from != SUFFIX_NONE; from = s->state[from].shorter) {
        struct suffix_edge *const edge = find_edge(s, from, token);
        if (edge->to != whole)
            break;
        edge->to = made;
    }
    return true;
}

// Appends a token. Each suffix of the old history is now followed by the token. Walks through the suffixes' states from
// long to short: those that have no edge with the token get one to the new state. The first that has one leads to
// sequences that occurred before; they are the longest suffixes of the new history that end at several positions, and
// become `shorter` of the new state. If the state they belong to also has longer sequences, it is split.
static bool append_token(struct suffixes *s, uint32_t token)
{
    const uint32_t made = (uint32_t)s->n_states;
    const struct suffix_edge *edge = NULL;
    uint32_t from = s->whole;
    if (!add_state(s, s->state[from].length + 1, 0))
        return false;
    for (; from != SUFFIX_NONE && !(edge = find_edge(s, from, token)); from = s->state[from].shorter)
        if (!add_edge(s, from, token, made))
            return false;
    s->whole = made;
    if (!edge)
        return true;
    const uint32_t to = edge->to;
    const bool fits = s->state[to].length == s->state[from].length + 1;
    if (!fits && !split_state(s, to, from, token))
        return false;
    s->state[made].shorter = fits ? to : s->state[to].shorter;
    return true;
}

// Sets s->at, beginning at a state from which `shorter` leads to it: the last state whose longest sequence has s->least
// tokens or more.
static void find_least(struct suffixes *s, uint32_t from)
{
    for (s->at = from; from != SUFFIX_NONE && s->state[from].length >= s->least; from = s->state[from].shorter)
        s->at = from;
}

bool suffixes_update(struct suffixes *s, const struct history *h, size_t least)
{
    bool ok = h->total < 1u << 30 && (s->n_states || add_state(s, 0, SUFFIX_NONE));
    s->whole = s->n_states == 1 ? 0 : s->whole;
    if (ok && least != s->least) {
        s->least = least;
        find_least(s, s->whole);
    }
    while (ok && s->state[s->whole].length < h->total) {
        const size_t known = s->state[s->whole].length;
        const uint32_t token = history_newest(h, h->total - 1 - known);
        ok = append_token(s, token);
        if (ok) // one token more, one less at the other end
            find_least(s, known < least ? s->whole : find_edge(s, s->at, token)->to);
    }
    if (!ok)
        suffixes_free(s);
    return ok;
}
