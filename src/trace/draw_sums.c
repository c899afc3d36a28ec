// SPDX-License-Identifier: MIT
#include "trace/draw_sums.h"

#include "kern/libm.h"
#include "trace/chance.h"

#include <math.h>

static void add_outside_draws(struct draw_sums *s, uint64_t row, const struct row_draws *d)
{
    s->outside += d->outside;
    s->near += d->near;
    s->outside_rows += d->outside > 0;
    for (size_t i = 0; i < d->n_first && s->n_first < OUTSIDE_MOST; i++) {
        s->first[s->n_first] = d->first[i];
        s->first[s->n_first++].row = row;
    }
}

void draw_sums_add(struct draw_sums *s, uint64_t row, const struct row_draws *d)
{
    const double n = (double)d->inside;
    s->rows++;
    s->draws += d->inside + d->outside + d->near;
    add_outside_draws(s, row, d);
    if (!d->inside)
        return;
    s->n_ranks = d->n_ranks > s->n_ranks ? d->n_ranks : s->n_ranks;
    for (size_t i = 0; i < d->n_ranks; i++) {
        s->by_rank[i] += (double)d->by_rank[i];
        s->expected[i] += n * d->share[i];
        for (size_t k = 0; k < i; k++)
            s->variance[i][k] -= n * d->share[i] * d->share[k];
        s->variance[i][i] += n * d->share[i] * (1.0 - d->share[i]);
    }
    s->chi2 += d->chi2;
    s->df += d->df;
    s->ratio = fmax(s->ratio, d->ratio);
    if (d->kept > 1) {
        s->last_rows++;
        s->last += d->last;
        s->last_expected += n * d->last_p;
    }
    for (size_t i = 0; i < BETAS; i++) {
        s->score[i] += d->score[i];
        s->information[i] += d->information[i];
    }
}

// ---- by rank

enum { VARIANCE_LEAST = 10 };

// The covariance of the draws of the classes from[0] <= i < from[1] with those of to[0] <= k < to[1].
static double covariance(const struct draw_sums *s, const size_t from[2], const size_t to[2])
{
    double sum = 0.0;
    for (size_t i = from[0]; i < from[1]; i++)
        for (size_t k = to[0]; k < to[1]; k++)
            sum += i > k ? s->variance[i][k] : s->variance[k][i];
    return sum;
}

// Joins classes until the number of draws of each, and of all up to its end, has a variance of 10 at least. (A variance
// is at most the expected number. Where rows are nearly points, a class may expect many draws although hardly any could
// have gone elsewhere.) Writes where each class begins and ends to at[], and returns how many there are.
static size_t join_classes(const struct draw_sums *s, size_t at[RANK_CLASSES + 1])
{
    size_t n = 0;
    at[0] = 0;
    for (size_t end = 1; end < s->n_ranks; end++) {
        const size_t class[2] = {at[n], end}, all[2] = {0, end};
        if (covariance(s, class, class) >= VARIANCE_LEAST && covariance(s, all, all) >= VARIANCE_LEAST)
            at[++n] = end;
    }
    at[++n] = s->n_ranks;
    return n;
}

static struct chi2_test test_by_rank(const struct draw_sums *s)
{
    size_t at[RANK_CLASSES + 1];
    const size_t n = join_classes(s, at);
    double c[RANK_CLASSES][RANK_CLASSES], d[RANK_CLASSES];
    struct chi2_test t = {.p = NAN};
    for (size_t i = 0; i < n; i++) {
        double expected = 0.0, drawn = 0.0;
        for (size_t k = at[i]; k < at[i + 1]; k++) {
            expected += s->expected[k];
            drawn += s->by_rank[k];
        }
        for (size_t k = 0; k <= i; k++)
            c[i][k] = covariance(s, &at[i], &at[k]);
        d[i] = drawn - expected;
        t.ratio = fmax(t.ratio, drawn / expected);
    }
    t.chi2 = n > 1 ? quadratic_form(c[0], RANK_CLASSES, d, n - 1) : NAN; // the others decide the last
    if (isnan(t.chi2))
        return (struct chi2_test){.p = NAN};
    t.df = (double)(n - 1);
    t.p = chi2_p(t.chi2, t.df);
    return t;
}

