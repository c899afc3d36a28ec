// SPDX-License-Identifier: MIT
// --report as text, line by line as llama-perplexity --kl-divergence prints it, and as JSON.
#include "out/fields.h"

#include <inttypes.h>
#include <math.h>

// The percentiles that both parts of the report have leave out 75 and 25 percent.
static bool of_both(size_t i) { return percentile_share(i) != .75 && percentile_share(i) != .25; }

// ---- text

// Returns x, or a NaN without a sign: the sign of 0 / 0 depends on the processor.
static double unsigned_nan(double x) { return isnan(x) ? NAN : x; }

static void line(const struct output *out, const char *name, double value)
{
    fprintf(out->f, "%s: %10.6f\n", name, unsigned_nan(value));
}

static void line_with_error(const struct output *out, const char *name, struct figure x)
{
    fprintf(out->f, "%s: %10.6f ± %10.6f\n", name, unsigned_nan(x.value), unsigned_nan(x.error));
}

static void percent(const struct output *out, const char *name, double share)
{
    fprintf(out->f, "%s: %6.3f%%\n", name, unsigned_nan(100.0 * share));
}

static void percent_with_error(const struct output *out, const char *name, struct figure share)
{
    fprintf(out->f, "%s: %6.3f ± %5.3f %%\n", name, unsigned_nan(100.0 * share.value),
            unsigned_nan(100.0 * share.error));
}

// Writes the name of a percentile: 99.9%, Median or a blank and 5.0%.
static void percentile_name(const struct output *out, size_t i, const char *of)
{
    if (percentile_share(i) == .5)
        fprintf(out->f, "Median  %s", of);
    else
        fprintf(out->f, "%4.1f%%   %s", 100.0 * percentile_share(i), of);
}

void report_text(struct output *out, const struct chains *all)
{
    const struct report *const r = &all->report;
    if (r->tokens) {
        output_short(out, "====== Perplexity statistics ======\n");
        line_with_error(out, "Mean PPL(Q)                   ", r->ppl_q);
        line_with_error(out, "Mean PPL(base)                ", r->ppl_base);
        fprintf(out->f, "Cor(ln(PPL(Q)), ln(PPL(base))): %6.2f%%\n", unsigned_nan(100.0 * r->cor));
        line_with_error(out, "Mean ln(PPL(Q)/PPL(base))     ", r->ln_ratio);
        line_with_error(out, "Mean PPL(Q)/PPL(base)         ", r->ratio);
        line_with_error(out, "Mean PPL(Q)-PPL(base)         ", r->difference);
        output_short(out, "\n");
    }
    fprintf(out->f, "====== KL divergence statistics%s ======\n", r->lists ? ", lower bounds" : "");
    line_with_error(out, "Mean    KLD", r->kld);
    line(out, "Maximum KLD", r->of_kld.max);
    for (size_t i = 0; i < PERCENTILES; i++)
        if (of_both(i)) {
            percentile_name(out, i, "KLD");
            line(out, "", r->of_kld.percentile[i]);
        }
    line(out, "Minimum KLD", r->of_kld.min);
    fprintf(out->f, "\n====== Token probability statistics%s ======\n", r->tokens ? "" : " of base's top token");
    percent_with_error(out, "Mean    Δp", r->dp);
    percent(out, "Maximum Δp", r->of_dp.max);
    for (size_t i = 0; i < PERCENTILES; i++) {
        percentile_name(out, i, "Δp");
        percent(out, "", r->of_dp.percentile[i]);
    }
    percent(out, "Minimum Δp", r->of_dp.min);
    percent_with_error(out, "RMS Δp    ", r->rms);
    percent_with_error(out, "Same top p", r->same);
    output_short(out, "\n====== Beyond llama-perplexity ======\n");
    line(out, "NMSE               ", r->nmse);
    line(out, "Mean    |Δ ln p|   ", r->dlogp);
    line(out, "Maximum |Δ ln p|   ", r->dlogp_most);
    percent(out, "Top-5 overlap      ", r->top5);
    percent(out, "Top-10 overlap     ", r->top10);
    percent(out, "Expected acceptance", r->acceptance);
}

// ---- JSON

static void begin_object(struct output *out, const char *name)
{
    fprintf(out->f, ",\"%s\":", name);
    out->fields = 0;
}

static void mean_fields(struct output *out, struct figure x)
{
    field_double(out, "mean", x.value);
    field_double(out, "se", x.error);
}

static void figure_object(struct output *out, const char *before, const char *name, struct figure x)
{
    fprintf(out->f, "%s\"%s\":", before, name);
    out->fields = 0;
    mean_fields(out, x);
    output_short(out, "}");
}

static void spread_fields(struct output *out, const struct spread *s, bool quartiles)
{
    static const char *const names[PERCENTILES] = {"p99_9", "p99", "p95", "p90", "p75", "median",
                                                   "p25",   "p10", "p5",  "p1",  "p0_1"};
    field_double(out, "max", s->max);
    for (size_t i = 0; i < PERCENTILES; i++)
        if (quartiles || of_both(i))
            field_double(out, names[i], s->percentile[i]);
    field_double(out, "min", s->min);
}

void report_json(struct output *out, const struct chains *all)
{
    const struct report *const r = &all->report;
    fprintf(out->f, "{\"rows\":%" PRIu64, r->rows);
    if (r->tokens) {
        figure_object(out, ",\"ppl\":{", "q", r->ppl_q);
        figure_object(out, ",", "base", r->ppl_base);
        output_short(out, ",\"cor\":");
        output_double(out, r->cor);
        figure_object(out, ",", "ln_ratio", r->ln_ratio);
        figure_object(out, ",", "ratio", r->ratio);
        figure_object(out, ",", "diff", r->difference);
        output_short(out, "}");
    } else {
        output_short(out, ",\"ppl\":null");
    }
    begin_object(out, "kld");
    mean_fields(out, r->kld);
    spread_fields(out, &r->of_kld, false);
    output_short(out, "}");
    begin_object(out, "dp");
    mean_fields(out, r->dp);
    spread_fields(out, &r->of_dp, true);
    field_double(out, "rms", r->rms.value);
    field_double(out, "rms_se", r->rms.error);
    output_short(out, "}");
    figure_object(out, ",", "same_top", r->same);
    output_short(out, ",\"nmse\":");
    output_double(out, r->nmse);
    begin_object(out, "dlogp");
    field_double(out, "max", r->dlogp_most);
    field_double(out, "mean", r->dlogp);
    fields_end(out, "");
    out->fields = 1;
    field_double(out, "top5", r->top5);
    field_double(out, "top10", r->top10);
    field_double(out, "acceptance", r->acceptance);
    fprintf(out->f, ",\"lists\":%" PRIu64, r->lists);
    fields_end(out, "\n");
}
