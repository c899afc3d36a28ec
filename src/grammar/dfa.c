// SPDX-License-Identifier: MIT
#include "grammar/dfa.h"

#include "base/mem.h"
#include "grammar/trie.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// The bits of a character that do not matter any more: whatever they are, the stacks that are left match it.
#define ANY_VALUE UINT32_MAX

bool dfa_init(struct dfa *d, const struct grammar *g)
{
    *d = (struct dfa){0};
    if (!stacks_init(&d->stacks, g))
        return false;
    const edge start = dfa_edge(d, (struct dfa_state){.set = stacks_start(&d->stacks)});
    assert(start != EDGE_DEAD); // as rules_check has seen to
    return start != EDGE_BAD;
}

void dfa_free(struct dfa *d)
{
    stacks_free(&d->stacks);
    intern_free(&d->state);
    free(d->next);
    free(d->note);
    *d = (struct dfa){0};
}

struct dfa_state dfa_get(const struct dfa *d, uint32_t state)
{
    size_t n;
    assert(state < d->state.n);
    const uint32_t *const word = intern_get(&d->state, state, &n);
    return (struct dfa_state){word[0], word[1], word[2], word[3]};
}

// Picks the frames of a set whose classes hold some of the characters low..high. Do these classes hold all of them?
static bool pick(struct dfa *d, uint32_t set, uint32_t low, uint32_t high)
{
    struct stacks *const s = &d->stacks;
    size_t n_frames, n;
    const struct frame *const frame = stacks_frames(s, set, &n_frames);
    bool all = true;
    s->n_top = 0;
    for (size_t i = 0; i < n_frames; i++) {
        const struct element *const e = &s->g->element[frame[i].at];
        if (e->type != ELEMENT_CLASS)
            continue;
        const struct range *const range = class_ranges(s->g, e->value, &n);
        if (!n || range[0].first > high || range[n - 1].last < low) // most, and soon known
            continue;
        if (!ranges_meet(range, n, low, high))
            continue;
        all = all && (low == high || ranges_cover(range, n, low, high));
        stacks_pick(s, frame[i]);
    }
    return all;
}

// Picks those that match some character that the bytes to come can make of what has begun.
static bool pick_begun(struct dfa *d, const struct dfa_state *s, bool overlong)
{
    assert(s->more && s->more < 4 && s->value != ANY_VALUE);
    const uint32_t low = s->value << 6 * s->more, high = low | ((1u << 6 * s->more) - 1);
    const uint32_t least = s->more == 2 ? 1u << 11 : 1u << 16;
    return pick(d, s->set, low || overlong ? low : least, high);
}

// May a token end here? Inside a character, when some valid way of completing it fits; overlong forms are not valid.
static bool may_end(struct dfa *d, const struct dfa_state *s)
{
    if (!s->more || s->value == ANY_VALUE)
        return true;
    if (s->more == 1 && s->value < 2)
        return false;
    pick_begun(d, s, false);
    return d->stacks.n_top;
}

edge dfa_edge(struct dfa *d, struct dfa_state s)
{
    const uint32_t word[] = {s.set, s.more, s.lax, s.value};
    const size_t known = d->state.n;
    edge e = EDGE_DEAD;
    assert(s.more < 4);
    if (s.set != STACKS_NONE) {
        const bool room = mem_grow(&d->next, &d->next_cap, known + 1, sizeof *d->next) &&
                          mem_grow(&d->note, &d->note_cap, known + 1, sizeof *d->note);
        const uint32_t id = room ? intern_add(&d->state, word, 4) : INTERN_NONE;
        if (id >= UINT32_MAX / 2) {
            d->stacks.fault = fault_memory();
        } else if (id == known) {
            memset(d->next[id], 0, sizeof d->next[id]);
            d->note[id] = (struct dfa_note){.run.kinds = RUN_UNKNOWN};
        }
        e = (id + 1) << 1 | may_end(d, &s);
    }
    return d->stacks.fault.code ? EDGE_BAD : e;
}

// Where a lead byte or a continuation has led, s being inside a character: dead when nothing can match it. When each
// class matches either all the characters that it can become or none, only the stacks that match are kept and the
// bits are forgotten; so most characters of a script lead to the same state.
static edge inside(struct dfa *d, struct dfa_state s)
{
    if (s.value != ANY_VALUE) {
        const bool alike = pick_begun(d, &s, true) && s.value > (s.more == 1);
        if (alike || !d->stacks.n_top) {
            s.set = stacks_picked(&d->stacks, false);
            s.value = ANY_VALUE;
        }
    }
    return dfa_edge(d, s);
}

edge dfa_find(struct dfa *d, uint32_t state, unsigned char byte)
{
    struct dfa_state s = dfa_get(d, state);
    edge e = EDGE_DEAD;
    bool fits = byte && (!s.more || s.lax || byte >> 6 == 2);
    if (s.more) {
        s.value = s.value == ANY_VALUE ? ANY_VALUE : s.value << 6 | (byte & 0x3fu);
        s.more--;
    } else if (byte < 0x80) {
        s.value = byte;
    } else {
        fits = byte >= 0xc0;
        s.more = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
        s.value = byte & (0x7fu >> s.more);
        s.lax = true;
    }
    if (fits && s.more) {
        e = inside(d, s);
    } else if (fits) { // the character is whole; ANY_VALUE is any that the classes have come down to
        pick(d, s.set, s.value == ANY_VALUE ? 0 : s.value, s.value);
        e = dfa_edge(d, (struct dfa_state){.set = stacks_after(&d->stacks)});
    }
    d->next[state][byte] = e;
    return e;
}

bool dfa_find_run(struct dfa *d, uint32_t state)
{
    edge best = EDGE_DEAD; // what more than half of the live ones are, if there is one (Boyer and Moore's vote)
    uint64_t kinds = 0, other = TRIE_OTHER;
    for (unsigned char byte = 1, votes = 0; byte < 128; byte++) {
        const edge e = dfa_next(d, state, byte);
        if (e == EDGE_BAD)
            return false;
        if (e == EDGE_DEAD)
            continue;
        best = votes ? best : e;
        votes = e == best ? votes + 1 : votes - 1;
    }
    for (unsigned char byte = 1; byte < 128; byte++) {
        if (best != EDGE_DEAD && best & 1 && d->next[state][byte] == best)
            kinds |= trie_kind(byte);
        else
            other |= trie_kind(byte);
    }
    d->note[state].run = (struct dfa_run){kinds & ~other, edge_state(best)};
    return true;
}
