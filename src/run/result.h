// SPDX-License-Identifier: MIT
// What a row came to: its record, with whatever of the candidates the output wants.
#ifndef SAMPL_RUN_RESULT_H
#define SAMPL_RUN_RESULT_H

#include "cli/options.h"
#include "out/output.h"
#include "run/stats.h"
#include "run/trace.h"

// What a row came to, with the memory that its record points to. A zeroed struct is an empty result.
struct result {
    struct record record;
    uint32_t token; // that follows the row: the chosen one, or the one that was known beforehand
    struct ranked *ranked;
    size_t ranked_cap;
    struct trace_line *line;
    size_t line_cap;
    float *values;
    size_t values_cap;
    struct row_stats stats; // with --stats
    bool bad; // with an error: it is the row's own, and the worker has passed over it and stands where it stands after a good one
};

void result_free(struct result *res);

// Fills in what the chain has left in c. known: the token that follows the row, if that was known beforehand, or -1. trace and stats are
// those of the row, if the options ask for them.
struct fault result_fill(struct result *res, const struct options *o, struct cand *c, const struct trace *trace,
                         struct stats_scratch *stats, int64_t known);

#endif
