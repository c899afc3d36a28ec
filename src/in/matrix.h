// SPDX-License-Identifier: MIT
// Rows of one width, one after the other in the input: raw files, and what follows the headers of npy, safetensors and
// kld files. The state of such a format begins with a struct matrix, which its `open` fills in.
#ifndef SAMPL_IN_MATRIX_H
#define SAMPL_IN_MATRIX_H

#include "in/input.h"

#define MATRIX_OPEN UINT64_MAX // the rows of a raw input, which has no header, go on to its end

struct matrix {
    enum dtype type;    // of the rows that matrix_next returns
    size_t size;        // bytes of a number in the input; 8 is f64, which is rounded to f32
    bool big;           // numbers are big-endian
    bool closed;        // no byte may follow the last row
    bool promised;      // the header counts the rows, instead of giving a shape; error messages quote the count
    bool listed;        // rows are lists of tokens, which are not in one place (in_safetensors.c)
    size_t n, bytes;    // of a row in the input: numbers, and bytes, at most SIZE_MAX / 2; not 0
    uint64_t all, rows; // rows in the input, and rows not read yet; or MATRIX_OPEN
    uint64_t length;    // rows of each sequence of the array; 0: it has no sequences
    uint64_t first;     // index in the file of the array's first sequence
    uint64_t sequences; // sequences that the input has named so far
    size_t ragged;      // bytes of a raw file behind its last whole row; 0 after the first row
    char name[24];      // of the current row's sequence

    // Converts a row of the input to m->row. NULL: rows are returned where they lie in the input.
    void (*convert)(struct matrix *m, const unsigned char *from);
    void *row; // [n] of type; allocated by matrix_next, freed by the owner of the state
};

enum matrix_shape { MATRIX_OK, MATRIX_NO_ROWS, MATRIX_EMPTY, MATRIX_TOO_LARGE };

// Sets n, bytes, all, rows, length and convert for an array of `dims` dimensions, of which dim[] has the first three.
// The shapes (V,), (N, V), (N, 1, V) and (1, N, V) are N rows of V numbers. (S, T, V) with S and T above 1 is S
// sequences of T rows. type, size and big are already set.
enum matrix_shape matrix_set_shape(struct matrix *m, const uint64_t dim[3], size_t dims);

// Counts the sequences of an array, whose shape is set and whose rows follow.
void matrix_add_sequences(struct matrix *m);

// Sets the name and the place of the sequence of the row that was read last, if the array has sequences.
void matrix_name_row(struct matrix *m, struct input_row *r);

// Peeks the first n bytes of a file, at *p until the next peek. Fails with STATUS_DATA if the file is shorter, or does
// not begin with f->magic (NULL: anything).
bool matrix_header(const struct format *f, struct source *s, size_t n, const unsigned char **p, struct err *e);

// `next` of struct format.
bool matrix_next(void *self, struct source *s, const struct input_config *config, struct input_row *r, bool *end,
                 struct err *e);

// Skips `rows` rows, which must be there.
void matrix_jump(struct matrix *m, struct source *s, uint64_t rows);

#endif
