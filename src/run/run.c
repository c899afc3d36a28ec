// SPDX-License-Identifier: MIT
#include "run/run.h"

#include "base/mem.h"
#include "base/platform.h"
#include "base/utf8.h"
#include "out/message.h"
#include "run/compare.h"
#include "run/totals.h"
#include "run/worker.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHARE = 2 << 20, MOST_ROWS = 4096 }; // a thread's part of a batch: bytes of rows, though at least one; and rows

struct slot {
    struct input_row row;
    struct err bad; // if the row is
    char *copy;     // of what the input does not keep until the batch is done
    size_t copy_cap;
    size_t width; // of a lazy row, when it has been read
};

// Rows flow in batches: one is read, worked on and written before the next. A single member works on batches of one row. Of several, each
// samples its part of the batch and passes over the others', which the job must allow (job_splits), or each takes all rows through its part
// of the variants. Either way the same bytes are written.
struct flow {
    const struct job *job;
    struct input_config config;
    struct input *in, *against; // against: the second rows, NULL without --against
    struct output out;
    struct vocab texts; // of the tokens of the row at hand, where the input tells them and there is no other vocabulary
    struct totals totals;
    struct compare compare; // of a job with variants
    struct input *expected; // --expect's rows, or NULL
    float *values;          // [values_cap] of one of them
    size_t values_cap;

    struct member {
        struct flow *flow;
        struct worker worker;
        struct input_reader *reader; // of lazy rows
        pthread_t thread;            // but of the first, which works in this one
        size_t index;
        bool started;
    } * member;            // [made]
    size_t made, at_work;  // at_work: how many take part
    struct slot *slot;     // [most]
    struct slot *other;    // [most] with --against, else NULL
    struct result *result; // [most][n_variants]
    size_t most, used;     // rows of a batch; those that some batch had
    size_t n;              // rows of the batch at hand
    bool by_variant;       // the members share the variants, not the rows
    bool in_turn;          // they work one after the other, since rows make recipes, or sequences
    bool ahead;            // slot[n] holds the row behind it, which has been read and is worked on alone
};

// Is that no reason to end the run?
static bool may_go_on(const struct job *j, const struct result *res)
{
    return res->ok || (res->bad && j->args->skip_bad);
}

// Works on the member's part of the batch, until a row ends the run.
static void *work(void *arg)
{
    struct member *const m = arg;
    const struct flow *const f = m->flow;
    assert(f && m->index < f->at_work);
    const size_t variants = f->job->n_variants;
    const size_t first = f->by_variant ? 0 : f->n * m->index / f->at_work;
    const size_t last = f->by_variant ? f->n : f->n * (m->index + 1) / f->at_work;
    for (size_t i = 0; i < f->n; i++) {
        struct slot *const s = &f->slot[i];
        struct result *const res = f->result + i * variants;
        const struct input_row *const other = f->other ? &f->other[i].row : NULL;
        struct input_row row = s->row; // others look at the slot's
        if (i < first || i >= last || s->row.passed) {
            if (!worker_skip(&m->worker, &s->row, other)) // the row's own member reports why
                return NULL;
            continue;
        }
        if (row.text && !input_read(&m->reader, &f->config, &row, &s->bad) && !row.bad) {
            for (size_t k = 0; k < variants; k++) {
                res[k].ok = res[k].bad = false;
                res[k].e = s->bad;
            }
            return NULL;
        }
        if (s->row.text)
            s->width = row.logits.n;
        worker_row(&m->worker, &row, &s->bad, other, other ? &f->other[i].bad : NULL, res);
        for (size_t k = m->worker.first; k < m->worker.last; k++)
            if (!may_go_on(f->job, &res[k]))
                return NULL;
    }
    return NULL;
}

