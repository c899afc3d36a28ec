// SPDX-License-Identifier: MIT
#include "trace/significance.h"

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

// Returns ln of the binomial coefficient of n over k.
static double log_choose(double n, double k)
{
    return log_gamma(n + 1.0) - log_gamma(k + 1.0) - log_gamma(n - k + 1.0);
}

// Adds up the hypergeometric probabilities from `hits` on downwards. Each follows from the one above it by a quotient.
// Above the mode they grow first, so that the sum ends only where they are small and fall.
double fisher_p(uint64_t hits, uint64_t n, uint64_t other_hits, uint64_t other_n)
{
    const double all = (double)hits + (double)other_hits, a = (double)n, b = (double)other_n;
    const double least = fmax(0.0, all - b), mode = floor((all + 1.0) * (a + 1.0) / (a + b + 2.0));
    double k = (double)hits;
    double term = kern_exp(log_choose(a, k) + log_choose(b, all - k) - log_choose(a + b, all)), sum = term;
    if (!(term > 0.0))
        return k > mode ? 1.0 : 0.0;
    while (k > least && (k > mode || term > sum * 0x1p-60)) {
        term *= k * (b - all + k) / ((a - k + 1.0) * (all - k + 1.0));
        sum += term;
        k -= 1.0;
    }
    return fmin(1.0, sum);
}

// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8) by Lentz's method, for x below
// (a + 1) / (a + b + 2).
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0), fraction, change = 0.0;
    d = 1.0 / (fabs(d) < tiny ? tiny : d);
    fraction = d;
    for (double m = 1.0; fabs(change - 1.0) > 0x1p-52 && m < 1e5; m += 1.0) {
        const double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
                     odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 + even * d;
        c = 1.0 + even / c;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        fraction *= d * c;
        d = 1.0 + odd * d;
        c = 1.0 + odd / c;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        change = d * c;
        fraction *= change;
    }
    return fraction;
}

// Returns the regularised incomplete beta function I_x(a, b), a, b > 0 and 0 <= x <= 1.
static double incomplete_beta(double x, double a, double b)
{
    if (!(x > 0.0))
        return 0.0;
    if (x >= 1.0)
        return 1.0;
    const double front =
        kern_exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * libm_log_quick(x) + b * libm_log_quick(1.0 - x));
    return x < (a + 1.0) / (a + b + 2.0) ? front * beta_fraction(x, a, b) / a
                                         : 1.0 - front * beta_fraction(1.0 - x, b, a) / b;
}

double binomial_p(uint64_t hits, uint64_t n, double share)
{
    return hits < n ? incomplete_beta(1.0 - share, (double)(n - hits), (double)hits + 1.0) : 1.0;
}

double student_p(double t, double df)
{
    assert(df > 0.0);
    const double half = incomplete_beta(df / (df + t * t), df / 2.0, 0.5) / 2.0;
    return t > 0.0 ? half : 1.0 - half;
}
