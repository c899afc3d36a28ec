// SPDX-License-Identifier: MIT
// The report of --expect, as text or as JSON objects: rows that differ from the results of another implementation, and
// why. The ids that are expected are part of the job; distributions are read from a file beside the rows. If all rows
// agree, the text is empty.
#include "base/mem.h"
#include "views/expect_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
        x->id = job_expects_recorded(j) ? (uint32_t)row->recorded : j->expect.id[row->index];
    if (x->id != VOCAB_NONE)
        trace_expected(l, c, x);
    return fault_none();
}

// Reads the numbers that are expected of a row of n tokens to v->values. *nothing: there are none, because the row is
// bad there, or its numbers are NaN.
static bool read_numbers(struct expect *v, const struct input_row *row, const struct result *res, bool *nothing,
                         struct err *e)
{
    struct input_row r = {0};
    bool end;
    const size_t n = res->record.n_vocab;
    if (!input_next(v->in, &r, &end, e)) {
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
        v->values[i] = expect_masked(v->job);
    for (size_t i = 0; r.logits.ids && i < r.logits.n; i++)
        if (r.logits.ids[i] < n)
            v->values[r.logits.ids[i]] = listed[i];
    return true;
}

static void bad_text(struct expect *v, const struct result *res)
{
    builder_format(&v->dest->text, "the chain gives nothing: %s\n", res->record.error);
}

static void bad_json(struct expect *v, const struct result *res)
{
    if (!v->in && v->rows < v->job->expect.n)
        field_int(v->dest, "expected", v->job->expect.id[v->rows]);
    field_double(v->dest, "id", NAN);
    field_text(v->dest, "error", res->record.error, true);
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
    v->config.keep_probs = true;
    v->config.rows = &all;
    v->config.params = NULL;
    v->config.texts = NULL;
    v->config.shard = v->config.shards = v->config.base = 0;
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
    const struct ids *const ids = &v->job->expect;
    bool nothing = v->rows < ids->n && ids->id[v->rows] == VOCAB_NONE, ok = true;
    if (v->in && !read_numbers(v, s->row, res, &nothing, e))
        return false;
    v->inexact += res->ok && res->record.partial && !res->record.exact;
    v->bad += !res->ok;
    if (!res->ok && !nothing)
        ok = expect_differs(v, res, NULL, HINT_NONE, bad_text, bad_json, e);
    else if (res->ok)
        ok = v->in ? expect_compare_numbers(v, res, e) : expect_compare_id(v, res, e);
    v->rows++;
    return ok;
}

// An error if more ids or distributions are expected, or if no row was compared.
static bool check_end(struct expect *v, struct err *e)
{
    const struct job *const j = v->job;
    struct input_row r = {0};
    bool end = true;
    if (job_expects(j) && j->expect.n > v->rows)
        return err_set(e, STATUS_DATA, "--expect names %zu tokens, the run has only %" PRIu64 " rows", j->expect.n,
                       v->rows);
    if (v->in && !input_next(v->in, &r, &end, e) && !r.bad)
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
