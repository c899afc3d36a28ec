// SPDX-License-Identifier: MIT
// The rest of a partial row: the tokens that a server did not list. Their number, and the bounds of their logits and of
// their weight, are known. Each stage updates these bounds, or states that its result depends on more than the bounds.
//
// A weight is e^logit. Bounds of weights are kept as logarithms, because a low temperature makes weights tiny.
#ifndef SAMPL_SAMPLE_REST_H
#define SAMPL_SAMPLE_REST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cand;
struct idmap;

enum rest_state {
    REST_NONE,    // the row is complete
    REST_LIVE,    // unlisted tokens may be candidates
    REST_GONE,    // the stages so far have removed all unlisted tokens, and kept what they would keep of the full row
    REST_INEXACT, // some stage's result depends on unlisted tokens: the listed ones now count as the whole row
};

struct unlisted {
    enum rest_state state;
    float ceiling;    // no unlisted token's logit is above it
    bool doubtful;    // listed tokens below the ceiling may have been removed from the full row
    double low, high; // logarithms of the bounds of the unlisted candidates' weight
    double most;      // bound of their number; infinite: not known
};

// The head: the listed candidates at or above the ceiling. Only their ranks are known. O(n).
size_t rest_head(const struct cand *c);

// Are the k best of the full row known, and listed? k > 0. Otherwise ties with unlisted tokens may decide. O(n log n).
bool rest_knows_best(struct cand *c, size_t k);

// The functions below state what a stage does to a row with a live rest.

// The stage keeps only listed tokens, if `known`. Otherwise its result is not that of the full row.
void rest_end(struct cand *c, bool known);

// The stage may remove unlisted tokens.
void rest_may_shrink(struct cand *c);

// The stage removes the candidates with logit < floor, but keeps the `least` best. O(n log n).
void rest_cut_below(struct cand *c, float floor, size_t least);

// The stage divides all logits by temp > 0.
void rest_divide(struct cand *c, float temp);

// The k of the full row's best that a top-k keeps may include unlisted tokens: at most k - rest_head(c).
void rest_bound_count(struct cand *c, size_t k);

// Sums of weights e^(logit - max), max being the largest listed logit.
struct rest_sum {
    double listed;    // of the listed candidates that are certain
    double low, high; // bounds of the sum of all others
    float max;
};

struct rest_sum rest_sum(const struct cand *c);

// The stage removes the candidates whose weight, on the scale of rest_sum, is below a bound that lies from `low` to
// `high`, but keeps the `least` best, at least one. Removes them, and returns true, if the result is known. Otherwise
// the row is not exact, and the result is false: the stage then works on the listed tokens alone. O(n log n).
bool rest_cut_between(struct cand *c, double low, double high, size_t least);

// Returns how many of the best reach `limit` of the whole weight, the same at both bounds of the rest; 0 if the head
// does not reach it at either bound; SIZE_MAX if the bounds disagree. O(n log n).
size_t rest_nucleus(struct cand *c, double limit);

// The stage multiplies the logits of these tokens by `by` where they are negative, and divides positive ones by it.
// Tokens whose count[] is 0 stay as they are; count may be NULL. Log-probabilities do not tell the result.
void rest_multiply(struct cand *c, const struct idmap *tokens, const uint32_t *count, double by);

// The stage maps all logits by a function that does not fall; the ceiling becomes `ceiling`.
void rest_map(struct cand *c, float ceiling);

// The stage subtracts `by` from all logits, and the ceiling becomes `ceiling`.
void rest_shift(struct cand *c, double by, float ceiling);

// The stage removes part of the rest, and perhaps listed tokens below the ceiling.
void rest_may_cut(struct cand *c);

// Is the weight of the rest too small for a draw to meet it?
bool rest_negligible(const struct cand *c);

#endif
