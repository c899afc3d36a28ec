// SPDX-License-Identifier: MIT
// The report of --expect: rows that differ from the results of another implementation, and why. The ids that are
// expected are part of the job; distributions are read from a file beside the rows. If all rows agree, the report is
// empty.
#include "base/mem.h"
#include "out/token_text.h"
#include "views/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct expect {
    const struct job *job;
    struct dest *dest;
    struct input_config config;
    struct input *in; // distributions; NULL: ids are expected
    float *values;    // [cap] the expected numbers of a row
    size_t cap;
    double margin;      // of an id: --tolerance, or -1 if that is not given
    uint64_t rows;      // so far
    uint64_t differing; // rows that were not as expected
    uint64_t within;    // other rows that were not, but whose margin is within the tolerance
};

// ---- ids

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

// Prints what a stage compared with its limit when it removed the token.
static void print_limit(struct builder *b, const struct expected *x, const char *limit)
{
    if (!x->rank)
        builder_format(b, ", %s%s%s\n", x->listed ? "below the list" : "not listed", *limit ? "; its limit is " : "",
                       limit);
    else if (x->limits == LIMITS_SUM && isnan(x->reached))
        builder_format(b, ": %s was reached at rank %zu, it has rank %zu\n", limit, x->last, x->rank);
    else if (x->limits == LIMITS_SUM)
        builder_format(b, ": %s was reached at rank %zu (%.8f), it has rank %zu\n", limit, x->last, x->reached,
                       x->rank);
    else if (x->limits == LIMITS_RATIO)
        builder_format(b, ": %.*g of the largest, limit %s\n", x->margin < 1e-4 ? 9 : 3, x->reached, limit);
    else if (x->limits == LIMITS_RANK)
        builder_format(b, ": rank %zu of %s\n", x->rank, limit);
    else
        builder_format(b, " (rank %zu%s%s)\n", x->rank, *limit ? ", limit " : "", limit);
}

static void explain(struct dest *d, const struct record *r, const struct expected *x)
{
    struct builder *const b = &d->text;
    const int n = decimals(x);
    char room[NUMBER_TEXT];
    const char *const limit = x->limit.name ? named_text(&x->limit, room) : "";
    if (x->kept && isnan(x->draw))
        builder_format(b, "  %" PRIu32 " is among the %zu kept\n", x->id, r->kept);
    else if (x->kept)
        builder_format(b, "  %" PRIu32 " is among the %zu kept, its share is [%.*f, %.*f)\n", x->id, r->kept, n,
                       x->wanted.low, n, x->wanted.high);
    else if (!x->removed_by && !x->listed && r->partial)
        builder_format(b, "  %" PRIu32 " is not listed; it may be among the tokens that are left\n", x->id);
    else if (!x->removed_by)
        builder_format(b, "  %" PRIu32 " is masked in the row\n", x->id);
    else {
        builder_format(b, "  %" PRIu32 " is not among the %zu kept: %s removed it", x->id, r->kept, x->removed_by);
        print_limit(b, x, limit);
    }
    if (!isnan(x->draw))
        builder_format(b, "  draw %.*f lies in %" PRIu32 "'s share [%.*f, %.*f)\n", n, x->draw, r->chosen, n,
                       x->chosen.low, n, x->chosen.high);
    if (x->noisy)
        builder_format(b, "  with noise %" PRIu32 " has %.9g, %" PRIu32 " has %.9g, %.3g more\n", x->id,
                       x->wanted_value, r->chosen, x->chosen_value, x->chosen_value - x->wanted_value);
    if (x->edge_of)
        builder_format(b, "  without %" PRIu32 ", the last that %s keeps (limit %s), the draw lies in %" PRIu32 "'s\n",
                       x->edge, x->edge_of, limit, x->id);
}

