// SPDX-License-Identifier: MIT
// The statistics of a row (enum statistic), each computed here and nowhere else: in f64, from logits, the same on every tier, in any number of
// threads and parts. "Raw" is the softmax of the row as it was read, before biases, bans, grammar and the engine's rounding.
#ifndef SAMPL_RUN_MEASURE_H
#define SAMPL_RUN_MEASURE_H

#include "out/output.h"
#include "sample/cand_load.h"
#include "sample/distribution.h"

// The rank of the logit at a place of logit[0..n), from 1: behind all that are larger, and those as large before it. The place may be n, if
// there is one.
size_t rank_of(const struct kern *kern, const float *logit, size_t n, size_t place);

// A row as it was read. A zeroed struct is empty.
struct raw {
    const struct row *row;
    struct softmax softmax;
    float *block_max; // of each KERN_BLOCK logits
    size_t block_cap;
};

void raw_free(struct raw *raw);

// Takes a row that has just been loaded, and must stay. False when memory is short.
bool raw_take(struct raw *raw, const struct row *row, const struct cand *c);

// The logit at a place of the row; -inf if it is masked, or the place is behind the last, for tokens that the row lacks.
float raw_logit(const struct raw *raw, size_t place);

// What a chain has made of the row. A zeroed struct is empty.
struct after {
    const float *logit; // [n] of the candidates as they lie in c; of a dense row by id
    size_t n;
    struct softmax softmax;
    uint32_t *place; // [n] of each in the row, or NULL: as they lie
    float *room;
    size_t room_cap, place_cap;
};

void after_free(struct after *after);

// Takes what the chain left, which holds as long as c stays. False when memory is short.
bool after_take(struct after *after, const struct cand *c);

// The probability of a token after the chain; 0 if it is gone.
double after_prob(const struct after *after, const struct cand *c, uint32_t token);

// The number that the selector drew, or NaN.
double selector_draw(const struct cand *c);

// The share of the unit interval that a token has in the selector's draw, when one token is left out (UINT32_MAX: none).
struct interval share_of(const struct cand *c, uint32_t token, uint32_t without);

// All of them, of the row that c came from and the token that was chosen. accepted: the token that follows the row, or -1.
void measure(const struct raw *raw, const struct after *after, const struct cand *c, int64_t accepted,
             double stat[STAT_COUNT]);

#endif
