// SPDX-License-Identifier: MIT
// The unlisted tokens of a partial row: those that a server did not list. Their number, and the bounds of their logits
// and of their weight, are known. Each stage updates these bounds, or states that its result depends on more than the
// bounds.
//
// A weight is e^logit. Bounds of weights are kept as logarithms, because a low temperature makes weights tiny.
#ifndef SAMPL_SAMPLE_UNLISTED_H
#define SAMPL_SAMPLE_UNLISTED_H

#include "sample/row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cand;
struct idmap;

// Distance, at most, of a logit of a list of log-probabilities from that of the full row, less their common shift; a
// relative distance of weights. Servers round log-probabilities to f32, the full row's logits are f32, and so are the
// limits that stages compute of both. A logit of 64 is rounded by 2^-19.
#define LIST_SLACK 0x1p-17

enum unlisted_state {
    UNLISTED_NONE, // the row is complete
    UNLISTED_LIVE, // unlisted tokens may be candidates
    UNLISTED_GONE, // the stages so far have removed all unlisted tokens, and kept what they would keep of the full row
    UNLISTED_INEXACT, // the result of a stage depends on unlisted tokens: the listed ones now count as the whole row
};

// Unlisted candidates of the full row, masked ones included.
enum unlisted_left {
    LEFT_ALL,  // no stage has removed one
    LEFT_SOME, // stages may have removed some, or all
    LEFT_NONE, // stages have removed all
};

// Bounds of the full row's mean and deviation, once stages have divided the logits or changed some of them.
struct row_moments {
    double n;                   // the candidates that are not masked; 0: the bounds are not known
    double mean_low, mean_high; // of their logits
    double low, high;           // of the sum of the squares of their logits' distances from the mean
};

struct unlisted {
    enum unlisted_state state;
    enum logit_scale scale; // of the listed logits, until a stage writes ln p
    float slack;            // LIST_SLACK, or more of a coarse list: how far the difference of two logits may be off,
                            // at most. 0 of a list of logits: each number has the bits of the whole row
    struct list_unit unit;  // of a coarse list, else zeroed
    float stretch;          // the product of 1 / temperature; infinite: a stage has mapped the logits in another way
    enum unlisted_left left;
    float ceiling;    // no unlisted token's logit is above it
    bool low_unsure;  // listed tokens below the ceiling may have been removed from the full row
    bool draw_unsure; // it is not certain whether a stage, which counts the candidates first, draws in the full row
    double low, high; // logarithms of the bounds of the unlisted candidates' weight
    double most;      // bound of their number; infinite: not known
    // The number of the list's best that are the full row's best, equal logits included. 0 once a logit has changed.
    size_t ranked;
    // The full row's cand_exp_sum and cand_deviation, as long as all candidates are as they were; else 0 or NaN.
    float exp_sum, deviation;
    struct row_moments moments; // until the first change, deviation tells them
};

// A stage has changed, masked or removed a candidate: sums of the full row no longer hold.
static inline void unlisted_touch(struct unlisted *r)
{
    r->exp_sum = r->deviation = 0.0f;
    r->moments.n = 0.0;
}

// A stage has changed a logit: unlisted tokens may then rank before listed ones of the same logit.
static inline void unlisted_change(struct unlisted *r)
{
    unlisted_touch(r);
    r->ranked = 0;
}

// Returns whether the outcome of the stages so far is that of the full row. The record, the note at the end, the tables
// and the checks of draws read the answer of session_record_unlisted, which asks this at the end of a chain.
static inline bool unlisted_exact(const struct unlisted *r)
{
    return r->state == UNLISTED_NONE || r->state == UNLISTED_GONE;
}

// Returns whether the row is a list of some tokens, or of log-probabilities of all.
static inline bool row_is_list(const struct unlisted *r)
{
    return r->state != UNLISTED_NONE || r->scale == SCALE_LOGPROBS;
}

// Returns whether the numbers of the list are rounded, so that the rounding may decide an outcome.
static inline bool list_is_rounded(const struct unlisted *r) { return r->slack > 0.0f; }

// Returns whether the numbers are coarser than f32 (sample/listed.h).
static inline bool list_is_coarse(const struct unlisted *r) { return list_unit_coarse(&r->unit); }

// Returns how far a printed probability of an exact outcome may be off; infinite: not known.
double listed_within(const struct unlisted *r);

// Returns whether a stage must work by its function `partial`: because of unlisted tokens or, as long as there are
// several candidates, because the list is coarse. O(1).
bool list_is_open(const struct cand *c);

// The stage has divided all logits by temp, 1 / temp being `by`; infinite: it has mapped them in another way.
void list_stretch(struct cand *c, double by);

// Returns whether a token that the row does not list may be among the candidates. O(log n).
bool unlisted_may_hold(const struct cand *c, uint32_t token);

// The head: the listed candidates at or above the ceiling. Only their ranks are known. O(n).
size_t listed_head(const struct cand *c);

// Bounds the full row's cand_deviation by *low and *high, which are equal if it is known. Returns false if there are no
// bounds. O(1).
bool unlisted_deviation(const struct cand *c, float *low, float *high);

// Returns moments or, before the first change of a logit, what deviation tells of them. O(1), but before the first
// change O(n).
struct row_moments unlisted_moments(const struct cand *c);

// Returns whether the k best of the full row are known, and listed. k > 0. Otherwise ties with unlisted tokens may
// decide. O(n log n).
bool full_best_known(struct cand *c, size_t k);

// The functions below state what a stage does to a row whose unlisted tokens may be candidates.

// The stage changes the logit of a listed candidate: O(1), before the first change O(n).
void unlisted_move(struct cand *c, float from, float to);

