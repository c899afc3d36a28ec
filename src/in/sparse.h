// SPDX-License-Identifier: MIT
// A row in the making: numbers, and if it is sparse the ids of their tokens, in any order.
#ifndef SAMPL_IN_SPARSE_H
#define SAMPL_IN_SPARSE_H

#include "base/err.h"
#include "sample/cand.h"

// Its memory is kept from row to row; sparse_free frees it. A zeroed struct is an empty row.
struct sparse {
    float *x;      // [n]
    uint32_t *ids; // [n]
    size_t n, cap; // elements; capacity of both arrays

    uint64_t *scratch;
    size_t scratch_cap;
};

// Returns the id that the digits from p to end spell, or -1.
int64_t written_id(const char *p, const char *end);

// Makes both arrays hold at least n elements. Fails with STATUS_DATA if n is above INT32_MAX, with STATUS_IO if memory
// is short.
bool sparse_reserve(struct sparse *s, size_t n, struct err *e);

// Appends a token. To begin a row, set s->n to 0. Fails as sparse_reserve does.
bool sparse_add(struct sparse *s, uint32_t id, float x, struct err *e);

// Returns memory for 2n keys, which the next call overwrites; NULL if memory is short.
uint64_t *sparse_scratch(struct sparse *s, size_t n);

// Sorts x by id, and makes *row the sparse row of a vocabulary of n_vocab tokens (0: unknown). s->n must not be 0. *row
// points into s. Fails with STATUS_DATA if an id comes twice or is not below n_vocab.
bool sparse_row(struct sparse *s, size_t n_vocab, struct row *row, struct err *e);

// Sorts x by id, and removes each masked token (-inf) whose id comes more than once. s->n must not be 0. Fails with
// STATUS_IO if memory is short.
bool sparse_drop_padding(struct sparse *s, struct err *e);

void sparse_free(struct sparse *s);

#endif
