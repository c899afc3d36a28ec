// SPDX-License-Identifier: MIT
// --stats: what the chain did to the distributions of a run, on average.
#ifndef SAMPL_RUN_STATS_H
#define SAMPL_RUN_STATS_H

#include "sample/cand.h"
#include "sample/distribution.h"

// Of one row.
struct row_stats {
    size_t kept;                                      // candidates that are not masked after the chain
    double entropy_before, entropy_after, divergence; // in nats
    bool agrees;                                      // the chosen token is the one with the largest logit of the input
};

// One thread's scratch: the row as it was before the chain. A zeroed struct is empty.
struct stats_scratch {
    float *before, *after; // in the row's order
    uint32_t *place;       // in that order, of each candidate of a sparse row
    size_t before_cap, after_cap, place_cap;
    struct softmax softmax; // of before
};

void stats_scratch_free(struct stats_scratch *s);

// To be called on a loaded row, and after the chain.
struct fault stats_before(struct stats_scratch *s, const struct cand *c);
struct fault stats_after(struct stats_scratch *s, const struct cand *c, struct row_stats *row);

// Of a run; the rows come in order, so that the sums do not depend on threads.
struct stats {
    uint64_t rows, bad, agree;
    double kept, entropy_before, entropy_after, divergence;
};

void stats_add(struct stats *s, const struct row_stats *row);

// Prints the lines that the manual page describes on stderr.
void stats_print(const struct stats *s, double seconds);

#endif
