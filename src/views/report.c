// SPDX-License-Identifier: MIT
// --report: how far the raw rows of two inputs agree. As text, line by line as llama-perplexity --kl-divergence prints
// it, and as JSON. Takes 16 bytes a row, which the percentiles need.
//
// If the base is a kld file, the figures are llama-perplexity's to the last digit that it prints (perplexity.cpp,
// kl_divergence): products of two f32 numbers are f32, and so are percentiles; a mean of 10 rows or fewer has the error
// 0. Otherwise all is f64.
#include "base/hash.h"
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

enum { DRAFT_MOST = 8 }; // tokens of the longest new recipe

// How many tokens of new recipes of 1 to DRAFT_MOST tokens a sampled new recipe has accepted, on average: the sum over
// j up to the length of the product of the first j acceptances, over all places where as many rows of one text follow.
// The rates of neighbouring rows depend on each other, so that powers of their mean would be wrong.
struct drafts {
    double rate[DRAFT_MOST]; // of the last rows of the text, the newest last
    size_t n;                // of these rows
    double sum[DRAFT_MOST];  // [k - 1] of new recipes of k tokens
    size_t places[DRAFT_MOST];
};

static void drafts_add(struct drafts *d, double rate)
{
    for (size_t i = 1; i < DRAFT_MOST; i++)
        d->rate[i - 1] = d->rate[i];
    d->rate[DRAFT_MOST - 1] = rate;
    d->n += d->n < DRAFT_MOST;
    for (size_t k = 1; k <= d->n; k++) {
        double product = 1.0;
        d->places[k - 1]++;
        for (size_t i = DRAFT_MOST - k; i < DRAFT_MOST; i++)
            d->sum[k - 1] += product *= d->rate[i];
    }
}

enum arithmetic { ARITHMETIC_F64, ARITHMETIC_LLAMA };

struct report_sums {
    size_t n, lists;  // rows; those with a list on a side
    size_t stored;    // rows whose base is of a kld file
    double *kld, *dp; // [n]
    size_t kld_cap, dp_cap;
    struct moment nll_base, nll_q, log_ratio, of_kld, of_dp, dp_square;
    double nll_product, same, error, power, dlogp, dlogp_most, dlogp_n, top5, top10, acceptance, acceptance_greedy,
        acceptance_equal;
    struct drafts drafts;
};

static enum arithmetic arithmetic_of(const struct report_sums *s)
{
    return s->stored && s->stored == s->n ? ARITHMETIC_LLAMA : ARITHMETIC_F64;
}

// A product, of two f32 numbers if the row is one of a kld file.
static double product(const struct agreement *a, double x, double y)
{
    return a->stored ? (double)((float)x * (float)y) : x * y;
}

static void moment_add(struct moment *m, double x, double square)
{
    m->x += x;
    m->square += square;
}

// Adds a row. A number that the lists of a row do not determine is NaN, and so are then the sums with this number.
// pair: that of the row, NaN where it depends on unlisted tokens. False if memory is short.
static bool report_add(struct report_sums *s, const struct agreement *a, const double pair[PAIR_COUNT])
{
    size_t n = s->n;
    if (!mem_push(&s->dp, &n, &s->dp_cap, &a->dp, sizeof a->dp) ||
        !mem_push(&s->kld, &s->n, &s->kld_cap, &a->kld, sizeof a->kld))
        return false;
    const double dp_square = product(a, a->dp, a->dp), log_ratio = a->nll_q - a->nll_base;
    moment_add(&s->of_kld, a->kld, a->kld * a->kld);
    moment_add(&s->of_dp, a->dp, dp_square);
    moment_add(&s->dp_square, dp_square, dp_square * dp_square);
    moment_add(&s->nll_base, a->nll_base, product(a, a->nll_base, a->nll_base));
    moment_add(&s->nll_q, a->nll_q, product(a, a->nll_q, a->nll_q));
    moment_add(&s->log_ratio, log_ratio, log_ratio * log_ratio);
    s->nll_product += product(a, a->nll_q, a->nll_base);
    s->stored += a->stored;
    s->lists += a->lists;
    s->same += a->same;
    s->error += a->error;
    s->power += a->power;
    s->dlogp += a->dlogp;
    s->dlogp_most = fmax(s->dlogp_most, a->dlogp_most);
    s->dlogp_n += a->dlogp_n;
    s->top5 += a->top5;
    s->top10 += a->top10;
    s->acceptance += pair[PAIR_OVERLAP];
    s->acceptance_greedy += pair[PAIR_BEST];
    s->acceptance_equal += pair[PAIR_EQUAL];
    drafts_add(&s->drafts, pair[PAIR_OVERLAP]);
    return true;
}

