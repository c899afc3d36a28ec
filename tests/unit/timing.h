// SPDX-License-Identifier: MIT
// timing.h: clocks and medians of benchmarks.
#ifndef SAMPL_TEST_TIMING_H
#define SAMPL_TEST_TIMING_H

#include <stdlib.h>
#include <time.h>

// Returns the processor seconds of this thread.
static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// Returns the median. Sorts x.
static inline double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, ascending);
    return x[n / 2];
}

#endif
