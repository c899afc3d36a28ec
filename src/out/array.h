// SPDX-License-Identifier: MIT
// Rows of numbers: f32 and f16, little-endian and without a header, which the raw input formats read; npy, a NumPy
// array of shape (rows, width), version 1.0.
#ifndef SAMPL_OUT_ARRAY_H
#define SAMPL_OUT_ARRAY_H

#include "out/dest.h"

// An array that is being written.
struct array {
    struct dest *dest;
    size_t width;  // numbers in a row; 0: the first good row decides
    bool narrow;   // the numbers are f16; of a counted format, until the first row says otherwise
    bool single;   // a record has one number, not one for each token
    uint64_t rows; // so far
};

// For the table of formats: their check, write and finish.
bool array_check(struct array *a, const struct record *r, struct err *e);
void array_write(struct array *a, const struct record *r);
bool npy_check(struct array *a, const struct record *r, struct err *e);
void npy_write(struct array *a, const struct record *r);
bool npy_finish(struct array *a, bool whole, struct err *e);

#endif
