// SPDX-License-Identifier: MIT
// The dense form's part of the candidate store; only cand.c calls it.
#ifndef SAMPL_SAMPLE_CAND_DENSE_H
#define SAMPL_SAMPLE_CAND_DENSE_H

#include "sample/cand.h"

// Indexes the row and checks it.
struct fault dense_load(struct cand *c, const struct row *row);

float dense_logit(const struct cand *c, uint32_t id);

struct fault dense_put(struct cand *c, uint32_t id, float logit);

// Collects the k best unmasked candidates as rank keys in c->key[0..*found), in no order; fewer when fewer are unmasked.
struct fault dense_select(struct cand *c, size_t k, size_t *found);

// Collects the candidates with logit >= floor, floor > -inf, as rank keys in c->key[0..*found), by rising id.
struct fault dense_collect(struct cand *c, float floor, size_t *found);

// Writes every logit to dst[0..n).
void dense_copy(const struct cand *c, float *dst);

// p[id] = expf(logit - max) for all n.
void dense_exp(const struct cand *c, float max, float *p);

#endif
