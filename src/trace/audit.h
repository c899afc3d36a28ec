// SPDX-License-Identifier: MIT
// What --audit measures of a row: how little its logits need move for the chain to choose a claimed token. Karvonen et
// al. 2025, arXiv 2511.20621, compare the noisy scores of vLLM in this way; here each selector has such a measure.
//
// All distances are in logits as the row has them. T is the product of the temperatures by which the stages so far have
// divided; c is the claimed token.
//
// Greedy: the best logit less that of c, as the stage sees them that leaves only the largest one.
//
// Selectors with noise: T times the best score less the score of c. A score is logit / T + noise, or ln p + noise, or
// ln(p / q). Where the noise belongs to the rank and not to the token (sglang behind a cut), c may also move to another
// rank: T times the minimum over the ranks r of max(|ln p_r - ln p_c|, best score - ln p_c - noise_r).
//
// Selectors that draw u from the cumulative distribution, in which L_i and C_i are the sums before and through the i-th
// candidate: if u lies above the interval of c, T times the minimum over i from c on of
// max(ln p_c - ln p_i, logit(u) - logit(C_i)), where logit(x) = ln(x / (1 - x)); the second term of the last i is 0. If
// u lies below, T times the minimum over i from c back of max(ln p_i - ln p_c, logit(L_i) - logit(u)), the second term
// of the first i being 0. Either c moves to another rank, or the others move so that the sum passes u. If the
// candidates are not sorted, i is c only.
#ifndef SAMPL_TRACE_AUDIT_H
#define SAMPL_TRACE_AUDIT_H

#include "trace/log.h"
#include "trace/record.h"

// Fills in all of x but the id. The log has steps, and c the noise of the candidates and their probabilities.
void trace_audited(const struct log *l, const struct cand *c, struct audited *x);

// Forgets all but the match: the outcome of a list is not that of the full row.
void audited_forget(struct audited *x);

// Returns what a margin counts in a mean: at most `clip`, and `clip` for a token outside. NaN: not known.
double audited_clipped(const struct audited *x, double clip);

#endif
