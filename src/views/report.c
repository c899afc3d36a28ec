// SPDX-License-Identifier: MIT
// --report: how far the raw rows of two inputs agree. As text, line by line as llama-perplexity --kl-divergence prints
// it, and as JSON. Takes 16 bytes a row, which the percentiles need.
#include "base/mem.h"
#include "kern/libm.h"
#include "out/fields.h"
#include "out/message.h"
#include "trace/agreement.h"
#include "views/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Sums over the rows of a number and of its square.
struct moment {
    double x, square;
};

struct report_sums {
    size_t n, lists;  // rows; those with a list on a side
    double *kld, *dp; // [n]
    size_t kld_cap, dp_cap;
    struct moment nll_base, nll_q, log_ratio, of_kld, of_dp, dp_square;
    double nll_product, same, error, power, dlogp, dlogp_most, dlogp_n, top5, top10, acceptance;
};

static void moment_add(struct moment *m, double x)
{
    m->x += x;
    m->square += x * x;
}

// Adds a row. A number that the lists of a row do not determine is NaN, and so are then the sums with this number.
// acceptance: the expected rate at which a draft from the base's chain is accepted. False if memory is short.
static bool report_add(struct report_sums *s, const struct agreement *a, double acceptance)
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

enum { PERCENTILES = 11 };

// The figures of --report. NAN: a figure is undefined.
struct figure {
    double value, error; // a mean, or what is computed from means, with its standard error
};

// The percentiles of a report, from the largest: below which share of the values each one lies.
static const double percentile_shares[PERCENTILES] = {.999, .99, .95, .9, .75, .5, .25, .1, .05, .01, .001};

struct report {
    uint64_t rows, lists; // lists: number of rows with a list on a side, whose kld is a lower bound
    bool tokens;          // the tokens that follow the rows are known; else the base's likeliest tokens are compared
    struct figure ppl_q, ppl_base, ln_ratio, ratio, difference;
    double cor;
    struct figure kld, dp, rms, same;
    struct spread {
        double max, min, percentile[PERCENTILES];
    } of_kld, of_dp;
    double nmse, dlogp, dlogp_most, top5, top10, acceptance;
};

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
        qsort(x, n, sizeof *x, order_f64);
    s->max = n ? x[n - 1] : NAN;
    s->min = n ? x[0] : NAN;
    for (size_t i = 0; i < PERCENTILES; i++)
        s->percentile[i] = n ? percentile(x, n, percentile_shares[i]) : NAN;
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

static void report_figures(struct report_sums *s, bool tokens, bool centred, struct report *r)
{
    const double n = (double)s->n, share = s->same / n;
    const struct figure square = figure_of(&s->dp_square, n);
    const double rms = sqrt(square.value);
    const bool knows_dp = !isnan(s->of_dp.x), knows_dlogp = !isnan(s->dlogp);
    *r = (struct report){.rows = s->n,
                         .lists = s->lists,
                         .tokens = tokens,
                         .kld = figure_of(&s->of_kld, n),
                         .dp = figure_of(&s->of_dp, n),
                         .rms = {rms, rms > 0.0 || isnan(rms) ? square.error / (2.0 * rms) : square.error},
                         .same = {share, n > 1.0 ? sqrt(share * (1.0 - share) / (n - 1.0)) : NAN},
                         .nmse = centred ? s->error / s->power : NAN,
                         .dlogp = s->dlogp / s->dlogp_n,
                         .dlogp_most = s->n && knows_dlogp ? s->dlogp_most : NAN,
                         .top5 = s->top5 / n,
                         .top10 = s->top10 / n,
                         .acceptance = s->acceptance / n};
    perplexities(s, n, r);
    spread_of(s->kld, s->n, true, &r->of_kld);
    spread_of(s->dp, s->n, knows_dp, &r->of_dp);
}

// The percentiles that both parts of the report have leave out 75 and 25 percent.
static bool of_both(size_t i) { return percentile_shares[i] != .75 && percentile_shares[i] != .25; }

// ---- text

// Returns x, or a NaN without a sign: the sign of 0 / 0 depends on the processor.
static double unsigned_nan(double x) { return isnan(x) ? NAN : x; }

static void line(struct dest *d, const char *name, double value)
{
    builder_format(&d->text, "%s: %10.6f\n", name, unsigned_nan(value));
}

