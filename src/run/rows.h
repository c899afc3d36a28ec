// SPDX-License-Identifier: MIT
// Rows in, records out: in one thread, or spread over several.
#ifndef SAMPL_RUN_ROWS_H
#define SAMPL_RUN_ROWS_H

#include "run/progress.h"
#include "run/worker.h"

// Where results go, row by row and in order: the output, the statistics, the progress line; and what becomes of bad rows.
struct sink {
    const struct job *job;
    struct output out;
    struct stats stats;
    struct progress progress;
};

// Takes the results of a row. False with *e when the run is to end.
bool sink_take(struct sink *s, const struct input_row *row, struct result *res, struct err *e);

// After the last row. False with *e when there were bad rows.
bool sink_end(struct sink *s, struct err *e);

// Samples every row that is left in one thread; before them `first`, which has been read already (with *bad if it is bad), unless it is
// NULL.
bool run_serial(struct worker *w, struct input *in, struct sink *sink, const struct input_row *first, const struct err *bad,
                struct err *e);

// The same with job->threads threads: rows in batches, spread over them, written in order. Every byte written is what one thread would
// have written. The job splits.
bool run_threads(const struct job *j, struct input *in, struct sink *sink, struct err *e);

#endif
