// SPDX-License-Identifier: MIT
// A worker's side of the grammar: what has been accepted so far, and rows without the tokens that cannot come next.
#ifndef SAMPL_RUN_CONSTRAINT_H
#define SAMPL_RUN_CONSTRAINT_H

#include "cli/options.h"
#include "grammar/matcher.h"
#include "kern/kern.h"
#include "sample/cand.h"

// A zeroed struct is no constraint; with one, the functions below let everything pass.
struct constraint {
    struct matcher *matcher;
    const struct vocab *vocab;
};

bool constraint_init(struct constraint *c, const struct options *o, struct err *e);
void constraint_free(struct constraint *c);

// A new sequence begins.
void constraint_reset(struct constraint *c);

bool constraint_fits(struct constraint *c, uint32_t id, bool *fits, struct err *e);

// The row with -inf for every token that does not fit; x has room for its numbers, which *masked points to.
bool constraint_mask(struct constraint *c, const struct kern *kern, const struct row *row, float *x, struct row *masked,
                     struct err *e);

// Moves past a token; an error names one that does not fit.
bool constraint_accept(struct constraint *c, uint32_t id, struct err *e);

// The error when the mask leaves no token. Returns false.
bool constraint_exhausted(const struct constraint *c, struct err *e);

#endif
