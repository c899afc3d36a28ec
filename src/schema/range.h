// SPDX-License-Identifier: MIT
// Numbers between two bounds as a grammar of their digits, exactly.
#ifndef SAMPL_SCHEMA_RANGE_H
#define SAMPL_SCHEMA_RANGE_H

#include "schema/decimal.h"
#include "schema/text.h"

struct limit {
    bool given, exclusive;
    struct decimal x;
};

enum range {
    RANGE_OK,
    RANGE_EMPTY,
    RANGE_LARGE
}; // LARGE: a bound takes more than 100 digits to write out, or 60 after the point

// The integers from lo to hi, as alternatives without brackets; appends nothing when t is NULL or there are none. -0 is taken where
// both negative numbers and 0 are.
enum range range_integers(struct text *t, const struct limit *lo, const struct limit *hi);

// Decimal numbers without an exponent, likewise.
enum range range_decimals(struct text *t, const struct limit *lo, const struct limit *hi);

#endif
