// SPDX-License-Identifier: MIT
// The candidate store for its owner: loading rows, and looking at the candidates in the row's order.
#ifndef SAMPL_SAMPLE_CAND_LOAD_H
#define SAMPL_SAMPLE_CAND_LOAD_H

#include "sample/cand.h"

// Prepares an empty store; every want_ member but want_notes is true. kern outlives the store.
void cand_init(struct cand *c, const struct kern *kern);
void cand_free(struct cand *c);

// Starts a row in id order: dense, or a list if the row is sparse. The row's arrays must stay until the next load.
// Refuses NaN, +inf and a row without a finite logit that is not masked.
struct fault cand_load(struct cand *c, const struct row *row);

// Loads a row that several chains see. What loading and ranking the row finds out is kept in the cache for the next
// load of the same row.
struct fault cand_load_shared(struct cand *c, const struct row *row, struct row_cache *cache);

// Writes the logits in the row's order to logit[0..n_row): -inf for what is removed or masked.
void cand_snapshot(const struct cand *c, float *logit);

// The token at a place of the row.
uint32_t cand_row_id(const struct cand *c, size_t place);

// A token's place in the row; n_row if the row does not have it.
size_t cand_row_place(const struct cand *c, uint32_t id);

// Writes the noise of a token that the selector chose among, if c->want_notes was set. False if the selector adds no
// noise, or the token was removed.
bool cand_noise_of(const struct cand *c, uint32_t id, struct noised *to);

// Returns what the selector kept of all its candidates, in its order, under the same conditions; else NULL.
const struct noise *cand_noise(const struct cand *c);

#endif
