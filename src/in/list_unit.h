// SPDX-License-Identifier: MIT
// To what a server rounds the numbers of its lists: found out from the numbers of a reply so far.
#ifndef SAMPL_IN_LIST_UNIT_H
#define SAMPL_IN_LIST_UNIT_H

#include "sample/row.h"

enum { UNIT_DIGITS = 9 }; // numbers of up to 8 decimals or digits may be coarser than f32's

// What all finite numbers other than 0 fit. A zeroed struct is ready.
struct unit_fit {
    bool some;     // there was such a number
    bool of_probs; // the numbers are probabilities, else log-probabilities
    int decimals;  // the least number of decimals, of UNIT_DIGITS at most
    int digits;    // the least number of significant digits, of UNIT_DIGITS at most
    // Each number is one of bf16 (0) or f16 (1), printed with so many decimals, or digits.
    bool by_decimals[2][UNIT_DIGITS + 1], by_digits[2][UNIT_DIGITS + 1];
};

// Adds a number: as it stands, rounded to f32.
void unit_add(struct unit_fit *fit, float x);

// Returns the coarsest rounding that all numbers so far may have had, which later numbers can only refine. A number of
// few decimals or digits may have been rounded to bf16 or f16 before; its unit then has both half steps. Without a
// number, the unit is not known.
struct list_unit unit_of(const struct unit_fit *fit);

#endif
