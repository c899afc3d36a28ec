// SPDX-License-Identifier: MIT
// Counts over the rows of a run, for the progress line on stderr and for notes.
#ifndef SAMPL_RUN_TOTALS_H
#define SAMPL_RUN_TOTALS_H

#include "trace/record.h"

struct totals {
    uint64_t rows, bad; // rows counts bad ones, too
    double bytes;
    struct partial_rows {
        uint64_t rows, exact;   // partial rows; those with the outcome of the full row
        enum logit_scale scale; // of their numbers
        size_t listed;          // most tokens that such a row lists, without those that servers list besides
        double least, most;     // bounds of the probability that the lists hold
    } * partial;                // [n_partial] of each chain
    size_t n_partial, partial_cap;

    bool shows;          // the progress line is shown
    int64_t total;       // rows that will come, or -1
    double start, shown; // times of totals_start and of the last progress line, in seconds on a monotonic clock
};

// Returns whether the progress line is to be shown. It is if stderr is a window that does not show the rows, too.
bool totals_shown(bool rows_on_terminal);

void totals_start(struct totals *t, bool shows, int64_t total);

void totals_free(struct totals *t);

// Adds a row. bytes: its length in the input.
void totals_add(struct totals *t, bool good, uint64_t bytes);

// Counts the outcome of a partial row in a chain. Chains come in order. False when memory is short.
bool totals_add_partial(struct totals *t, size_t chain, const struct record *r, const struct row *row);

// Removes the progress line.
void totals_end(struct totals *t);

#endif