static void line_with_error(struct dest *d, const char *name, struct figure x)
{
    builder_format(&d->text, "%s: %10.6f ± %10.6f\n", name, unsigned_nan(x.value), unsigned_nan(x.error));
}

static void percent(struct dest *d, const char *name, double share)
{
    builder_format(&d->text, "%s: %6.3f%%\n", name, unsigned_nan(100.0 * share));
}

static void percent_with_error(struct dest *d, const char *name, struct figure share)
{
    builder_format(&d->text, "%s: %6.3f ± %5.3f %%\n", name, unsigned_nan(100.0 * share.value),
                   unsigned_nan(100.0 * share.error));
}

// Writes the name of a percentile: 99.9%, Median or a blank and 5.0%.
static void percentile_name(struct dest *d, size_t i, const char *of)
{
    if (percentile_shares[i] == .5)
        builder_format(&d->text, "Median  %s", of);
    else
        builder_format(&d->text, "%4.1f%%   %s", 100.0 * percentile_shares[i], of);
}

static void report_text(struct dest *d, const struct report *r)
{
    if (r->tokens) {
        builder_string(&d->text, "====== Perplexity statistics ======\n");
        line_with_error(d, "Mean PPL(Q)                   ", r->ppl_q);
        line_with_error(d, "Mean PPL(base)                ", r->ppl_base);
        builder_format(&d->text, "Cor(ln(PPL(Q)), ln(PPL(base))): %6.2f%%\n", unsigned_nan(100.0 * r->cor));
        line_with_error(d, "Mean ln(PPL(Q)/PPL(base))     ", r->ln_ratio);
        line_with_error(d, "Mean PPL(Q)/PPL(base)         ", r->ratio);
        line_with_error(d, "Mean PPL(Q)-PPL(base)         ", r->difference);
        builder_string(&d->text, "\n");
    }
    builder_format(&d->text, "====== KL divergence statistics%s ======\n", r->lists ? ", lower bounds" : "");
    line_with_error(d, "Mean    KLD", r->kld);
    line(d, "Maximum KLD", r->of_kld.max);
    for (size_t i = 0; i < PERCENTILES; i++)
        if (of_both(i)) {
            percentile_name(d, i, "KLD");
            line(d, "", r->of_kld.percentile[i]);
        }
    line(d, "Minimum KLD", r->of_kld.min);
    builder_format(&d->text, "\n====== Token probability statistics%s ======\n",
                   r->tokens ? "" : " of base's top token");
    percent_with_error(d, "Mean    Δp", r->dp);
    percent(d, "Maximum Δp", r->of_dp.max);
    for (size_t i = 0; i < PERCENTILES; i++) {
        percentile_name(d, i, "Δp");
        percent(d, "", r->of_dp.percentile[i]);
    }
    percent(d, "Minimum Δp", r->of_dp.min);
    percent_with_error(d, "RMS Δp    ", r->rms);
    percent_with_error(d, "Same top p", r->same);
    builder_string(&d->text, "\n====== Beyond llama-perplexity ======\n");
    line(d, "NMSE               ", r->nmse);
    line(d, "Mean    |Δ ln p|   ", r->dlogp);
    line(d, "Maximum |Δ ln p|   ", r->dlogp_most);
    percent(d, "Top-5 overlap      ", r->top5);
    percent(d, "Top-10 overlap     ", r->top10);
    percent(d, "Expected acceptance", r->acceptance);
}

// ---- JSON

static void mean_fields(struct dest *d, struct figure x)
{
    field_double(d, "mean", x.value);
    field_double(d, "se", x.error);
}

static void figure_object(struct dest *d, const char *name, struct figure x)
{
    object_begin(d, name);
    mean_fields(d, x);
    object_end(d);
}

static void spread_fields(struct dest *d, const struct spread *s, bool quartiles)
{
    static const char *const names[PERCENTILES] = {"p99_9", "p99", "p95", "p90", "p75", "median",
                                                   "p25",   "p10", "p5",  "p1",  "p0_1"};
    field_double(d, "max", s->max);
    for (size_t i = 0; i < PERCENTILES; i++)
        if (quartiles || of_both(i))
            field_double(d, names[i], s->percentile[i]);
    field_double(d, "min", s->min);
}

