// SPDX-License-Identifier: MIT
// One thread's candidate store and sequences: takes rows through every variant's chain.
#ifndef SAMPL_RUN_WORKER_H
#define SAMPL_RUN_WORKER_H

#include "in/input.h"
#include "run/record.h"
#include "sample/row_cache.h"
#include "session/choose.h"
#include "trace/pair.h"

struct worker {
    const struct job *job;
    size_t first, last;          // the variants that it takes rows through, first <= i < last
    struct sessions *sessions;   // [job->variants->n]
    struct input_reader *reader; // of rows of text
    struct chooser chooser;
    struct row_cache cache;           // what its variants share about a row
    struct pair_base base;            // the base's distribution, where variants are compared
    struct agreement_scratch scratch; // with --report
    struct result unshown;            // the base's result, if the worker has the base only to compare with it
    double measure[MEASURES_MOST];    // what the chain's sampler measured in the row
};

// Prepares a worker for all variants or, when others work on the rest, for some. job_record has been called.
bool worker_init(struct worker *w, const struct job *job, size_t first, size_t last, struct err *e);
void worker_free(struct worker *w);

// Samples a row and accepts its token in each of the worker's variants: fills res[first..last), also with what each is
// compared with the base. *bad is the error of a row that its format found bad (row->bad). After an error of the row
// itself (res->bad) the token that is known to follow the row is accepted, if there is one, and res->record has number
// and width. The variants but the base work on `other`, with its error, if it is not NULL. Of a row that is
// not shown only res[first..last).ok is set, also if the row is bad.
void worker_row(struct worker *w, const struct input_row *row, const struct err *bad, const struct input_row *other,
                const struct err *other_bad, struct result *res);

// Passes over n rows that another worker samples: `row`, and rows behind it that differ from it in their place only.
// known: the results [variants] of a single row, whose tokens are accepted: the worker then stands as if it had sampled
// the row. NULL: chosen tokens are not accepted, and the job must allow rows to be sampled apart (job_splits), as no
// stage of such a job looks at them. False with *e if a row ends the run.
bool worker_skip(struct worker *w, const struct input_row *row, const struct input_row *other, size_t n,
                 const struct result *known, struct err *e);

#endif
