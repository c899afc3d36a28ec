// SPDX-License-Identifier: MIT
// Results of another implementation: the distributions of --expect, one for each row of the run, and the draws of
// --draws.
#ifndef SAMPL_RUN_EXPECTED_H
#define SAMPL_RUN_EXPECTED_H

#include "in/input.h"
#include "out/record.h"
#include "run/record.h"
#include "run/session.h"

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

// The draws from a row.
struct draws {
    const uint32_t *id; // [n]
    size_t n;
    uint32_t recorded; // memory of id
};

// Finds the draws from a row, and checks that --draws can test them. An error of status STATUS_DATA with *bad is the
// row's own; others end the run.
bool draws_find(struct draws *d, const struct job *j, const struct session *q, const struct input_row *row, bool *bad,
                struct err *e);

// Adds a row to the sums: its draws, or that it is left out.
void draws_add(struct draw_report *report, const struct result *res);

// Called after the last row: computes the tests. An error if no row had a draw. Notes lines of the file that no row has
// used.
bool draws_end(const struct job *j, struct draw_report *report, struct err *e);

#endif
