// SPDX-License-Identifier: MIT
#include "run/report.h"

#include "base/mem.h"
#include "kern/libm.h"

#include <math.h>
#include <stdlib.h>

void report_free(struct report_sums *s)
{
    free(s->kld);
    free(s->dp);
}

static void moment_add(struct moment *m, double x)
{
    m->x += x;
    m->square += x * x;
}

// A number that the lists of a row do not determine is NaN, and so are then the sums with this number.
bool report_add(struct report_sums *s, const struct agreement *a, double acceptance)
{
    if (!mem_grow(&s->kld, &s->kld_cap, s->n + 1, sizeof *s->kld) ||
        !mem_grow(&s->dp, &s->dp_cap, s->n + 1, sizeof *s->dp))
        return false;
    s->kld[s->n] = a->kld;
    s->dp[s->n++] = a->dp;
    moment_add(&s->of_kld, a->kld);
    moment_add(&s->of_dp, a->dp);
    moment_add(&s->dp_square, a->dp * a->dp);
    moment_add(&s->nll_base, a->nll_base);
    moment_add(&s->nll_q, a->nll_q);
    moment_add(&s->log_ratio, a->nll_q - a->nll_base);
    s->nll_product += a->nll_q * a->nll_base;
    s->lists += a->lists;
    s->same += a->same;
    s->error += a->error;
    s->power += a->power;
    s->dlogp += a->dlogp;
    s->dlogp_most = fmax(s->dlogp_most, a->dlogp_most);
    s->dlogp_n += a->dlogp_n;
    s->top5 += a->top5;
    s->top10 += a->top10;
    s->acceptance += acceptance;
    return true;
}

// ---- figures

// The variance of a mean, over n rows: (mean of squares - square of mean) / (n - 1).
static double variance(const struct moment *m, double n)
{
    const double mean = m->x / n, spread = m->square / n - mean * mean;
    return n > 1.0 && !isnan(mean) ? fmax(spread, 0.0) / (n - 1.0) : NAN;
}

static struct figure figure_of(const struct moment *m, double n)
{
    return (struct figure){m->x / n, sqrt(variance(m, n))};
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The value below which the share f of x[0..n) lies; x rises. Between two values the percentile is linear.
static double percentile(const double *x, size_t n, double f)
{
    const double at = f * (double)(n - 1);
    const size_t i = (size_t)at;
    const double part = at - (double)i;
    return part > 0.0 ? (1.0 - part) * x[i] + part * x[i + 1] : x[i];
}

// known: no number is NaN.
static void spread_of(double *x, size_t n, bool known, struct spread *s)
{
    n = known ? n : 0;
    if (n)
        qsort(x, n, sizeof *x, by_value);
    s->max = n ? x[n - 1] : NAN;
    s->min = n ? x[0] : NAN;
    for (size_t i = 0; i < PERCENTILES; i++)
        s->percentile[i] = n ? percentile(x, n, percentile_share(i)) : NAN;
}

// The perplexities are exponentials of means. The error of each is itself times the error of its mean. The error of
// their difference follows from both variances and the covariance.
static void perplexities(const struct report_sums *s, double n, struct report *r)
{
    const struct figure q = figure_of(&s->nll_q, n), base = figure_of(&s->nll_base, n),
                        ratio = figure_of(&s->log_ratio, n);
    const double covariance = n > 1.0 ? (s->nll_product / n - q.value * base.value) / (n - 1.0) : NAN;
    const double ppl_q = libm_exp(q.value), ppl_base = libm_exp(base.value);
    const double square = ppl_q * ppl_q * q.error * q.error + ppl_base * ppl_base * base.error * base.error -
                          2.0 * ppl_q * ppl_base * covariance;
    r->ppl_q = (struct figure){ppl_q, ppl_q * q.error};
    r->ppl_base = (struct figure){ppl_base, ppl_base * base.error};
    r->cor = covariance / (q.error * base.error);
    r->ln_ratio = ratio;
    r->ratio = (struct figure){libm_exp(ratio.value), libm_exp(ratio.value) * ratio.error};
    r->difference = (struct figure){ppl_q - ppl_base, sqrt(square < 0.0 ? 0.0 : square)};
}

void report_figures(struct report_sums *s, const struct job *j, struct report *r)
{
    const double n = (double)s->n, share = s->same / n;
    const struct figure square = figure_of(&s->dp_square, n);
    const bool knows_dp = !isnan(s->of_dp.x), knows_dlogp = !isnan(s->dlogp);
    const double rms = sqrt(square.value);
    *r = (struct report){.rows = s->n,
                         .lists = s->lists,
                         .tokens = j->args->accept || j->args->accept_recorded,
                         .kld = figure_of(&s->of_kld, n),
                         .dp = figure_of(&s->of_dp, n),
                         .rms = {rms, rms > 0.0 || isnan(rms) ? square.error / (2.0 * rms) : square.error},
                         .same = {share, n > 1.0 ? sqrt(share * (1.0 - share) / (n - 1.0)) : NAN},
                         .nmse = j->centred ? s->error / s->power : NAN,
                         .dlogp = s->dlogp / s->dlogp_n,
                         .dlogp_most = s->n && knows_dlogp ? s->dlogp_most : NAN,
                         .top5 = s->top5 / n,
                         .top10 = s->top10 / n,
                         .acceptance = s->acceptance / n};
    perplexities(s, n, r);
    spread_of(s->kld, s->n, true, &r->of_kld);
    spread_of(s->dp, s->n, knows_dp, &r->of_dp);
}
