// SPDX-License-Identifier: MIT
// Values of options as text, beyond those of samplers' parameters: lists that may stand in files, and biases.
#ifndef SAMPL_CLI_VALUE_H
#define SAMPL_CLI_VALUE_H

#include "chain/value.h"
#include "in/rows.h"

// Appends the ids of 1,2,3 or of @FILE.
bool value_ids(const char *flag, const char *text, struct ids *ids, struct err *e);

// Appends the rows of 3,9,20:30 or of @FILE.
bool value_rows(const char *flag, const char *text, struct rows *rows, struct err *e);

// A bias as typed: ID(+|-)BIAS or "TEXT"(+|-)BIAS.
struct bias_typed {
    const char *text; // [len] the text of the token, within the value; NULL: the token is given by its id
    size_t len;
    struct bias bias;
};
bool value_bias(const char *flag, const char *text, struct bias_typed *bias, struct err *e);

#endif
