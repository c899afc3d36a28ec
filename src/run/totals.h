// SPDX-License-Identifier: MIT
// Counts and sums over the rows of a run: the line on stderr that says how far the run is, and --stats at its end.
#ifndef SAMPL_RUN_TOTALS_H
#define SAMPL_RUN_TOTALS_H

#include "trace/record.h"

struct totals {
    uint64_t rows, bad;     // rows counts bad ones, too
    double sum[STAT_MEANS]; // over the good rows, in their order, so that sums do not depend on threads
    uint64_t greedy;        // good rows whose chosen token has the highest raw logit
    double bytes;

    bool shows;          // the line is shown
    int64_t total;       // rows that will come, or -1
    double start, shown; // seconds on a monotonic clock; shown: when the line was last written
};

// Should the line be shown: is stderr a window in which no rows appear? Then input_rows is worth asking for the total.
bool totals_shown(bool rows_on_terminal);

void totals_start(struct totals *t, bool shows, int64_t total);

// Adds a row. stat[STAT_COUNT], or NULL for a bad row; bytes: its length in the input.
void totals_add(struct totals *t, const double *stat, uint64_t bytes);

// Removes the line.
void totals_end(struct totals *t);

// Prints --stats on stderr, with the run's seed. The speed is printed to a terminal only.
void totals_print(const struct totals *t, uint64_t seed);

#endif
