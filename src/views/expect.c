// SPDX-License-Identifier: MIT
// The report of --expect, as text or as JSON objects: rows that differ from the results of another implementation, and
// why. The ids that are expected are part of the job; distributions are read from a file beside the rows. If all rows
// agree, the text is empty.
#include "base/mem.h"
#include "base/number.h"
#include "kern/expf.h"
#include "kern/libm.h"
#include "out/token_text.h"
#include "views/expect_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

// Finds out in a worker what became of the expected token. Numbers are compared when the row is shown.
static struct fault watch(const void *self, const struct input_row *row, struct log *l, struct cand *c,
                          struct result *res)
{
    const struct job *const j = ((const struct expect *)self)->job;
    struct expected *const x = &res->expected;
    res->log = l;
    res->cand = c;
    *x = (struct expected){.id = VOCAB_NONE, .draw = NAN, .margin = INFINITY};
    if (job_expects(j))
        x->id = job_claims_recorded(j) ? (uint32_t)row->recorded : job_claimed(j, 0)->id[row->index];
    if (x->id != VOCAB_NONE)
        trace_expected(l, c, x);
    return fault_none();
}

// ---- ids: what became of the expected token, and of the draw

static void stage_object(struct dest *d, const char *name, const struct expected *x)
{
    object_begin(d, name);
    expect_stage_members(d, x);
    object_end(d);
}

static void write_interval(struct dest *d, const char *name, struct interval share)
{
    items_begin(d, name);
    field_double(d, NULL, share.low);
    field_double(d, NULL, share.high);
    items_end(d);
}

static void id_json(struct expect *v, const struct result *res)
{
    struct dest *const d = v->dest;
    const struct record *const r = &res->record;
    const struct expected *const x = &res->expected;
    field_double(d, "expected", x->id == VOCAB_NONE ? NAN : (double)x->id);
    field_int(d, "id", r->chosen);
    if (x->id != VOCAB_NONE)
        field_token(d, "expected_token", x->id);
    field_token(d, "token", r->chosen);
    field_double(d, "expected_rank", x->rank ? (double)x->rank : NAN);
    if (x->removed_by)
        stage_object(d, "removed_by", x);
    else
        field_double(d, "removed_by", NAN);
    if (x->edge_of)
        stage_object(d, "edge", x);
    if (x->kept && !isnan(x->draw))
        write_interval(d, "interval", x->wanted);
    else
        field_double(d, "interval", NAN);
    field_double(d, "draw", x->draw);
    if (x->noisy) {
        object_begin(d, "noise");
        field_double(d, "expected", x->wanted_value);
        field_double(d, "id", x->chosen_value);
        object_end(d);
    }
    field_double(d, "margin", x->margin);
}

// Returns the number of decimals of shares and draws: four, or nine if a bound is so near to the draw that four could
// not tell them apart.
static int decimals(const struct expected *x)
{
    const double bound[] = {x->wanted.low, x->wanted.high, x->chosen.low, x->chosen.high};
    for (size_t i = 0; i < sizeof bound / sizeof *bound; i++)
        if (fabs(bound[i] - x->draw) < 1e-3 && bound[i] > 0.0 && bound[i] < 1.0)
            return 9;
    return 4;
}

