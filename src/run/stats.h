// SPDX-License-Identifier: MIT
// --stats: what the chain did to the distributions of a run, on average.
#ifndef SAMPL_RUN_STATS_H
#define SAMPL_RUN_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Of one row.
struct row_stats {
    size_t kept;                                      // candidates that are not masked after the chain
    double entropy_before, entropy_after, divergence; // in nats
    bool agrees;                                      // the chosen token is the one with the largest logit of the input
};

// Of a run; the rows come in order, so that the sums do not depend on threads.
struct stats {
    uint64_t rows, bad, agree;
    double kept, entropy_before, entropy_after, divergence;
};

void stats_add(struct stats *s, const struct row_stats *row);

// Prints the lines that the manual page describes on stderr.
void stats_print(const struct stats *s, double seconds);

#endif
