// SPDX-License-Identifier: MIT
// A chain: logit-bias (if any), the chosen samplers in order, one selector. It owns the samplers' states and the history they share.
#ifndef SAMPL_SAMPLE_CHAIN_H
#define SAMPL_SAMPLE_CHAIN_H

#include "sample/registry.h"

// A stage with its own parameters: a name may come twice with different values.
struct choice {
    const struct registry_row *row;
    struct params params;
};

// The stages that n choices and the common parameters p come to, disabled ones included, in order: logit-bias; the choices, or with
// p->mirostat a plain temperature; one selector, wherever it stood among the choices, or dist. plan has room for n + 3. Returns how many.
size_t chain_plan(const struct params *p, const struct choice *choice, size_t n, struct choice *plan);

// Does a stage do anything with its parameters?
bool chain_enabled(const struct choice *stage);

struct chain;

// Builds a plan's enabled stages. Copies what it needs, except the arrays that params point to. NULL and *fault on failure.
struct chain *chain_new(const struct choice *plan, size_t n, struct fault *fault);
void chain_free(struct chain *ch);

// Starts a new sequence whose generators are seeded with seed. A new chain stands there, with the seeds of its plan.
void chain_reset(struct chain *ch, uint32_t seed);

// Has the chain keep every token, so that another can adopt its history. Before the first token.
void chain_remember(struct chain *ch);

// Goes on, with other parameters, where another chain stands that remembered: takes over its history, and of each stage the generator and
// what it has learnt, unless it is seeded differently. Those of stages that ch has not are kept for a chain that goes on from ch. ch is
// new; other stays as it is.
struct fault chain_adopt(struct chain *ch, struct chain *other);

// Told of a stage (by its index in the plan) that has just run on c.
typedef struct fault chain_watch_fn(void *arg, size_t stage, struct cand *c);

// Runs every stage on a loaded row; c->chosen is then the answer and c->p the final distribution over c's candidates. watch may be NULL.
// After a fault the generators of stages that can skip rows stand as after a good row.
struct fault chain_apply(struct chain *ch, struct cand *c, chain_watch_fn *watch, void *arg);

// The most that any of a plan's enabled stages must know of earlier rows; *stage, unless that is nothing, is the index of the first
// such stage. stage may be NULL.
enum carry chain_carry(const struct choice *plan, size_t n, size_t *stage);

// Leaves the chain as if so many rows had been sampled; stages that carry rows stay as they are.
void chain_skip(struct chain *ch, uint64_t rows);

// Tells every stage that this token is the next of the sequence.
struct fault chain_accept(struct chain *ch, uint32_t token);

#endif
