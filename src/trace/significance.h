// SPDX-License-Identifier: MIT
// Probabilities of test statistics under the hypothesis that is tested, with the same bits on every machine.
#ifndef SAMPL_TRACE_SIGNIFICANCE_H
#define SAMPL_TRACE_SIGNIFICANCE_H

#include <stdint.h>

// Returns the probability that a chi-square variable with df > 0 degrees of freedom is at least chi2 >= 0.
double chi2_p(double chi2, double df);

// Returns the two-sided probability of a count n under the Poisson distribution: twice the smaller of P(X <= n) and
// P(X >= n), at most 1. mean >= 0.
double poisson_p(uint64_t n, double mean);

// Fisher's exact test, one-sided: returns the probability that the first of two groups has at most this many hits, if
// both have the same chance of one and the hits of both together are given. n, other_n > 0. O(hits).
double fisher_p(uint64_t hits, uint64_t n, uint64_t other_hits, uint64_t other_n);

// Returns the probability of at most so many hits in n independent trials, each of which hits with probability `share`.
double binomial_p(uint64_t hits, uint64_t n, double share);

// Returns the probability that a variable with Student's t distribution of df > 0 degrees of freedom is at least t.
double student_p(double t, double df);

#endif
