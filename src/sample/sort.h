// SPDX-License-Identifier: MIT
// Ordering candidates by rank: selection of the best k, and sorting. Keys are base/bits.h's rank_key: larger ranks first, no two equal.
#ifndef SAMPL_SAMPLE_SORT_H
#define SAMPL_SAMPLE_SORT_H

#include <stddef.h>
#include <stdint.h>

// Moves the k largest of key[0..n) to the front, in no order; key[k-1] is then the smallest of them. 0 < k <= n.
void sort_select(uint64_t *key, size_t n, size_t k);

// sort_select for keys gathered by rising id: returns the least logit with which a later id still beats the k-th.
float sort_prune(uint64_t *key, size_t n, size_t k);

// Sorts key[0..n) descending. tmp has room for n.
void sort_keys(uint64_t *key, size_t n, uint64_t *tmp);

// Sorts key[0..n) ascending by the upper 32 bits; the lower ones rise at the start and stay rising among equals. tmp has room for n.
void sort_rising(uint64_t *key, size_t n, uint64_t *tmp);

// Sorts key[0..n) ascending. tmp has room for n.
void sort_values(uint32_t *key, uint32_t *tmp, size_t n);

#endif