// ---- figures

// A mean, or what is computed from means, with its standard error. NaN: the figure is undefined.
struct figure {
    double value, error;
};

// A mean over n rows. Its variance is (mean of squares - square of mean) / (n - 1).
static struct figure figure_of(const struct moment *m, double n, enum arithmetic how)
{
    const double mean = m->x / n, spread = m->square / n - mean * mean;
    const double least = how == ARITHMETIC_LLAMA ? 10.0 : 1.0, none = how == ARITHMETIC_LLAMA ? 0.0 : NAN;
    return (struct figure){mean, n > least && !isnan(mean) ? sqrt(fmax(spread, 0.0) / (n - 1.0)) : none};
}

// The value below which the share f of x[0..n) lies; x rises. Between two values the percentile is linear.
static double percentile(const double *x, size_t n, double f)
{
    const double at = f * (double)(n - 1);
    const size_t i = (size_t)at;
    const double part = at - (double)i;
    return part > 0.0 ? (1.0 - part) * x[i] + part * x[i + 1] : x[i];
}

// The same in f32; the median has a formula of its own.
static double percentile_f32(const double *x, size_t n, double f)
{
    const float at = (float)f * (float)(n - 1);
    const size_t i = (size_t)at, next = i + 1 < n ? i + 1 : i;
    const float part = at - (float)i;
    if (f == 0.5)
        return n % 2 ? (double)(float)x[n / 2] : (double)(0.5f * ((float)x[n / 2] + (float)x[n / 2 - 1]));
    return (double)((1.0f - part) * (float)x[i] + part * (float)x[next]);
}

// ---- lines of text, or members of JSON

static bool is_text(const struct dest *d) { return d->format->kind == FORMAT_TEXT; }

// Begins a part of the report: lines below a title, and an object. title, key: NULL: none.
static void part_begin(struct dest *d, const char *key, const char *title, const char *more)
{
    if (is_text(d) && title)
        builder_format(&d->text, "%s====== %s%s ======\n", d->text.len ? "\n" : "", title, more);
    else if (!is_text(d) && key)
        object_begin(d, key);
}

static void part_end(struct dest *d)
{
    if (!is_text(d))
        object_end(d);
}

// Returns x, or a NaN without a sign: the sign of 0 / 0 depends on the processor.
static double unsigned_nan(double x) { return isnan(x) ? NAN : x; }

enum unit { NUMBER, PERCENT }; // in text; JSON has shares in place of percent

// Writes a figure, with its error unless error_key is NULL. name: NULL: text lacks the line; key: NULL: JSON lacks the
// members.
static void line(struct dest *d, enum unit unit, const char *key, const char *error_key, const char *name,
                 struct figure x)
{
    const double factor = unit == PERCENT ? 100.0 : 1.0;
    const double value = unsigned_nan(factor * x.value), error = unsigned_nan(factor * x.error);
    if (is_text(d) && name && error_key)
        builder_format(&d->text, unit == PERCENT ? "%s: %6.3f ± %5.3f %%\n" : "%s: %10.6f ± %10.6f\n", name, value,
                       error);
    else if (is_text(d) && name)
        builder_format(&d->text, unit == PERCENT ? "%s: %6.3f%%\n" : "%s: %10.6f\n", name, value);
    if (is_text(d) || !key)
        return;
    field_double(d, key, x.value);
    if (error_key)
        field_double(d, error_key, x.error);
}

// Writes a figure that is an object in JSON.
static void figure(struct dest *d, const char *key, const char *name, struct figure x)
{
    part_begin(d, key, NULL, "");
    line(d, NUMBER, "mean", "se", name, x);
    part_end(d);
}

// Writes the percentiles of x[0..n), which it sorts, from the maximum to the minimum. quartiles: with 75 and 25
// percent. of: the number's name. known: no number is NaN.
static void spread(struct dest *d, double *x, size_t n, enum arithmetic how, bool known, bool quartiles, const char *of,
                   enum unit unit)
{
    double (*const at)(const double *x, size_t n, double f) = how == ARITHMETIC_LLAMA ? percentile_f32 : percentile;
    static const struct {
        double share; // of the values that lie below
        const char *key, *name;
    } all[] = {{1.0, "max", "Maximum "},   {.999, "p99_9", "99.9%   "}, {.99, "p99", "99.0%   "},
               {.95, "p95", "95.0%   "},   {.9, "p90", "90.0%   "},     {.75, "p75", "75.0%   "},
               {.5, "median", "Median  "}, {.25, "p25", "25.0%   "},    {.1, "p10", "10.0%   "},
               {.05, "p5", " 5.0%   "},    {.01, "p1", " 1.0%   "},     {.001, "p0_1", " 0.1%   "},
               {0.0, "min", "Minimum "}};
    if (known && n)
        qsort(x, n, sizeof *x, order_f64);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char name[32];
        if (!quartiles && (all[i].share == .75 || all[i].share == .25))
            continue;
        snprintf(name, sizeof name, "%s%s", all[i].name, of);
        line(d, unit, all[i].key, NULL, name, (struct figure){known && n ? at(x, n, all[i].share) : NAN, NAN});
    }
}

