// SPDX-License-Identifier: MIT
// The distributions of --expect: one for each row of the run.
#ifndef SAMPL_RUN_EXPECTED_H
#define SAMPL_RUN_EXPECTED_H

#include "in/input.h"
#include "run/record.h"

// A zeroed struct is closed.
struct expected_rows {
    const struct job *job;
    struct input_config config;
    struct input *in; // NULL: no distributions are expected
    float *values;    // [cap] the expected numbers of a row
    size_t cap;
};

// Opens the file if distributions are expected. Its rows are read with the settings of `run`, the input of the run.
bool expected_open(struct expected_rows *x, const struct job *j, const struct input_config *run, struct err *e);
void expected_close(struct expected_rows *x);

// Reads the numbers that are expected of a row into res, and finds the first expected token that the chain removed.
bool expected_next(struct expected_rows *x, const struct input_row *row, struct result *res, struct err *e);

// Called after the last of `rows` rows. An error if more ids or distributions are expected.
bool expected_end(struct expected_rows *x, uint64_t rows, struct err *e);

#endif
