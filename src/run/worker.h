// SPDX-License-Identifier: MIT
// One thread's candidate store and sequences: takes rows through every variant's chain.
#ifndef SAMPL_RUN_WORKER_H
#define SAMPL_RUN_WORKER_H

#include "in/input.h"
#include "run/beside.h"
#include "run/observe.h"
#include "run/session.h"
#include "sample/row_cache.h"

struct worker {
    const struct job *job;
    size_t first, last;        // the variants that it takes rows through, first <= i < last
    struct sessions *sessions; // [job->n_variants]
    struct cand cand;
    struct row_cache cache; // what its variants share about a row
    struct observer observer;
    struct beside beside; // the base's distribution, where variants are compared
    struct result base;   // of a worker that has the base only to compare with it
    float *masked;        // scratch: a row without the tokens that do not fit the grammar
    size_t masked_cap;
};

// Of all variants or, when others work on the rest, of some.
bool worker_init(struct worker *w, const struct job *job, size_t first, size_t last, struct err *e);
void worker_free(struct worker *w);

// Samples a row and accepts its token in each of its variants: fills res[first..last), also what they are beside the base. A row that its
// format found bad (row->bad) comes with the error *bad. After an error of the row itself (res->bad) the known token is accepted, if there is
// one, and res->record has number and width.
// The others than the base work on `other`, with its error, if there is one.
void worker_row(struct worker *w, const struct input_row *row, const struct err *bad, const struct input_row *other,
                const struct err *other_bad, struct result *res);

// Passes over a row that another worker samples; false if that worker's run ends with the row. Only when rows can be worked on apart: see
// job_splits.
bool worker_skip(struct worker *w, const struct input_row *row, const struct input_row *other);

// After all rows before it, tells the token of a row that was passed over, if later rows may come with parameters for which it must be known. A worker that
// is to go on alone is told all of them.
bool worker_tell(struct worker *w, const struct input_row *row, const struct result *res, struct err *e);

#endif
