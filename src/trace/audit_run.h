// SPDX-License-Identifier: MIT
// An audit of a whole run: its shares and means with their errors, and the comparison with a run that is trusted.
#ifndef SAMPL_TRACE_AUDIT_RUN_H
#define SAMPL_TRACE_AUDIT_RUN_H

#include "trace/record.h"

// The rows of a run so far. A zeroed struct is empty.
struct audit_run {
    double clip; // of margins; set by the owner
    struct audit_row {
        uint64_t sequence; // equal in the rows of one sequence, different elsewhere
        double margin;     // clipped; NaN: a list does not tell
    } * row;               // [rows]
    size_t rows, cap;
    uint64_t known; // rows whose outcome is known: the number of tokens in all that follows
    uint64_t matches, outside;
    uint64_t unknown, bad; // other rows
    double chance;         // sum over the known rows
};

void audit_run_free(struct audit_run *a);

// Adds a row. x: NULL, the row is bad. Returns false when memory is short.
bool audit_run_add(struct audit_run *a, uint64_t sequence, const struct audited *x);

// A mean, and its standard error: the larger one of two, that of independent rows and that of independent groups of
// rows, as the rows of one text are not independent. A group is a sequence if there are 20 and more, else 32 rows of a
// sequence that follow each other; with fewer than 8 groups, rows are all there is.
struct audit_mean {
    double mean, error;
    double df; // degrees of freedom of the error: the number of rows or groups, less 1
};

// The mean of a run's margins, or of their differences from those of another run on the same rows. `from` may be NULL.
// Only rows count whose margins are known. *n: their number. Returns false when memory is short.
bool audit_run_mean(const struct audit_run *a, const struct audit_run *from, uint64_t *n, struct audit_mean *to);

// Compares a run with a trusted one: three one-sided tests.
struct audit_tests {
    double match;   // Fisher's test: fewer tokens match
    double outside; // Fisher's test: more tokens are not kept
    double margin;  // Welch's test: the mean margin is larger
    bool differs;   // one of these probabilities is below a third of the limit
    double shows; // the least drop of the share of matches that runs of this length show four times in five; NaN: none
};

// Both runs have known rows. limit: as above. Returns false when memory is short.
bool audit_compare(const struct audit_run *a, const struct audit_run *trusted, double limit, struct audit_tests *to);

#endif
