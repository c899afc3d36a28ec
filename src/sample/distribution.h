// SPDX-License-Identifier: MIT
// Softmaxes of logits in f64, for what is said about a distribution rather than drawn from it. The same on every tier and however the
// rows are split: exp as in kern/expf.h, and sums in eight lanes, whatever the tier.
#ifndef SAMPL_SAMPLE_DISTRIBUTION_H
#define SAMPL_SAMPLE_DISTRIBUTION_H

#include "kern/kern.h"

// The sums over w = exp(x - max) of logits x, of which max is the largest. Those that are -inf add nothing.
struct softmax {
    float max;
    double sum;   // of w
    double sum_d; // of w * (x - max)
};

// Of x[0..n): no NaN, no +inf, at least one finite.
struct softmax softmax_of(const struct kern *kern, const float *x, size_t n);

// The log-probability of logit x is x - max - this, in that order: close to 0 every bit counts.
double softmax_log_sum(const struct softmax *s);

// The probability of a logit that is at most max.
double softmax_prob(const struct softmax *s, float x);

// In nats, not negative.
double softmax_entropy(const struct softmax *s);

// The divergence KL(a || b) in nats, not negative: a is the softmax of x[0..n), where x[i] belongs to token id[i], or i when id is
// NULL; b the softmax of y, by token. Infinite where b lacks what a has.
double softmax_divergence(const struct kern *kern, const struct softmax *a, const float *x, const uint32_t *id, size_t n,
                          const struct softmax *b, const float *y);

#endif
