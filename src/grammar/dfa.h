// SPDX-License-Identifier: MIT
// The grammar as an automaton over bytes, built as texts are matched. A state is a set of stacks and, inside a character, what is known
// of it. Bytes are UTF-8 read as llama.cpp reads it: within a token whatever follows a lead byte is taken for the rest of its
// character; in the token after one that ended inside a character it must be a continuation byte. So a state tells the two apart.
#ifndef SAMPL_GRAMMAR_DFA_H
#define SAMPL_GRAMMAR_DFA_H

#include "grammar/stacks.h"

// Where a byte leads: a state and, in the lowest bit, whether a token may end there. 0 is not known yet.
typedef uint32_t edge;
#define EDGE_BAD  0u // as a result: see stacks.fault
#define EDGE_DEAD 1u // the text does not fit

static inline uint32_t edge_state(edge e)
{
    return e >> 1;
}

// Kinds of byte (trie.h) that all lead to one state where a token may end: the state itself within a string, the one that has a
// repetition less to go within a limited one.
struct dfa_run {
    uint64_t kinds; // RUN_UNKNOWN: not looked at yet
    uint32_t to;
};

#define RUN_UNKNOWN UINT64_MAX

struct dfa {
    struct stacks stacks;
    struct intern state; // a set, bytes to come and a flag, the bits of the character so far; state 0 is none
    edge (*next)[256];   // [state.n] by byte
    struct dfa_run *run; // [state.n]
    size_t next_cap, run_cap;
};

// A zeroed struct may be freed. g outlives it.
bool dfa_init(struct dfa *d, const struct grammar *g);
void dfa_free(struct dfa *d);

// The state that stands between characters with this set of stacks, which is not empty. EDGE_BAD when it cannot be had.
edge dfa_between(struct dfa *d, uint32_t set);

// Finds out where a byte leads and notes it in next.
edge dfa_find(struct dfa *d, uint32_t state, unsigned char byte);

static inline edge dfa_next(struct dfa *d, uint32_t state, unsigned char byte)
{
    const edge e = d->next[state][byte];
    return e ? e : dfa_find(d, state, byte);
}

// A state as it is after the end of a token. EDGE_BAD when it cannot be had.
edge dfa_token_end(struct dfa *d, uint32_t state);

// Finds out a state's run, where most bytes below 128 lead, and notes it.
bool dfa_find_run(struct dfa *d, uint32_t state);

// A state's set of stacks; inside a character, those before it that it can still match.
uint32_t dfa_set(const struct dfa *d, uint32_t state);
bool dfa_inside(const struct dfa *d, uint32_t state);

// May the text end in a state?
bool dfa_can_end(const struct dfa *d, uint32_t state);

// Forgets all states but this one, which may get another number.
bool dfa_shrink(struct dfa *d, uint32_t *state);

#endif
