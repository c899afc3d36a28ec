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

// Stable radix sort of key[0..n) ascending by bits [from, to). tmp has room for n. Returns where the result lies: key or tmp.
uint64_t *sort_radix(uint64_t *key, uint64_t *tmp, size_t n, unsigned from, unsigned to);

#endif
