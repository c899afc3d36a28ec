// SPDX-License-Identifier: MIT
// Arrays: growth, which is checked for overflow, search, and orders.
#ifndef SAMPL_BASE_MEM_H
#define SAMPL_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

// Makes the malloc'ed array *array hold at least `need` elements of `size` bytes; *cap is its present capacity in
// elements and is updated. Contents are kept. Growth is geometric. False (nothing changed) when memory is short or the
// size overflows.
bool mem_grow(void *array, size_t *cap, size_t need, size_t size);

// Appends an element of `size` bytes to the malloc'ed array *array of *n elements, and counts it. False as mem_grow.
bool mem_push(void *array, size_t *n, size_t *cap, const void *element, size_t size);

// The first place of [n] bytes in [len] bytes, n > 0; NULL: they are not there.
const void *mem_find(const void *in, size_t len, const void *bytes, size_t n);

// Rising orders of uint32_t and of double, which are no NaN, for qsort and bsearch.
int order_u32(const void *a, const void *b);
int order_f64(const void *a, const void *b);

#endif