static void explain(struct dest *d, const struct record *r, const struct expected *x)
{
    struct builder *const b = &d->text;
    const int n = decimals(x);
    char room[NUMBER_TEXT], removed[2 * NUMBER_TEXT];
    if (x->kept && isnan(x->draw))
        builder_format(b, "  %" PRIu32 " is among the %zu kept\n", x->id, r->kept);
    else if (x->kept)
        builder_format(b, "  %" PRIu32 " is among the %zu kept, its interval is [%.*f, %.*f)\n", x->id, r->kept, n,
                       x->wanted.low, n, x->wanted.high);
    else {
        snprintf(removed, sizeof removed, "is not among the %zu kept", r->kept);
        expect_removal_text(b, x, r->partial, removed);
    }
    if (!isnan(x->draw))
        builder_format(b, "  draw %.*f lies in %" PRIu32 "'s interval [%.*f, %.*f)\n", n, x->draw, r->chosen, n,
                       x->chosen.low, n, x->chosen.high);
    if (x->noisy)
        builder_format(b, "  with noise %" PRIu32 " has %.9g, %" PRIu32 " has %.9g, %.3g more\n", x->id,
                       x->wanted_value, r->chosen, x->chosen_value, x->chosen_value - x->wanted_value);
    if (!x->edge_of)
        return;
    builder_format(b, "  without %" PRIu32 ", the last that %s keeps", x->edge, x->edge_of);
    if (x->limit.name)
        builder_format(b, " (limit %s)", named_plain(&x->limit, room));
    builder_format(b, ", the draw lies in %" PRIu32 "'s\n", x->id);
}

static void id_text(struct expect *v, const struct result *res)
{
    struct dest *const d = v->dest;
    const struct expected *const x = &res->expected;
    builder_string(&d->text, "expected ");
    if (x->id == VOCAB_NONE)
        builder_string(&d->text, "no token");
    else
        token_name(d, x->id);
    builder_string(&d->text, ", the chain gives ");
    token_name(d, res->record.chosen);
    builder_byte(&d->text, '\n');
    if (x->id != VOCAB_NONE)
        explain(d, &res->record, x);
}

// Returns whether the chosen id differs from the expected one. If the margin is within the tolerance, the row is only
// counted.
static bool id_differs(struct expect *v, const struct result *res, const char **stage, enum hint *hint)
{
    const struct expected *const x = &res->expected;
    const bool differs = res->record.chosen != x->id, near = x->margin <= v->margin;
    *stage = expect_stage(x);
    *hint = x->id == VOCAB_NONE ? HINT_NONE : expect_hint(x, res->record.partial);
    v->within += differs && near;
    return differs && !near;
}

// ---- distributions: the numbers, and the candidates that are kept here or there only

// The value of a token that is masked, in the compared distributions.
static float masked(const struct job *j) { return j->args->emit == EMIT_PROBS ? 0.0f : -INFINITY; }

// Reads the numbers that are expected of a row of n tokens to v->values. *nothing: there are none, because the row is
// bad there, or its numbers are NaN.
static bool read_numbers(struct expect *v, const struct input_row *row, const struct result *res, bool *nothing,
                         struct err *e)
{
    struct input_row r = {0};
    bool end;
    const size_t n = res->record.n_vocab;
    if (!input_next(v->in, 0, &r, &end, e)) {
        *nothing = r.bad && !res->ok;
        if (*nothing)
            return true;
        if (r.bad)
            input_blame(&r, e);
        return err_prefix(e, "--expect");
    }
    if (end)
        return err_set(e, STATUS_DATA, "--expect: %s ends before row %" PRIu64, v->job->args->expect, row->number);
    if (res->ok && row_vocab(&r.logits) != n && !(r.logits.ids && !r.logits.n_vocab))
        return err_set(e, STATUS_DATA, "--expect: %s: row %" PRIu64 " has %zu numbers, the chain gives %zu", r.file,
                       r.number, row_vocab(&r.logits), n);
    if (!mem_grow(&v->values, &v->cap, n + r.logits.n, sizeof *v->values))
        return err_from_fault(e, fault_memory());
    float *const listed = v->values + (r.logits.ids || !res->ok ? n : 0);
    v->job->kern->widen[r.logits.type](listed, r.logits.data, r.logits.n);
    *nothing = true;
    for (size_t i = 0; i < r.logits.n; i++)
        *nothing = *nothing && isnan(listed[i]);
    for (size_t i = 0; r.logits.ids && i < n; i++)
        v->values[i] = masked(v->job);
    for (size_t i = 0; r.logits.ids && i < r.logits.n; i++)
        if (r.logits.ids[i] < n)
            v->values[r.logits.ids[i]] = listed[i];
    return true;
}

