// SPDX-License-Identifier: MIT
// The main job: rows in, records out.
#ifndef SAMPL_RUN_RUN_H
#define SAMPL_RUN_RUN_H

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

// Runs the job over the files that the arguments name. What was computed before an error has been written. False with *e on an error;
// status STATUS_OK then means that nobody reads the output any more.
bool run(const struct job *j, const struct args *a, struct err *e);

// Samples every row that is left in one thread; before them `first`, which has been read already (with *bad if it is bad), unless it is
// NULL.
bool run_serial(struct worker *w, struct input *in, struct sink *sink, const struct input_row *first, const struct err *bad,
                struct err *e);

// The same with job->threads threads: rows in batches, spread over them, written in order. Every byte written is what one thread would
// have written. The job splits.
bool run_threads(const struct job *j, struct input *in, struct sink *sink, struct err *e);

#endif
