// SPDX-License-Identifier: MIT
// f32 and decimal: the inner loops of JSON input and of text output.
#ifndef SAMPL_BASE_NUMBER_H
#define SAMPL_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

// Reads the JSON number that starts at p into *x, rounded correctly (to nearest, ties to even; too large gives an
// infinity). Returns where it ends, or NULL when there is no number. Reads nothing at or beyond end; a number that
// reaches end may go on behind it.
const char *json_number(const char *p, const char *end, float *x);

// Reads the words that Python and JavaScript print for numbers that JSON does not have; `null` is masked, as
// -Infinity is.
const char *json_word(const char *p, const char *end, float *x);

// Reads a number or such a word that takes all of the text up to a comma, but for white space before it.
// Returns false for any other text.
bool json_item(const char *p, const char *comma, float *x);

enum { NUMBER_POWER = 60, NUMBER_POWER_MOST = 40 };
extern const double number_powers[NUMBER_POWER + 1 + NUMBER_POWER_MOST]; // 10^(i - NUMBER_POWER)

#define NUMBER_TEXT 26

// x with the fewest digits that read back to the same float, the nearest of those, written as printf's %g does; "inf",
// "-inf", "nan". Returns text.
const char *number_text(float x, char text[NUMBER_TEXT]);

// Writes a double with the fewest digits. Returns text.
const char *number_text_wide(double x, char text[NUMBER_TEXT]);

// Rewrites a number of these functions up to 10^15 without a power of ten, as people write it: 1e+01 becomes 10.
// Returns text.
const char *number_plain(char text[NUMBER_TEXT]);

// Writes a number of so many digits at most as people write it in a sentence: .5, -.8, 1.75, 120, 2e-05. Returns text.
const char *number_short(double x, int digits, char text[NUMBER_TEXT]);

// Reads a decimal integer from low to high. The text ends at `end`, or if that is NULL, at its NUL. False if the text
// is no such number.
bool whole_number(const char *text, const char *end, int64_t low, int64_t high, int64_t *out);

// Reads a JSON number that is an integer of 64 bits, with or without a sign, into those bits. False for other numbers.
bool number_bits(const char *text, uint64_t *bits);

#endif