static void changes_json(struct expect *v, const char *name, bool lost)
{
    struct dest *const d = v->dest;
    items_begin(d, name);
    for (size_t i = 0; i < v->lost + v->added && i < CHANGES_MOST; i++) {
        if (v->change[i].kept != lost)
            continue;
        object_begin(d, NULL);
        field_int(d, "id", v->change[i].id);
        field_token(d, "token", v->change[i].id);
        expect_stage_members(d, &v->change[i]);
        object_end(d);
    }
    items_end(d);
}

// The step that the compared distribution belongs to: the last one, or that of --after.
static const struct log_step *compared_step(const struct job *j, const struct log *l)
{
    struct err none;
    size_t stage;
    return j->args->after && recipe_find_stage(l->recipe, j->args->after, &stage, &none) ? log_step_at(l, stage)
                                                                                         : &l->step[l->n_steps - 1];
}

// Finds the candidates that are kept here or there only. Returns whether each of them may be either.
static bool compare_kept(struct expect *v, const struct result *res)
{
    const float none = masked(v->job);
    const struct log_step *const step = compared_step(v->job, res->log);
    bool near = true;
    v->lost = v->added = 0;
    for (size_t i = 0; i < res->record.n_vocab; i++) {
        const bool here = res->record.values[i] != none, there = v->values[i] != none;
        const size_t n = v->lost + v->added;
        struct expected *const x = &v->change[n < CHANGES_MOST ? n : CHANGES_MOST];
        if (here == there)
            continue;
        v->lost += here;
        v->added += there;
        if (n >= CHANGES_MOST && !near)
            continue;
        x->id = (uint32_t)i;
        trace_kept(res->log, res->cand, step, x);
        near = near && expected_distance(x) <= v->margin;
    }
    return near;
}

// The sum of the probabilities of the candidates that are kept on both sides; 1 if these are all. Probabilities are
// divided by it where others are kept.
static double common_sum(const struct expect *v, const struct record *r, const float *values)
{
    const float none = masked(v->job);
    double sum = 0.0;
    if (!(v->lost + v->added) || v->job->args->emit == EMIT_LOGITS)
        return 1.0;
    for (size_t i = 0; i < r->n_vocab; i++)
        if (r->values[i] != none && v->values[i] != none)
            sum += v->job->args->emit == EMIT_PROBS ? values[i] : kern_exp(values[i]);
    return sum;
}

// Compares numbers. A masked token agrees only with a masked one. near: lost and added candidates do not count.
static void compare_values(struct expect *v, const struct record *r, bool near)
{
    const bool probs = v->job->args->emit == EMIT_PROBS;
    const double here = near ? common_sum(v, r, r->values) : 1.0, there = near ? common_sum(v, r, v->values) : 1.0;
    const double log_here = libm_log(here), log_there = libm_log(there);
    v->numbers.differing = 0;
    v->numbers.max = -1.0;
    for (size_t i = r->n_vocab; i--;) {
        const float got = r->values[i], expected = v->values[i], none = masked(v->job);
        const bool both = got != none && expected != none;
        const double x = probs ? got / here : got - log_here, y = probs ? expected / there : expected - log_there;
        const bool agree = both ? fabs(x - y) <= v->job->args->tolerance * fmax(1.0, fabs(y)) : got == expected || near;
        if (both)
            v->numbers.max = fmax(v->numbers.max, fabs(x - y));
        if (agree)
            continue;
        v->numbers.differing++;
        v->numbers.first = i;
    }
}

