// SPDX-License-Identifier: MIT
// Between the parts of the candidate store: the dense form, and memory. Only cand*.c call these.
#ifndef SAMPL_SAMPLE_CAND_DENSE_H
#define SAMPL_SAMPLE_CAND_DENSE_H

#include "sample/cand.h"

// Room for n candidates in list form; for n keys and as much scratch.
struct fault cand_need_list(struct cand *c, size_t n);
struct fault cand_need_keys(struct cand *c, size_t n);

// The largest logit, and a fault unless it is finite.
struct fault cand_range(struct cand *c, float *max);

// Indexes the row and checks it.
struct fault dense_load(struct cand *c, const struct row *row);

// The lowest finite f16 stands for a mask; this is the one above it.
#define F16_LOWEST (-65472.0f)

// cand_round_f16 of a dense row: from now on elements are rounded when they are read.
struct fault dense_round_f16(struct cand *c);

// The largest logit; -inf when all are masked. Its token is rank_id(c->key[0]) unless it is -inf.
struct fault dense_max(struct cand *c, float *max);

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
