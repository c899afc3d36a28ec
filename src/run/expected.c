// SPDX-License-Identifier: MIT
#include "run/expected.h"

#include "base/mem.h"
#include "out/message.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

bool expected_open(struct expected_rows *x, const struct job *j, const struct input_config *run, struct err *e)
{
    static struct row_range whole = {0, ROWS_OPEN};
    static const struct rows all = {&whole, 1};
    *x = (struct expected_rows){.job = j, .config = *run};
    x->config.files = &j->args->expect;
    x->config.n_files = 1;
    x->config.format = "auto";
    x->config.keep_probs = true;
    x->config.rows = &all;
    x->config.params = NULL;
    x->config.texts = NULL;
    x->config.shard = x->config.shards = x->config.base = 0;
    if (!j->args->expect || j->expects)
        return true;
    x->in = input_open(&x->config, e);
    return x->in || err_prefix(e, "--expect");
}

void expected_close(struct expected_rows *x)
{
    input_close(x->in);
    free(x->values);
}

bool expected_next(struct expected_rows *x, const struct input_row *row, struct result *res, struct err *e)
{
    struct input_row r = {0};
    bool end;
    const size_t n = res->record.n_vocab;
    if (!input_next(x->in, &r, &end, e)) {
        if (r.bad)
            input_blame(&r, e);
        return err_prefix(e, "--expect");
    }
    if (end)
        return err_set(e, STATUS_DATA, "--expect: %s ends before row %" PRIu64, x->job->args->expect, row->number);
    if (!res->ok)
        return true;
    const float masked = x->job->args->emit == EMIT_PROBS ? 0.0f : -INFINITY;
    if (row_vocab(&r.logits) != n && !(r.logits.ids && !r.logits.n_vocab))
        return err_set(e, STATUS_DATA, "--expect: %s: row %" PRIu64 " has %zu numbers, the chain gives %zu", r.file,
                       r.number, row_vocab(&r.logits), n);
    if (!mem_grow(&x->values, &x->cap, n + r.logits.n, sizeof *x->values))
        return err_from_fault(e, fault_memory());
    x->job->kern->widen[r.logits.type](x->values + (r.logits.ids ? n : 0), r.logits.data, r.logits.n);
    for (size_t i = 0; r.logits.ids && i < n; i++)
        x->values[i] = masked;
    for (size_t i = 0; r.logits.ids && i < r.logits.n; i++)
        if (r.logits.ids[i] < n)
            x->values[r.logits.ids[i]] = x->values[n + i];
    struct expected *const to = &res->expected;
    to->values = x->values;
    to->tolerance = x->job->args->tolerance;
    to->removed_by = NULL;
    for (size_t i = 0; i < n && !to->removed_by; i++) {
        to->id = (uint32_t)i;
        const bool removed = res->record.values[i] == masked && to->values[i] != masked;
        if (removed && *result_removed_by(res, to->id, to->stage) != '-')
            to->removed_by = to->stage;
    }
    return true;
}

bool expected_end(struct expected_rows *x, uint64_t rows, struct err *e)
{
    struct input_row r = {0};
    bool end = true;
    if (x->job->expects && x->job->expect.n > rows)
        return err_set(e, STATUS_DATA, "--expect names %zu tokens, the run has only %" PRIu64 " rows", x->job->expect.n,
                       rows);
    if (x->in && !input_next(x->in, &r, &end, e) && !r.bad)
        return err_prefix(e, "--expect");
    return end || err_set(e, STATUS_DATA, "--expect: %s holds more rows than the %" PRIu64 " of the run",
                          x->job->args->expect, rows);
}

// ---- draws

bool draws_find(struct draws *d, const struct job *j, const struct session *q, const struct input_row *row, bool *bad,
                struct err *e)
{
    const size_t n_vocab = row_vocab(&row->logits);
    *d = (struct draws){.n = 0};
    *bad = q->own && !job_can_test_draws(j, q->recipe, e);
    if (*bad) {
        e->status = STATUS_DATA; // the row's params made this chain
        return false;
    }
    if (j->recorded_draws && row->recorded < 0)
        return err_set(e, STATUS_DATA, "--draws recorded: the input records no token");
    if (!j->recorded_draws && row->number >= j->draws.lines)
        return err_set(e, STATUS_DATA, "--draws: %s has no line for this row, only %zu", j->args->draws,
                       j->draws.lines);
    if (j->recorded_draws) {
        d->recorded = (uint32_t)row->recorded;
        d->id = &d->recorded;
        d->n = 1;
    } else {
        d->n = id_file_line(&j->draws, (size_t)row->number, &d->id);
    }
    assert(d->id || !d->n);
    for (size_t i = 0; n_vocab && i < d->n; i++)
        if (d->id[i] >= n_vocab)
            return err_set(e, STATUS_DATA, "--draws: %s holds token %" PRIu32 ", the vocabulary ends at %zu",
                           j->args->draws, d->id[i], n_vocab - 1);
    return true;
}

// Is the distribution of a row unknown, so that its draws cannot be tested?
static bool is_left_out(const struct result *res) { return !res->ok || (res->record.partial && !res->record.exact); }

void draws_add(struct draw_report *report, const struct result *res)
{
    report->next_row = res->record.row + 1;
    if (is_left_out(res))
        report->sums.left_out++;
    else
        draw_sums_add(&report->sums, res->record.row, res->record.drawn);
}

bool draws_end(const struct job *j, struct draw_report *report, struct err *e)
{
    const struct draw_sums *const s = &report->sums;
    if (!s->draws)
        return err_set(e, STATUS_DATA, "--draws: %s has no draw from any of the %" PRIu64 " rows", j->args->draws,
                       s->rows);
    if (!j->recorded_draws && j->draws.lines > report->next_row)
        message_note("--draws: %s has %zu lines; those after line %" PRIu64 " belong to no row", j->args->draws,
                     j->draws.lines, report->next_row);
    draw_sums_test(s, &report->tests);
    return true;
}
