// SPDX-License-Identifier: MIT
// The rows of an input that are wanted: a set of row numbers, as ranges.
#ifndef SAMPL_IN_ROWS_H
#define SAMPL_IN_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROWS_OPEN INT64_MAX // as a last bound: to the end of the input

// first <= r < last; a negative bound counts from the end of the input.
struct row_range {
    int64_t first, last;
};

// A zeroed struct holds none.
struct rows {
    struct row_range *range; // [n]
    size_t n, cap;
};

// False when memory is short.
bool rows_add(struct rows *s, int64_t first, int64_t last);
bool rows_copy(struct rows *s, const struct rows *from);

// Does a bound count from the end?
bool rows_from_end(const struct rows *s);

// Does a range that counts from the start begin below this?
bool rows_begin_below(const struct rows *s, int64_t number);

// Makes the bounds count from the start of an input of so many rows, and the ranges rise and stand apart, none
// of them empty. The functions below want it so.
void rows_tidy(struct rows *s, int64_t rows);

// How many wanted rows have a number below this.
uint64_t rows_below(const struct rows *s, int64_t number);

// Leaves out so many of the first, and all but `most` of those behind.
void rows_cut(struct rows *s, uint64_t first, uint64_t most);

#endif
