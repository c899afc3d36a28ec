// SPDX-License-Identifier: MIT
// --trace: what each stage did to a row's distribution. Looks on from outside, by chain_apply's watch, and changes nothing.
#ifndef SAMPL_RUN_TRACE_H
#define SAMPL_RUN_TRACE_H

#include "out/output.h"
#include "sample/chain.h"

struct trace {
    const struct choice *plan;
    struct trace_line *line; // [n] one a stage of the plan, after those before the plan
    size_t n, first;
    float *logit;           // [n_row] after the newest stage, in the row's order; -inf for what is gone or masked
    double *before, *after; // [n_row] probabilities around the newest stage
    size_t logit_cap, before_cap, after_cap;
};

// Prepares for rows that go through a plan; a zeroed struct, or one used for another plan, will do. With a grammar its line is the first.
// False when memory is short.
bool trace_plan(struct trace *t, const struct choice *plan, size_t n, bool grammar);
void trace_free(struct trace *t);

// Notes the distribution before the first stage; c is loaded.
struct fault trace_begin(struct trace *t, const struct cand *c);

// Notes what the grammar took from the row, before the first stage.
struct fault trace_grammar(struct trace *t, const struct cand *c);

// A chain_watch_fn; arg is the trace.
struct fault trace_stage(void *arg, size_t stage, struct cand *c);

#endif