static bool work_batch(struct flow *f, struct err *e)
{
    bool ok = true;
    for (size_t i = 0; f->in_turn && i < f->at_work; i++)
        work(&f->member[i]);
    if (f->in_turn)
        return true;
    for (size_t i = 1; i < f->at_work; i++) {
        struct member *const m = &f->member[i];
        m->started = pthread_create(&m->thread, NULL, work, m) == 0;
        ok = ok && m->started;
    }
    if (ok)
        work(&f->member[0]);
    for (size_t i = 1; i < f->at_work; i++)
        if (f->member[i].started)
            pthread_join(f->member[i].thread, NULL);
    if (!ok)
        return err_set(e, STATUS_IO, "cannot start a thread");
    for (size_t i = f->by_variant ? f->n : f->n / f->at_work; ok && i < f->n; i++)
        ok = worker_tell(&f->member[0].worker, &f->slot[i].row, f->result + i * f->job->n_variants, e);
    return ok;
}

// Copies what the input does not keep beyond the next row.
static bool keep_row(struct slot *s, struct err *e)
{
    struct row *const x = &s->row.logits;
    const bool stays = s->row.stays || s->row.bad;
    const size_t n_text = stays || !s->row.text ? 0 : s->row.n_text;
    const size_t n_before = s->row.n_before * sizeof *s->row.before,
                 n_ids = stays || !x->ids ? 0 : x->n * sizeof *x->ids, n_data = stays ? 0 : x->n * dtype_size(x->type),
                 n_seq = s->row.seq ? strlen(s->row.seq) + 1 : 0;
    if (!mem_grow(&s->copy, &s->copy_cap, n_before + n_ids + n_data + n_seq + n_text, 1))
        return err_from_fault(e, fault_memory());
    if (n_before)
        s->row.before = memcpy(s->copy, s->row.before, n_before);
    if (n_ids)
        x->ids = memcpy(s->copy + n_before, x->ids, n_ids);
    if (n_data)
        x->data = memcpy(s->copy + n_before + n_ids, x->data, n_data);
    if (n_seq)
        s->row.seq = memcpy(s->copy + n_before + n_ids + n_data, s->row.seq, n_seq);
    if (n_text)
        s->row.text = memcpy(s->copy + n_before + n_ids + n_data + n_seq, s->row.text, n_text);
    return true;
}

// The next row of an input. *end when there is none; false with *e if that is an error of the input's.
static bool read_row(struct input *in, struct slot *s, bool *end, struct err *e)
{
    s->row.bad = false;
    if (input_next(in, &s->row, end, &s->bad) || s->row.bad)
        return true;
    *e = s->bad;
    return false;
}

static void swap_slots(struct slot *a, struct slot *b)
{
    const struct slot old = *a;
    *a = *b;
    *b = old;
}

// The rows of --against go beside the others.
static bool read_other(struct flow *f, struct slot *s, bool ended, struct err *e)
{
    bool end = false;
    if (!read_row(f->against, s, &end, e))
        return false;
    return end == ended || err_set(e, STATUS_DATA, "--against: '%.*s' has %s rows than the input",
                                   err_clip(f->job->args->against, 80), f->job->args->against, end ? "fewer" : "more");
}

// Reads a batch. *end when there is no more. A row that says more of itself, such as parameters, and all behind it are worked on one after
// the other. An error of the input comes after the rows before it.
static bool read_batch(struct flow *f, bool *end, struct err *e)
{
    size_t bytes = 0;
    if (f->ahead) {
        swap_slots(&f->slot[0], &f->slot[f->n]);
        if (f->other)
            swap_slots(&f->other[0], &f->other[f->n]);
        f->ahead = false;
        f->most = f->n = 1;
        f->in_turn = f->by_variant;
        f->at_work = f->by_variant ? f->at_work : 1;
        return true;
    }
    input_release(f->in);
    if (f->against)
        input_release(f->against);
    for (f->n = 0; f->n < f->most && (bytes < SHARE * f->at_work || f->n % f->at_work); f->n++) {
        struct slot *const s = &f->slot[f->n];
        struct slot *const other = f->other ? &f->other[f->n] : NULL;
        vocab_forget(&f->texts);
        if (!read_row(f->in, s, end, e) || (other && !read_other(f, other, *end, e)))
            return false;
        if (*end)
            return true;
        f->used = f->n < f->used ? f->used : f->n + 1;
        f->in_turn = f->in_turn || (f->by_variant && (s->row.seq || (other && other->row.seq)));
        f->ahead = f->most > 1 && (input_says_more(&s->row) || (other && input_says_more(&other->row)));
        if (f->ahead)
            return true;
        if (f->most > 1 && (!keep_row(s, e) || (other && !keep_row(other, e))))
            return false;
        bytes += s->row.n_text + s->row.logits.n * dtype_size(s->row.logits.type);
    }
    return true;
}

