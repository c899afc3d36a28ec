// SPDX-License-Identifier: MIT
#include "cli/run.h"

#include "cli/parallel.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void tell(const struct options *o, const struct kern *kern)
{
    err_note("seed %" PRIu32 "%s, SIMD tier %s", o->params.seed, o->random_seed ? " (random)" : "", kern->name);
    if (o->backend_sampling)
        err_note("--backend-sampling has no effect: there is no backend");
}

static bool each_row(struct worker *w, struct input *in, struct output *out, struct result *res, struct err *e)
{
    for (;;) {
        struct input_row row;
        bool end;
        input_release(in);
        if (!input_next(in, &row, &end, e))
            return false;
        if (end)
            return true;
        if (!worker_row(w, &row, res, e))
            return input_blame(&row, e);
        if (!output_record(out, &res->record, e))
            return false;
    }
}

static bool work_off(const struct options *o, const struct kern *kern, struct input *in, struct output *out, struct err *e)
{
    struct worker w;
    struct result res = {0};
    bool ok = worker_init(&w, o, kern, e);
    if (ok && o->threads > 1 && worker_splits(&w)) {
        ok = parallel_run(o, kern, in, out, e);
    } else if (ok) {
        if (o->threads > 1 && o->verbose)
            err_note("one thread: the chain carries state from row to row");
        ok = each_row(&w, in, out, &res, e);
    }
    worker_free(&w);
    result_free(&res);
    return ok;
}

bool run(const struct options *o, const struct kern *kern, struct err *e)
{
    static const char *const standard_input[] = {"-"};
    const struct input_config in_config = {.files = o->n_files ? o->files : standard_input,
                                           .n_files = o->n_files ? o->n_files : 1,
                                           .format = o->format,
                                           .n_vocab = (size_t)o->n_vocab,
                                           .vocab = o->vocab,
                                           .ranks = !strcmp(o->ids, "rank"),
                                           .tensor = o->tensor,
                                           .first = o->rows.first,
                                           .last = o->rows.last};
    const struct output_config out_config = {
        .path = o->output, .format = o->output_format, .dump = o->dump, .flush = o->line_buffered, .color = !getenv("NO_COLOR")};
    struct output out = {0};
    struct err late;
    if (o->verbose)
        tell(o, kern);
    if (in_config.ranks)
        err_note("--ids rank: the ids of servers' tokens are ranks within their row; histories and biases mean nothing");
    struct input *const in = input_open(&in_config, e);
    const bool ok = in && output_open(&out, &out_config, e) && work_off(o, kern, in, &out, e);
    const bool written = output_close(&out, ok, &late);
    if (ok && !written)
        *e = late;
    input_close(in);
    return ok && written;
}
