// SPDX-License-Identifier: MIT
// Softmaxes of logits in f64, for what is said about a distribution rather than drawn from it. The same on every tier
// and however the rows are split: exp as in kern/expf.h, and sums in eight lanes, whatever the tier.
#ifndef SAMPL_SAMPLE_DISTRIBUTION_H
#define SAMPL_SAMPLE_DISTRIBUTION_H

#include "kern/kern.h"

// The sums over w = exp(x - max) of logits x, of which max is the largest. Those that are -inf add nothing.
struct softmax {
    float max;
    double sum;   // of w
    double sum_d; // of w * (x - max)
    double
        log_sum; // ln sum. The log-probability of logit x is x - max - this, in that order: close to 0 every bit counts
};

// Of x[0..n): no NaN, no +inf, at least one finite.
struct softmax softmax_of(const struct kern *kern, const float *x, size_t n);

// From the sums of kern->softmax_sums over all logits.
struct softmax softmax_from(float max, const double sum[16]);

// The probability of a logit that is at most max.
double softmax_prob(const struct softmax *s, float x);

// The same of x[0..n).
void softmax_probs(const struct kern *kern, const struct softmax *s, const float *x, size_t n, double *p);

// In nats, not negative.
double softmax_entropy(const struct softmax *s);

// Has y[0..len) hold the logits that stand beside x[at], x[at + 1], ...
typedef void softmax_fetch_fn(const void *arg, size_t at, size_t len, float *y);

// The divergence KL(a || b) in nats, not negative: a is the softmax of x[0..n), b that of the logits which fetch gives
// for the same tokens. Infinite where b lacks what a has.
double softmax_divergence(const struct kern *kern, const struct softmax *a, const float *x, size_t n,
                          const struct softmax *b, softmax_fetch_fn *fetch, const void *arg);

#endif
