// SPDX-License-Identifier: MIT
// The distributions of --expect, a row for each of the run.
#ifndef SAMPL_RUN_EXPECTED_H
#define SAMPL_RUN_EXPECTED_H

#include "in/input.h"
#include "run/record.h"

// A zeroed struct is closed.
struct expected_rows {
    const struct job *job;
    struct input_config config;
    struct input *in; // NULL: ids are expected, or nothing
    float *values;    // [cap] of a row
    size_t cap;
};

// Opens the file, if one is expected; its rows are read as those of `run`.
bool expected_open(struct expected_rows *x, const struct job *j, const struct input_config *run, struct err *e);
void expected_close(struct expected_rows *x);

// Fills in the numbers that are expected of a row, and the first token of theirs that the chain removed.
bool expected_next(struct expected_rows *x, const struct input_row *row, struct result *res, struct err *e);

// After the last row of so many: was more expected, of ids or distributions?
bool expected_end(struct expected_rows *x, uint64_t rows, struct err *e);

#endif
