// SPDX-License-Identifier: MIT
// Variants side by side, row by row: what --diff and --dump-probs print of them.
#ifndef SAMPL_RUN_DIFF_H
#define SAMPL_RUN_DIFF_H

#include "run/observe.h"

struct diff {
    const struct job *job;
    struct output *out;
    bool headed;
    struct idmap ids; // of a dump: the tokens that are shown
    float *p;         // [ids.n][n_variants] their probabilities, below 0 where they are gone
    size_t p_cap;
    struct worst {
        double overlap;
        char *text; // [len]
        size_t len;
    } * worst; // [n] rows of --diff=N, the least overlap first
    size_t n, cap;
};

// j and out outlive d.
void diff_begin(struct diff *d, const struct job *j, struct output *out);
void diff_free(struct diff *d);

// A row that is done: res[n_variants].
bool diff_row(struct diff *d, const struct result *res, struct err *e);

// After the last row.
bool diff_end(struct diff *d, struct err *e);

// How wide a column of the variants' names is, each cut to `most`: as the widest up to `limit`; those above it stick out.
size_t names_width(const struct job *j, size_t most, size_t limit);

#endif
