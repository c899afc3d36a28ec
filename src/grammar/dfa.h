// SPDX-License-Identifier: MIT
// The grammar as an automaton over bytes, built as texts are matched. A state is a set of stacks (stacks.h) and, inside
// a character, the bits of the character so far.
//
// Bytes are UTF-8 as llama.cpp reads it. Within a token, any byte after a lead byte counts as a continuation byte. If
// a token ended inside a character, the next token must begin with a continuation byte. `lax` tells the two apart.
#ifndef SAMPL_GRAMMAR_DFA_H
#define SAMPL_GRAMMAR_DFA_H

#include "grammar/stacks.h"

// The result of a byte: a state's number + 1, shifted left by one. The lowest bit is set if a token may end there.
typedef uint32_t edge;
#define EDGE_BAD  0u // not computed yet; as a result: a fault, which stacks.fault holds
#define EDGE_DEAD 1u // the text does not fit

static inline uint32_t edge_state(edge e) { return (e >> 1) - 1; }

struct dfa_state {
    uint32_t set;   // of stacks; inside a character: those before it that some completion can match
    uint32_t more;  // bytes of the character still to come; 0 between characters
    uint32_t lax;   // 1: the character began in this token
    uint32_t value; // bits of the character so far
};

// Kinds of byte (trie.h) that all lead to the state `to`, where a token may end. Within an unlimited string `to` is
// the state itself; within a limited one it is the state with one repetition less to go.
struct dfa_run {
    uint64_t kinds; // RUN_UNKNOWN: not computed yet
    uint32_t to;
};

#define RUN_UNKNOWN UINT64_MAX

struct dfa_node {
    struct dfa_state state;
    struct dfa_run run;
    uint64_t *mask; // the matcher's; NULL: not computed yet
    edge next[256]; // by byte
};

// A zeroed struct may be freed, and so may one after a failed dfa_init.
struct dfa {
    struct stacks stacks;
    struct intern state;   // the words of each struct dfa_state
    struct dfa_node *node; // [state.n]; moves when a state is added
    size_t node_cap;
};

// Makes the automaton of a grammar, which must outlive it. State 0 is the beginning of the text. False with
// stacks.fault.
bool dfa_init(struct dfa *d, const struct grammar *g);
void dfa_free(struct dfa *d);

// Returns the edge that leads to a state, which is added if it is new. EDGE_DEAD if the set has no stack. EDGE_BAD on
// a fault.
edge dfa_edge(struct dfa *d, struct dfa_state s);

// Computes and stores the edge of a byte. EDGE_BAD on a fault.
edge dfa_find(struct dfa *d, uint32_t state, unsigned char byte);

// Returns the edge of a byte. EDGE_BAD on a fault.
static inline edge dfa_next(struct dfa *d, uint32_t state, unsigned char byte)
{
    const edge e = d->node[state].next[byte];
    return e ? e : dfa_find(d, state, byte);
}

// Computes and stores the run of a state: the kinds of byte below 128 that lead where most of these bytes lead. False
// on a fault.
bool dfa_find_run(struct dfa *d, uint32_t state);

#endif