// With --expect: the numbers that are expected of the row, and the first token of theirs that the chain removed.
static bool expect_values(struct flow *f, const struct input_row *row, struct result *res, struct err *e)
{
    struct input_row r = {0};
    bool end;
    const size_t n = res->record.n_vocab;
    if (!input_next(f->expected, &r, &end, e)) {
        if (r.bad)
            input_blame(&r, e);
        return err_prefix(e, "--expect");
    }
    if (end)
        return err_set(e, STATUS_DATA, "--expect: %s ends before row %" PRIu64, f->job->args->expect, row->number);
    if (!res->ok)
        return true;
    const bool probs = f->job->args->emit == EMIT_PROBS;
    if (row_vocab(&r.logits) != n && !(r.logits.ids && !r.logits.n_vocab))
        return err_set(e, STATUS_DATA, "--expect: %s: row %" PRIu64 " has %zu numbers, the chain gives %zu", r.file,
                       r.number, row_vocab(&r.logits), n);
    if (!mem_grow(&f->values, &f->values_cap, n + r.logits.n, sizeof *f->values))
        return err_from_fault(e, fault_memory());
    f->job->kern->widen[r.logits.type](f->values + (r.logits.ids ? n : 0), r.logits.data, r.logits.n);
    for (size_t i = 0; r.logits.ids && i < n; i++)
        f->values[i] = probs ? 0.0f : -INFINITY;
    for (size_t i = 0; r.logits.ids && i < r.logits.n; i++)
        if (r.logits.ids[i] < n)
            f->values[r.logits.ids[i]] = f->values[n + i];
    struct expected *const x = &res->expected;
    const float masked = probs ? 0.0f : -INFINITY;
    x->values = f->values;
    x->tolerance = f->job->args->tolerance;
    x->removed_by = NULL;
    for (size_t i = 0; i < n && !x->removed_by; i++) {
        x->id = (uint32_t)i;
        const bool removed = res->record.values[i] == masked && x->values[i] != masked;
        if (removed && *result_removed_by(res, x->id, x->stage) != '-')
            x->removed_by = x->stage;
    }
    return true;
}

// After the last row: was more expected?
static bool expect_end(struct flow *f, struct err *e)
{
    struct input_row r = {0};
    bool end = true;
    if (f->job->expects && f->job->expect.n > f->totals.rows)
        return err_set(e, STATUS_DATA, "--expect names %zu tokens, the run has only %" PRIu64 " rows", f->job->expect.n,
                       f->totals.rows);
    if (f->expected && !input_next(f->expected, &r, &end, e) && !r.bad)
        return err_prefix(e, "--expect");
    return end || err_set(e, STATUS_DATA, "--expect: %s holds more rows than the %" PRIu64 " of the run",
                          f->job->args->expect, f->totals.rows);
}

// The error of a variant; of several, that of another than the base, which fails where all do, names it.
static bool blame(const struct flow *f, const struct input_row *row, const struct result *res, size_t i, struct err *e)
{
    *e = res[i].e;
    if (i)
        err_prefix(e, "variant '%.*s'", err_clip(f->job->named[i].name, 80), f->job->named[i].name);
    return input_blame(row, e);
}

