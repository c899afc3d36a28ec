// SPDX-License-Identifier: MIT
// The report of --draws, as text or as a JSON object: how the draws of another program differ from the chain's
// distributions.
#include "trace/draws.h"
#include "out/fields.h"
#include "out/message.h"
#include "out/token_text.h"
#include "views/view.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

// ---- text

static const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }

// Writes a p-value; none is 0.
static void print_p(struct builder *b, const char *before, double p, const char *behind)
{
    if (p < 1e-300)
        builder_format(b, "%sp < 1e-300%s", before, behind);
    else
        builder_format(b, "%sp %.2g%s", before, p, behind);
}

static void print_outside(struct dest *d, const struct outside *o)
{
    builder_format(&d->text, "row %" PRIu64 ": ", o->row);
    token_name(d, o->id);
    if (o->n > 1)
        builder_format(&d->text, " (%" PRIu64 " times)", o->n);
    if (*o->stage && o->rank)
        builder_format(&d->text, " removed by %s, rank %zu%s\n", o->stage, o->rank, o->next ? ", the next best" : "");
    else if (*o->stage)
        builder_format(&d->text, " not kept after %s, %s\n", o->stage, o->listed ? "below the list" : "not listed");
    else
        builder_string(&d->text, " is masked in the row\n");
}

static void print_all_outside(struct dest *d, const struct draw_sums *s)
{
    builder_format(&d->text, "not kept               %" PRIu64 " draw%s", s->outside, plural(s->outside));
    if (s->outside)
        builder_format(&d->text, " in %" PRIu64 " row%s", s->outside_rows, plural(s->outside_rows));
    if (s->near)
        builder_format(&d->text, ", %" PRIu64 " more within the tolerance", s->near);
    builder_byte(&d->text, '\n');
    for (size_t i = 0; i < s->n_first; i++) {
        builder_string(&d->text, "  ");
        print_outside(d, &s->first[i]);
    }
}

// Says why a test was not made. with_choice: the cause where a draw had a choice.
static void print_untested(struct builder *b, const char *name, const struct draw_tests *t, const char *with_choice)
{
    builder_format(b, "%-23snot tested: %s\n", name,
                   t->choice ? with_choice : "no draw inside is from a row with a choice");
}

static void print_chi2(struct builder *b, const char *name, const struct draw_tests *tests, const struct chi2_test *t)
{
    if (t->df > 0.0) {
        builder_format(b, "%-23schi2 %.1f, df %.0f, ", name, t->chi2, t->df);
        print_p(b, "", t->p, "");
        builder_format(b, ", ratio %.3g\n", t->ratio);
    } else {
        print_untested(b, name, tests, "too few draws");
    }
}

static void print_temperature(struct builder *b, const struct draw_tests *t)
{
    const double factor = t->temperature.factor, se = t->temperature.se;
    int decimals = 3;
    for (double unit = 5e-4; decimals < 9 && se < unit; unit /= 10)
        decimals++;
    if (isnan(t->temperature.p)) {
        print_untested(b, "temperature", t, "the kept tokens of each row are equally likely");
        return;
    }
    builder_format(b, "%-23s", "temperature");
    if (isnan(se))
        builder_string(b, factor < 1.0 ? "<.25" : ">4");
    else
        builder_format(b, "%.*f (%.*f)", decimals, factor, decimals, se);
    print_p(b, " of the chain's, ", t->temperature.p, "\n");
}

// ---- the verdict

// A test that rejects the draws.
struct rejection {
    const char *name, *member; // in text and in JSON
    double p;
};

// Finds the tests that reject. Returns their number.
static size_t find_rejections(const struct draw_sums *s, const struct draw_tests *t, struct rejection found[5])
{
    const struct rejection all[] = {{"draws of tokens not kept", "outside", s->outside ? 0.0 : NAN},
                                    {"rank", "rank", t->rank.p},
                                    {"token", "token", t->token.p},
                                    {"last kept token", "last", t->last_p},
                                    {"temperature", "temperature", t->temperature.p}};
    size_t n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].p < t->limit)
            found[n++] = all[i];
    return n;
}

static void verdict_text(struct builder *b, const struct draw_sums *s, const struct draw_tests *t)
{
    struct rejection found[5];
    const size_t n = find_rejections(s, t, found);
    builder_format(b, "%-23s", "verdict");
    for (size_t i = 0; i < n; i++) {
        builder_format(b, "%s%s", i ? "; " : "rejected by ", found[i].name);
        print_p(b, ", ", found[i].p, "");
    }
    if (n) {
        builder_byte(b, '\n');
        return;
    }
    builder_format(b, "nothing rejects at p %.2g\n", t->limit);
    if (t->too_good)
        builder_format(b, "%23ssuspicious: the draws fit better than independent ones\n", "");
    if (t->missing < 1.0) // NaN without a choice
        builder_format(b, "%23s%" PRIu64 " draws show a missing token of probability %.2g\n", "", s->draws, t->missing);
    if (t->factor < 1.0)
        builder_format(b, "%23s%" PRIu64 " draws show a temperature that is off by %.2g %%\n", "", s->draws,
                       100.0 * t->factor);
    if (!t->choice)
        builder_format(b, "%23sthe draws show neither a missing token nor another temperature\n", "");
    else if (!(t->missing < 1.0) && !(t->factor < 1.0))
        builder_format(b, "%23stoo few draws to show a missing token%s\n", "",
                       isnan(t->temperature.p) ? "" : " or another temperature");
}

