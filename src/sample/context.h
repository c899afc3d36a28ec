// SPDX-License-Identifier: MIT
// What the stages of a chain share beside their numbers: biases, and DRY's sequence breakers.
#ifndef SAMPL_SAMPLE_CONTEXT_H
#define SAMPL_SAMPLE_CONTEXT_H

#include "base/hash.h"
#include "sample/history.h"
#include "vocab/vocab.h"

// Nothing of it changes while a chain uses it.
struct context {
    const struct vocab *vocab;       // what the tokens say, or NULL
    const struct bias_table *biases; // of logit_bias
    const struct breakers *breakers; // of dry
    const struct bans *bans;
};

// What the stage bans may mask, beside what depends on its parameters.
struct bans {
    const struct tokens *sequence; // [n], none empty
    size_t n, longest;             // tokens of the longest
    const uint32_t *end;           // [n_ends] the tokens that end a text
    size_t n_ends;
};

// ---- biases, grouped by token

struct bias {
    uint32_t id;
    float bias; // finite, or -inf to ban
};

// A zeroed struct is an empty table.
struct bias_table {
    struct idmap ids; // the biased ids, each once
    size_t *end;      // [ids.n] the biases of id number j are bias[end[j-1]] ... bias[end[j]-1], in the order given
    float *bias;
};

// t is zeroed. False when memory is short; t must be freed either way.
bool bias_table_build(struct bias_table *t, const struct bias *bias, size_t n);
void bias_table_free(struct bias_table *t);

// ---- breakers: token sequences, and texts that the vocabulary turns into tokens. A text is broken off by a token that
// contains it, or by one that ends with its beginning (a head) when the texts of the tokens after it are just its rest
// (the tail).

// The rest of a breaker behind a head.
struct tail {
    struct piece text; // empty: the head contains the breaker
    size_t next;       // another tail of the same head, its index + 1; 0: none
};

// A zeroed struct has no breakers. The lists are the caller's and outlive it.
struct breakers {
    const struct tokens *sequence; // [n_sequences], none empty
    const struct piece *text;      // [n_texts], none empty
    size_t n_sequences, n_texts;

    // the rest is for context.c
    const struct vocab *vocab;
    struct idmap heads;
    size_t *first; // [heads.n] the head's first tail, its index + 1
    struct tail *tail;
    size_t first_cap, n_tails, tail_cap;
};

// Finds the heads of the texts among the tokens of v (NULL: the texts match nothing), once. v outlives b. False when
// memory is short; b must be freed either way.
bool breakers_find_heads(struct breakers *b, const struct vocab *v);
void breakers_free(struct breakers *b);

// How many tokens a breaker has at most.
size_t breakers_longest(const struct breakers *b);

// How many of the n newest tokens, newest first, stand after the last breaker: no repetition counts for more. Its first
// token is the *begin-th newest; n: there is none.
size_t breakers_since(const struct breakers *b, const uint32_t *recent, size_t n, size_t *begin);

// Is the token a breaker by itself?
bool breakers_single(const struct breakers *b, uint32_t token);

#endif