// ---- temperature

// The score as a function of u = ln beta, between grid points i and i + 1: the cubic with the values and the
// derivatives of both. t: from 0 at i to 1 at i + 1.
static double score_between(const struct draw_sums *s, size_t i, double t)
{
    const double step = 0.34657359027997264; // (ln 2) / 2
    const double slope[2] = {-step * beta_at(i) * s->information[i], -step * beta_at(i + 1) * s->information[i + 1]};
    const double rest = 1.0 - t;
    return rest * rest * ((1.0 + 2.0 * t) * s->score[i] + t * slope[0]) +
           t * t * ((1.0 + 2.0 * rest) * s->score[i + 1] - rest * slope[1]);
}

static double beta_between(size_t i, double t) { return beta_at(i) * libm_pow(2.0, t / 2.0); }

// The integral of the score over beta, from t = low to high between grid points i and i + 1: Gauss's formula of five
// points.
static double gain_between(const struct draw_sums *s, size_t i, double low, double high)
{
    static const double point[3] = {0.0, 0.5384693101056831, 0.9061798459386640},
                        weight[3] = {0.5688888888888889, 0.4786286704993665, 0.2369268850561891};
    const double middle = (low + high) / 2.0, half = (high - low) / 2.0;
    double sum = 0.0;
    for (size_t k = 0; k < 5; k++) {
        const double t = middle + (k < 3 ? half : -half) * point[k < 3 ? k : k - 2];
        sum += weight[k < 3 ? k : k - 2] * score_between(s, i, t) * beta_between(i, t);
    }
    return sum * half * 0.34657359027997264;
}

// Estimates the beta with which p^beta / Z fits the draws best. The log-likelihood gained over beta 1 gives the
// p-value.
static void test_temperature(const struct draw_sums *s, struct draw_tests *to)
{
    const bool up = s->score[BETA_ONE] > 0.0;
    size_t i = up ? BETA_ONE : BETA_ONE - 1; // of the interval at hand
    double gain = 0.0, low = 0.0, high = 1.0;
    to->temperature.factor = to->temperature.se = to->temperature.p = NAN;
    if (!(s->information[BETA_ONE] > 0.0) && s->score[BETA_ONE] == 0.0) // every row is a point, or flat
        return;
    while ((s->score[i + up] > 0.0) == up && (up ? i + 2 < BETAS : i > 0)) {
        gain += gain_between(s, i, 0.0, 1.0);
        i = up ? i + 1 : i - 1;
    }
    if ((s->score[i + up] > 0.0) == up) { // beyond the grid
        gain += gain_between(s, i, 0.0, 1.0);
        to->temperature.factor = 1.0 / beta_at(i + up);
    } else {
        for (int k = 0; k < 60; k++) {
            const double t = (low + high) / 2.0;
            *(score_between(s, i, t) > 0.0 ? &low : &high) = t;
        }
        const double beta = beta_between(i, low);
        const double information =
            (1.0 - low) * beta_at(i) * s->information[i] + low * beta_at(i + 1) * s->information[i + 1];
        gain += up ? gain_between(s, i, 0.0, low) : gain_between(s, i, low, 1.0);
        to->temperature.factor = 1.0 / beta;
        to->temperature.se = 1.0 / (sqrt(information / beta) * beta * beta);
    }
    to->temperature.p = chi2_p(2.0 * fabs(gain), 1.0);
}

void draw_sums_test(const struct draw_sums *s, struct draw_tests *to)
{
    to->rank = test_by_rank(s);
    to->token = (struct chi2_test){s->chi2, s->df, s->df > 0.0 ? chi2_p(s->chi2, s->df) : NAN, s->ratio};
    to->last_p = s->last_rows ? poisson_p(s->last, s->last_expected) : NAN;
    test_temperature(s, to);
    to->rejected = s->outside || to->rank.p < DRAWS_REJECTED || to->token.p < DRAWS_REJECTED ||
                   to->last_p < DRAWS_REJECTED || to->temperature.p < DRAWS_REJECTED;
}
