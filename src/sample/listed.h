// SPDX-License-Identifier: MIT
// Lists of coarse numbers: what is true of the full row whatever its numbers are.
//
// A server rounds its log-probabilities, or its probabilities, to bf16, to f16 or to some decimals. The reader finds
// out to which (in/list_unit.h). The true log-probability of token i then lies within h of the listed number x, where h
// is half a step of that rounding at x. The full row's numbers and the limits that stages compute are f32, so that
// LIST_SLACK / 2 is added: off = h + LIST_SLACK / 2.
//
// What stages do to the interval [x - off, x + off]: an addition moves it, and a division by a temperature T divides
// it, so that off is h / T + LIST_SLACK / 2 * max(1, 1 / T). A common shift of all logits changes no outcome. Stages
// that map logits in another way, that learn from numbers, or that have no function `partial`, make the row inexact.
//
// A stage keeps what it keeps of the full row if that follows from the intervals alone:
//
// - The k best are known if the least lower end among them is above every other upper end, the ceiling included.
// - A token has at least the share p of the largest probability if its lower end is at least ln p above all other upper
//   ends, and less if its upper end is below the largest lower end + ln p.
// - The m best reach the share P of the whole if they do with their least weights and the greatest of all others; and
//   no fewer reach it if, whichever of them may be the least, the others miss P with their greatest weights and the
//   least of all others. A share rises with each weight in it and falls with each other weight.
// - A draw chooses the same token if its place among the candidates is known, and if the ends of its part of the
//   cumulative distribution, each at its worst, lie on the same sides of the random number.
//
// So no row within the intervals has another outcome. Each end of an interval is taken at its worst on its own, which
// no real row may reach: rows that are not proved may be right. The printed probability p is off by at most
// tanh(slack / 4), slack being the largest sum of two tokens' offs: the odds p / (1 - p) change by e^slack at most.
#ifndef SAMPL_SAMPLE_LISTED_H
#define SAMPL_SAMPLE_LISTED_H

#include "sample/cand.h"

// How far candidate i's logit may be from the full row's; 0 for a row of exact numbers. O(log n).
double listed_off(const struct cand *c, size_t i);

// Bounds of the largest weight e^(logit - max), max being the largest listed logit.
void listed_top(const struct cand *c, double *low, double *high);

// The functions below need a coarse list.

// Returns true if the k best of the full row are known and listed. O(n log n).
bool listed_best_known(struct cand *c, size_t k);

// Returns how many listed candidates have at least the share e^log_share of the largest weight; SIZE_MAX if rounding
// decides. *others: unlisted ones may reach it, too. O(n log n).
size_t listed_reach(const struct cand *c, double log_share, bool *others);

// unlisted_nucleus. error: bound of the relative error of the full row's sums.
size_t listed_nucleus(struct cand *c, double limit, double error);

// Returns true if u chooses c->chosen in the full row, too. w: as in unlisted_draw. O(n log n).
bool listed_draw_known(const struct cand *c, const float *w, double u);

// Returns true if the order of the candidates, which are sorted by rank, is known.
bool listed_order_known(const struct cand *c);

#endif
