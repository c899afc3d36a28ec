// SPDX-License-Identifier: MIT
// Softmaxes of logits in f64, for what is reported about a distribution rather than drawn from it. Every tier and every
// division of the rows gives the same bits: exp is that of kern/expf.h, and sums are taken in eight lanes.
#ifndef SAMPL_SAMPLE_DISTRIBUTION_H
#define SAMPL_SAMPLE_DISTRIBUTION_H

#include "kern/kern.h"

// The sums over w = exp(x - max) of logits x, of which max is the largest. Logits of -inf add nothing.
struct softmax {
    float max;
    double sum;   // of w
    double sum_d; // of w * (x - max)
    double
        log_sum; // ln sum. The log-probability of logit x is x - max - this, in that order: close to 0 every bit counts
};

// Returns the softmax of x[0..n), which has no NaN, no +inf and at least one finite logit.
struct softmax softmax_of(const struct kern *kern, const float *x, size_t n);

// Returns the softmax from the sums of kern->softmax_sums over all logits.
struct softmax softmax_from(float max, const double sum[16]);

// Adds tokens whose weights add up to e^logit, which may be above max. mean: of their logits, by their weights.
void softmax_add(struct softmax *s, double logit, double mean);

// Returns the probability of a logit that is at most max.
double softmax_prob(const struct softmax *s, float x);

// Returns the entropy in nats, not negative.
double softmax_entropy(const struct softmax *s);

#endif
