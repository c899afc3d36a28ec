// SPDX-License-Identifier: MIT
// The mean of numbers and its standard error, updated number by number.
#ifndef SAMPL_VIEWS_MOMENTS_H
#define SAMPL_VIEWS_MOMENTS_H

#include <math.h>
#include <stdint.h>

// A zeroed struct has no numbers. m2: the sum of squared deviations from the mean.
struct moments {
    uint64_t n;
    double sum, mean, m2;
};

static inline void moments_add(struct moments *m, double x)
{
    const double d = x - m->mean;
    m->n++;
    m->sum += x;
    m->mean += d / (double)m->n;
    m->m2 += d * (x - m->mean);
}

// NaN without numbers.
static inline double mean_of(const struct moments *m) { return m->n ? m->sum / (double)m->n : NAN; }

// The square of the mean's standard error; NaN of fewer than two numbers.
static inline double mean_variance(const struct moments *m)
{
    return m->n > 1 ? m->m2 / (double)(m->n - 1) / (double)m->n : NAN;
}

#endif
