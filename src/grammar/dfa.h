// SPDX-License-Identifier: MIT
// The grammar as an automaton over bytes, built as texts are matched. A state is a set of stacks and, inside a
// character, what is known of it. Bytes are UTF-8 read as llama.cpp reads it: within a token whatever follows a lead
// byte is taken for the rest of its character; in the token after one that ended inside a character it must be a
// continuation byte. So a state tells the two apart.
#ifndef SAMPL_GRAMMAR_DFA_H
#define SAMPL_GRAMMAR_DFA_H

#include "grammar/stacks.h"

// Where a byte leads: a state's number + 1 and, in the lowest bit, whether a token may end there.
typedef uint32_t edge;
#define EDGE_BAD  0u // not known yet; as a result: see stacks.fault
#define EDGE_DEAD 1u // the text does not fit

static inline uint32_t edge_state(edge e)
{
    return (e >> 1) - 1;
}

struct dfa_state {
    uint32_t set;   // of stacks; inside a character, those before it that it can still match
    uint32_t more;  // bytes of the character still to come; 0 between characters
    uint32_t lax;   // did the character begin in this token?
    uint32_t value; // its bits so far
};

// Kinds of byte (trie.h) that all lead to one state where a token may end: the state itself within a string, the one
// that has a repetition less to go within a limited one.
struct dfa_run {
    uint64_t kinds; // RUN_UNKNOWN: not looked at yet
    uint32_t to;
};

#define RUN_UNKNOWN UINT64_MAX

// Facts about a state, beside the states that bytes lead to.
struct dfa_note {
    struct dfa_run run;
    uint64_t *mask; // the matcher's; NULL: not asked for yet
};

struct dfa {
    struct stacks stacks;
    struct intern state;   // a struct dfa_state each
    edge (*next)[256];     // [state.n] by byte
    struct dfa_note *note; // [state.n]
    size_t next_cap, note_cap;
};

// State 0 is the beginning of the text. g outlives the automaton. False on a fault. A zeroed struct may be freed, and
// so must a failed one.
bool dfa_init(struct dfa *d, const struct grammar *g);
void dfa_free(struct dfa *d);

struct dfa_state dfa_get(const struct dfa *d, uint32_t state);

// The edge that leads to a state, which is dead when its set is empty. EDGE_BAD when it cannot be had.
edge dfa_edge(struct dfa *d, struct dfa_state s);

// Finds out where a byte leads and notes it.
edge dfa_find(struct dfa *d, uint32_t state, unsigned char byte);

static inline edge dfa_next(struct dfa *d, uint32_t state, unsigned char byte)
{
    const edge e = d->next[state][byte];
    return e ? e : dfa_find(d, state, byte);
}

// Finds out a state's run, where most bytes below 128 lead, and notes it.
bool dfa_find_run(struct dfa *d, uint32_t state);

#endif