// The perplexities are exponentials of means. The error of each is itself times the error of its mean. The error of
// their difference follows from both variances and the covariance.
static void perplexities(struct dest *d, const struct report_sums *s, double n)
{
    const enum arithmetic how = arithmetic_of(s);
    const struct figure q = figure_of(&s->nll_q, n, how), base = figure_of(&s->nll_base, n, how);
    struct figure ratio = figure_of(&s->log_ratio, n, how);
    double covariance = n > 1.0 ? (s->nll_product / n - q.value * base.value) / (n - 1.0) : NAN;
    if (how == ARITHMETIC_LLAMA) {
        covariance = n < 10.0 ? 0.0 : covariance;
        ratio =
            (struct figure){q.value - base.value, sqrt(q.error * q.error + base.error * base.error - 2.0 * covariance)};
    }
    const double ppl_q = libm_exp(q.value), ppl_base = libm_exp(base.value), of_ratio = libm_exp(ratio.value);
    const double cor = covariance / (q.error * base.error);
    const double square = ppl_q * ppl_q * q.error * q.error + ppl_base * ppl_base * base.error * base.error -
                          2.0 * ppl_q * ppl_base * covariance;
    part_begin(d, "ppl", "Perplexity statistics", "");
    figure(d, "q", "Mean PPL(Q)                   ", (struct figure){ppl_q, ppl_q * q.error});
    figure(d, "base", "Mean PPL(base)                ", (struct figure){ppl_base, ppl_base * base.error});
    if (is_text(d))
        builder_format(&d->text, "Cor(ln(PPL(Q)), ln(PPL(base))): %6.2f%%\n", unsigned_nan(100.0 * cor));
    else
        field_double(d, "cor", cor);
    figure(d, "ln_ratio", "Mean ln(PPL(Q)/PPL(base))     ", ratio);
    figure(d, "ratio", "Mean PPL(Q)/PPL(base)         ", (struct figure){of_ratio, of_ratio * ratio.error});
    figure(d, "diff", "Mean PPL(Q)-PPL(base)         ",
           (struct figure){ppl_q - ppl_base, sqrt(square < 0.0 && how == ARITHMETIC_F64 ? 0.0 : square)});
    part_end(d);
}

