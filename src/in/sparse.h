// SPDX-License-Identifier: MIT
// Sparse rows: numbers that come with the ids of their tokens, in any order.
#ifndef SAMPL_IN_SPARSE_H
#define SAMPL_IN_SPARSE_H

#include "base/err.h"
#include "sample/cand.h"

// Memory that is kept from row to row. A zeroed struct is ready; the caller frees both.
struct sparse {
    uint64_t *key, *tmp;
    size_t key_cap, tmp_cap;
};

// Sorts ids and x together, [n] each, n > 0, and makes them the sparse row *row of a vocabulary of n_vocab tokens (0: unknown).
// An id that comes twice or lies beyond the vocabulary is an error.
bool sparse_row(struct sparse *s, uint32_t *ids, float *x, size_t n, size_t n_vocab, struct row *row, struct err *e);

void sparse_free(struct sparse *s);

#endif
