// SPDX-License-Identifier: MIT
// The tests of --draws: whether the draws that another program made follow the distributions after the chain, in each
// row and over all rows.
#ifndef SAMPL_TRACE_DRAWS_H
#define SAMPL_TRACE_DRAWS_H

#include "trace/log.h"

enum {
    RANK_CLASSES = 64, // ranks 1, 2, 3, 4, 5-6, 7-8, 9-12, 13-16, 17-24, ...
    BETAS = 9,         // 1/4, .354, 1/2, .707, 1, 1.41, 2, 2.83, 4
    BETA_ONE = 4,      // index of 1
    OUTSIDE_MOST = 10, // draws of tokens not kept that a report names
};

// A token that was drawn and is not kept.
struct outside {
    uint64_t row;
    uint32_t id;
    uint64_t n;              // how often it was drawn from the row
    char stage[NUMBER_TEXT]; // the stage or mask that removed it; "": the row masks the token, or lacks it
    bool listed;             // the row has the token
    size_t rank;             // last rank of the token before its removal, from 1; 0: unlisted tokens may rank before it
    bool next;               // the stage removed no better candidate
};

// A row. The members from n_ranks on are about the draws of kept tokens, and are set if there is one.
struct row_draws {
    uint64_t inside;
    uint64_t outside, near; // near: others outside, whose margin is within the tolerance
    struct outside first[OUTSIDE_MOST];
    size_t n_first;

    size_t n_ranks;                 // classes of ranks that the kept tokens reach
    uint64_t by_rank[RANK_CLASSES]; // draws
    double share[RANK_CLASSES];     // probability of each class
    double chi2, df, ratio;         // by token: Pearson's, and the largest ratio of draws to expected ones; df 0: none
    size_t kept;                    // number of kept candidates
    uint64_t last;                  // draws of the one of the last rank
    double last_p;                  // its probability
    double score[BETAS];            // derivative by beta of the log-likelihood of p^beta / Z
    double information[BETAS];      // -1 times the second derivative
};

// Fills in the draws id[0..n) of a row, whose log has steps, as the record's `drawn`. tolerance: of the margin of
// outside draws; below 0: none. False when memory is short.
bool trace_drawn(const struct log *l, const struct cand *c, const uint32_t *id, size_t n, double tolerance,
                 struct result *res);

// ---- over all rows

// Independent draws hardly ever have p-values of both chi-square tests above this. If only one of them is above it, it
// must be nearer to 1, by the limit: stratified draws, 50 and more a row, change one test and not the other.
#define DRAWS_TOO_GOOD 0.999

// Sums over the rows. A zeroed struct is empty.
struct draw_sums {
    uint64_t rows;
    uint64_t bad, inexact; // other rows: those without a distribution, and lists whose outcome is not exact
    uint64_t draws;        // outside ones included
    uint64_t outside, near, outside_rows;
    struct outside first[OUTSIDE_MOST];
    size_t n_first;

    size_t n_ranks;
    double by_rank[RANK_CLASSES], expected[RANK_CLASSES];
    double variance[RANK_CLASSES][RANK_CLASSES]; // covariances of by_rank; [i][k] with k <= i
    double chi2, df, ratio;                      // by token
    uint64_t last, last_draws;                   // last_draws: all draws from rows with several kept candidates
    double last_expected;
    double score[BETAS], information[BETAS];
};

// The result of a chi-square test. If df is 0, it was not made: draw_tests.choice says why.
struct chi2_test {
    double chi2, df, p;
    double ratio; // the largest, of draws to expected ones
};

// The results of the tests. A p-value that is NaN: not tested.
struct draw_tests {
    struct chi2_test rank, token;
    double last_p;
    bool choice; // some draw was from a row in which several tokens have a chance; else more draws test nothing
    struct {
        double factor, se, p; // of the draws' temperature to the chain's; beyond the grid, its end, and se is NaN
    } temperature;
    double limit;   // a p-value below it rejects the draws
    bool rejected;  // a draw was outside, or a p-value is below the limit
    bool too_good;  // the draws are not rejected, but differ less than independent ones; as stratified ones do
    double factor;  // what these draws show with a probability of 0.8: a factor of the temperature beyond 1 +- this,
    double missing; // and a token of this probability that is never drawn. NaN: not tested
};

// Adds a row; rows come in order.
void draw_sums_add(struct draw_sums *s, uint64_t row, const struct row_draws *d);

// limit: as in draw_tests.
void draw_sums_test(const struct draw_sums *s, double limit, struct draw_tests *to);

#endif
