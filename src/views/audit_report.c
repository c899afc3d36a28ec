// SPDX-License-Identifier: MIT
#include "views/audit_report.h"

#include "out/token_text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static double share_of_rows(uint64_t n, const struct audit_run *a) { return (double)n / (double)a->known; }

static double share_error(double share, uint64_t n) { return sqrt(share * (1.0 - share) / (double)n); }

bool audit_summarise(const struct audit *v, struct audit_summary *s)
{
    const struct args *const a = v->columns.job->args;
    const struct audit_run *const run = &v->run[0], *const trusted = audit_trusted(v);
    assert(run);
    *s = (struct audit_summary){.compared = trusted && trusted->known};
    s->few = args_given(a, "match-least") && share_of_rows(run->matches, run) < a->match_least;
    s->many = args_given(a, "outside-most") && share_of_rows(run->outside, run) > a->outside_most;
    return audit_run_mean(run, NULL, &s->margins, &s->margin) &&
           (!s->compared || audit_compare(run, trusted, a->audit_p, &s->tests));
}

// ---- text

// Writes what was compared, what was found, and what would have been found.
static void verdict_text(const struct audit *v, const struct audit_summary *s)
{
    struct builder *const b = &v->columns.dest->text;
    const struct args *const a = v->columns.job->args;
    const struct audit_run *const run = &v->run[0], *const trusted = &v->run[1];
    const struct audit_tests *const t = &s->tests;
    const double limit = a->audit_p / 3.0;
    const char *const from = args_recorded(a->trusted) ? a->against : a->trusted + (*a->trusted == '@');
    builder_format(b, "against %s, on this reference: ", from);
    if (!s->compared) {
        builder_string(b, "not compared, because the outcome of none of its rows is known\n");
        return;
    }
    if (t->differs)
        builder_string(b, "the claimed tokens fit worse\n");
    if (t->match < limit)
        builder_format(b, "  fewer match: %.1f %% instead of %.1f %% (p %.2g)\n",
                       100.0 * share_of_rows(run->matches, run), 100.0 * share_of_rows(trusted->matches, trusted),
                       t->match);
    if (t->outside < limit)
        builder_format(b, "  more are not kept: %" PRIu64 " instead of %" PRIu64 " (p %.2g)\n", run->outside,
                       trusted->outside, t->outside);
    if (t->margin < limit)
        builder_format(b, "  their margins are larger (p %.2g)\n", t->margin);
    if (t->differs)
        return;
    builder_string(b, "no difference found\n");
    if (isnan(t->shows))
        builder_format(b, "%" PRIu64 " tokens are too few to show any difference of their matches\n", run->known);
    else
        builder_format(b, "%" PRIu64 " tokens show, in four of five runs, a share of matches lower by %.2g %%\n",
                       run->known, 100.0 * t->shows);
    builder_string(b, "what moves logits no more than the trusted run's machine looks the same\n");
}

void audit_summary_text(const struct audit *v, const struct audit_summary *s)
{
    struct builder *const b = &v->columns.dest->text;
    const struct args *const a = v->columns.job->args;
    const struct audit_run *const run = &v->run[0];
    builder_format(b, "%" PRIu64 " token%s: %.1f %% match (another seed: %.0f %%), %" PRIu64 " not kept\n", run->known,
                   run->known == 1 ? "" : "s", 100.0 * share_of_rows(run->matches, run),
                   100.0 * run->chance / (double)run->known, run->outside);
    builder_format(b, "mean margin %.2g logits, each at most %g\n", s->margin.mean, run->clip);
    if (run->unknown)
        builder_format(b, "%" PRIu64 " more %s not decide the outcome\n", run->unknown,
                       run->unknown == 1 ? "row is a list that does" : "rows are lists that do");
    if (run->bad)
        builder_format(b, "%" PRIu64 " more row%s bad\n", run->bad, run->bad == 1 ? " is" : "s are");
    if (a->trusted)
        verdict_text(v, s);
    if (s->few)
        builder_format(b, "the share that matches is below --match-least %g\n", a->match_least);
    if (s->many)
        builder_format(b, "the share not kept is above --outside-most %g\n", a->outside_most);
}

// ---- fields

// Writes the numbers of one run, with their names behind a prefix.
static void run_fields(struct dest *d, const struct audit_run *a, uint64_t margins, const struct audit_mean *margin)
{
    const double match = share_of_rows(a->matches, a);
    field_int(d, "rows", (int64_t)a->known);
    field_double(d, "match", match);
    field_double(d, "match_se", share_error(match, a->known));
    field_double(d, "chance", a->chance / (double)a->known);
    field_double(d, "margin", margins ? margin->mean : NAN);
    field_double(d, "margin_se", margins ? margin->error : NAN);
    field_double(d, "clip", a->clip);
    field_int(d, "outside", (int64_t)a->outside);
    field_int(d, "unknown", (int64_t)a->unknown);
    field_int(d, "bad", (int64_t)a->bad);
}