// Writes the first candidate that is lost there, and the first one that is added, with the stage that decided.
static void explain_kept(struct expect *v, const struct record *r)
{
    struct dest *const d = v->dest;
    bool said[2] = {false, false};
    for (size_t i = 0; i < v->lost + v->added && i < CHANGES_MOST; i++) {
        const struct expected *const x = &v->change[i];
        if (said[x->kept])
            continue;
        said[x->kept] = true;
        if (!x->kept)
            expect_removal_text(&d->text, x, r->partial, "is removed");
        else if (!x->edge_of)
            builder_format(&d->text, "  the expected row lacks %" PRIu32 ": the chain keeps it (rank %zu)\n", x->id,
                           x->rank);
        else {
            builder_format(&d->text, "  the expected row lacks %" PRIu32 ": %s keeps it", x->id, x->edge_of);
            expect_limit_text(&d->text, x);
        }
    }
}

static void plain_number(struct builder *b, float x)
{
    char text[NUMBER_TEXT];
    number_text(x, text);
    builder_string(b, number_plain(text));
}

static void numbers_text(struct expect *v, const struct result *res)
{
    const size_t first = v->numbers.first;
    struct dest *const d = v->dest;
    builder_format(&d->text, "%zu of %zu numbers differ, the first:\n  ", v->numbers.differing, res->record.n_vocab);
    token_name(d, (uint32_t)first);
    builder_string(&d->text, ": expected ");
    plain_number(&d->text, v->values[first]);
    builder_string(&d->text, ", the chain gives ");
    plain_number(&d->text, res->record.values[first]);
    builder_byte(&d->text, '\n');
    explain_kept(v, &res->record);
}

static void numbers_json(struct expect *v, const struct result *res)
{
    const size_t first = v->numbers.first;
    struct dest *const d = v->dest;
    object_begin(d, "numbers");
    field_int(d, "differing", (int64_t)v->numbers.differing);
    field_int(d, "first", (int64_t)first);
    field_float(d, "expected", v->values[first]);
    field_float(d, "got", res->record.values[first]);
    field_double(d, "max", v->numbers.max < 0.0 ? NAN : v->numbers.max);
    field_int(d, "lost", (int64_t)v->lost);
    field_int(d, "added", (int64_t)v->added);
    object_end(d);
    changes_json(v, "lost", true);
    changes_json(v, "added", false);
}

// Returns whether the numbers of a row differ from v->values. If only candidates within the tolerance do, the row is
// only counted.
static bool numbers_differ(struct expect *v, const struct result *res, const char **stage, enum hint *hint)
{
    compare_values(v, &res->record, compare_kept(v, res));
    const size_t changes = v->lost + v->added;
    *stage = changes ? expect_stage(v->change) : NULL;
    *hint = changes == 1 ? expect_hint(v->change, res->record.partial) : HINT_NONE;
    v->within += !v->numbers.differing && changes;
    return v->numbers.differing;
}

// ---- rows

// Lists a row that differs, or a bad one.
static void list_differing(struct expect *v, const struct result *res, enum hint hint)
{
    struct dest *const d = v->dest;
    const struct record *const r = &res->record;
    if (!expect_json(v)) {
        builder_format(&d->text, "row %" PRIu64 ": ", r->row);
        if (!res->ok)
            builder_format(&d->text, "the chain gives nothing: %s\n", r->error);
        else
            (v->in ? numbers_text : id_text)(v, res);
        return;
    }
    field_int(d, "v", 1);
    field_int(d, "row", (int64_t)r->row);
    field_int(d, "index", (int64_t)v->rows);
    if (!res->ok) {
        if (!v->in && v->rows < v->job->claimed[0].n)
            field_int(d, "expected", v->job->claimed[0].id[v->rows]);
        field_double(d, "id", NAN);
        field_text(d, "error", r->error, true);
    } else {
        (v->in ? numbers_json : id_json)(v, res);
    }
    expect_hint_member(d, hint);
    record_end(&v->columns, r);
}

