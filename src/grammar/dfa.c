// SPDX-License-Identifier: MIT
#include "grammar/dfa.h"

#include "base/mem.h"
#include "grammar/trie.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// The bits of a character that do not matter any more: whatever they are, the stacks that are left match it.
#define ANY_VALUE UINT32_MAX

struct dfa_state {
    uint32_t set;
    uint32_t more;  // bytes of the character still to come; 0 between characters
    bool lax;       // the character began in this token
    uint32_t value; // its bits so far
};

static struct dfa_state get(const struct dfa *d, uint32_t state)
{
    size_t n;
    const uint32_t *const word = intern_get(&d->state, state, &n);
    return (struct dfa_state){word[0], word[1] & 7, word[1] >> 3, word[2]};
}

// The characters that the bytes to come can make of it.
static void reach(const struct dfa_state *s, uint32_t *low, uint32_t *high)
{
    assert(s->more && s->more < 4 && s->value != ANY_VALUE);
    *low = s->value << 6 * s->more;
    *high = *low | ((1u << 6 * s->more) - 1);
}

static const struct element *top_element(const struct dfa *d, uint32_t set, size_t i)
{
    return &d->stacks.g->element[stacks_top(&d->stacks, set, i).at];
}

// The characters that the i-th frame of a set waits for: none for a token.
static const struct range *top_ranges(const struct dfa *d, uint32_t set, size_t i, size_t *n)
{
    const struct element *const e = top_element(d, set, i);
    *n = 0;
    return e->type == ELEMENT_CLASS ? class_ranges(d->stacks.g, e->value, n) : NULL;
}

// May a token end here? Inside a character, when some valid way of completing it fits; overlong forms are not valid.
static bool may_end(const struct dfa *d, const struct dfa_state *s)
{
    uint32_t low, high;
    if (!s->more || s->value == ANY_VALUE)
        return true;
    if (s->more == 1 && s->value < 2)
        return false;
    reach(s, &low, &high);
    if (!low)
        low = s->more == 2 ? 1u << 11 : 1u << 16;
    for (size_t i = 0; i < stacks_count(&d->stacks, s->set); i++) {
        size_t n;
        const struct range *const range = top_ranges(d, s->set, i, &n);
        if (ranges_meet(range, n, low, high))
            return true;
    }
    return false;
}

static edge to_edge(struct dfa *d, struct dfa_state s)
{
    const uint32_t word[] = {s.set, s.more | (uint32_t)s.lax << 3, s.value};
    const size_t known = d->state.n;
    if (s.set == STACKS_BAD)
        return EDGE_BAD;
    if (s.set == STACKS_NONE)
        return EDGE_DEAD;
    const uint32_t id =
        mem_grow(&d->next, &d->next_cap, known + 1, sizeof *d->next) && mem_grow(&d->run, &d->run_cap, known + 1, sizeof *d->run)
            ? intern_add(&d->state, word, 3)
            : INTERN_NONE;
    if (id >= UINT32_MAX / 2) {
        d->stacks.fault = fault_memory();
        return EDGE_BAD;
    }
    if (id == known) {
        memset(d->next[id], 0, sizeof d->next[id]);
        d->run[id] = (struct dfa_run){.kinds = RUN_UNKNOWN};
    }
    return id << 1 | may_end(d, &s);
}

edge dfa_between(struct dfa *d, uint32_t set)
{
    return to_edge(d, (struct dfa_state){.set = set});
}

bool dfa_init(struct dfa *d, const struct grammar *g)
{
    static const uint32_t none[3] = {0};
    *d = (struct dfa){0};
    const bool ok = stacks_init(&d->stacks, g) && mem_grow(&d->next, &d->next_cap, 1, sizeof *d->next) &&
                    mem_grow(&d->run, &d->run_cap, 1, sizeof *d->run) && intern_add(&d->state, none, 3) == 0;
    if (!ok)
        d->stacks.fault = fault_memory();
    return ok;
}

void dfa_free(struct dfa *d)
{
    stacks_free(&d->stacks);
    intern_free(&d->state);
    free(d->next);
    free(d->run);
    memset(d, 0, sizeof *d);
}

// The set after a character; after any one that the set's classes have come down to, with ANY_VALUE.
static uint32_t after(struct dfa *d, uint32_t set, uint32_t c)
{
    const size_t count = stacks_count(&d->stacks, set);
    d->stacks.n_top = 0;
    for (size_t i = 0; i < count; i++) {
        const struct element *const e = top_element(d, set, i);
        if (e->type == ELEMENT_CLASS && (c == ANY_VALUE || class_has(d->stacks.g, e->value, c)) &&
            !stacks_pick(&d->stacks, stacks_top(&d->stacks, set, i)))
            return STACKS_BAD;
    }
    return stacks_after(&d->stacks);
}

