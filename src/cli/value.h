// SPDX-License-Identifier: MIT
// Values of options as text: read whole, held against their range. Errors name the option, the value and what is allowed.
#ifndef SAMPL_CLI_VALUE_H
#define SAMPL_CLI_VALUE_H

#include "base/err.h"
#include "base/number.h"
#include "in/rows.h"
#include "sample/sampler.h"

// A whole decimal integer in [low, high], from text that ends at end (NULL: at its NUL).
bool whole_number(const char *text, const char *end, int64_t low, int64_t high, int64_t *out);

// A whole number for --flag; else the error.
bool value_whole(const char *flag, const char *text, int64_t low, int64_t high, int64_t *out, struct err *e);

// A sampler's parameter from text; and from a number that somebody gave, which errors call `typed`.
bool value_parse(const struct param *row, const char *text, double *value, struct err *e);
bool value_check(const struct param *row, double number, const char *typed, double *value, struct err *e);

// A parameter's value as one would give it. Returns text, or a constant.
const char *value_text(const struct param *row, double value, char text[NUMBER_TEXT]);

// "true" or "false"; NULL is true.
bool value_flag(const char *flag, const char *text, bool *value, struct err *e);

// Token ids.
struct ids {
    uint32_t *id; // [n], malloc'ed
    size_t n, cap;
};

// Appends the ids of 1,2,3 or of @FILE.
bool value_ids(const char *flag, const char *text, struct ids *ids, struct err *e);

// Appends the rows of 3,9,20:30 or of @FILE.
bool value_rows(const char *flag, const char *text, struct rows *rows, struct err *e);

// ID(+|-)BIAS or "TEXT"(+|-)BIAS.
struct bias_typed {
    const char *text; // [len] of the token, pointing into what was read; NULL: it is given by id
    size_t len;
    struct bias bias;
};
bool value_bias(const char *flag, const char *text, struct bias_typed *bias, struct err *e);

#endif
