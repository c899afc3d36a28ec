// SPDX-License-Identifier: MIT
#include "run/expected.h"

#include "base/mem.h"

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
