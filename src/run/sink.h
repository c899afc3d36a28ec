// SPDX-License-Identifier: MIT
// Where results go, row by row and in order: the output, the statistics, the progress line; and what becomes of bad rows.
#ifndef SAMPL_RUN_SINK_H
#define SAMPL_RUN_SINK_H

#include "run/progress.h"
#include "run/worker.h"

struct sink {
    const struct options *o;
    struct output *out;
    struct stats stats;
    struct progress progress;
};

// Takes the result of a row, or, when it is not ok, the error *e of worker_row. False with *e when the run is to end.
bool sink_take(struct sink *s, const struct input_row *row, struct result *res, bool ok, struct err *e);

// After the last row. False with *e when there were bad rows.
bool sink_end(struct sink *s, struct err *e);

#endif
