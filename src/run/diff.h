// SPDX-License-Identifier: MIT
// Variants side by side, row by row: what --diff and --dump-probs say of them.
#ifndef SAMPL_RUN_DIFF_H
#define SAMPL_RUN_DIFF_H

#include "run/observe.h"

struct diff {
    const struct job *job;
    struct output *out;

    // --dump-probs: the tokens that are shown
    struct idmap ids;     // in the order they were found
    struct united *token; // [ids.n]
    float *p;             // [ids.n][n_variants]
    size_t token_cap, p_cap;

    // --diff
    struct choice_beside *choice; // [n_variants]
    size_t choice_cap;
    struct worst {
        double overlap;
        struct kept_text text;
    } * worst; // [n] rows of --diff=N, the least overlap first
    size_t n, cap;
};

// A zeroed struct with job and output is empty.
void diff_free(struct diff *d);

// Writes what variants chose otherwise than the base in the row that res[n_variants] came of, or keeps it for diff_end.
bool diff_choices(struct diff *d, const struct result *res, struct chains_record *r, struct err *e);

// Fills in r's tokens: those that are among the best of any variant. They hold until the next call. False when memory is short.
bool diff_unite(struct diff *d, const struct result *res, struct chains_record *r);

// After the last row: writes what was kept.
bool diff_end(struct diff *d, struct err *e);

#endif