// Finds out in a worker what became of the expected token.
static struct fault watch(const void *self, const struct input_row *row, struct log *l, struct cand *c,
                          struct result *res)
{
    const struct job *const j = ((const struct expect *)self)->job;
    if (j->expects) {
        res->expected.id = j->expect.id[row->index];
        trace_expected(l, c, &res->expected);
    }
    return fault_none();
}

static void compare_id(struct expect *v, const struct result *res)
{
    const struct expected *const x = &res->expected;
    const struct record *const r = &res->record;
    struct dest *const d = v->dest;
    if (r->chosen == x->id)
        return;
    if (x->margin <= v->margin) {
        v->within++;
        return;
    }
    v->differing++;
    builder_format(&d->text, "row %" PRIu64 ": expected ", r->row);
    token_name(d, x->id);
    builder_string(&d->text, ", the chain gives ");
    token_name(d, r->chosen);
    builder_byte(&d->text, '\n');
    explain(d, r, x);
}

// ---- distributions

static float masked(const struct job *j) { return j->args->emit == EMIT_PROBS ? 0.0f : -INFINITY; }

// Reads the numbers that are expected of a row of n tokens to v->values.
static bool read_numbers(struct expect *v, const struct input_row *row, const struct result *res, struct err *e)
{
    struct input_row r = {0};
    bool end;
    const size_t n = res->record.n_vocab;
    if (!input_next(v->in, &r, &end, e)) {
        if (r.bad)
            input_blame(&r, e);
        return err_prefix(e, "--expect");
    }
    if (end)
        return err_set(e, STATUS_DATA, "--expect: %s ends before row %" PRIu64, v->job->args->expect, row->number);
    if (!res->ok)
        return true;
    if (row_vocab(&r.logits) != n && !(r.logits.ids && !r.logits.n_vocab))
        return err_set(e, STATUS_DATA, "--expect: %s: row %" PRIu64 " has %zu numbers, the chain gives %zu", r.file,
                       r.number, row_vocab(&r.logits), n);
    if (!mem_grow(&v->values, &v->cap, n + r.logits.n, sizeof *v->values))
        return err_from_fault(e, fault_memory());
    v->job->kern->widen[r.logits.type](v->values + (r.logits.ids ? n : 0), r.logits.data, r.logits.n);
    for (size_t i = 0; r.logits.ids && i < n; i++)
        v->values[i] = masked(v->job);
    for (size_t i = 0; r.logits.ids && i < r.logits.n; i++)
        if (r.logits.ids[i] < n)
            v->values[r.logits.ids[i]] = v->values[n + i];
    return true;
}

// Does a number agree with the expected one? A masked token agrees only with a masked one.
static bool agrees(const struct job *j, float got, float expected)
{
    if (got == masked(j) || expected == masked(j))
        return got == expected;
    return fabs((double)got - expected) <= j->args->tolerance * fmax(1.0, fabs((double)expected));
}

// Writes the first expected token that the chain removed, and what removed the token.
static void explain_removal(struct expect *v, const struct result *res)
{
    const struct record *const r = &res->record;
    struct builder *const b = &v->dest->text;
    char stage[NUMBER_TEXT];
    for (size_t i = 0; i < r->n_vocab; i++) {
        const bool removed = r->values[i] == masked(v->job) && v->values[i] != masked(v->job);
        if (!removed || *result_removed_by(res, (uint32_t)i, stage) == '-')
            continue;
        if (!strcmp(stage, "row"))
            builder_format(b, "  %zu is masked in the row\n", i);
        else
            builder_format(b, "  %zu is gone: %s removed it\n", i, stage);
        return;
    }
}

static void compare_numbers(struct expect *v, const struct result *res)
{
    const struct record *const r = &res->record;
    struct builder *const b = &v->dest->text;
    size_t differ = 0, first = 0;
    for (size_t i = r->n_vocab; i--;)
        if (!agrees(v->job, r->values[i], v->values[i])) {
            differ++;
            first = i;
        }
    if (!differ)
        return;
    v->differing++;
    builder_format(b, "row %" PRIu64 ": %zu of %zu numbers differ, the first:\n  ", r->row, differ, r->n_vocab);
    token_name(v->dest, (uint32_t)first);
    builder_string(b, ": expected ");
    builder_float(b, v->values[first]);
    builder_string(b, ", the chain gives ");
    builder_float(b, r->values[first]);
    builder_byte(b, '\n');
    explain_removal(v, res);
}

