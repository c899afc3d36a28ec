// SPDX-License-Identifier: MIT
// Rows of one width, one after the other in the input: raw files, and what npy, safetensors and kld files come to behind their headers.
// A format whose state begins with a struct matrix fills it in when it opens, and leaves to the functions here what they do.
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

enum matrix_shape { MATRIX_OK, MATRIX_NO_ROWS, MATRIX_EMPTY, MATRIX_TOO_LARGE };

// Fills in n, bytes and rows from an array's dimensions, the first three of which are given: N rows of V numbers of m->size bytes, which
// is set, from the shapes (V,), (N, V), (N, 1, V) and (1, N, V).
enum matrix_shape matrix_set_shape(struct matrix *m, const uint64_t dim[3], size_t dims);

// The bytes of the next row, which is counted as handed out: *have of them at *p, fewer than m->bytes where the input ends. *end after
// the last row.
bool matrix_take(struct matrix *m, struct source *s, const unsigned char **p, size_t *have, bool *end, struct err *e);

// Sets *more if the input goes on.
bool matrix_goes_on(struct source *s, bool *more, struct err *e);

// For struct format.
bool matrix_next(void *self, struct source *s, struct input_row *r, bool *end, struct err *e);
int64_t matrix_left(const void *self, const struct source *s);
int64_t matrix_promised(const void *self); // not when rows are open
void matrix_jump(void *self, struct source *s, uint64_t rows);
void matrix_close(void *self);

#endif
