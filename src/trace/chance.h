// SPDX-License-Identifier: MIT
// Probabilities of test statistics, with the same bits on every machine.
#ifndef SAMPL_TRACE_CHANCE_H
#define SAMPL_TRACE_CHANCE_H

#include <stddef.h>
#include <stdint.h>

// Returns the probability that a chi-square variable with df > 0 degrees of freedom is at least chi2 >= 0.
double chi2_p(double chi2, double df);

// Returns the two-sided probability of a count n under the Poisson distribution: twice the smaller of P(X <= n) and
// P(X >= n), at most 1. mean >= 0.
double poisson_p(uint64_t n, double mean);

// Returns d' C^-1 d for a symmetric, positive definite matrix C, of which c[i * stride + k] with k <= i is read. Leaves
// the Cholesky factor in c, and its solution in d. NaN if C is not positive definite.
double quadratic_form(double *c, size_t stride, double *d, size_t n);

#endif