static void summary_line(const struct audit *v, const struct audit_summary *s)
{
    struct dest *const d = v->columns.dest;
    const struct audit_run *const trusted = audit_trusted(v);
    run_fields(d, &v->run[0], s->margins, &s->margin);
    if (trusted) {
        const double match = s->compared ? share_of_rows(trusted->matches, trusted) : NAN;
        field_int(d, "trusted_rows", (int64_t)trusted->known);
        field_double(d, "trusted_match", match);
        field_int(d, "trusted_outside", (int64_t)trusted->outside);
        field_double(d, "match_p", s->compared ? s->tests.match : NAN);
        field_double(d, "outside_p", s->compared ? s->tests.outside : NAN);
        field_double(d, "margin_p", s->compared ? s->tests.margin : NAN);
        field_double(d, "limit", v->columns.job->args->audit_p / 3.0);
        field_bool(d, "differs", s->compared && s->tests.differs);
        field_double(d, "shows", s->compared ? s->tests.shows : NAN);
    }
    fields_end(d, "\n");
}

void audit_summary_fields(const struct audit *v, const struct audit_summary *s)
{
    struct dest *const d = v->columns.dest;
    if (has_cells(d)) { // a second table
        builder_byte(&d->text, '\n');
        d->heading = true;
        summary_line(v, s);
        d->heading = false;
    }
    summary_line(v, s);
}

// ---- the table of chains

// Returns true if more tokens match than chance explains. Otherwise margins say nothing: they are smaller at a lower
// temperature.
static bool matches_more_than_chance(const struct audit_run *a)
{
    const double chance = a->chance / (double)a->known;
    return share_of_rows(a->matches, a) > chance + 3.0 * share_error(chance, a->known);
}

// Marks the chains that fit best: the mean of every other chain's difference from them exceeds twice its error, in the
// rows of which both are known. Chains whose margins are all equal fit equally well; one of which no row is known does
// not count. No mark: no chain is known to fit best. False when memory is short.
static bool mark_best(const struct audit *v, const struct audit_mean *margin, bool *best)
{
    const size_t n = v->columns.job->variants->n;
    size_t least = 0;
    uint64_t rows;
    for (size_t i = 1; i < n; i++)
        least = margin[i].mean < margin[least].mean || isnan(margin[least].mean) ? i : least;
    bool clear = v->run[least].known && matches_more_than_chance(&v->run[least]);
    for (size_t i = 0; i < n; i++) {
        struct audit_mean difference;
        if (!audit_run_mean(&v->run[i], &v->run[least], &rows, &difference))
            return false;
        best[i] = i == least || (rows && difference.mean == 0.0 && difference.error == 0.0);
        clear = clear && (best[i] || !v->run[i].known || difference.mean > 2.0 * difference.error);
    }
    for (size_t i = 0; i < n; i++)
        best[i] = best[i] && clear;
    return true;
}

static void table_text(const struct audit *v, const struct audit_mean *margin, const bool *best)
{
    const struct job *const j = v->columns.job;
    struct builder *const b = &v->columns.dest->text;
    enum { NAME_MOST = 48 };
    size_t width = strlen("name");
    bool any = false;
    for (size_t i = 0; i < j->variants->n; i++) {
        const size_t columns = text_clip(NULL, text_piece(j->variants->of[i].name), 0, NAME_MOST);
        width = columns > width ? columns : width;
    }
    builder_format(b, "%-*s  %6s  %7s  %18s\n", (int)width, "name", "match", "outside", "margin");
    for (size_t i = 0; i < j->variants->n; i++) {
        const struct audit_run *const a = &v->run[i];
        any = any || best[i];
        text_cell(b, text_piece(j->variants->of[i].name), 0, width, NAME_MOST);
        if (a->known)
            builder_format(b, "  %5.1f%%  %7" PRIu64 "  %8.5f (%.5f)%s\n", 100.0 * share_of_rows(a->matches, a),
                           a->outside, margin[i].mean, margin[i].error, best[i] ? "  best" : "");
        else
            builder_string(b, "  no row is known\n");
    }
    if (!any)
        builder_string(b, "no chain fits better than every other one by twice the error of their difference\n");
}

static void table_line(const struct audit *v, size_t i, const struct audit_mean *margin, bool best)
{
    struct dest *const d = v->columns.dest;
    field_text(d, "name", v->columns.job->variants->of[i].name, true);
    run_fields(d, &v->run[i], v->run[i].known, margin);
    field_bool(d, "best", best);
    fields_end(d, "\n");
}

bool audit_table(const struct audit *v)
{
    const size_t n = v->columns.job->variants->n;
    struct dest *const d = v->columns.dest;
    struct audit_mean *const margin = calloc(n, sizeof *margin);
    bool *const best = calloc(n, sizeof *best);
    bool ok = margin && best;
    uint64_t rows;
    for (size_t i = 0; ok && i < n; i++)
        ok = audit_run_mean(&v->run[i], NULL, &rows, &margin[i]);
    ok = ok && mark_best(v, margin, best);
    if (ok && d->format->kind == FORMAT_TEXT) {
        table_text(v, margin, best);
    } else if (ok) {
        d->heading = has_cells(d);
        if (d->heading)
            table_line(v, 0, margin, false);
        d->heading = false;
        for (size_t i = 0; i < n; i++)
            table_line(v, i, &margin[i], best[i]);
    }
    free(margin);
    free(best);
    return ok;
}