// Writes what a row came to, with a message for what is bad in it.
static bool write_row(struct flow *f, size_t slot, struct err *e)
{
    const struct input_row *const row = &f->slot[slot].row, *const other = f->other ? &f->other[slot].row : row;
    struct result *const res = f->result + slot * f->job->n_variants;
    const size_t variants = f->job->n_variants;
    const bool told = row->told || other->told;
    const size_t width = row->text ? f->slot[slot].width : row->logits.n;
    bool good = true;
    for (size_t k = 0; k < variants; k++) {
        if (!may_go_on(f->job, &res[k]))
            return blame(f, k ? other : row, res, k, e);
        if (res[k].ok)
            continue;
        struct err line;
        blame(f, k ? other : row, res, k, &line);
        text_tame(res[k].e.text);
        if (!k || res[0].ok || strcmp(res[k].e.text, res[0].e.text) != 0)
            message_error(&line);
        res[k].record.error = res[k].e.text;
        good = false;
    }
    if (told)
        output_tell(&f->out, &f->texts);
    if (good && f->job->args->emit == EMIT_TEXT && !f->job->recipes->vocab && !told) {
        err_set(e, STATUS_USAGE, "--emit text needs --vocab: the row tells no texts");
        return input_blame(row, e);
    }
    if (f->expected && !expect_values(f, row, res, e))
        return false;
    if (f->out.compared && !compare_row(&f->compare, res, e))
        return false;
    for (size_t k = 0; !f->out.compared && k < variants; k++) {
        res[k].record.variant = variants > 1 ? f->job->named[k].name : NULL;
        if (!output_record(&f->out, &res[k].record, e))
            return false;
    }
    totals_add(&f->totals, good ? res->stat : NULL, width * dtype_size(row->logits.type));
    return true;
}

static bool write_batch(struct flow *f, struct err *e)
{
    for (size_t i = 0; i < f->n; i++)
        if (!f->slot[i].row.passed && !write_row(f, i, e))
            return false;
    return true;
}

// One thread has one member, which takes a row at a time.
static bool start_members(struct flow *f, size_t members, struct err *e)
{
    const size_t variants = f->job->n_variants;
    assert(members && variants);
    f->at_work = members;
    f->most = members > 1 ? MOST_ROWS * members / variants + 1 : 1;
    f->member = calloc(members, sizeof *f->member);
    f->slot = calloc(f->most, sizeof *f->slot);
    f->other = f->against ? calloc(f->most, sizeof *f->other) : NULL;
    f->result = calloc(f->most * variants, sizeof *f->result);
    if (!f->member || !f->slot || (f->against && !f->other) || !f->result)
        return err_from_fault(e, fault_memory());
    for (size_t i = 0; i < members; i++) {
        struct member *const m = &f->member[i];
        m->flow = f;
        m->index = i;
        f->made++;
        const size_t first = f->by_variant ? variants * i / members : 0;
        if (!worker_init(&m->worker, f->job, first, f->by_variant ? variants * (i + 1) / members : variants, e))
            return false;
    }
    return true;
}

// How many threads the arguments ask for. Cores that this process may not use do not count.
static size_t threads_wanted(const struct args *a)
{
    if (a->threads)
        return (size_t)a->threads;
    const size_t n = platform_cores();
    if (a->verbose)
        message_note("--threads 0 is %zu", n);
    return n;
}

static bool run_rows(struct flow *f, struct err *e)
{
    const struct args *const a = f->job->args;
    const size_t variants = f->job->n_variants, threads = threads_wanted(a);
    const char *why = NULL; // not several threads
    size_t members = threads;
    f->by_variant = variants > 1 && !job_splits(f->job);
    if (f->by_variant && members > variants)
        members = variants;
    if (variants == 1 && !job_splits(f->job))
        why = "the chain carries state from row to row";
    else if (f->out.flush && (!f->job->compares || f->job->side_by_side)) // a record cannot wait for a batch of rows
        why = "each record is written out at once";
    if (why && threads > 1 && a->verbose)
        message_note("one thread: %s", why);
    // Of a row that nobody asked for somebody must still know whether it can be read.
    const struct rows *const rows = &f->job->rows;
    f->config.lazy = !why && members > 1 && !f->by_variant && !a->params && !a->shard.n && rows->n == 1 &&
                     rows->range[0].first >= 0 && rows->range[0].first <= a->row_base;
    bool ok = start_members(f, why ? 1 : members, e), end = false;
    while (ok && !end) {
        struct err late;
        const bool read = read_batch(f, &end, &late);
        ok = !f->n || (work_batch(f, e) && write_batch(f, e));
        if (ok && !read) {
            *e = late;
            ok = false;
        }
    }
    struct err late;
    totals_end(&f->totals);
    if (f->out.compared && (ok || f->totals.rows)) // the table of the rows before an error is one, too
        ok = compare_end(&f->compare, ok ? e : &late) && ok;
    return ok;
}

