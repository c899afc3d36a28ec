// SPDX-License-Identifier: MIT
// Sets of numbers as ranges. A set is tidy when its ranges rise and stand apart: between two of them there is at least
// one number. The queries take a tidy set as an array, wherever that lies.
#ifndef SAMPL_BASE_RANGES_H
#define SAMPL_BASE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
    uint32_t first, last; // first <= last, both in the set
};

// A zeroed struct is the empty set.
struct ranges {
    struct range *range; // [n]
    size_t n, cap;
};

void ranges_free(struct ranges *s);

// Adds a range, whatever the set holds; it may not be tidy any more. False (nothing changed) when memory is short.
bool ranges_add(struct ranges *s, uint32_t first, uint32_t last);

// Makes a set tidy, and leaves out what is not in first..last.
void ranges_tidy(struct ranges *s, uint32_t first, uint32_t last);

// Replaces a tidy set within first..last by its complement there, which is tidy, too. False when memory is short: the
// set has not changed.
bool ranges_invert(struct ranges *s, uint32_t first, uint32_t last);

// Return true if the set holds a number of first..last, or all of them.
bool ranges_meet(const struct range *range, size_t n, uint32_t first, uint32_t last);
bool ranges_cover(const struct range *range, size_t n, uint32_t first, uint32_t last);

static inline bool ranges_have(const struct range *range, size_t n, uint32_t x) { return ranges_meet(range, n, x, x); }

#endif
