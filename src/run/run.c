// SPDX-License-Identifier: MIT
#include "run/run.h"

#include "out/message.h"
#include "run/emit.h"
#include "run/parallel.h"
#include "run/part.h"
#include "run/serial.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void tell(const struct options *o, const struct kern *kern)
{
    message_note("seed %" PRIu32 "%s, SIMD tier %s", o->params.seed, o->random_seed ? " (random)" : "", kern->name);
    if (o->backend_sampling)
        message_note("--backend-sampling has no effect: there is no backend");
}

// Why the run cannot use more than one thread, or NULL. Threads work on many rows at a time, and a record that is to be written out at once
// cannot wait for those.
static const char *one_thread(const struct worker *w, const struct output *out)
{
    if (!worker_splits(w))
        return "the chain carries state from row to row";
    return out->flush ? "each record is written out at once" : NULL;
}

static bool work_off(const struct options *o, const struct kern *kern, struct input *in, struct sink *sink, struct err *e)
{
    struct worker w;
    bool ok = worker_init(&w, o, kern, e);
    const char *const why = ok && o->threads > 1 ? one_thread(&w, sink->out) : NULL;
    if (ok && o->threads > 1 && !why) {
        ok = parallel_run(o, kern, in, sink, e);
    } else if (ok) {
        if (why && o->verbose)
            message_note("one thread: %s", why);
        ok = serial_run(&w, in, sink, NULL, e);
    }
    worker_free(&w);
    return ok;
}

static bool start_progress(struct sink *sink, struct input *in, struct err *e)
{
    const bool on = progress_wanted(sink->out->terminal);
    int64_t total = -1;
    if (on && !input_rows(in, &total, e))
        return false;
    progress_start(&sink->progress, on, total);
    return true;
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
                                           .n_tokens = o->vocab ? o->vocab->n : 0,
                                           .tensor = o->tensor,
                                           .first = o->rows.first,
                                           .last = o->rows.last,
                                           .shard = o->shard.k,
                                           .shards = o->shard.n,
                                           .base = o->row_base};
    struct output_config out_config = {.path = o->output,
                                       .emit = o->emit,
                                       .dump = o->dump,
                                       .flush = o->line_buffered,
                                       .color = !getenv("NO_COLOR"),
                                       .goes_on = part_is_later(o),
                                       .vocab = o->vocab,
                                       .n_vocab = (size_t)o->n_vocab};
    struct output out = {0};
    struct sink sink = {.o = o, .out = &out};
    struct err late;
    if (o->verbose)
        tell(o, kern);
    if (in_config.ranks)
        message_note("--ids rank: the ids of servers' tokens are ranks within their row; histories and biases mean nothing");
    struct input *const in = input_open(&in_config, e);
    const bool ok = in && emit_config(o, in, &out_config, e) && output_open(&out, &out_config, e) &&
                    start_progress(&sink, in, e) && work_off(o, kern, in, &sink, e);
    progress_end(&sink.progress);
    const bool written = output_close(&out, ok, &late);
    if (ok && !written)
        *e = late;
    input_close(in);
    return ok && written && sink_end(&sink, e);
}
