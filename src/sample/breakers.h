// SPDX-License-Identifier: MIT
// DRY's sequence breakers: token sequences, and texts that the vocabulary turns into tokens. A text is broken off by a token that
// contains it, or by one that ends with its beginning (a head) when the texts of the tokens after it are just its rest (the tail).
#ifndef SAMPL_SAMPLE_BREAKERS_H
#define SAMPL_SAMPLE_BREAKERS_H

#include "base/fault.h"
#include "base/idmap.h"
#include "sample/params.h"

// The rest of a breaker behind a head.
struct tail {
    struct piece text; // empty: the head contains the breaker
    size_t next;       // another tail of the same head, its index + 1; 0: none
};

struct breakers {
    const struct params *params;
    struct idmap heads;
    size_t *first; // [heads.n] the head's first tail, its index + 1
    struct tail *tail;
    size_t first_cap, n_tails, tail_cap;
};

// Finds the heads among the tokens of p->vocab; b is zeroed. p and its texts outlive b. b must be freed either way.
struct fault breakers_init(struct breakers *b, const struct params *p);
void breakers_free(struct breakers *b);

// How many of the n newest tokens, newest first, stand after the last breaker: no repetition counts for more.
size_t breakers_since(const struct breakers *b, const uint32_t *recent, size_t n);

// Is the token a breaker by itself?
bool breakers_single(const struct breakers *b, uint32_t token);

#endif