// ---- the view

// The rows of distributions are read with the settings of the run's input.
static bool open(void *self, struct job *j, struct dest *d, struct err *e)
{
    static struct row_range whole = {0, ROWS_OPEN};
    static const struct rows all = {&whole, 1};
    struct expect *const v = self;
    v->margin = job_margin(j);
    v->config = *j->config;
    v->config.files = &j->args->expect;
    v->config.n_files = 1;
    v->config.format = "auto";
    v->config.keep_probs = true;
    v->config.rows = &all;
    v->config.params = NULL;
    v->config.texts = NULL;
    v->config.shard = v->config.shards = v->config.base = 0;
    if (j->expects)
        return true;
    v->in = input_open(&v->config, e);
    return v->in || err_prefix(e, "--expect");
}

static unsigned more(const struct job *j, const struct dest *d)
{
    if (j->expects)
        return RECORD_KEPT | LEAVE_P | LEAVE_NOTES;
    return RECORD_VALUES | RECORD_REMOVALS | LEAVE_LOGITS | (j->args->emit == EMIT_PROBS ? LEAVE_P : 0);
}

static bool row(void *self, const struct seen *s, struct err *e)
{
    struct expect *const v = self;
    const struct result *const res = s->result;
    if (v->in && !read_numbers(v, s->row, res, e))
        return false;
    v->rows++;
    if (res->record.error) {
        v->differing++;
        builder_format(&v->dest->text, "row %" PRIu64 ": the chain gives nothing: %s\n", res->record.row,
                       res->record.error);
    } else if (v->in) {
        compare_numbers(v, res);
    } else {
        compare_id(v, res);
    }
    return true;
}

// An error if more ids or distributions are expected, or if no row was compared.
static bool check_end(struct expect *v, struct err *e)
{
    const struct job *const j = v->job;
    struct input_row r = {0};
    bool end = true;
    if (j->expects && j->expect.n > v->rows)
        return err_set(e, STATUS_DATA, "--expect names %zu tokens, the run has only %" PRIu64 " rows", j->expect.n,
                       v->rows);
    if (v->in && !input_next(v->in, &r, &end, e) && !r.bad)
        return err_prefix(e, "--expect");
    if (!end)
        return err_set(e, STATUS_DATA, "--expect: %s holds more rows than the %" PRIu64 " of the run", j->args->expect,
                       v->rows);
    return v->rows || err_set(e, STATUS_DATA, "--expect: nothing was compared: there is no row");
}

static enum verdict end(void *self, enum ending how, struct err *e)
{
    struct expect *const v = self;
    struct builder *const b = &v->dest->text;
    const bool ok = how != ENDING_RAN || check_end(v, e);
    if (v->differing || v->within)
        builder_format(b, "%" PRIu64 " of %" PRIu64 " rows differ", v->differing, v->rows);
    if (v->within)
        builder_format(b, ", %" PRIu64 " more within the tolerance", v->within);
    if (v->differing || v->within)
        builder_byte(b, '\n');
    if (!ok)
        return VERDICT_FAILED;
    return v->differing ? VERDICT_DIFFERS : VERDICT_FINE;
}

static void expect_free(void *self)
{
    struct expect *const v = self;
    input_close(v->in);
    free(v->values);
}

const struct view view_expect = {.name = "--expect",
                                 .size = sizeof(struct expect),
                                 .formats = FORMAT_TEXT,
                                 .open = open,
                                 .needs = LOG_STEPS,
                                 .folds = true,
                                 .more = more,
                                 .watch = watch,
                                 .row = row,
                                 .end = end,
                                 .free = expect_free};
