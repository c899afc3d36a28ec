// SPDX-License-Identifier: MIT
// A chain: stages run one after the other, with their states and the history they share. The last stage is a selector.
#ifndef SAMPL_CHAIN_CHAIN_H
#define SAMPL_CHAIN_CHAIN_H

#include "sample/cand_load.h"
#include "sample/sampler.h"

// The knowledge of earlier rows that a stage needs for a row.
enum carry {
    CARRY_NOTHING, // at most how many there were
    CARRY_TOKENS,  // the accepted tokens
    CARRY_ROWS,    // the rows themselves: they must have been sampled
};

// Returns the most that any enabled one of n stages must know of earlier rows. Unless that is nothing, *at becomes the
// index of the first such stage; at may be NULL.
enum carry stages_carry(const struct stage *stage, size_t n, size_t *at);

struct chain;

// Returns the chain of the enabled ones among n stages, at the start of a sequence, with generators seeded with seed;
// NULL when memory is short. The stages must outlive the chain or the next chain_change.
struct chain *chain_new(const struct stage *stage, size_t n, uint64_t seed);
void chain_free(struct chain *ch);

// Starts a new sequence.
void chain_reset(struct chain *ch, uint64_t seed);

// Makes the chain keep every token, so that its stages can change. Must be called before the first token.
void chain_remember(struct chain *ch);

// Goes on with other stages. History and generators stay. The k-th stage of a sampler goes on with the state of the
// k-th stage of that sampler before; states without a stage are kept for a later change. Needs chain_remember. Returns
// false, and changes nothing, when memory is short.
bool chain_change(struct chain *ch, const struct stage *stage, size_t n);

// Seeds the generators anew, and resets the states of the stages. The history stays.
void chain_reseed(struct chain *ch, uint64_t seed);

// Returns true if no stage runs before the selector.
bool chain_only_selects(const struct chain *ch);

// Called after each stage, with its index, its state, and the candidates it left.
typedef struct fault chain_watch_fn(void *arg, size_t stage, const void *state, struct cand *c);

// Runs every stage on a loaded row. c->chosen is then the chosen token, and c->p, if c->want_p, the final distribution
// over the candidates. watch may be NULL. After a fault, the generators of stages that can skip rows are in
// the same state as after a row without a fault.
struct fault chain_apply(struct chain *ch, struct cand *c, chain_watch_fn *watch, void *arg);

// Advances the generators as if so many rows of `width` tokens had been sampled; 0: as wide as the row before. Stages
// that carry rows stay as they are.
void chain_skip(struct chain *ch, uint64_t rows, uint64_t width);

// Adds the next token of the sequence, or of its prompt, to the history, and calls the accept function of every stage.
// Returns false when memory is short.
bool chain_accept(struct chain *ch, uint32_t token);
bool chain_accept_prompt(struct chain *ch, uint32_t token);

#endif
