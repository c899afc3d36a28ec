// SPDX-License-Identifier: MIT
// What a run has come to so far: the line on stderr, when that is a terminal, that says how far it is, and --stats at its end.
#ifndef SAMPL_RUN_TOTALS_H
#define SAMPL_RUN_TOTALS_H

#include "run/measure.h"

struct totals {
    uint64_t rows, bad;     // bad ones are among the rows
    double sum[STAT_MEANS]; // over the good ones; they come in order, so that sums do not depend on threads
    uint64_t greedy;        // good ones whose chosen token is the likeliest, raw
    double bytes;

    bool shows;          // the line
    int64_t total;       // rows there will be, or -1
    double start, shown; // seconds, on a clock that only goes forward; shown: when the line was last written
};

// Is there anybody to see the line, on a terminal that shows no rows? Then input_rows is worth asking for the total.
bool totals_shown(bool rows_on_terminal);

void totals_start(struct totals *t, bool shows, int64_t total);

// A row is done that took so many bytes of the input; stat[STAT_COUNT] of a good one, NULL of a bad one.
void totals_add(struct totals *t, const double *stat, uint64_t bytes);

// Takes the line away.
void totals_end(struct totals *t);

// Prints the lines that the manual page describes on stderr, seed being the run's; the speed only for somebody to see.
void totals_print(const struct totals *t, uint64_t seed);

#endif
