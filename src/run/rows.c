// SPDX-License-Identifier: MIT
#include "run/rows.h"

#include "out/message.h"

#include <inttypes.h>
#include <stdlib.h>

// Reports a bad row; its record says so, too.
static void report(struct sink *s, const struct input_row *row, struct result *res)
{
    struct err line = res->e;
    input_blame(row, &line);
    message_error(&line);
    res->record.error = res->e.text;
    s->stats.bad++;
}

bool sink_take(struct sink *s, const struct input_row *row, struct result *res, struct err *e)
{
    if (!res->ok && !(res->bad && s->job->skip_bad)) {
        *e = res->e;
        return input_blame(row, e);
    }
    if (res->ok)
        stats_add(&s->stats, &res->stats);
    else
        report(s, row, res);
    if (!output_record(&s->out, &res->record, e))
        return false;
    progress_step(&s->progress, row->logits.n * dtype_size(row->logits.type));
    return true;
}

bool sink_end(struct sink *s, struct err *e)
{
    const uint64_t rows = s->stats.rows + s->stats.bad;
    const double seconds = progress_clock() - s->progress.start;
    progress_end(&s->progress);
    if (s->job->stats)
        stats_print(&s->stats, seconds);
    return !s->stats.bad || err_set(e, STATUS_DATA, "%" PRIu64 " of %" PRIu64 " rows were bad", s->stats.bad, rows);
}

bool run_serial(struct worker *w, struct input *in, struct sink *sink, const struct input_row *first, const struct err *bad,
                struct err *e)
{
    struct result *const res = calloc(w->job->n_variants, sizeof *res);
    struct input_row row = {0};
    bool ok = true, end = false;
    if (!res)
        return err_from_fault(e, fault_memory());
    if (first) {
        worker_row(w, first, bad, res);
        ok = sink_take(sink, first, res, e);
    }
    while (ok && !end) {
        struct err own;
        row.bad = false;
        input_release(in);
        if (!input_next(in, &row, &end, &own) && !row.bad) {
            *e = own;
            ok = false;
        } else if (!end) {
            worker_row(w, &row, &own, res);
            ok = sink_take(sink, &row, res, e);
        }
    }
    for (size_t i = 0; i < w->job->n_variants; i++)
        result_free(&res[i]);
    free(res);
    return ok;
}