static void verdict_json(struct dest *d, const struct draw_sums *s, const struct draw_tests *t)
{
    struct rejection found[5];
    const size_t n = find_rejections(s, t, found);
    object_begin(d, "verdict");
    field_bool(d, "rejected", t->rejected);
    field_double(d, "limit", t->limit);
    items_begin(d, "by");
    for (size_t i = 0; i < n; i++) {
        object_begin(d, NULL);
        field_text(d, "test", found[i].member, true);
        field_double(d, "p", found[i].p);
        object_end(d);
    }
    items_end(d);
    field_bool(d, "too_good", t->too_good);
    field_double(d, "missing", t->missing);
    field_double(d, "factor", t->factor);
    object_end(d);
}

// ---- text

static void draws_text(struct dest *d, const struct draw_sums *s, const struct draw_tests *t)
{
    verdict_text(&d->text, s, t);
    builder_format(&d->text, "%" PRIu64 " row%s, %" PRIu64 " draw%s", s->rows, plural(s->rows), s->draws,
                   plural(s->draws));
    const uint64_t left_out = s->bad + s->inexact;
    if (left_out)
        builder_format(&d->text, "; %" PRIu64 " more row%s left out: %" PRIu64 " bad, %" PRIu64 " not exact", left_out,
                       plural(left_out), s->bad, s->inexact);
    builder_byte(&d->text, '\n');
    print_all_outside(d, s);
    print_chi2(&d->text, "by rank", t, &t->rank);
    print_chi2(&d->text, "by token", t, &t->token);
    if (isnan(t->last_p))
        print_untested(&d->text, "last kept token", t, "too few draws");
    else
        builder_format(&d->text, "%-23s%" PRIu64 " draw%s, %.1f expected", "last kept token", s->last, plural(s->last),
                       s->last_expected);
    if (!isnan(t->last_p))
        print_p(&d->text, ", ", t->last_p, "\n");
    print_temperature(&d->text, t);
    if (t->rank.df > 0.0 || t->token.df > 0.0)
        builder_format(&d->text, "%-23smost draws of a class, divided by those expected\n", "ratio");
}

// ---- JSON

static void outside_object(struct dest *d, const struct draw_sums *s)
{
    object_begin(d, "outside");
    field_int(d, "n", (int64_t)s->outside);
    field_int(d, "rows", (int64_t)s->outside_rows);
    field_int(d, "within", (int64_t)s->near);
    items_begin(d, "first");
    for (size_t i = 0; i < s->n_first; i++) {
        const struct outside *const o = &s->first[i];
        object_begin(d, NULL);
        field_int(d, "row", (int64_t)o->row);
        field_int(d, "id", o->id);
        field_token(d, "token", o->id);
        field_int(d, "n", (int64_t)o->n);
        field_text_or_null(d, "stage", *o->stage ? o->stage : NULL);
        field_double(d, "rank", o->rank || !*o->stage ? (double)o->rank : NAN);
        field_bool(d, "next", o->next);
        object_end(d);
    }
    items_end(d);
    object_end(d);
}

static void chi2_object(struct dest *d, const char *name, const struct chi2_test *t)
{
    const bool tested = t->df > 0.0;
    object_begin(d, name);
    field_double(d, "chi2", tested ? t->chi2 : NAN);
    field_int(d, "df", (int64_t)t->df);
    field_double(d, "p", tested ? t->p : NAN);
    field_double(d, "ratio", tested ? t->ratio : NAN);
    object_end(d);
}

static void draws_json(struct dest *d, const struct draw_sums *s, const struct draw_tests *t)
{
    const double factor = t->temperature.factor, se = t->temperature.se, p = t->temperature.p;
    field_int(d, "rows", (int64_t)s->rows);
    field_int(d, "draws", (int64_t)s->draws);
    field_int(d, "left_out", (int64_t)(s->bad + s->inexact));
    field_int(d, "not_exact", (int64_t)s->inexact);
    outside_object(d, s);
    chi2_object(d, "rank", &t->rank);
    chi2_object(d, "token", &t->token);
    object_begin(d, "last");
    field_int(d, "n", (int64_t)s->last);
    field_double(d, "expected", s->last_expected);
    field_double(d, "p", t->last_p);
    object_end(d);
    object_begin(d, "temperature");
    if (isnan(se) && !isnan(p))
        field_text(d, "f", factor < 1.0 ? "<.25" : ">4", true);
    else
        field_double(d, "f", factor);
    field_double(d, "se", se);
    field_double(d, "p", p);
    object_end(d);
    verdict_json(d, s, t);
    fields_end(d, "\n");
}

