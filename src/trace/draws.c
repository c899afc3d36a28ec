// SPDX-License-Identifier: MIT
#include "trace/draws.h"

#include "base/mem.h"
#include "kern/expf.h"
#include "kern/libm.h"
#include "trace/significance.h"
#include "trace/trace.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXPECTED_LEAST = 5 }; // draws that a class of Pearson's test expects at least

static const double betas[BETAS] = {0.25, 0x1.6a09e667f3bcdp-2, 0.5, 0x1.6a09e667f3bcdp-1, 1.0, 0x1.6a09e667f3bcdp+0,
                                    2.0,  0x1.6a09e667f3bcdp+1, 4.0};

// A kept token.
struct kept_token {
    double d; // its logit less the largest
    double p;
    uint64_t n; // draws
    uint32_t id;
};

static int by_rank(const void *a, const void *b)
{
    const struct kept_token *const x = a, *const y = b;
    if (x->d != y->d)
        return x->d < y->d ? 1 : -1;
    return x->id < y->id ? -1 : 1;
}

// Returns the class of a rank, from 1. Each power of two above 4 has two classes.
static size_t rank_class(size_t rank)
{
    size_t power = 2;
    if (rank <= 4)
        return rank - 1;
    while ((rank - 1) >> (power + 1))
        power++;
    return 2 * power + ((rank - 1) >> (power - 1) & 1);
}

// ---- tokens not kept

// Counts n draws of a token that is not kept, and names what removed it.
static void add_outside(const struct log *l, const struct cand *c, uint32_t id, uint64_t n, double tolerance,
                        struct row_draws *d)
{
    const bool names = d->n_first < OUTSIDE_MOST;
    struct expected x = {.id = id, .margin = INFINITY};
    const bool masked = cand_listed(c, id) && log_find(l, l->step, id) == SIZE_MAX;
    if ((names || tolerance >= 0.0) && !masked)
        trace_expected(l, c, &x);
    if (x.removed_by && x.margin <= tolerance) {
        d->near += n;
        return;
    }
    d->outside += n;
    if (!names)
        return;
    struct outside *const to = &d->first[d->n_first++];
    *to = (struct outside){.id = id, .n = n, .listed = x.listed || masked, .rank = x.rank, .next = x.next};
    strcpy(to->stage, x.removed_by ? x.removed_by : "");
}

// Counts the draws of each kept token, which lie as in the last step; draw[0..n) rises.
static void count_draws(const struct log *l, const struct cand *c, const uint32_t *draw, size_t n, double tolerance,
                        struct kept_token *token, struct row_draws *d)
{
    for (size_t i = 0, end; i < n; i = end) {
        const size_t at = log_find(l, &l->step[l->n_steps - 1], draw[i]);
        for (end = i + 1; end < n && draw[end] == draw[i];)
            end++;
        if (at == SIZE_MAX) {
            add_outside(l, c, draw[i], end - i, tolerance, d);
            continue;
        }
        token[at].n = end - i;
        d->inside += end - i;
    }
}

// ---- inside; the tokens lie by rank

static void by_classes(const struct kept_token *token, struct row_draws *d)
{
    d->n_ranks = rank_class(d->kept) + 1;
    for (size_t i = 0; i < d->kept; i++) {
        const size_t class = rank_class(i + 1);
        d->share[class] += token[i].p;
        d->by_rank[class] += token[i].n;
    }
}

// Pearson's test. The tokens that expect too few draws are one class; if that expects too few, too, the class joins the
// last of the other tokens.
static void by_token(const struct kept_token *token, struct row_draws *d)
{
    const double all = (double)d->inside;
    double expected_rest = 0.0, n_rest = 0.0;
    size_t classes = 0;
    while (classes < d->kept && token[classes].p * all >= EXPECTED_LEAST)
        classes++;
    if (classes < 2)
        return;
    for (size_t i = d->kept; i-- > classes;) {
        expected_rest += token[i].p * all;
        n_rest += (double)token[i].n;
    }
    const bool own = expected_rest >= EXPECTED_LEAST;
    d->df = (double)(classes - !own);
    for (size_t i = 0; i < classes + own; i++) {
        const bool rest = i == classes, joined = !own && i + 1 == classes;
        const double expected = rest ? expected_rest : token[i].p * all + (joined ? expected_rest : 0.0);
        const double n = rest ? n_rest : (double)token[i].n + (joined ? n_rest : 0.0);
        d->chi2 += (n - expected) * (n - expected) / expected;
        d->ratio = fmax(d->ratio, n / expected);
    }
}

// Sums up the derivatives of the log-likelihood at every beta. p^beta is proportional to exp(beta * d). Two
// exponentials suffice, as each beta is twice the beta two places before.
static void by_beta(const struct kept_token *token, struct row_draws *d)
{
    double z[BETAS] = {0}, mean[BETAS] = {0}, square[BETAS] = {0}, drawn = 0.0;
    const double n = (double)d->inside;
    for (size_t i = 0; i < d->kept; i++) {
        const double x = token[i].d;
        double w[BETAS] = {kern_exp(x * betas[0]), kern_exp(x * betas[1])};
        drawn += (double)token[i].n * x;
        for (size_t k = 0; k < BETAS; k++) {
            w[k] = k < 2 ? w[k] : w[k - 2] * w[k - 2];
            z[k] += w[k];
            mean[k] += w[k] * x;
            square[k] += w[k] * x * x;
        }
    }
    for (size_t k = 0; k < BETAS; k++) {
        mean[k] /= z[k];
        d->score[k] = drawn - n * mean[k];
        d->information[k] = n * fmax(0.0, square[k] / z[k] - mean[k] * mean[k]);
    }
}

