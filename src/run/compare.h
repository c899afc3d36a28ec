// SPDX-License-Identifier: MIT
// What a run with variants writes: their ids row by row, their texts, or the table of what they come to.
#ifndef SAMPL_RUN_COMPARE_H
#define SAMPL_RUN_COMPARE_H

#include "base/builder.h"
#include "run/diff.h"

struct compare {
    const struct job *job;
    struct output *out;
    struct diff diff;         // rows side by side
    struct comparison *tally; // [n_variants] of the table
    struct builder *text;     // [n_variants] what the tokens say; a row costs its bytes
    uint64_t rows;            // of a page
};

// j has variants, and outlives the rest, as out does. A zeroed struct needs no compare_free.
bool compare_init(struct compare *cmp, const struct job *j, struct output *out, struct err *e);
void compare_free(struct compare *cmp);

// A row is done: res[n_variants]. Rows come in order.
bool compare_row(struct compare *cmp, const struct result *res, struct err *e);

// After the last row.
bool compare_end(struct compare *cmp, struct err *e);

// Is nothing written before the last row?
bool compare_waits(const struct job *j);

#endif
