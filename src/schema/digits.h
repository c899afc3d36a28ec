// SPDX-License-Identifier: MIT
// Grammars over strings of decimal digits.
#ifndef SAMPL_SCHEMA_DIGITS_H
#define SAMPL_SCHEMA_DIGITS_H

#include "schema/text.h"

#define DIGITS_MOST 100

struct digits {
    int n;
    char d[DIGITS_MOST + 2]; // [n]
};

// A natural number, without leading zeros ("0" is zero).
void digits_add_one(struct digits *x);
void digits_take_one(struct digits *x); // x is not zero
int digits_compare(const struct digits *a, const struct digits *b);

// Alternatives without brackets for the natural numbers from a to b; b NULL: no end. a <= b.
void digits_naturals(struct text *t, const struct digits *a, const struct digits *b);

// One end of a range of fractions 0.d[0]d[1]...; no trailing zeros in d.
struct edge {
    bool open, strict; // no bound at all; not the bound itself
    const char *d;
    int n;
};

// Is there a fraction from lo to hi? An open lo is 0 and an open hi is 1, which is not itself in the range.
bool fraction_exists(struct edge lo, struct edge hi);

// The point and the digits of the fractions from lo to hi, bracketed where need be, with nothing at all where 0 is in the range. There
// is such a fraction.
void fraction_suffix(struct text *t, struct edge lo, struct edge hi);

#endif
