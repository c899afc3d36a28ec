// SPDX-License-Identifier: MIT
// The list of --emit list: a row's best tokens, and the size of what they leave out.
#ifndef SAMPL_TRACE_TAIL_H
#define SAMPL_TRACE_TAIL_H

#include "sample/cand_load.h"
#include "trace/record.h"

// Lists the `most` best of logit[0..c->n_vocab), which are those of c in the order of the ids, -inf for masked tokens,
// and one at least is finite. Sets ranked, shown and tail of the result's record. token: the token that follows the
// row, or -1. Overwrites logit and c.
struct fault tail_measure(struct cand *c, float *logit, size_t most, int64_t token, struct result *res);

#endif