// The stage changes k unlisted logits x, each by at most factor * |x| and an amount. squares: the sum of the squares of
// the amounts. before: unlisted_moments, as it was before the stage changed a bound. O(1).
void unlisted_stray(struct cand *c, const struct row_moments *before, double k, double factor, double squares);

// The stage divides all logits by temp > 0. before: that of unlisted_stray. O(1).
void unlisted_scale(struct cand *c, const struct row_moments *before, double temp);

// The stage keeps only listed tokens, if `known`. Otherwise its result is not that of the full row.
void unlisted_remove(struct cand *c, bool known);

// The stage masks all unlisted tokens, if `known`. Otherwise its result is not that of the full row.
void unlisted_mask(struct cand *c, bool known);

// The stage may remove unlisted tokens.
void unlisted_may_shrink(struct cand *c);

// Returns whether it is certain that the full row has two candidates at this stage, or that it has not, masked ones
// included. O(n).
bool full_has_two_known(const struct cand *c);

// Returns whether the full row has two candidates. If that is not certain, the later draws of the stage are unknown,
// and the result is what the list says. For stages that draw only in such rows. O(n).
bool full_has_two(struct cand *c);

// The stage depends on the size or the sign of the logits. Log-probabilities do not tell them.
void unlisted_needs_logits(struct cand *c);

// The stage depends on the number of the candidates, masked ones included. O(n).
void unlisted_needs_count(struct cand *c);

// The stage has written ln p to all logits, as it does in the full row.
void unlisted_writes_logs(struct cand *c);

// Returns whether a listed logit is so near to the floor that the full row's may be on the other side of it. O(n).
bool listed_is_near(const struct cand *c, float floor);

// The stage removes the candidates with logit < floor, but keeps the `least` best. O(n log n).
void unlisted_cut_below(struct cand *c, float floor, size_t least);

// The stage divides all logits by temp > 0.
void unlisted_divide(struct cand *c, float temp);

// The stage keeps the k best, k > 0. They may include unlisted tokens: at most k - listed_head(c); of the listed ones
// only the k best are then left to the stage. O(n log n).
void unlisted_top_k(struct cand *c, size_t k);

// Sums of weights e^(logit - max), max being the largest listed logit.
struct unlisted_sum {
    double listed;    // of the listed candidates that are certain
    double low, high; // bounds of the sum of all others
    float max;
};

struct unlisted_sum unlisted_sum(const struct cand *c);

// The stage removes the candidates whose weight, on the scale of unlisted_sum, is below a bound that lies from `low` to
// `high`, but keeps the `least` best, at least one. Removes them, and returns true, if the result is known. Otherwise
// the row is not exact, and the result is false: the stage then works on the listed tokens alone. O(n log n).
bool unlisted_cut_between(struct cand *c, double low, double high, size_t least);

// The stage removes the candidates whose probability by the full row's sum, which is known, is below `floor`, but keeps
// the `least` best, at least one. Removes them if unlisted ones do not reach the floor. O(n log n).
void unlisted_cut_likely(struct cand *c, float floor, size_t least);

// Returns how many of the best reach `limit` of the whole weight, the same at both bounds of the unlisted weight; 0 if
// the head does not reach it at either bound; SIZE_MAX if the bounds disagree. O(n log n).
size_t unlisted_nucleus(struct cand *c, double limit);

// The stage keeps the `count` best, but the `least` best at least. count 0: the whole head, and perhaps more; SIZE_MAX:
// rounding decides. Sorts what is left, and returns true, if the result is known. Otherwise the row is not exact, and
// the result is false, as of unlisted_cut_between. O(n log n).
bool unlisted_keep_best(struct cand *c, size_t count, size_t least);

// The stage multiplies the logits of these tokens by `by` where they are negative, and divides positive ones by it. If
// the factors differ, `by` is the largest; below 1 it states that unlisted logits may rise by an unknown amount.
// Tokens whose count[] is 0 stay as they are; count may be NULL. Log-probabilities do not tell the result of a
// candidate, whether or not unlisted tokens are left. O(1) on a complete row of logits, else O(tokens * n).
void unlisted_multiply(struct cand *c, const struct idmap *tokens, const uint32_t *count, double by);

// The stage maps all logits by a function that does not fall; the ceiling becomes `ceiling`.
void unlisted_map(struct cand *c, float ceiling);

// The stage has mapped the logits, which were before[0..n). If it has brought two of a list so near to each other that
// the full row may have them in another order, its result is not that of the full row. Equal logits stay equal; or, if
// before is NULL, they need not. O(n log n) on a list, else O(1).
void unlisted_check_order(struct cand *c, const float *before);

// The stage keeps the candidates whose surprise is nearest to the entropy, in that order, until their probabilities add
// up to `share`, but the `least` nearest at least. If rounding may decide which, or in what order, the result is not
// that of the full row. O(n log n) on a list, else O(1).
void unlisted_check_typical(struct cand *c, double share, size_t least);

// The stage subtracts `by` from all logits, and the ceiling becomes `ceiling`.
void unlisted_shift(struct cand *c, double by, float ceiling);

// The stage removes some unlisted tokens, and perhaps listed tokens below the ceiling.
void unlisted_may_cut(struct cand *c);

// A selector has drawn the candidate c->chosen by u, from the weights w[0..n) or, if w is NULL, from those of the
// logits. The outcome is exact if no unlisted candidate is left, and if u lies so far from the ends of the candidate's
// share that the rounding of a list cannot change the choice. O(n) on a partial row, else O(1).
void unlisted_draw(struct cand *c, const float *w, double u);

// A selector has chosen the largest value of all candidates. distance: to the next one, in units of a logit.
void unlisted_choose(struct cand *c, double distance);

#endif
