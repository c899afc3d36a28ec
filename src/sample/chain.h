// SPDX-License-Identifier: MIT
// A chain: stages run one after the other, with their states and the history they share. The last stage is a selector.
#ifndef SAMPL_SAMPLE_CHAIN_H
#define SAMPL_SAMPLE_CHAIN_H

#include "sample/cand_load.h"
#include "sample/sampler.h"

// Does a stage do anything with its parameters?
bool stage_enabled(const struct stage *stage);

// What a stage must know of earlier rows to work on a row.
enum carry {
    CARRY_NOTHING, // at most how many there were
    CARRY_TOKENS,  // the accepted tokens
    CARRY_ROWS,    // the rows themselves: they must have been sampled
};

// The most that any enabled one of n stages must know of earlier rows; *at, unless that is nothing, is the index of the
// first such stage. at may be NULL.
enum carry stages_carry(const struct stage *stage, size_t n, size_t *at);

struct chain;

// The chain of the enabled ones among n stages, which outlive it or the next chain_change, at the start of a sequence
// whose generators are seeded with seed. NULL when memory is short.
struct chain *chain_new(const struct stage *stage, size_t n, uint64_t seed);
void chain_free(struct chain *ch);

// Starts a new sequence.
void chain_reset(struct chain *ch, uint64_t seed);

// Has the chain keep every token, so that its stages can change. Before the first token.
void chain_remember(struct chain *ch);

// Goes on with other stages: history, generators and what stages have learnt stay with the k-th stage of a sampler, as
// long as there is one, and are kept for when there is one again. The chain remembers. False, and it stays as it was,
// when memory is short.
bool chain_change(struct chain *ch, const struct stage *stage, size_t n);

// Seeds the generators anew; the stages forget what they have learnt, the history stays.
void chain_reseed(struct chain *ch, uint64_t seed);

// Told of a stage (by its index) that has just run on c.
typedef struct fault chain_watch_fn(void *arg, size_t stage, struct cand *c);

// Runs every stage on a loaded row; c->chosen is then the answer and c->p the final distribution over c's candidates.
// watch may be NULL. After a fault the generators of stages that can skip rows stand as after a good row.
struct fault chain_apply(struct chain *ch, struct cand *c, chain_watch_fn *watch, void *arg);

// Leaves the chain as if so many rows had been sampled; stages that carry rows stay as they are.
void chain_skip(struct chain *ch, uint64_t rows);

// Tells every stage that this token is the next of the sequence, or of its prompt. False when memory is short.
bool chain_accept(struct chain *ch, uint32_t token);
bool chain_accept_prompt(struct chain *ch, uint32_t token);

#endif
