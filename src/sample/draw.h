// SPDX-License-Identifier: MIT
// Draws by the inverse of a cumulative distribution: the first candidate whose weight, added to the weights before it,
// reaches a share u of their sum.
#ifndef SAMPL_SAMPLE_DRAW_H
#define SAMPL_SAMPLE_DRAW_H

#include "sample/cand.h"
#include "sample/rng.h"

// A position, its weight, and the sums of the weights before it and through it.
struct drawn {
    size_t at;
    float weight;
    double before, through;
};

// The part of n in which a sum reaches target: the last whose before[], the sum before it, is below target, or the
// first. O(n).
size_t draw_part(const double *before, size_t n, double target);

// The first of w[0..n) at which the sum reaches target, else the last. `before` is the sum of what stands before w[0].
// n > 0. O(n).
struct drawn draw_from(const float *w, size_t n, double before, double target);

// A position of p[0..n) by the weights p[i], which need not sum to 1: std::discrete_distribution as libstdc++ has it,
// with u drawn. O(n).
size_t draw_discrete(const struct kern *kern, const float *p, size_t n, double u);

// Draws u from r, stores it in *draw, and returns draw_discrete's position. A single position needs no u: *draw is NaN.
size_t rng_discrete(struct rng *r, const struct kern *kern, const float *p, size_t n, double *draw);

// Chooses a candidate from the softmax of all, with u drawn: fills c->chosen and c->chosen_p, and c->p if c->want_p.
// Takes deferred candidates. O(n), mostly without p of all candidates; O(n log n) if rounding could decide.
void cand_draw(struct cand *c, double u);

// Chooses some candidate without a draw, for a caller that does not read which. Fails where cand_draw fails. O(blocks).
void cand_draw_any(struct cand *c);

#endif
