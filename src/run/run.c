// SPDX-License-Identifier: MIT
#include "run/run.h"

#include "out/message.h"
#include "run/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Why the run cannot use more than one thread, or NULL. Threads work on many rows at a time, and a record that is to be written out at once
// cannot wait for those.
static const char *one_thread(const struct job *j, const struct output *out)
{
    if (!job_splits(j))
        return "the chain carries state from row to row";
    return out->flush ? "each record is written out at once" : NULL;
}

static bool run_rows(const struct job *j, struct input *in, struct sink *sink, struct err *e)
{
    const char *const why = j->threads > 1 ? one_thread(j, &sink->out) : NULL;
    if (j->threads > 1 && !why)
        return run_threads(j, in, sink, e);
    if (why && j->verbose)
        message_note("one thread: %s", why);
    struct worker w;
    const bool ok = worker_init(&w, j, e) && run_serial(&w, in, sink, NULL, NULL, e);
    worker_free(&w);
    return ok;
}

// ---- setting it up

static void say_settings(const struct job *j, const struct args *a)
{
    if (j->verbose)
        message_note("seed %" PRIu64 "%s, SIMD tier %s", j->variant[0]->parts.seed, a->seed == UINT32_MAX ? " (random)" : "",
                     j->kern->name);
    if (j->verbose && a->backend_sampling)
        message_note("--backend-sampling has no effect: there is no backend");
    if (!strcmp(a->ids, "rank"))
        message_note("--ids rank: the ids of servers' tokens are ranks within their row; histories and biases mean nothing");
}

static struct input_config input_wanted(const struct job *j, const struct args *a)
{
    static const char *const standard_input[] = {"-"};
    const struct vocab *const vocab = j->recipes->vocab;
    return (struct input_config){.files = a->files.n ? a->files.word : standard_input,
                                 .n_files = a->files.n ? a->files.n : 1,
                                 .format = a->format,
                                 .n_vocab = (size_t)a->n_vocab,
                                 .vocab = vocab,
                                 .ranks = !strcmp(a->ids, "rank"),
                                 .n_tokens = vocab ? vocab->n : 0,
                                 .tensor = a->tensor,
                                 .first = a->rows.first,
                                 .last = a->rows.last,
                                 .shard = a->shard.k,
                                 .shards = a->shard.n,
                                 .base = a->row_base};
}

// The output format that a distribution takes from its input's. There is no bf16 to write, and files that hold more than rows become
// the plainest that says what is in it.
static const char *format_after(const char *input)
{
    static const char *const like[][2] = {{"f16", "f16"}, {"json", "json"}, {"pairs", "json"},
                                          {"npy", "npy"}, {"kld", "npy"},   {"safetensors", "npy"}};
    for (size_t i = 0; i < sizeof like / sizeof *like; i++)
        if (!strcmp(input, like[i][0]))
            return like[i][1];
    return "f32";
}

static bool output_wanted(const struct job *j, const struct args *a, struct input *in, struct output_config *config,
                          struct err *e)
{
    const char *input = a->format;
    *config = (struct output_config){.path = a->output,
                                     .format = a->output_format,
                                     .emit = a->emit,
                                     .dump = a->dump,
                                     .flush = a->line_buffered,
                                     .color = !getenv("NO_COLOR"),
                                     .goes_on = job_is_later_part(a),
                                     .vocab = j->recipes->vocab,
                                     .n_vocab = (size_t)a->n_vocab,
                                     .rows = -1};
    if (!config->format && !emit_distribution(a->emit))
        config->format = "text";
    if (!config->format) {
        if (!strcmp(input, "auto") && !input_format(in, &input, e))
            return false;
        config->format = format_after(input);
        config->narrow = !strcmp(config->format, "npy");
    }
    return strcmp(config->format, "npy") != 0 || input_rows(in, &config->rows, e);
}

static bool start_progress(struct sink *sink, struct input *in, struct err *e)
{
    const bool on = progress_wanted(sink->out.terminal);
    int64_t total = -1;
    if (on && !input_rows(in, &total, e))
        return false;
    progress_start(&sink->progress, on, total);
    return true;
}

bool run(const struct job *j, const struct args *a, struct err *e)
{
    const struct input_config in_config = input_wanted(j, a);
    struct output_config out_config;
    struct sink sink = {.job = j};
    struct err late;
    say_settings(j, a);
    source_on_shrink(output_abandon);
    struct input *const in = input_open(&in_config, e);
    const bool ok = in && output_wanted(j, a, in, &out_config, e) && output_open(&sink.out, &out_config, e) &&
                    start_progress(&sink, in, e) && run_rows(j, in, &sink, e);
    progress_end(&sink.progress);
    const bool written = output_close(&sink.out, ok, &late);
    if (ok && !written)
        *e = late;
    input_close(in);
    return ok && written && sink_end(&sink, e);
}
