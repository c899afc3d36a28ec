// SPDX-License-Identifier: MIT
// One thread's candidate store and sequences: takes rows through every variant's chain.
#ifndef SAMPL_RUN_WORKER_H
#define SAMPL_RUN_WORKER_H

#include "in/input.h"
#include "run/observe.h"
#include "run/session.h"

struct worker {
    const struct job *job;
    struct sessions *sessions; // [job->n_variants]
    struct cand cand;
    struct observer observer;
    float *masked; // scratch: a row without the tokens that do not fit the grammar
    size_t masked_cap;
};

bool worker_init(struct worker *w, const struct job *job, struct err *e);
void worker_free(struct worker *w);

// Samples a row and accepts its token in every variant: fills res[0..n_variants). A row that its format found bad (row->bad) comes with the
// error *bad. After an error of the row itself (res->bad) the known token is accepted, if there is one, and res->record has number and
// width.
void worker_row(struct worker *w, const struct input_row *row, const struct err *bad, struct result *res);

// Passes over a row that another worker samples; false if that worker's run ends with the row. Only when rows can be worked on apart: see
// job_splits.
bool worker_skip(struct worker *w, const struct input_row *row);

#endif
