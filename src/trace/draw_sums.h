// SPDX-License-Identifier: MIT
// The tests of --draws, over all rows: does what another program drew follow the distributions after the chain?
#ifndef SAMPL_TRACE_DRAW_SUMS_H
#define SAMPL_TRACE_DRAW_SUMS_H

#include "trace/drawn.h"

// Independent draws hardly ever have p-values of both chi-square tests above this. One test alone must come nearer to
// 1: stratified draws, 50 and more a row, do so, and leave the other tests as they are.
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