// tokens: the tokens that follow the rows are known; else the base's likeliest tokens are compared. centred: as in
// struct report_view.
static void write_report(struct dest *d, struct report_sums *s, bool tokens, bool centred)
{
    const double n = (double)s->n, same = s->same / n;
    const enum arithmetic how = arithmetic_of(s);
    const struct figure square = figure_of(&s->dp_square, n, how);
    const double rms = sqrt(square.value);
    const struct figure dlogp = {s->dlogp / s->dlogp_n, NAN};
    const bool knows_dp = !isnan(s->of_dp.x), knows_dlogp = !isnan(s->dlogp);
    if (!is_text(d))
        field_int(d, "rows", (int64_t)s->n);
    if (tokens)
        perplexities(d, s, n);
    else
        line(d, NUMBER, "ppl", NULL, NULL, (struct figure){NAN, NAN});
    part_begin(d, "kld", "KL divergence statistics", s->lists ? ", lower bounds" : "");
    line(d, NUMBER, "mean", "se", "Mean    KLD", figure_of(&s->of_kld, n, how));
    spread(d, s->kld, s->n, how, true, false, "KLD", NUMBER);
    part_end(d);
    part_begin(d, "dp", "Token probability statistics", tokens ? "" : " of base's top token");
    line(d, PERCENT, "mean", "se", "Mean    Δp", figure_of(&s->of_dp, n, how));
    spread(d, s->dp, s->n, how, knows_dp, true, "Δp", PERCENT);
    line(d, PERCENT, "rms", "rms_se", "RMS Δp    ",
         (struct figure){rms, rms > 0.0 || isnan(rms) ? square.error / (2.0 * rms) : square.error});
    part_end(d);
    part_begin(d, "same_top", NULL, "");
    line(d, PERCENT, "mean", "se", "Same top p",
         (struct figure){same, n > 1.0 ? sqrt(same * (1.0 - same) / (n - 1.0)) : NAN});
    part_end(d);
    part_begin(d, NULL, "Beyond llama-perplexity", "");
    line(d, NUMBER, "nmse", NULL, "NMSE               ", (struct figure){centred ? s->error / s->power : NAN, NAN});
    part_begin(d, "dlogp", NULL, "");
    line(d, NUMBER, NULL, NULL, "Mean    |Δ ln p|   ", dlogp);
    line(d, NUMBER, "max", NULL, "Maximum |Δ ln p|   ",
         (struct figure){s->n && knows_dlogp ? s->dlogp_most : NAN, NAN});
    line(d, NUMBER, "mean", NULL, NULL, dlogp);
    part_end(d);
    line(d, PERCENT, "top5", NULL, "Top-5 overlap      ", (struct figure){s->top5 / n, NAN});
    line(d, PERCENT, "top10", NULL, "Top-10 overlap     ", (struct figure){s->top10 / n, NAN});
    line(d, PERCENT, "acceptance", NULL, "Expected acceptance", (struct figure){s->acceptance / n, NAN});
    if (!is_text(d))
        field_int(d, "lists", (int64_t)s->lists);
    line(d, PERCENT, "acceptance_greedy", NULL, "Greedy acceptance  ", (struct figure){s->acceptance_greedy / n, NAN});
    line(d, PERCENT, "acceptance_equal", NULL, "Equal acceptance   ", (struct figure){s->acceptance_equal / n, NAN});
    part_begin(d, "accepted", NULL, "");
    for (size_t k = 1; k <= DRAFT_MOST; k++) {
        char key[8], name[32];
        snprintf(key, sizeof key, "%zu", k);
        snprintf(name, sizeof name, "Accepted of %zu      ", k);
        line(d, NUMBER, key, NULL, name, (struct figure){s->drafts.sum[k - 1] / (double)s->drafts.places[k - 1], NAN});
    }
    part_end(d);
    if (is_text(d))
        return;
    fields_end(d, "\n");
}

// ---- the view

struct report_view {
    const struct job *job;
    struct dest *dest;
    bool centred;      // both inputs have logits, no log-probabilities, so that logits can be compared
    uint64_t next;     // number of the row that would go on with the text
    uint32_t sequence; // hash of the text's name
    struct report_sums sums;
};

// kld files hold rounded log-probabilities in place of logits.
static bool prepare(void *self, struct job *j, struct dest *d, struct err *e)
{
    struct report_view *const v = self;
    const char *base, *other;
    if (!input_format(j->in[0], &base, e) || !input_format(j->in[1], &other, e))
        return false;
    v->centred = strcmp(base, "kld") != 0 && strcmp(other, "kld") != 0;
    return true;
}

// Returns how two distributions of a row agree; NaN if that depends on unlisted tokens.
static const double *known_pair(const struct result *base, const struct result *other)
{
    static const double unknown[PAIR_COUNT] = {[PAIR_OVERLAP] = NAN, [PAIR_EQUAL] = NAN, [PAIR_BEST] = NAN};
    const struct record *const p = &base->record, *const q = &other->record;
    const bool known = (!p->partial || p->exact) && (!q->partial || q->exact);
    return known ? other->pair : unknown;
}

static bool row(void *self, const struct seen *s, struct err *e)
{
    struct report_view *const v = self;
    const struct result *const res = s->result;
    const uint32_t sequence = s->row->seq ? hash_bytes(s->row->seq, strlen(s->row->seq)) : 0;
    if (s->row->fresh || sequence != v->sequence || s->row->number != v->next)
        v->sums.drafts.n = 0;
    v->sequence = sequence;
    for (size_t i = 1; i < v->job->variants->n; i++) {
        if (res->ok && res[i].ok && !report_add(&v->sums, &res[i].agreement, known_pair(res, &res[i])))
            return err_from_fault(e, fault_memory());
        v->next = s->row->number + (res->ok && res[i].ok);
    }
    return true;
}

static bool end(void *self, enum ending how, struct err *e)
{
    struct report_view *const v = self;
    if (v->sums.lists)
        message_note("--report: %zu of %zu rows are lists: KLD is a lower bound, with the unlisted tokens as one; "
                     "figures that the lists do not determine are nan",
                     v->sums.lists, v->sums.n);
    write_report(v->dest, &v->sums, job_accepts(v->job), v->centred);
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
