// SPDX-License-Identifier: MIT
#include "grammar/dfa.h"

#include "base/mem.h"
#include "grammar/trie.h"

#include <assert.h>
#include <stdlib.h>

// A state's value when the bits of the character no longer matter: each stack of its set matches the character,
// whatever the bits are.
#define ANY_VALUE UINT32_MAX

bool dfa_init(struct dfa *d, const struct grammar *g)
{
    *d = (struct dfa){0};
    if (!stacks_init(&d->stacks, g))
        return false;
    const edge start = dfa_edge(d, (struct dfa_state){.set = stacks_start(&d->stacks)});
    assert(start != EDGE_DEAD); // rules_check refuses a grammar without a first terminal or an empty text
    return start != EDGE_BAD;
}

void dfa_free(struct dfa *d)
{
    stacks_free(&d->stacks);
    intern_free(&d->state);
    free(d->node);
    *d = (struct dfa){0};
}

// Picks the frames of a set whose classes hold at least one of the characters low..high. Returns whether each of these
// classes holds all of them.
static bool pick(struct dfa *d, uint32_t set, uint32_t low, uint32_t high)
{
    struct stacks *const s = &d->stacks;
    const struct frames f = stacks_frames(s, set);
    bool all = true;
    s->n_top = 0;
    for (size_t i = 0; i < f.n; i++) {
        const struct element *const e = &s->g->element[f.frame[i].at];
        if (e->type != ELEMENT_CLASS)
            continue;
        size_t n;
        const struct range *const range = class_ranges(s->g, e->value, &n);
        if (!n || range[0].first > high || range[n - 1].last < low || !ranges_meet(range, n, low, high))
            continue;
        all = all && (low == high || ranges_cover(range, n, low, high));
        stacks_pick(s, f.frame[i]);
    }
    return all;
}

// Picks the frames that match at least one character that the state's begun character can become. Overlong forms
// count as characters only if `overlong`. Returns whether each picked frame matches all of these characters.
static bool pick_begun(struct dfa *d, const struct dfa_state *s, bool overlong)
{
    assert(s->more && s->more < 4 && s->value != ANY_VALUE);
    const uint32_t low = s->value << 6 * s->more, high = low | ((1u << 6 * s->more) - 1);
    const uint32_t least = s->more == 2 ? 1u << 11 : 1u << 16;
    return pick(d, s->set, low || overlong ? low : least, high);
}

// Returns whether a token may end in a state. Inside a character it may if some completion fits that is no overlong
// form.
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
        const bool grown = mem_grow(&d->node, &d->node_cap, known + 1, sizeof *d->node);
        const uint32_t id = grown ? intern_add(&d->state, word, 4) : INTERN_NONE;
        if (id >= UINT32_MAX / 2)
            d->stacks.fault = fault_memory();
        else if (id == known)
            d->node[id] = (struct dfa_node){.state = s, .run.kinds = RUN_UNKNOWN};
        e = (id + 1) << 1 | may_end(d, &s);
    }
    return d->stacks.fault.code ? EDGE_BAD : e;
}

// Returns the edge to a state inside a character, after its lead byte or a continuation byte.
//
// Plainly, the state would keep the set and all bits so far: thousands of states for the scripts of a class such as
// [^"]. But if each class holds either all the characters that the begun one can become or none of them, the other
// bits decide nothing. The state then keeps only the stacks that match, and ANY_VALUE: most characters of a script
// share it. The masks are equal: the last byte leaves just these stacks, whatever its bits are. A character that may
// become an overlong form keeps its bits, because may_end does not count overlong forms. If no stack is left, the edge
// is dead.
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
    struct dfa_state s = d->node[state].state;
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
    } else if (fits) { // the character is whole; with ANY_VALUE all frames of the set match it
        pick(d, s.set, s.value == ANY_VALUE ? 0 : s.value, s.value);
        e = dfa_edge(d, (struct dfa_state){.set = stacks_after(&d->stacks)});
    }
    d->node[state].next[byte] = e;
    return e;
}

bool dfa_find_run(struct dfa *d, uint32_t state)
{
    edge best = EDGE_DEAD; // more than half of the live edges, if there is such a one (Boyer and Moore's vote)
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
        if (best != EDGE_DEAD && best & 1 && d->node[state].next[byte] == best)
            kinds |= trie_kind(byte);
        else
            other |= trie_kind(byte);
    }
    d->node[state].run = (struct dfa_run){kinds & ~other, edge_state(best)};
    return true;
}
