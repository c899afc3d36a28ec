// SPDX-License-Identifier: MIT
// A suffix automaton (Blumer et al. 1985) of a history: tells where its newest tokens occurred before, and which token
// came next each time.
//
// Plain algorithm: for each row, compare the newest tokens with those before every earlier position. Too slow: that is
// O(history) for each row, and O(history^2) for a text.
//
// Idea: sequences of tokens that end at the same positions of the history cannot be told apart by what follows them, so
// that one state stands for all of them. They are the suffixes of the longest sequence of the state, from its length
// down to one above the length of the state `shorter`, which has the shorter suffixes; these end at more positions. An
// edge with a token leads from the state of a sequence to the state of the sequence with that token behind it. A
// history of n tokens has at most 2 n states and 3 n edges, and a new token adds O(1) of them on average.
//
// From the state of the whole history, the links `shorter` lead through the states of all its suffixes, from long to
// short. The edges of each are exactly the tokens that came next after that suffix: the result is the same set of
// tokens and lengths as that of the plain algorithm.
//
// Tokens cannot leave the automaton again.
#ifndef SAMPL_SAMPLE_SUFFIXES_H
#define SAMPL_SAMPLE_SUFFIXES_H

#include "sample/history.h"

#define SUFFIX_NONE UINT32_MAX

struct suffix_state {
    uint32_t length;  // of its longest sequence
    uint32_t shorter; // a state; SUFFIX_NONE behind that of no tokens
    uint32_t edge;    // the first of its edges, whose tokens all differ; SUFFIX_NONE: none
};

struct suffix_edge {
    uint32_t from, token, to, next;
};

// A zeroed struct is the automaton of an empty history.
struct suffixes {
    struct suffix_state *state; // [n_states]
    struct suffix_edge *edge;   // [edges.n]
    struct hash_table edges;
    size_t state_cap, n_states, edge_cap;
    uint32_t whole; // the state of the whole history, which no token follows
    size_t least;   // tokens
    uint32_t at;    // the state of the suffix that has `least` tokens, or is all
};

void suffixes_free(struct suffixes *s); // leaves s empty

// Adds the tokens that are new in a history, which keeps all its tokens, and finds s->at. O(1) a new token, on average;
// a `least` that differs from the last call's costs a walk through the suffixes. Returns false, and leaves s empty,
// when memory is short (a token takes some 150 bytes) or the history has 2^30 tokens.
bool suffixes_update(struct suffixes *s, const struct history *h, size_t least);

#endif
