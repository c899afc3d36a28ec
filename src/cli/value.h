// SPDX-License-Identifier: MIT
// Reads values of options that are lists, which may stand in files. Errors begin with the flag.
#ifndef SAMPL_CLI_VALUE_H
#define SAMPL_CLI_VALUE_H

#include "in/rows.h"
#include "settings/value.h"

// Appends the ids of 1,2,3 or of @FILE, as ids_read does. False with *e if an item is no token id, or the file cannot
// be read.
bool value_ids(const char *flag, const char *text, int64_t least, struct ids *ids, struct err *e);

// Appends the rows of 3,9,20:30 or of @FILE. False with *e if an item is no row or range, or the file cannot be read.
bool value_rows(const char *flag, const char *text, struct rows *rows, struct err *e);

#endif