bool trace_drawn(const struct log *l, const struct cand *c, const uint32_t *id, size_t n, double tolerance,
                 struct result *res)
{
    const struct log_step *const left = &l->step[l->n_steps - 1];
    const size_t kept = left->n;
    if (!mem_grow(&res->memory, &res->memory_cap,
                  sizeof(struct row_draws) + kept * sizeof(struct kept_token) + n * sizeof *id, 1))
        return false;
    struct row_draws *const d = res->memory;
    struct kept_token *const token = (struct kept_token *)(void *)(d + 1);
    uint32_t *const draw = (uint32_t *)(void *)(token + kept);
    float max = -INFINITY;
    double sum = 0.0;
    *d = (struct row_draws){.kept = kept};
    for (size_t i = 0; i < kept; i++)
        max = fmaxf(max, l->logit[left->at + i]);
    for (size_t i = 0; i < kept; i++) {
        const double x = (double)l->logit[left->at + i] - max;
        token[i] = (struct kept_token){.d = x, .p = kern_exp(x), .id = l->id[left->at + i]};
        sum += token[i].p;
    }
    for (size_t i = 0; i < kept; i++)
        token[i].p /= sum;
    if (n)
        memcpy(draw, id, n * sizeof *id);
    qsort(draw, n, sizeof *draw, order_u32);
    count_draws(l, c, draw, n, tolerance, token, d);
    if (d->inside) {
        qsort(token, kept, sizeof *token, by_rank);
        by_classes(token, d);
        by_token(token, d);
        by_beta(token, d);
        d->last = token[kept - 1].n;
        d->last_p = token[kept - 1].p;
    }
    res->record.drawn = d;
    return true;
}

// Returns d' C^-1 d for a symmetric, positive definite matrix C, of which c[i * stride + k] with k <= i is read. Leaves
// the Cholesky factor in c, and its solution in d. NaN if C is not positive definite.
static double quadratic_form(double *c, size_t stride, double *d, size_t n)
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

// ---- the sums of all rows

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
        s->last_draws += d->inside;
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
    const double slope[2] = {-step * betas[i] * s->information[i], -step * betas[i + 1] * s->information[i + 1]};
    const double rest = 1.0 - t;
    return rest * rest * ((1.0 + 2.0 * t) * s->score[i] + t * slope[0]) +
           t * t * ((1.0 + 2.0 * rest) * s->score[i + 1] - rest * slope[1]);
}

static double beta_between(size_t i, double t) { return betas[i] * libm_pow(2.0, t / 2.0); }

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
        to->temperature.factor = 1.0 / betas[i + up];
    } else {
        for (int k = 0; k < 60; k++) {
            const double t = (low + high) / 2.0;
            *(score_between(s, i, t) > 0.0 ? &low : &high) = t;
        }
        const double beta = beta_between(i, low);
        const double information =
            (1.0 - low) * betas[i] * s->information[i] + low * betas[i + 1] * s->information[i + 1];
        gain += up ? gain_between(s, i, 0.0, low) : gain_between(s, i, low, 1.0);
        to->temperature.factor = 1.0 / beta;
        to->temperature.se = 1.0 / (sqrt(information / beta) * beta * beta);
    }
    to->temperature.p = chi2_p(2.0 * fabs(gain), 1.0);
}

// Returns how many standard deviations the two-sided probability p is from the mean.
static double deviations(double p)
{
    double low = 0.0, high = 40.0;
    for (int i = 0; i < 60; i++) {
        const double z = (low + high) / 2.0;
        *(chi2_p(z * z, 1.0) > p ? &low : &high) = z;
    }
    return low;
}

void draw_sums_test(const struct draw_sums *s, double limit, struct draw_tests *to)
{
    to->rank = test_by_rank(s);
    to->token = (struct chi2_test){s->chi2, s->df, s->df > 0.0 ? chi2_p(s->chi2, s->df) : NAN, s->ratio};
    to->choice = s->last_draws && s->variance[0][0] > 0.0; // the first class is rank 1
    to->last_p = s->last_draws ? poisson_p(s->last, s->last_expected) : NAN;
    test_temperature(s, to);
    to->limit = limit;
    to->rejected =
        s->outside || to->rank.p < limit || to->token.p < limit || to->last_p < limit || to->temperature.p < limit;
    to->too_good = !to->rejected && ((to->rank.p > DRAWS_TOO_GOOD && to->token.p > DRAWS_TOO_GOOD) ||
                                     to->rank.p > 1.0 - limit || to->token.p > 1.0 - limit);
    to->factor = (deviations(limit) + 0.84) * to->temperature.se; // four of five normal variables are above -0.84
    // Poisson's probability of no draw, twice, is the limit. Of fewer draws, no token's absence rejects.
    to->missing = to->choice ? -libm_log(limit / 2.0) / (double)s->last_draws : NAN;
    to->missing = to->missing < 1.0 ? to->missing : NAN;
}