// The rows of distributions are read with the settings of the run's input.
static bool prepare(void *self, struct job *j, struct dest *d, struct err *e)
{
    static struct row_range whole = {0, ROWS_OPEN};
    static const struct rows all = {&whole, 1};
    struct expect *const v = self;
    v->margin = job_margin(j);
    v->most = args_given(j->args, "expect-most") ? (uint64_t)j->args->expect_most : UINT64_MAX;
    if (!columns_open(&v->columns, j, d, e))
        return false;
    v->config = *j->config;
    v->config.files = &j->args->expect;
    v->config.n_files = 1;
    v->config.format = "auto";
    v->config.probs = PROBS_STAY;
    v->config.rows = &all;
    v->config.params = NULL;
    v->config.texts = NULL;
    v->config.shard = v->config.shards = v->config.base = v->config.first = 0;
    if (job_expects(j))
        return true;
    v->in = input_open(&v->config, e);
    return v->in || err_prefix(e, "--expect");
}

static unsigned more(const struct job *j, const struct dest *d)
{
    if (job_expects(j))
        return RECORD_KEPT | LEAVE_P | LEAVE_NOTES;
    return RECORD_VALUES | LEAVE_LOGITS | (j->args->emit == EMIT_PROBS ? LEAVE_P : 0);
}

static bool row(void *self, const struct seen *s, struct err *e)
{
    struct expect *const v = self;
    const struct result *const res = s->result;
    const struct ids *const ids = &v->job->claimed[0];
    bool nothing = v->rows < ids->n && ids->id[v->rows] == VOCAB_NONE;
    const char *stage = NULL;
    enum hint hint = HINT_NONE;
    if (v->in && !read_numbers(v, s->row, res, &nothing, e))
        return false;
    v->inexact += res->ok && res->record.partial && !res->record.exact;
    v->bad += !res->ok;
    const bool differs = !res->ok ? !nothing : (v->in ? numbers_differ : id_differs)(v, res, &stage, &hint);
    if (differs && v->differing++ < v->most)
        list_differing(v, res, hint);
    v->rows++;
    return !differs || expect_add_cause(v, stage, hint, e);
}

// An error if more ids or distributions are expected, or if no row was compared.
static bool check_end(struct expect *v, struct err *e)
{
    const struct job *const j = v->job;
    struct input_row r = {0};
    bool end = true;
    if (job_expects(j) && j->claimed[0].n > v->rows)
        return err_set(e, STATUS_DATA, "--expect names %zu tokens, the run has only %" PRIu64 " rows", j->claimed[0].n,
                       v->rows);
    if (v->in && !input_next(v->in, 0, &r, &end, e) && !r.bad)
        return err_prefix(e, "--expect");
    if (!end)
        return err_set(e, STATUS_DATA, "--expect: %s holds more rows than the %" PRIu64 " of the run", j->args->expect,
                       v->rows);
    return v->rows || err_set(e, STATUS_DATA, "--expect: nothing was compared: there is no row");
}

// A run that broke has no last object.
static bool end(void *self, enum ending how, struct err *e)
{
    struct expect *const v = self;
    const bool ok = how != ENDING_RAN || check_end(v, e);
    enum status status = v->differing ? STATUS_DIFFERS : STATUS_OK;
    if (v->bad)
        status = STATUS_DATA;
    if (!ok)
        status = e->status;
    if (!expect_json(v))
        expect_summary_text(v);
    else if (how == ENDING_RAN)
        expect_summary_json(v, status);
    return ok && (!v->differing || err_silent(e, STATUS_DIFFERS));
}

static void expect_free(void *self)
{
    struct expect *const v = self;
    input_close(v->in);
    free(v->values);
    free(v->cause);
}

const struct view view_expect = {.name = "--expect",
                                 .size = sizeof(struct expect),
                                 .formats = FORMAT_TEXT | FORMAT_JSON,
                                 .prepare = prepare,
                                 .needs = LOG_STEPS,
                                 .folds = true,
                                 .more = more,
                                 .watch = watch,
                                 .row = row,
                                 .end = end,
                                 .free = expect_free};
