// SPDX-License-Identifier: MIT
// One thread's chain and store: turns an input row into a result.
#ifndef SAMPL_RUN_WORKER_H
#define SAMPL_RUN_WORKER_H

#include "in/input.h"
#include "run/result.h"
#include "run/sequence.h"

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
