// SPDX-License-Identifier: MIT
// --report: sums up how far the raw rows of two inputs agree. Takes 16 bytes a row, which the percentiles need.
#ifndef SAMPL_RUN_REPORT_H
#define SAMPL_RUN_REPORT_H

#include "out/record.h"
#include "run/job.h"
#include "trace/agreement.h"

// Sums over the rows of a number and of its square.
struct moment {
    double x, square;
};

// A zeroed struct is empty.
struct report_sums {
    size_t n, lists; // rows; those with a list on a side
    double *kld, *dp; // [n]
    size_t kld_cap, dp_cap;
    struct moment nll_base, nll_q, log_ratio, of_kld, of_dp, dp_square;
    double nll_product, same, error, power, dlogp, dlogp_most, dlogp_n, top5, top10, acceptance;
};

void report_free(struct report_sums *s);

// Adds a row. acceptance: the expected rate at which a draft from the base's chain is accepted; NaN: not known.
// Returns false if memory is short.
bool report_add(struct report_sums *s, const struct agreement *a, double acceptance);

// Computes the figures from the sums, and sorts the rows' numbers.
void report_figures(struct report_sums *s, const struct job *j, struct report *r);

#endif