// ---- the draws from a row

struct draws_view {
    const struct job *job;
    struct dest *dest;
    struct draw_sums sums;
    uint64_t next_row; // number of the last row, plus 1
};

// Returns the draws from a row. *recorded: the memory of a recorded one.
static struct tokens draws_of(const struct job *j, const struct input_row *row, uint32_t *recorded)
{
    struct tokens t = {recorded, 1};
    *recorded = (uint32_t)row->recorded;
    if (!job_draws_recorded(j))
        t.n = id_file_line(&j->draws, (size_t)row->number, &t.id);
    return t;
}

// Checks that --draws can test the draws from a row.
static bool ready(const void *self, const struct recipe *own, const struct input_row *row, bool *bad, struct err *e)
{
    const struct job *const j = ((const struct draws_view *)self)->job;
    const size_t n_vocab = row_vocab(&row->logits);
    uint32_t recorded;
    *bad = own && !job_can_test_draws(j, own, e);
    if (*bad) {
        e->status = STATUS_DATA; // the row's params made this chain
        return false;
    }
    if (job_draws_recorded(j) && row->recorded < 0)
        return err_set(e, STATUS_DATA, "--draws recorded: the input records no tokens");
    if (!job_draws_recorded(j) && row->number >= j->draws.lines)
        return err_set(e, STATUS_DATA, "--draws: %s has no line for this row, only %zu", j->args->draws,
                       j->draws.lines);
    const struct tokens drawn = draws_of(j, row, &recorded);
    assert(drawn.id || !drawn.n);
    for (size_t i = 0; n_vocab && i < drawn.n; i++)
        if (drawn.id[i] >= n_vocab)
            return err_set(e, STATUS_DATA, "--draws: %s holds token %" PRIu32 ", the vocabulary ends at %zu",
                           j->args->draws, drawn.id[i], n_vocab - 1);
    return true;
}

static struct fault watch(const void *self, const struct input_row *row, struct log *l, struct cand *c,
                          struct result *res)
{
    const struct job *const j = ((const struct draws_view *)self)->job;
    uint32_t recorded;
    const struct tokens drawn = draws_of(j, row, &recorded);
    return trace_drawn(l, c, drawn.id, drawn.n, job_margin(j), res) ? fault_none() : fault_memory();
}

// ---- the view

// Adds a row to the sums. If the distribution of a row is unknown, its draws cannot be tested.
static bool row(void *self, const struct seen *s, struct err *e)
{
    struct draws_view *const v = self;
    const struct result *const res = s->result;
    v->next_row = res->record.row + 1;
    if (!res->ok)
        v->sums.bad++;
    else if (res->record.partial && !res->record.exact)
        v->sums.inexact++;
    else
        draw_sums_add(&v->sums, res->record.row, res->record.drawn);
    return true;
}

// An error if no row had a draw. Notes lines of the file behind the last row that was read.
static bool end(void *self, enum ending how, struct err *e)
{
    struct draws_view *const v = self;
    const struct job *const j = v->job;
    struct draw_tests tests;
    if (how != ENDING_RAN)
        return true;
    if (!v->sums.draws && v->sums.inexact)
        return err_set(e, STATUS_DATA,
                       "--draws: no row is left to test: the lists of %" PRIu64
                       " rows do not decide the chain's distribution, and %" PRIu64 " rows are bad",
                       v->sums.inexact, v->sums.bad);
    if (!v->sums.draws)
        return err_set(e, STATUS_DATA, "--draws: %s has no draw from any of the %" PRIu64 " rows", j->args->draws,
                       v->sums.rows);
    if (!job_draws_recorded(j) && j->draws.lines > v->next_row)
        message_note("--draws: %s has %zu lines; those after line %" PRIu64 " are not tested", j->args->draws,
                     j->draws.lines, v->next_row);
    draw_sums_test(&v->sums, j->args->draws_p, &tests);
    if (v->dest->format->kind == FORMAT_JSON)
        draws_json(v->dest, &v->sums, &tests);
    else
        draws_text(v->dest, &v->sums, &tests);
    return !tests.rejected || err_silent(e, STATUS_DIFFERS);
}

const struct view view_draws = {.name = "--draws",
                                .size = sizeof(struct draws_view),
                                .formats = FORMAT_TEXT | FORMAT_JSON,
                                .needs = LOG_STEPS | LEAVE_LOGITS,
                                .ready = ready,
                                .watch = watch,
                                .row = row,
                                .end = end};
