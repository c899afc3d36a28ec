// SPDX-License-Identifier: MIT
#include "run/sink.h"

#include "out/message.h"

#include <inttypes.h>

// Reports a bad row; its record says so, too.
static void report(struct sink *s, const struct input_row *row, struct result *res, const struct err *e)
{
    struct err line = *e;
    input_blame(row, &line);
    message_error(&line);
    res->record.error = e->text;
    s->stats.bad++;
}

bool sink_take(struct sink *s, const struct input_row *row, struct result *res, bool ok, struct err *e)
{
    struct err late;
    if (!ok && !(res->bad && s->o->skip_bad))
        return input_blame(row, e);
    if (!ok)
        report(s, row, res, e);
    else
        stats_add(&s->stats, &res->stats);
    if (!output_record(s->out, &res->record, &late)) {
        *e = late;
        return false;
    }
    progress_step(&s->progress, row->logits.n * dtype_size(row->logits.type));
    return true;
}

bool sink_end(struct sink *s, struct err *e)
{
    const uint64_t rows = s->stats.rows + s->stats.bad;
    const double seconds = progress_clock() - s->progress.start;
    progress_end(&s->progress);
    if (s->o->stats)
        stats_print(&s->stats, seconds);
    return !s->stats.bad || err_set(e, STATUS_DATA, "%" PRIu64 " of %" PRIu64 " rows were bad", s->stats.bad, rows);
}
