// SPDX-License-Identifier: MIT
// Rows of one width, one after the other in the input: what raw, npy and safetensors files come to behind their headers. A format whose
// state is a struct matrix fills it in when it opens, and leaves the rest to the functions here, which are those of struct format.
#ifndef SAMPL_IN_MATRIX_H
#define SAMPL_IN_MATRIX_H

#include "in/input.h"

#define MATRIX_OPEN UINT64_MAX // rows go on to the end of the input

struct matrix {
    enum dtype type; // of the rows handed out
    size_t size;     // bytes of a number in the input; 8: f64, which is rounded to f32
    bool big;        // big-endian
    size_t n, bytes; // of a row in the input; not 0, bytes at most SIZE_MAX / 2
    uint64_t rows;   // left, or MATRIX_OPEN
    size_t last;     // bytes of the row handed out, to be skipped when the next is asked for
    char *row;       // a converted one; others are handed out where they lie
    size_t row_cap;
};

bool matrix_next(void *self, struct source *s, struct input_row *r, bool *end, struct err *e);
int64_t matrix_left(const void *self, const struct source *s);
int64_t matrix_promised(const void *self); // not when rows are open
void matrix_jump(void *self, struct source *s, uint64_t rows);
void matrix_close(void *self);

#endif
