// SPDX-License-Identifier: MIT
// Reads values of options that are no samplers' parameters: lists, which may stand in files, and biases. Errors begin
// with the flag.
#ifndef SAMPL_CLI_VALUE_H
#define SAMPL_CLI_VALUE_H

#include "settings/value.h"
#include "in/rows.h"

// Appends the ids of 1,2,3 or of @FILE. False with *e if an item is no token id, or the file cannot be read.
bool value_ids(const char *flag, const char *text, struct ids *ids, struct err *e);

// Appends the rows of 3,9,20:30 or of @FILE. False with *e if an item is no row or range, or the file cannot be read.
bool value_rows(const char *flag, const char *text, struct rows *rows, struct err *e);

// A bias as typed: ID(+|-)BIAS or "TEXT"(+|-)BIAS.
struct bias_typed {
    const char *text; // [len] the text of the token, within the value; NULL: the token is given by its id
    size_t len;
    struct bias bias;
};
bool value_bias(const char *flag, const char *text, struct bias_typed *bias, struct err *e);

#endif
