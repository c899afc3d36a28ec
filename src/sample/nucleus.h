// SPDX-License-Identifier: MIT
// The smallest set of candidates that holds a share of the probability: it grows by one candidate after the other, its
// probability is added up in f32, until the sum reaches the share.
#ifndef SAMPL_SAMPLE_NUCLEUS_H
#define SAMPL_SAMPLE_NUCLEUS_H

#include "sample/cand.h"

// The caller states limit, past and least; the rest is 0.
struct nucleus {
    float limit;  // the set is full when the sum reaches this,
    bool past;    // or, if past, when the sum is above this,
    size_t least; // and it has at least so many candidates
    size_t n;     // candidates so far
    float sum;    // of their probabilities
    bool full;
};

// Adds the next candidates, whose probabilities are p[0..n), none negative, until the set is full; at least one, unless
// it is full already.
void nucleus_add(struct nucleus *x, const struct kern *kern, const float *p, size_t n);

// Returns how many of the best to rank when those in `ranked` do not fill the nucleus: more than those, at most c->n.
// total: the sum of the weights of all candidates.
size_t nucleus_to_rank(struct cand *c, struct ranks ranked, float total, const struct nucleus *x);

// Keeps the nucleus of the softmax of the candidates, best first: leaves them sorted, with CAND_WEIGHTS. Returns
// whether the candidates fill the nucleus. O(n + k log k), k being the kept.
bool cand_keep_nucleus(struct cand *c, struct nucleus kept);

#endif
