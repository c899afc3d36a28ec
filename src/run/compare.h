// SPDX-License-Identifier: MIT
// Runs with variants: compares what they choose and keep, row by row, and sums up their texts and means.
#ifndef SAMPL_RUN_COMPARE_H
#define SAMPL_RUN_COMPARE_H

#include "base/builder.h"
#include "run/record.h"
#include "run/report.h"
#include "run/table.h"

struct compare {
    const struct job *job;
    struct output *out;
    struct chains chains;      // the variants, for the output
    struct swept_value *swept; // [n_variants][n_swept] memory of the chains
    struct trace_line *stage;  // memory of the chains' stages, for a page
    struct table_sums *sums;   // [n_variants] COMPARED_TABLE
    struct report_sums report; // COMPARED_REPORT
    struct builder *text;      // [n_variants] COMPARED_TEXTS: of the chosen tokens

    // COMPARED_CANDIDATES: the candidates of a row
    struct idmap ids;
    struct united *token; // [ids.n]
    float *p;             // [ids.n][n_variants] memory of token[].p
    size_t token_cap, p_cap;

    // COMPARED_CHOICES
    struct worst {
        double overlap;
        struct memory_file text;
    } * worst; // [n_worst] rows of --diff=N, the least overlap first
    size_t n_worst, worst_cap;
};

// Returns the form in which a run writes its variants.
enum compared compared_of(const struct job *j);

// Sets out->chains. out is open; j and out outlive cmp. A zeroed struct needs no compare_free.
bool compare_init(struct compare *cmp, const struct job *j, struct output *out, struct err *e);
void compare_free(struct compare *cmp);

// Writes the results res[n_variants] of a row, or adds them to the sums. Rows come in order.
bool compare_row(struct compare *cmp, struct result *res, struct err *e);

// Called after the last row: writes what was kept for the end.
bool compare_end(struct compare *cmp, struct err *e);

// Does the run write nothing before its last row?
bool compare_waits(const struct job *j);

#endif
