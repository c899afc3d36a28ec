// SPDX-License-Identifier: MIT
// The statistics of a row (enum statistic), in f64, from logits: the same on every tier, in any number of threads and
// parts. "Raw" means the softmax of the row as it was read, before biases, bans, grammar and the engine's rounding.
#ifndef SAMPL_TRACE_MEASURE_H
#define SAMPL_TRACE_MEASURE_H

#include "sample/cand_load.h"
#include "sample/distribution.h"
#include "trace/record.h"

// The rank, from 1, of logit[place] in logit[0..n): behind all larger logits, and behind equal ones at lower places.
size_t rank_of(const struct kern *kern, const float *logit, size_t n, size_t place);

// A row as it was read. A zeroed struct is empty.
struct raw {
    const struct row *row;
    struct softmax softmax;
    size_t best;      // place of the largest logit, the first of equals
    double gap;       // between the largest logit and the next; NaN: there is no next, or it may be unlisted
    float *block_max; // of each KERN_BLOCK logits
    size_t block_cap;
};

void raw_free(struct raw *raw);

// Measures a row that c has just loaded; the row must stay. False when memory is short.
bool raw_measure(struct raw *raw, const struct row *row, const struct cand *c);

// The logit at a place of the row; -inf if it is masked, or if place is n, which stands for tokens that the row lacks.
float raw_logit(const struct raw *raw, size_t place);

// The distribution that a chain left of the row. A zeroed struct is empty.
struct after {
    const struct cand *c;
    const float *logit; // [c->n] of the candidates in the store's order
    struct softmax softmax;
    float *dense; // [c->n] logits of a dense row
    size_t dense_cap;
};

void after_free(struct after *after);

// Measures what the chain left in c; valid until c changes. False when memory is short.
bool after_measure(struct after *after, const struct cand *c);

// The logit of a token after the chain; -inf if the token was removed.
float after_logit(const struct after *after, uint32_t token);

// What is certain of a row's outcome.
struct certainty {
    bool exact;              // it is that of the full row
    const struct row *whole; // the row, if no stage but the selector ran; else NULL
};

// The log-probability of a token after the chain, -inf if it was removed. NaN if a list does not decide it. Where
// nothing has changed a list of log-probabilities, it is the listed number, in a coarse list, too; of a list with a
// tail, it follows from the tail's sum.
double after_logprob(const struct after *after, const struct certainty *of, uint32_t token);

// The number that the selector drew, or NaN.
double selector_draw(const struct cand *c);

// The share of the unit interval that a token has in the selector's draw if the token `without` is left out;
// UINT32_MAX: none.
struct interval share_of(const struct cand *c, uint32_t token, uint32_t without);

// Returns the token of the largest logit after the chain, the lowest id of equals.
uint32_t after_best(const struct after *after);

// Fills in the raw rank of the token that follows the row; NaN if it is not known. accepted: -1: none. O(n).
void measure_accepted(const struct raw *raw, const struct cand *c, int64_t accepted, double stat[STAT_COUNT]);

// Fills in all other statistics. accepted: the token that follows the row, or -1.
void measure(const struct raw *raw, const struct after *after, const struct certainty *of, int64_t accepted,
             double stat[STAT_COUNT]);

#endif
