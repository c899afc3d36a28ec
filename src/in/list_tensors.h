// SPDX-License-Identifier: MIT
// Two tensors of one shape, of which one has the ids and the other the numbers of the tokens that each row lists.
#ifndef SAMPL_IN_LIST_TENSORS_H
#define SAMPL_IN_LIST_TENSORS_H

#include "in/list_tail.h"
#include "in/matrix.h"
#include "in/sparse.h"

// Columns of lists with a tail: the members of the tail, and the token that follows each row.
enum { COLUMN_TOKEN = TAIL_MEMBERS, COLUMN_TOKEN_LOGIT, COLUMN_TOKEN_RANK, COLUMNS };

enum column_type { COLUMN_NONE, COLUMN_I32, COLUMN_F32, COLUMN_F64 };

struct list_column {
    enum column_type type;
    uint64_t begin;            // as ids_begin
    const unsigned char *data; // set by list_tensors_open
};

struct list_tensors {
    size_t id_size; // bytes of an id, from 1 to 8; 0: there are no such tensors
    bool id_signed;
    bool logits;                        // the numbers are logits, else log-probabilities
    uint64_t ids_begin, numbers_begin;  // bytes from the current one of the source to each tensor
    struct list_column column[COLUMNS]; // those of a list with a tail have a type
    size_t n_vocab;                     // of lists with a tail; 0: not known

    // set by list_tensors_open
    const unsigned char *ids, *numbers;
    uint64_t whole; // rows that the input holds of both tensors
    struct sparse row;
};

// Finds the numbers of both tensors, whose shape and type of numbers m has. A file is mapped; the tensors of a pipe are
// read to memory.
bool list_tensors_open(struct list_tensors *t, struct matrix *m, struct source *s, struct err *e);

// Reads a row, as `next` of struct format does.
bool list_tensors_next(struct list_tensors *t, struct matrix *m, struct source *s, const struct input_config *config,
                       struct input_row *r, bool *end, struct err *e);

#endif
