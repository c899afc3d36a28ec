// SPDX-License-Identifier: MIT
// What becomes of the likeliest tokens of a row from stage to stage: the picture of a page.
#ifndef SAMPL_RUN_FOLLOW_H
#define SAMPL_RUN_FOLLOW_H

#include "out/output.h"
#include "sample/cand_load.h"

#define GONE (-1.0) // in place of a probability: the token is removed or masked

// A zeroed struct is empty.
struct follow {
    float *
        p; // [n_steps][n_row] probabilities in the row's order: of the row as it was loaded, and after each line of the trace
    size_t n_row, cap;
};

void follow_free(struct follow *f);

// A row is loaded. False when memory is short.
bool follow_begin(struct follow *f, size_t n_row, size_t n_lines);

// Its probabilities p[n_row] after this many lines.
void follow_step(struct follow *f, size_t step, const double *p);

// The chain has run: chooses who is followed, the `most` best of the row and those that the record shows, and fills in the record's member.
// *room is theirs, as long as the record stays. all: the record will hold the lines of stages that are off, too. False when memory is short.
bool follow_end(const struct follow *f, const struct cand *c, const struct trace_line *line, size_t n_lines, bool all,
                size_t most, struct record *record, void **room, size_t *room_cap);

#endif
