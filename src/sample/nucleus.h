// SPDX-License-Identifier: MIT
// The smallest set of candidates that holds a share of the probability: it grows by one after the other, in f32, until the sum is enough.
#ifndef SAMPL_SAMPLE_NUCLEUS_H
#define SAMPL_SAMPLE_NUCLEUS_H

#include "kern/kern.h"

#include <stdbool.h>

// Stated first: limit, past and least; the rest is 0.
struct nucleus {
    float limit;  // the sum is enough when it reaches this,
    bool past;    // or only when it is above it;
    size_t least; // and the candidates are at least as many
    size_t n;     // candidates so far
    float sum;    // of their probabilities
    bool full;    // is it enough?
};

// Takes in the next candidates, whose probabilities are p[0..n), none negative, until it is enough. At least one, unless it is full.
void nucleus_take(struct nucleus *x, const struct kern *kern, const float *p, size_t n);

#endif