static void flow_free(struct flow *f)
{
    for (size_t i = 0; i < f->made; i++) {
        worker_free(&f->member[i].worker);
        input_reader_free(f->member[i].reader);
    }
    for (size_t i = 0; i < f->used; i++) {
        free(f->slot[i].copy);
        if (f->other)
            free(f->other[i].copy);
    }
    for (size_t i = 0; i < f->used * f->job->n_variants; i++)
        result_free(&f->result[i]);
    compare_free(&f->compare);
    free(f->member);
    free(f->slot);
    free(f->other);
    input_close(f->against);
    free(f->result);
    free(f->values);
    input_close(f->expected);
    input_close(f->in);
    vocab_free(&f->texts);
}

// ---- setting it up

static void say_settings(const struct job *j)
{
    const struct args *const a = j->args;
    const struct parts *const parts = &j->variant[0]->parts;
    if (a->verbose)
        message_note("seed %" PRId64 "%s, SIMD tier %s", (int64_t)parts->seed,
                     engine_draws_seed(parts->engine, a->seed) ? " (random)" : "", j->kern->name);
    if (a->verbose && a->backend_sampling)
        message_note("--backend-sampling has no effect: there is no backend");
    if (!strcmp(a->ids, "rank"))
        message_note("--ids rank: the ids of servers' tokens are ranks within their row; histories and biases mean "
                     "nothing");
}

// Does what the run writes say more of tokens than their ids?
static bool shows_texts(const struct job *j)
{
    return j->args->emit == EMIT_TEXT || j->dumps || j->side_by_side || !(j->plain || emit_distribution(j->args->emit));
}

static struct input_config input_wanted(const struct job *j, struct vocab *texts)
{
    static const char *const standard_input[] = {"-"};
    const struct args *const a = j->args;
    const struct vocab *const vocab = j->recipes->vocab;
    return (struct input_config){.files = a->files.n ? a->files.word : standard_input,
                                 .n_files = a->files.n ? a->files.n : 1,
                                 .kern = j->kern,
                                 .format = a->format,
                                 .n_vocab = (size_t)a->n_vocab,
                                 .vocab = vocab,
                                 .texts = shows_texts(j) && !vocab ? texts : NULL,
                                 .ranks = !strcmp(a->ids, "rank"),
                                 .n_tokens = vocab ? vocab->n : 0,
                                 .tensor = a->tensor,
                                 .rows = &j->rows,
                                 .params = a->params,
                                 .shard = a->shard.k,
                                 .shards = a->shard.n,
                                 .base = a->row_base};
}

// The file of the distributions that are expected.
static struct input_config expected_wanted(const struct args *a, const struct input_config *rows)
{
    static struct row_range whole = {0, ROWS_OPEN};
    static const struct rows all = {&whole, 1};
    struct input_config config = *rows;
    config.files = &a->expect;
    config.n_files = 1;
    config.format = "auto";
    config.keep_probs = true;
    config.rows = &all;
    config.params = NULL;
    config.texts = NULL;
    config.shard = config.shards = config.base = 0;
    return config;
}

