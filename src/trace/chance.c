// SPDX-License-Identifier: MIT
#include "trace/chance.h"

#include "kern/expf.h"
#include "kern/libm.h"

#include <assert.h>
#include <math.h>

// Returns ln Gamma(a), a > 0: Stirling's series above 10; below, by Gamma(a) = Gamma(a + 1) / a.
static double log_gamma(double a)
{
    double product = 1.0;
    while (a < 10.0) {
        product *= a;
        a += 1.0;
    }
    const double r = 1.0 / (a * a);
    const double series =
        (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r * (1.0 / 1188 - r * 691.0 / 360360))))) / a;
    return (a - 0.5) * libm_log_quick(a) - a + 0.5 * libm_log_quick(6.283185307179586) + series -
           libm_log_quick(product);
}

// The two regularised incomplete gamma functions, P + Q = 1.
struct gamma_parts {
    double lower, upper; // P(a, x) and Q(a, x)
};

// The part that is smaller than about a half is computed, so that it keeps its digits: P by its power series, Q by its
// continued fraction (Abramowitz and Stegun 6.5.29 and 6.5.31, the fraction by Lentz's method). Both take about
// sqrt(a) steps.
static struct gamma_parts incomplete_gamma(double a, double x)
{
    if (!(x > 0.0))
        return (struct gamma_parts){0.0, 1.0};
    if (x == INFINITY)
        return (struct gamma_parts){1.0, 0.0};
    const double front = kern_exp(fmin(0.0, a * libm_log_quick(x) - x - log_gamma(a + 1.0))); // at most 1
    if (x < a + 1.0) {
        double term = 1.0, sum = 1.0;
        for (double k = a + 1.0; term > sum * 0x1p-53; k += 1.0) {
            term *= x / k;
            sum += term;
        }
        const double lower = fmin(1.0, front * sum);
        return (struct gamma_parts){lower, 1.0 - lower};
    }
    double b = x + 1.0 - a, c = 1e300, d = 1.0 / b, fraction = d, change = 0.0;
    for (double k = 1.0; fabs(change - 1.0) > 0x1p-52; k += 1.0) {
        const double factor = -k * (k - a);
        b += 2.0;
        d = factor * d + b;
        d = 1.0 / (fabs(d) < 1e-300 ? 1e-300 : d);
        c = b + factor / c;
        c = fabs(c) < 1e-300 ? 1e-300 : c;
        change = d * c;
        fraction *= change;
    }
    const double upper = fmin(1.0, front * a * fraction);
    return (struct gamma_parts){1.0 - upper, upper};
}

double chi2_p(double chi2, double df)
{
    assert(df > 0.0 && chi2 >= 0.0);
    return incomplete_gamma(df / 2.0, chi2 / 2.0).upper;
}

double poisson_p(uint64_t n, double mean)
{
    const double below = incomplete_gamma((double)n + 1.0, mean).upper;
    const double above = n ? incomplete_gamma((double)n, mean).lower : 1.0;
    return fmin(1.0, 2.0 * fmin(below, above));
}

double quadratic_form(double *c, size_t stride, double *d, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        double *const row = c + i * stride;
        for (size_t k = 0; k <= i; k++) {
            const double *const other = c + k * stride;
            const double whole = row[k];
            for (size_t j = 0; j < k; j++)
                row[k] -= row[j] * other[j];
            if (k < i)
                row[k] /= other[k];
            else if (row[k] > whole * 1e-12)
                row[k] = sqrt(row[k]);
            else
                return NAN;
        }
        for (size_t j = 0; j < i; j++)
            d[i] -= row[j] * d[j];
        d[i] /= row[i];
        sum += d[i] * d[i];
    }
    return sum;
}
