// SPDX-License-Identifier: MIT
// A set of row numbers, as ranges.
#ifndef SAMPL_IN_ROWS_H
#define SAMPL_IN_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROWS_OPEN INT64_MAX // a range's `last`: to the end of the input

// The rows r with first <= r < last. A negative bound counts from the end of the input.
struct row_range {
    int64_t first, last;
};

// A zeroed struct is the empty set. free() range.
struct rows {
    struct row_range *range; // [n]
    size_t n, cap;
};

// Appends a range. Returns false if memory is short.
bool rows_add(struct rows *s, int64_t first, int64_t last);

// Makes s equal to another set. Returns false if memory is short.
bool rows_copy(struct rows *s, const struct rows *from);

// Returns true if some bound counts from the end.
bool rows_from_end(const struct rows *s);

// Makes all bounds count from the start of an input of `rows` rows, sorts the ranges, joins those that meet, and drops
// empty ones. rows_below and rows_cut need such a set.
void rows_tidy(struct rows *s, int64_t rows);

// Returns how many rows of the set have a number below this.
uint64_t rows_below(const struct rows *s, int64_t number);

// Removes the first `first` rows, and keeps at most `most` of the others.
void rows_cut(struct rows *s, uint64_t first, uint64_t most);

#endif
