// SPDX-License-Identifier: MIT
// Sparse rows: numbers that come with the ids of their tokens, in any order.
#ifndef SAMPL_IN_SPARSE_H
#define SAMPL_IN_SPARSE_H

#include "base/err.h"
#include "sample/cand.h"

// Memory that is kept from row to row. A zeroed struct is ready.
struct sparse {
    uint32_t *ids; // [n] a row that is gathered, in any order
    float *x;      // [n]
    size_t n, ids_cap, x_cap;

    uint64_t *key, *tmp; // scratch
    size_t key_cap, tmp_cap;
};

// Adds a token to the row that is gathered; who begins one sets n to 0.
bool sparse_add(struct sparse *s, uint32_t id, float x, struct err *e);

// Makes room in key and tmp for n each.
bool sparse_scratch(struct sparse *s, size_t n, struct err *e);

// Sorts ids and x together, [n] each, n > 0, and makes them the sparse row *row of a vocabulary of n_vocab tokens (0: unknown).
// An id that comes twice or lies beyond the vocabulary is an error.
bool sparse_row(struct sparse *s, uint32_t *ids, float *x, size_t n, size_t n_vocab, struct row *row, struct err *e);

void sparse_free(struct sparse *s);

#endif