static bool open_output(struct flow *f, struct err *e)
{
    const struct args *const a = f->job->args;
    struct output *const out = &f->out;
    const char *input = a->format;
    *out = (struct output){.name = a->output,
                           .emit = a->emit,
                           .compared = compared_of(f->job),
                           .n_chains = f->job->n_variants,
                           .dump = f->job->dumps,
                           .lists = f->job->lists,
                           .traces = f->job->traces,
                           .flush = a->line_buffered,
                           .accepts = a->accept || a->accept_recorded,
                           .goes_on = job_is_later_part(a),
                           .files = a->files.n > 1,
                           .named = a->params != NULL,
                           .vocab = f->job->recipes->vocab,
                           .title = a->files.n ? a->files.word[0] : "standard input",
                           .rows = -1,
                           .width = (size_t)a->n_vocab};
    const bool numbers = emit_distribution(a->emit);
    if (!strcmp(input, "auto") &&
        ((a->emit == EMIT_TEXT && !out->vocab) || (numbers && !a->output_format && !a->expect)) &&
        !input_format(f->in, &input, e))
        return false;
    if (a->emit == EMIT_TEXT && !out->vocab && strcmp(input, "json") != 0) // only servers' replies tell texts
        return err_set(e, STATUS_USAGE, "--emit text needs --vocab");
    out->format = a->expect          ? &output_expect
                  : a->output_format ? output_format_named(a->output_format)
                  : numbers          ? output_format_like(input)
                                     : output_format_named(a->emit == EMIT_STATS ? "tsv" : "text");
    out->narrow = out->format->counted && !a->output_format;
    out->lines = (out->compared || out->dump || a->expect) && (a->expect || out->format == &output_text);
    struct err why = {0};
    if (out->format->counted && !input_rows(f->in, &out->rows, &why, e))
        return false;
    const bool ok = output_open(out, e);
    if (!ok && why.status == STATUS_IO && e->status == STATUS_USAGE) // the format needs the number
        *e = why;
    return ok;
}

static bool open_expected(struct flow *f, const struct input_config *config, struct err *e)
{
    if (!f->job->args->expect || f->job->expects)
        return true;
    f->expected = input_open(config, e);
    return f->expected || err_prefix(e, "--expect");
}

static bool start_totals(struct flow *f, struct err *e)
{
    const bool shows = totals_shown(f->out.screen.columns && !(f->out.compared && compare_waits(f->job)));
    int64_t total = -1;
    struct err why;
    if (shows && !input_rows(f->in, &total, &why, e))
        return false;
    totals_start(&f->totals, shows, total);
    return true;
}

bool run(struct job *j, struct err *e)
{
    struct flow f = {.job = j};
    f.config = input_wanted(j, &f.texts);
    const struct input_config expected = expected_wanted(j->args, &f.config);
    struct input_config beside = f.config; // the rows of --against
    beside.files = &j->args->against;
    beside.n_files = 1;
    struct err late;
    say_settings(j);
    source_on_shrink(output_abandon);
    if (!j->args->files.n && isatty(STDIN_FILENO))
        message_note("reading rows of logits from the terminal%s; Ctrl-D ends them, and sampl --help tells more",
                     !strcmp(j->args->format, "auto") || !strcmp(j->args->format, "json") ? ", such as [1.5, -0.2, 3]"
                                                                                          : "");
    f.in = input_open(&f.config, e);
    f.against = f.in && j->args->against ? input_open(&beside, e) : NULL;
    bool ok = f.in && (!j->args->against || f.against) && open_expected(&f, &expected, e) && open_output(&f, e) &&
              (!f.out.compared || compare_init(&f.compare, j, &f.out, e)) && start_totals(&f, e);
    if (ok && f.out.screen.columns)
        job_on_screen(j);
    ok = ok && run_rows(&f, e);
    if (ok && j->args->expect)
        ok = expect_end(&f, e);
    const bool differs = f.out.differing;
    ok = output_close(&f.out, ok, ok ? e : &late) && ok;
    if (j->args->stats && (ok || (f.totals.rows && e->status == STATUS_DATA)))
        totals_print(&f.totals, j->variant[0]->parts.seed);
    if (ok && f.totals.bad)
        ok = err_set(e, STATUS_DATA, "%" PRIu64 " of %" PRIu64 " rows were bad", f.totals.bad, f.totals.rows);
    if (ok && differs)
        ok = err_said(e, STATUS_DATA);
    flow_free(&f);
    return ok;
}
