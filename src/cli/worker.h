// SPDX-License-Identifier: MIT
// One thread's chain and store: turns an input row into a result.
#ifndef SAMPL_CLI_WORKER_H
#define SAMPL_CLI_WORKER_H

#include "cli/sequence.h"
#include "cli/stats.h"
#include "cli/trace.h"
#include "io/input.h"
#include "io/output.h"

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

struct worker {
    const struct options *o;
    struct sequences sequences;
    struct sequence *seq; // of the row at hand
    struct cand cand;
    struct trace trace;
    struct stats_scratch stats;
    enum fault_code fault; // of the chain on the row at hand
    float *masked;         // scratch: a row without the tokens that do not fit the grammar
    size_t masked_cap;
};

bool worker_init(struct worker *w, const struct options *o, const struct kern *kern, struct err *e);
void worker_free(struct worker *w);

// Samples a row and accepts its token. A row that its format found bad (row->bad) comes with the error in *e, which stays. After an
// error of the row itself (res->bad) the known token is accepted, if there is one, and res->record has number and width.
bool worker_row(struct worker *w, const struct input_row *row, struct result *res, struct err *e);

// Passes over a row that another worker samples. Only when rows can be worked on apart: see worker_splits.
bool worker_skip(struct worker *w, const struct input_row *row, struct err *e);

// Can a row be sampled without its predecessors having been?
bool worker_splits(const struct worker *w);

#endif
