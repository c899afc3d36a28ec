// SPDX-License-Identifier: MIT
// f32 and decimal: the inner loops of JSON input and of text output.
#ifndef SAMPL_BASE_NUMBER_H
#define SAMPL_BASE_NUMBER_H

#include <stddef.h>

// Reads the JSON number that starts at p into *x, rounded correctly (to nearest, ties to even; too large gives an infinity). Returns
// where it ends, or NULL when there is no number. Reads nothing at or beyond end; a number that reaches end may go on behind it.
const char *json_number(const char *p, const char *end, float *x);

// The same for the words that Python and JavaScript print for numbers that JSON does not have; `null` is masked, as -Infinity is.
const char *json_word(const char *p, const char *end, float *x);

// Reads up to `most` numbers and words at *at into x, as long as each has a comma behind it and nothing but white space else; *at is then
// behind the last comma. Stops, perhaps in white space, before what is written in another way, is too long, or may go on behind end: all
// that json_number reads. What stands from `begin` up to *at is looked at, too. Returns how many there were.
size_t json_numbers(const char *begin, const char **at, const char *end, float *x, size_t most);

#define NUMBER_TEXT 26

// x with the fewest digits that read back to the same float, the nearest of those, written as printf's %g does; "inf", "-inf", "nan".
// Returns text.
const char *number_text(float x, char text[NUMBER_TEXT]);

// The same of a double.
const char *number_text_wide(double x, char text[NUMBER_TEXT]);

#endif
