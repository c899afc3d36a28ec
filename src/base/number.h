// SPDX-License-Identifier: MIT
// f32 and decimal: the inner loops of JSON input and of text output.
#ifndef SAMPL_BASE_NUMBER_H
#define SAMPL_BASE_NUMBER_H

// Reads the JSON number that starts at p into *x, rounded correctly (to nearest, ties to even; too large gives an infinity). Returns
// where it ends, or NULL when there is no number. Reads nothing at or beyond end; a number that reaches end may go on behind it.
const char *json_number(const char *p, const char *end, float *x);

#define NUMBER_TEXT 26

// x with the fewest digits that read back to the same float, the nearest of those, written as printf's %g does; "inf", "-inf", "nan".
// Returns text.
const char *number_text(float x, char text[NUMBER_TEXT]);

// The same of a double.
const char *number_text_wide(double x, char text[NUMBER_TEXT]);

#endif
