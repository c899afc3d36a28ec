// SPDX-License-Identifier: MIT
// A chain: logit-bias (if any), the chosen samplers in order, one selector. It owns the samplers' states and the history they share.
#ifndef SAMPL_SAMPLE_CHAIN_H
#define SAMPL_SAMPLE_CHAIN_H

#include "sample/registry.h"

// One named stage with its own parameters: a name may come twice with different values.
struct choice {
    const struct registry_row *row;
    struct params params;
};

struct chain;

// Builds the chain that n choices and the common parameters p describe: a selector among the choices goes last wherever it stands, dist
// when there is none; with p->mirostat the choices are replaced by temperature and mirostat. Copies what it needs, except the arrays
// that params point to. NULL and *fault on failure.
struct chain *chain_new(const struct params *p, const struct choice *choice, size_t n, struct fault *fault);
void chain_free(struct chain *ch);

// Runs every stage on a loaded row; c->chosen is then the answer and c->p the final distribution over c's candidates.
struct fault chain_apply(struct chain *ch, struct cand *c);

// Tells every stage that this token is the next of the sequence.
struct fault chain_accept(struct chain *ch, uint32_t token);

// Starts a new sequence whose generators are seeded with seed.
void chain_reset(struct chain *ch, uint32_t seed);

#endif
