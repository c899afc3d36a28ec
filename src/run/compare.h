// SPDX-License-Identifier: MIT
// Runs with variants: what they choose and keep row by row, their texts, or the table of what they come to.
#ifndef SAMPL_RUN_COMPARE_H
#define SAMPL_RUN_COMPARE_H

#include "base/builder.h"
#include "run/record.h"

struct compare {
    const struct job *job;
    struct output *out;
    struct compared_chain *chain; // [n_variants] of the output
    struct swept_value *value;    // [n_variants][n_swept] that the chains point to
    const char **swept;           // [n_swept]
    struct sums *sums;            // [n_variants]

    // COMPARED_CANDIDATES: the tokens that are shown
    struct idmap ids;     // in the order they were found
    struct united *token; // [ids.n]
    float *p;             // [ids.n][n_variants]
    size_t token_cap, p_cap;

    // COMPARED_CHOICES
    struct worst {
        double overlap;
        struct kept_text text;
    } * worst; // [n_worst] rows of --diff=N, the least overlap first
    size_t n_worst, worst_cap;
};

// Returns the form in which the run writes its variants.
enum compared compared_of(const struct job *j);

// Gives the output, which is open, its chains. j and out outlive the rest. A zeroed struct needs no compare_free.
bool compare_init(struct compare *cmp, const struct job *j, struct output *out, struct err *e);
void compare_free(struct compare *cmp);

// A row is done: res[n_variants]. Rows come in order.
bool compare_row(struct compare *cmp, struct result *res, struct err *e);

// After the last row.
bool compare_end(struct compare *cmp, struct err *e);

// Is nothing written before the last row?
bool compare_waits(const struct job *j);

#endif
