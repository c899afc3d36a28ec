// SPDX-License-Identifier: MIT
// Decimal to f32, the inner loop of JSON input.
#ifndef SAMPL_BASE_JSON_NUMBER_H
#define SAMPL_BASE_JSON_NUMBER_H

// Reads the JSON number that starts at p into *x, rounded correctly (to nearest, ties to even; too large gives an infinity). Returns
// where it ends, or NULL when there is no number. Reads nothing at or beyond end; a number that reaches end may go on behind it.
const char *json_number(const char *p, const char *end, float *x);

#endif