// Where a lead byte or a continuation has led, s being inside a character: dead when nothing can match it. When each class matches
// either all the characters that it can become or none, only the stacks that match are kept and the bits are forgotten; so most
// characters of a script lead to the same state.
static edge inside(struct dfa *d, struct dfa_state s)
{
    const size_t count = stacks_count(&d->stacks, s.set);
    uint32_t low, high;
    bool alike = s.value > (s.more == 1 ? 1 : 0);
    if (s.value == ANY_VALUE)
        return to_edge(d, s);
    reach(&s, &low, &high);
    d->stacks.n_top = 0;
    for (size_t i = 0; i < count; i++) {
        size_t n;
        const struct range *const range = top_ranges(d, s.set, i, &n);
        if (!ranges_meet(range, n, low, high))
            continue;
        alike = alike && ranges_cover(range, n, low, high);
        if (!stacks_pick(&d->stacks, stacks_top(&d->stacks, s.set, i)))
            return EDGE_BAD;
    }
    if (!d->stacks.n_top)
        return EDGE_DEAD;
    if (alike) {
        s.set = stacks_picked(&d->stacks, false);
        s.value = ANY_VALUE;
    }
    return to_edge(d, s);
}

static edge step(struct dfa *d, struct dfa_state s, unsigned char byte)
{
    if (!byte)
        return EDGE_DEAD;
    if (s.more) {
        if (!s.lax && byte >> 6 != 2)
            return EDGE_DEAD;
        if (s.value != ANY_VALUE)
            s.value = s.value << 6 | (byte & 0x3fu);
        s.more--;
    } else if (byte < 0x80) {
        s.value = byte;
    } else if (byte < 0xc0) {
        return EDGE_DEAD;
    } else {
        s.more = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
        s.value = byte & (0x7fu >> s.more);
        s.lax = true;
    }
    return s.more ? inside(d, s) : dfa_between(d, after(d, s.set, s.value));
}

edge dfa_find(struct dfa *d, uint32_t state, unsigned char byte)
{
    assert(state && state < d->state.n);
    const edge e = step(d, get(d, state), byte);
    d->next[state][byte] = e;
    return e;
}

edge dfa_token_end(struct dfa *d, uint32_t state)
{
    struct dfa_state s = get(d, state);
    s.lax = false;
    return to_edge(d, s);
}

// The edge that more than half of the live ones are, if there is one (Boyer and Moore's vote). EDGE_BAD on a fault.
static edge most_common(struct dfa *d, uint32_t state)
{
    edge best = EDGE_DEAD;
    for (unsigned byte = 1, votes = 0; byte < 128; byte++) {
        const edge e = dfa_next(d, state, (unsigned char)byte);
        if (e == EDGE_BAD)
            return EDGE_BAD;
        if (e == EDGE_DEAD)
            continue;
        if (!votes)
            best = e;
        votes = e == best ? votes + 1 : votes - 1;
    }
    return best;
}

bool dfa_find_run(struct dfa *d, uint32_t state)
{
    const edge best = most_common(d, state);
    uint64_t kinds = 0, other = TRIE_OTHER;
    if (best == EDGE_BAD)
        return false;
    for (unsigned char byte = 1; byte < 128; byte++) {
        const uint64_t kind = trie_kind(byte);
        if (best != EDGE_DEAD && best & 1 && d->next[state][byte] == best)
            kinds |= kind;
        else
            other |= kind;
    }
    d->run[state] = (struct dfa_run){kinds & ~other, edge_state(best)};
    return true;
}

uint32_t dfa_set(const struct dfa *d, uint32_t state)
{
    return get(d, state).set;
}

bool dfa_inside(const struct dfa *d, uint32_t state)
{
    return get(d, state).more;
}

bool dfa_can_end(const struct dfa *d, uint32_t state)
{
    const struct dfa_state s = get(d, state);
    return !s.more && stacks_end(&d->stacks, s.set);
}

bool dfa_shrink(struct dfa *d, uint32_t *state)
{
    assert(*state && *state < d->state.n);
    struct dfa_state s = get(d, *state);
    static const uint32_t none[3] = {0};
    if (!stacks_shrink(&d->stacks, &s.set))
        return false;
    intern_free(&d->state);
    free(d->next);
    free(d->run);
    d->next = NULL;
    d->run = NULL;
    d->next_cap = d->run_cap = 0;
    const bool ok = intern_add(&d->state, none, 3) == 0;
    const edge e = ok ? to_edge(d, s) : EDGE_BAD;
    if (e == EDGE_BAD)
        d->stacks.fault = fault_memory();
    *state = edge_state(e);
    return e != EDGE_BAD;
}
