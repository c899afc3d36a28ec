// SPDX-License-Identifier: MIT
// Where the newest tokens of a whole history occurred before, and what came next: a suffix automaton (Blumer et al.
// 1985), which takes in a token at a time, in constant time but for the search of a hash table. Tokens cannot leave it
// again.
//
// A state is a set of sequences of tokens that end at the same places of the history: the longest of them, and its
// suffixes down to where another state, `shorter`, goes on with those that end at more places. An edge leads from each
// sequence to the one with a token more.
#ifndef SAMPL_SAMPLE_SUFFIXES_H
#define SAMPL_SAMPLE_SUFFIXES_H

#include "sample/history.h"

#define SUFFIX_NONE UINT32_MAX

struct suffix_state {
    uint32_t length;  // of its longest sequence
    uint32_t shorter; // a state; SUFFIX_NONE behind that of no tokens
    uint32_t
        edge; // the first of its edges; each leads to a token that came next, all of them to different ones. SUFFIX_NONE: no more
};

struct suffix_edge {
    uint32_t from, token, to, next;
};

// A zeroed struct is that of an empty history.
struct suffixes {
    struct suffix_state *state; // [n_states]
    struct suffix_edge *edge;   // [edges.n]
    struct hash_table edges;
    size_t state_cap, n_states, edge_cap;
    uint32_t
        whole; // the state of the whole history, which has nothing behind it. From here `shorter` leads through all suffixes
    size_t least; // tokens
    uint32_t at;  // the state of the suffix that has `least` tokens, or is all
};

void suffixes_free(struct suffixes *s);
void suffixes_clear(struct suffixes *s);

// Takes in what is new in a history that keeps all its tokens, and finds s->at. Any `least` will do, but another one
// than the last costs a walk through the suffixes. False, and s is empty, when memory is short, of which each token
// takes some 150 bytes; or the numbers of edges are, from 2^30 tokens on.
bool suffixes_update(struct suffixes *s, const struct history *h, size_t least);

#endif
