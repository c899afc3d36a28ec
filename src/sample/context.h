// SPDX-License-Identifier: MIT
// Data that the stages of a chain share beside their parameters: biases, bans, DRY's sequence breakers, and the vectors
// of the tokens.
#ifndef SAMPL_SAMPLE_CONTEXT_H
#define SAMPL_SAMPLE_CONTEXT_H

#include "base/hash.h"
#include "sample/embeddings.h"
#include "sample/history.h"
#include "vocab/vocab.h"

// A context does not change while a chain uses it.
struct context {
    const struct vocab *vocab;       // what the tokens say, or NULL
    const struct bias_table *biases; // of logit_bias
    const struct breakers *breakers; // of dry
    const struct bans *bans;
    const struct embeddings *embeddings; // of scatter, or NULL
};

// Tokens and sequences that the sampler bans may mask.
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

// Groups n biases by token, in the order given. t is zeroed, and must be freed whatever is returned. Returns false when
// memory is short.
bool bias_table_build(struct bias_table *t, const struct bias *bias, size_t n);
void bias_table_free(struct bias_table *t);

// ---- breakers: token sequences, and texts that the vocabulary turns into tokens. A token that contains the text
// breaks a sequence. So does a token that ends with a beginning of the text (a head), if the texts of the tokens behind
// it are just the rest (the tail).

// The rest of a breaker behind a head.
struct tail {
    struct piece text; // empty: the head contains the breaker
    size_t next;       // another tail of the same head, its index + 1; 0: none
};

// A zeroed struct has no breakers. The caller owns the lists, which outlive the struct.
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

// Finds the heads of the texts among the tokens of v; if v is NULL, the texts match nothing. Must be called once. v
// outlives b; b must be freed whatever is returned. Returns false when memory is short.
bool breakers_find_heads(struct breakers *b, const struct vocab *v);
void breakers_free(struct breakers *b);

// Returns how many tokens a breaker has at most.
size_t breakers_longest(const struct breakers *b);

// Returns how many of the n newest tokens (newest first) stand behind the last breaker; DRY counts no repetition
// further back. The first token of that breaker is the *begin-th newest; *begin is n if there is none.
size_t breakers_since(const struct breakers *b, const uint32_t *recent, size_t n, size_t *begin);

// Returns whether the token is a breaker of its own.
bool breakers_single(const struct breakers *b, uint32_t token);

#endif