static void perplexity_object(struct dest *d, const struct report *r)
{
    object_begin(d, "ppl");
    figure_object(d, "q", r->ppl_q);
    figure_object(d, "base", r->ppl_base);
    field_double(d, "cor", r->cor);
    figure_object(d, "ln_ratio", r->ln_ratio);
    figure_object(d, "ratio", r->ratio);
    figure_object(d, "diff", r->difference);
    object_end(d);
}

static void report_json(struct dest *d, const struct report *r)
{
    field_int(d, "rows", (int64_t)r->rows);
    if (r->tokens)
        perplexity_object(d, r);
    else
        field_double(d, "ppl", NAN);
    object_begin(d, "kld");
    mean_fields(d, r->kld);
    spread_fields(d, &r->of_kld, false);
    object_end(d);
    object_begin(d, "dp");
    mean_fields(d, r->dp);
    spread_fields(d, &r->of_dp, true);
    field_double(d, "rms", r->rms.value);
    field_double(d, "rms_se", r->rms.error);
    object_end(d);
    figure_object(d, "same_top", r->same);
    field_double(d, "nmse", r->nmse);
    object_begin(d, "dlogp");
    field_double(d, "max", r->dlogp_most);
    field_double(d, "mean", r->dlogp);
    object_end(d);
    field_double(d, "top5", r->top5);
    field_double(d, "top10", r->top10);
    field_double(d, "acceptance", r->acceptance);
    field_int(d, "lists", (int64_t)r->lists);
    fields_end(d, "\n");
}

// ---- the view

struct report_view {
    const struct job *job;
    struct dest *dest;
    bool centred; // both inputs have logits, no log-probabilities, so that logits can be compared
    struct report_sums sums;
};

// llama-perplexity leaves out tokens of a kld file whose log-probability is below this.
#define KLD_LEAST -16.0

// kld files hold rounded log-probabilities in place of logits.
static bool prepare(void *self, struct job *j, struct dest *d, struct err *e)
{
    struct report_view *const v = self;
    const char *base, *other;
    if (!input_format(j->in[0], &base, e) || !input_format(j->in[1], &other, e))
        return false;
    v->centred = strcmp(base, "kld") != 0 && strcmp(other, "kld") != 0;
    j->least = strcmp(base, "kld") ? -INFINITY : KLD_LEAST;
    return true;
}

// Returns the overlap of two distributions; NaN if it depends on unlisted tokens.
static double acceptance(const struct result *base, const struct result *other)
{
    const struct record *const p = &base->record, *const q = &other->record;
    const bool known = (!p->partial || p->exact) && (!q->partial || q->exact);
    return known ? other->pair[PAIR_OVERLAP] : NAN;
}

static bool row(void *self, const struct seen *s, struct err *e)
{
    struct report_view *const v = self;
    const struct result *const res = s->result;
    for (size_t i = 1; i < v->job->variants->n; i++)
        if (res->ok && res[i].ok && !report_add(&v->sums, &res[i].agreement, acceptance(res, &res[i])))
            return err_from_fault(e, fault_memory());
    return true;
}

static bool end(void *self, enum ending how, struct err *e)
{
    struct report_view *const v = self;
    struct report r;
    if (v->sums.lists)
        message_note("--report: %zu of %zu rows are lists: KLD is a lower bound, with the unlisted tokens as one; "
                     "figures that the lists do not determine are nan",
                     v->sums.lists, v->sums.n);
    report_figures(&v->sums, job_accepts(v->job), v->centred, &r);
    if (v->dest->format->kind == FORMAT_TEXT)
        report_text(v->dest, &r);
    else
        report_json(v->dest, &r);
    return how != ENDING_RAN || v->sums.n || err_set(e, STATUS_DATA, "--report: nothing was compared: no row is good");
}

static void report_free(void *self)
{
    struct report_view *const v = self;
    free(v->sums.kld);
    free(v->sums.dp);
}

const struct view view_report = {.name = "--report",
                                 .size = sizeof(struct report_view),
                                 .formats = FORMAT_TEXT | FORMAT_JSON,
                                 .pace = PACE_END,
                                 .prepare = prepare,
                                 .needs = NEED_PAIRS | RECORD_AGREEMENT,
                                 .folds = true,
                                 .row = row,
                                 .end = end,
                                 .free = report_free};
