// SPDX-License-Identifier: MIT
// Rows in batches: a batch is read, worked on and written before the next one. Several threads share either the rows or
// the variants. If they share the rows, each thread samples its part and skips the others (job_splits says when). If
// they share the variants, each thread takes all rows through its variants. The results are the same.
#ifndef SAMPL_RUN_BATCH_H
#define SAMPL_RUN_BATCH_H

#include "in/input.h"
#include "run/worker.h"

// A row that has been read.
struct read_row {
    struct input_row row;
    struct err bad; // if the row is
    char *copy;     // of what the input does not keep until the batch is done
    size_t copy_cap;
    size_t width; // of a lazy row
};

struct batch {
    // the maker's
    const struct job *job;
    struct input_config *config; // of the inputs
    struct input *in[2];         // [inputs]
    size_t inputs;               // 2 with --against, else 1
    bool at_once;                // each record is written before the next row is read

    size_t n;              // rows of the batch at hand
    struct read_row *row;  // [most][inputs], the first n in use
    struct result *result; // [most][n_variants]

    struct member *member; // [made] a thread each
    size_t made, at_work;  // at_work: how many take part
    size_t most, used;     // rows of a batch; those that some batch had
    bool by_variant;       // the members share the variants, not the rows
    bool in_turn;          // they work one after the other, since rows make recipes, or sequences
    bool ahead;            // row[n] is the one behind it, which has been read and is worked on alone
};

// May the run go on behind a row that came to this?
bool batch_goes_on(const struct job *j, const struct result *res);

// Makes the members, as many as the arguments ask for and the job allows. b must be freed either way.
bool batch_init(struct batch *b, struct err *e);
void batch_free(struct batch *b);

// Reads a batch. If a row brings parameters or the like, this row and all behind it come in batches of one. *end when
// there are no more rows. False with *e for an error of the input; the rows before it, n, are still to be worked on.
bool batch_read(struct batch *b, bool *end, struct err *e);

// Fills in the results of its rows, up to one that ends the run.
bool batch_work(struct batch *b, struct err *e);

#endif
