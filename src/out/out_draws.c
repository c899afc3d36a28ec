// SPDX-License-Identifier: MIT
// The report of --draws, as text or as a JSON object: how the draws of another program differ from the chain's
// distributions.
#include "out/fields.h"

#include <inttypes.h>
#include <math.h>

// ---- text

static const char *plural(uint64_t n, const char *one, const char *many) { return n == 1 ? one : many; }

static void print_outside(const struct output *out, const struct outside *o)
{
    fprintf(out->f, "row %" PRIu64 ": ", o->row);
    output_name(out, o->id);
    if (o->n > 1)
        fprintf(out->f, " (%" PRIu64 " times)", o->n);
    if (*o->stage && o->rank)
        fprintf(out->f, " removed by %s, rank %zu%s\n", o->stage, o->rank, o->next ? ", the next best" : "");
    else if (*o->stage)
        fprintf(out->f, " removed by %s, %s\n", o->stage, o->listed ? "below the list" : "not listed");
    else
        fputs(" is masked in the row\n", out->f);
}

static void print_all_outside(const struct output *out, const struct draw_sums *s)
{
    fprintf(out->f, "outside the kept set   %" PRIu64 " draw%s", s->outside, plural(s->outside, "", "s"));
    if (s->outside)
        fprintf(out->f, " in %" PRIu64 " row%s", s->outside_rows, plural(s->outside_rows, "", "s"));
    if (s->near)
        fprintf(out->f, ", %" PRIu64 " more within the tolerance", s->near);
    for (size_t i = 0; i < s->n_first; i++) {
        fputs(i ? "                       " : "   ", out->f);
        print_outside(out, &s->first[i]);
    }
    if (!s->n_first)
        putc('\n', out->f);
}

static void print_chi2(FILE *f, const char *name, const struct chi2_test *t)
{
    if (t->df > 0.0)
        fprintf(f, "%-23schi2 %.1f, df %.0f, p %.2g, ratio %.3g\n", name, t->chi2, t->df, t->p, t->ratio);
    else
        fprintf(f, "%-23snot tested: too few draws\n", name);
}

static void print_temperature(FILE *f, const struct draw_tests *t)
{
    const double factor = t->temperature.factor, se = t->temperature.se;
    int decimals = 3;
    for (double unit = 5e-4; decimals < 9 && se < unit; unit /= 10)
        decimals++;
    fprintf(f, "%-23s", "temperature");
    if (isnan(t->temperature.p))
        fputs("not tested: too few draws\n", f);
    else if (isnan(se))
        fprintf(f, "%s of the chain's, p %.2g\n", factor < 1.0 ? "<.25" : ">4", t->temperature.p);
    else
        fprintf(f, "%.*f (%.*f) of the chain's, p %.2g\n", decimals, factor, decimals, se, t->temperature.p);
}

static bool finish_text(struct output *out, bool whole, struct err *e)
{
    const struct draw_report *const r = out->draws;
    (void)e;
    if (!whole || !r)
        return true;
    const struct draw_sums *const s = &r->sums;
    fprintf(out->f, "%" PRIu64 " row%s, %" PRIu64 " draw%s", s->rows, plural(s->rows, "", "s"), s->draws,
            plural(s->draws, "", "s"));
    if (s->left_out)
        fprintf(out->f, "; %" PRIu64 " more row%s left out", s->left_out, plural(s->left_out, "", "s"));
    putc('\n', out->f);
    print_all_outside(out, s);
    print_chi2(out->f, "by rank", &r->tests.rank);
    print_chi2(out->f, "by token", &r->tests.token);
    if (isnan(r->tests.last_p))
        fprintf(out->f, "%-23snot tested: too few draws\n", "last kept token");
    else
        fprintf(out->f, "%-23s%" PRIu64 " draw%s, %.1f expected, p %.2g\n", "last kept token", s->last,
                plural(s->last, "", "s"), s->last_expected, r->tests.last_p);
    print_temperature(out->f, &r->tests);
    return true;
}

// ---- JSON

// Begins a member that is an object.
static void begin_member(struct output *out, const char *name)
{
    fprintf(out->f, ",\"%s\":", name);
    out->fields = 0;
}

static void write_outside(struct output *out, const struct draw_sums *s)
{
    begin_member(out, "outside");
    field_int(out, "n", (int64_t)s->outside);
    field_int(out, "rows", (int64_t)s->outside_rows);
    field_int(out, "within", (int64_t)s->near);
    fputs(",\"first\":[", out->f);
    for (size_t i = 0; i < s->n_first; i++) {
        const struct outside *const o = &s->first[i];
        fputs(i ? "," : "", out->f);
        out->fields = 0;
        field_int(out, "row", (int64_t)o->row);
        field_int(out, "id", o->id);
        field_token(out, "token", o->id);
        field_int(out, "n", (int64_t)o->n);
        if (*o->stage)
            field_text(out, "stage", o->stage, true);
        else
            field_double(out, "stage", NAN);
        field_double(out, "rank", o->rank || !*o->stage ? (double)o->rank : NAN);
        fprintf(out->f, ",\"next\":%s", o->next ? "true" : "false");
        fields_end(out, "");
    }
    putc(']', out->f);
    fields_end(out, "");
}

static void write_chi2(struct output *out, const char *name, const struct chi2_test *t)
{
    const bool tested = t->df > 0.0;
    begin_member(out, name);
    field_double(out, "chi2", tested ? t->chi2 : NAN);
    field_int(out, "df", (int64_t)t->df);
    field_double(out, "p", tested ? t->p : NAN);
    field_double(out, "ratio", tested ? t->ratio : NAN);
    fields_end(out, "");
}

static bool finish_json(struct output *out, bool whole, struct err *e)
{
    const struct draw_report *const r = out->draws;
    (void)e;
    if (!whole || !r)
        return true;
    const struct draw_sums *const s = &r->sums;
    const double factor = r->tests.temperature.factor, se = r->tests.temperature.se, p = r->tests.temperature.p;
    field_int(out, "rows", (int64_t)s->rows);
    field_int(out, "draws", (int64_t)s->draws);
    field_int(out, "left_out", (int64_t)s->left_out);
    write_outside(out, s);
    write_chi2(out, "rank", &r->tests.rank);
    write_chi2(out, "token", &r->tests.token);
    begin_member(out, "last");
    field_int(out, "n", (int64_t)s->last);
    field_double(out, "expected", s->last_expected);
    field_double(out, "p", r->tests.last_p);
    fields_end(out, "");
    begin_member(out, "temperature");
    if (isnan(se) && !isnan(p))
        field_text(out, "f", factor < 1.0 ? "<.25" : ">4", true);
    else
        field_double(out, "f", factor);
    field_double(out, "se", se);
    field_double(out, "p", p);
    fields_end(out, "");
    fields_end(out, "\n");
    return true;
}

const struct output_format output_draws = {.name = "draws", .finish = finish_text};
const struct output_format output_draws_json = {.name = "draws", .finish = finish_json};
