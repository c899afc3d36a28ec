// SPDX-License-Identifier: MIT
// Rows of numbers: f32 and f16, little-endian and without a header, which the raw input formats read; npy, a NumPy
// array of shape (rows, width), version 1.0.
#ifndef SAMPL_OUT_ARRAY_H
#define SAMPL_OUT_ARRAY_H

#include "out/dest.h"
#include "trace/record.h"

// An array that is being written.
struct array {
    struct dest *dest;
    size_t width;    // numbers in a row; 0: the first good row decides
    enum dtype type; // of the numbers, f32 or f16; of a counted format, until the first row says otherwise
    bool single;     // a record has one number, not one for each token
    uint64_t rows;   // so far
};

// Writes a row. Fails with STATUS_DATA if the row cannot be written.
bool array_add(struct array *a, const struct record *r, struct err *e);

// Corrects the number of rows in a header if the output can be written again there. whole: the run ended without an
// error; an array without rows then gets its header.
bool array_end(struct array *a, bool whole, struct err *e);

#endif
