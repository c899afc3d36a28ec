// SPDX-License-Identifier: MIT
// Lists of --emit list as safetensors: a tensor for each number of a row. sampl-output(5) names the tensors.
#ifndef SAMPL_OUT_TENSORS_H
#define SAMPL_OUT_TENSORS_H

#include "out/dest.h"
#include "trace/record.h"

enum { TENSORS = 12 };

// A file that is being written. Rows are held until a block is full, and written where they belong; or until the end,
// if the output is a pipe or the number of rows is not known before.
struct tensors {
    // set by the caller
    struct dest *dest;
    size_t n;       // tokens of a list
    bool unchanged; // logits of f16 and bf16 rows are written in their type

    uint64_t rows, written;
    size_t n_vocab;        // of the good rows; 0: none yet
    enum dtype type;       // of the first good row, and of the logits
    void *column[TENSORS]; // the rows that are held
    size_t cap[TENSORS];
};

void tensors_free(struct tensors *t);

// Adds a row's list, or one without tokens if the row is bad. Fails with STATUS_DATA if the row has another width or
// type than those before.
bool tensors_add(struct tensors *t, const struct record *r, struct err *e);

// Writes what is held, and the header. whole: the run ended without an error.
bool tensors_end(struct tensors *t, bool whole, struct err *e);

#endif
