// SPDX-License-Identifier: MIT
// Rows of one width, one after the other in the input: raw files, and what npy, safetensors and kld files come to
// behind their headers. A format whose state begins with a struct matrix fills it in when it opens.
#ifndef SAMPL_IN_MATRIX_H
#define SAMPL_IN_MATRIX_H

#include "in/input.h"

#define MATRIX_OPEN UINT64_MAX // rows go on to the end of the input

struct matrix {
    enum dtype type;    // of the rows handed out
    size_t size;        // bytes of a number in the input; 8: f64, which is rounded to f32
    bool big;           // big-endian
    bool closed;        // nothing may follow the last row
    size_t n, bytes;    // of a row in the input; not 0, bytes at most SIZE_MAX / 2
    uint64_t rows;      // left, or MATRIX_OPEN
    uint64_t sequences; // that the input so far named

    // Makes a row as it lies in the input m->row. NULL: rows are handed out where they lie.
    void (*convert)(struct matrix *m, const unsigned char *from);
    void *row; // [n] of type
};

enum matrix_shape { MATRIX_OK, MATRIX_NO_ROWS, MATRIX_EMPTY, MATRIX_TOO_LARGE };

// Fills in n, bytes, rows and convert from an array's dimensions, the first three of which are given: N rows of V
// numbers, whose type, size and order are set, from the shapes (V,), (N, V), (N, 1, V) and (1, N, V).
enum matrix_shape matrix_set_shape(struct matrix *m, const uint64_t dim[3], size_t dims);

// The first n bytes of a file, at *p until the next peek: an error unless they begin with f->magic (NULL: anything) and
// are all there.
bool matrix_header(const struct format *f, struct source *s, size_t n, const unsigned char **p, struct err *e);

// Takes the next row for r, if the input has all of it: *have bytes of it, fewer than m->bytes where the input ends.
// *end after the last row; *have is then 0 if nothing follows, which is looked at where m is closed.
bool matrix_take(struct matrix *m, struct source *s, struct input_row *r, size_t *have, bool *end, struct err *e);

// For struct format.
bool matrix_next(void *self, struct source *s, struct input_row *r, bool *end, struct err *e);

// Passes over that many of the rows left.
void matrix_jump(struct matrix *m, struct source *s, uint64_t rows);

#endif
