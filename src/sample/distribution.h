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

// Returns the probability of a logit that is at most max.
double softmax_prob(const struct softmax *s, float x);

// Writes the probabilities of x[0..n) to p.
void softmax_probs(const struct kern *kern, const struct softmax *s, const float *x, size_t n, double *p);

// Returns the entropy in nats, not negative.
double softmax_entropy(const struct softmax *s);

// Writes to y[0..len) the logits of the other distribution for the tokens of x[at], x[at + 1], ...
typedef void softmax_fetch_fn(const void *arg, size_t at, size_t len, float *y);

// Returns KL(a || b) in nats, not negative. a is the softmax of x[0..n), b that of the logits that fetch writes for the
// same tokens. Infinite if b lacks a token that a has.
double softmax_divergence(const struct kern *kern, const struct softmax *a, const float *x, size_t n,
                          const struct softmax *b, softmax_fetch_fn *fetch, const void *arg);

#endif
