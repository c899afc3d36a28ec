// SPDX-License-Identifier: MIT
// Rows that are gathered: numbers, and the ids of their tokens, in any order.
#ifndef SAMPL_IN_SPARSE_H
#define SAMPL_IN_SPARSE_H

#include "base/err.h"
#include "sample/cand.h"

// Memory that is kept from row to row. A zeroed struct is ready.
struct sparse {
    float *x;      // [n]
    uint32_t *ids; // [n]
    size_t n, cap; // elements; room in both

    uint64_t *scratch;
    size_t scratch_cap;
};

// Makes room for n numbers and ids.
bool sparse_room(struct sparse *s, size_t n, struct err *e);

// Adds a token; who begins a row sets n to 0.
bool sparse_add(struct sparse *s, uint32_t id, float x, struct err *e);

// Room for 2n keys, or NULL when memory is short.
uint64_t *sparse_scratch(struct sparse *s, size_t n);

// Sorts ids and x together, n > 0, and makes them the sparse row *row of a vocabulary of n_vocab tokens (0: unknown).
// An id that comes twice or lies beyond the vocabulary is an error.
bool sparse_row(struct sparse *s, size_t n_vocab, struct row *row, struct err *e);

void sparse_free(struct sparse *s);

#endif
