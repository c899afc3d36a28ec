// SPDX-License-Identifier: MIT
// Values as text: read whole, and compared with their range. Errors name the option, the value and what is allowed.
#ifndef SAMPL_SETTINGS_VALUE_H
#define SAMPL_SETTINGS_VALUE_H

#include "base/err.h"
#include "base/number.h"
#include "sample/sampler.h"

// Reads a whole number from low to high for --flag. False with *e if the text is no such number.
bool value_whole(const char *flag, const char *text, int64_t low, int64_t high, int64_t *out, struct err *e);

// Reads a float; *end is where its text ends. False if the number is not 0, but so small that it would become 0.
bool value_float(const char *text, char **end, float *x);

// Reads a sampler's parameter from a text.
bool value_parse(const struct param *row, const char *text, double *value, struct err *e);

// Compares a number with the range of a sampler's parameter. Errors show the number as `typed`.
bool value_check(const struct param *row, double number, const char *typed, double *value, struct err *e);

// Returns a parameter's value as text for its option: `text`, or a constant.
const char *value_text(const struct param *row, double value, char text[NUMBER_TEXT]);

// Reads "true" or "false". A text that is NULL is true.
bool value_flag(const char *flag, const char *text, bool *value, struct err *e);

// Finds the next item of a list such as 1,2,3: item[0..len), and moves *at behind it. White space separates items, too.
// len is 0 where nothing stands before a comma. False at the end.
bool list_next(const char **at, const char **item, size_t *len);

// Token ids.
struct ids {
    uint32_t *id; // [n], malloc'ed
    size_t n, cap;
};

// Appends the ids of 1,2,3. least: 0, or -1 if a row may have no token; then -1 is UINT32_MAX.
bool ids_read(const char *flag, const char *text, int64_t least, struct ids *ids, struct err *e);

#endif
