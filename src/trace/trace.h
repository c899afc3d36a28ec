// SPDX-License-Identifier: MIT
// Results computed from the log of a row (trace/log.h) after the chain has run. c holds the candidates that are left.
#ifndef SAMPL_TRACE_TRACE_H
#define SAMPL_TRACE_TRACE_H

#include "trace/log.h"
#include "trace/record.h"

// A parameter as a name and a value.
struct named named_param(const struct param *row, const void *params);

// Returns the line of a stage that has not run: its name and parameters.
struct trace_line trace_line_of(const struct recipe *recipe, const struct stage *stage);

// Notes for each token what removed it: res->removal, for result_removed_by. False when memory is short.
bool trace_removals(const struct log *l, const struct cand *c, struct result *res);

// Fills in the members of res->record about tokens that the chain removed, after trace_removals. Tokens of `shown`, a
// step that the record shows in place of what is left, do not count; NULL: no such step.
void trace_cuts(const struct log *l, const struct cand *c, const struct log_step *shown, struct result *res);

// Fills in all of x: what became of the token x->id.
void trace_expected(const struct log *l, const struct cand *c, struct expected *x);

// Does so up to a step, without the draw. If the token is kept, edge_of is the stage that came nearest to removing it,
// and the margin is that of the token.
void trace_kept(const struct log *l, const struct cand *c, const struct log_step *end, struct expected *x);

// The margin of a stage's limit as a share of the limit; of a rank, in logits.
double expected_distance(const struct expected *x);

// Makes the record's trace lines from a log with softmaxes. most: candidates that are listed after each stage; all:
// with lines of disabled stages. res->memory then also has memory for a struct ranked of each candidate that may be
// left, at *behind. False when memory is short.
bool trace_lines(struct log *l, const struct cand *c, size_t most, bool all, struct result *res,
                 struct ranked **behind);

// Follows tokens through the record's trace lines, which must be there: the `most` likeliest of the loaded row, the
// best of those that the record shows, the chosen and the accepted token. False when memory is short.
bool trace_followed(struct log *l, const struct cand *c, size_t most, struct result *res);

#endif
