// SPDX-License-Identifier: MIT
// The softmax of the engines transformers, vllm, vllm-v2, sglang and mlx: exponentials in f32, sums in f64
// (sampl-spec(7), WIDE SUMS). These programs sum in f32 in an order that their machine chooses; the f64 sum is
// within 1e-6 of each of those.
#ifndef SAMPL_SAMPLE_SOFTMAX_WIDE_H
#define SAMPL_SAMPLE_SOFTMAX_WIDE_H

#include "sample/cand.h"

// The normaliser of a softmax.
struct normaliser {
    float max;  // the largest logit
    double sum; // of expf(logit - max), in f64 by position
    double log; // ln sum
};

// Drops masked candidates, makes a list by id, and fills p[i] = expf(logit[i] - max) / sum, rounded once to f32: leaves
// CAND_PROBABILITIES. Records a fault when every candidate is masked or the largest logit is out of range. O(n), or O(n
// log n) of an unsorted list.
struct normaliser cand_softmax_wide(struct cand *c);

// Returns the normaliser of cand_softmax_wide, the same bits, without probabilities. Drops masked candidates, and
// leaves CAND_BY_ID; a dense row without masked candidates stays dense. Records the faults of cand_softmax_wide. O(n).
struct normaliser cand_normaliser_wide(struct cand *c);

// Returns the largest logit; records the faults of cand_softmax_wide.
float cand_max_wide(struct cand *c);

// Keeps the candidates whose p is at least a floor, and those that tie with the largest logit, as cand_keep_likely of
// that softmax would. The floor times the sum of the weights lies in [low, high], whatever was rounded. Returns false,
// and leaves all candidates, if that does not tell which to keep. As cand_keep_by_weight.
bool cand_keep_share(struct cand *c, double low, double high);

// Sums of a row, in f64 and in lanes: near those of the softmax, but not their bits. Needs CAND_BY_ID or a list. O(n).
struct spread {
    double sum;     // relative distance from normaliser.sum: 2^-22 at most
    double entropy; // distance from entropy_wide: (entropy + 1) * 2^-20 at most
};
struct spread cand_spread(struct cand *c, float max);

// The entropy in nats, rounded to f32: -(p * ln p) added up in f64 by position, each product in f32; terms
// with p = 0 are left out. Needs the candidates as cand_softmax_wide leaves them. Overwrites
// the store's spare array.
float entropy_wide(struct cand *c, const struct normaliser *z);

// Keeps the candidates of a list by id for which keep[i] is not 0; at least one is. Leaves CAND_LOGITS.
void cand_keep_marked(struct cand *c, const unsigned char *keep);

// Returns the positions of the candidates by rising value[0..n), of equal values the lower position first. Stays until
// the next call of the store. O(n log n).
const uint32_t *cand_rank_rising(struct cand *c, const float *value);

// Makes the candidates a list by id.
void cand_list_by_id(struct cand *c);

#endif
