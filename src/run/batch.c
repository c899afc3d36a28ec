// SPDX-License-Identifier: MIT
#include "run/batch.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// The size of a batch for threads. It costs microseconds to begin a batch, and for each thread to pass over it. Results
// are two kilobytes each: more of them than the caches hold cost more time than larger batches save.
#ifndef BATCH_ROWS // a test makes it smaller, for more batches
#define BATCH_ROWS 256
#endif
enum {
    MOST_ROWS = BATCH_ROWS, // divided by the variants
    MOST_READ = 1 << 20,    // bytes of rows that are copied, or of text
    MOST_RESULTS = 2 << 20, // bytes of candidates and distributions
    MOST_MAPPED = 8 << 20,  // bytes of rows in a mapped file
    SHARES = 4,             // a batch is at most 1 / (SHARES * threads) of what is left of a mapped file
    GIVE_BACK = 4 << 20,    // bytes of a mapped file that are given back at once
};

bool row_goes_on(const struct job *j, const struct result *res)
{
    return res->ok || (res->bad && j->args->on_error == ERROR_SKIPS);
}

// ---- memory

void feed_free(struct feed *f)
{
    for (size_t k = 0; k < f->inputs; k++) {
        free(f->row[k].copy);
        input_close(f->in[k]);
    }
}

bool batch_init(struct batch *b, struct feed *f, struct err *e)
{
    const size_t variants = f->job->variants->n, most = f->threads ? MOST_ROWS / variants + 1 : 1;
    *b = (struct batch){.feed = f,
                        .item = calloc(most * f->inputs, sizeof *b->item),
                        .result = calloc(most * variants, sizeof *b->result),
                        .most = most};
    return (b->item && b->result) || err_from_fault(e, fault_memory());
}

void batch_free(struct batch *b)
{
    for (size_t i = 0; b->item && b->result && i < b->most; i++) {
        for (size_t k = 0; k < b->feed->inputs; k++)
            free(b->item[i * b->feed->inputs + k].copy);
        for (size_t k = 0; k < b->feed->job->variants->n; k++)
            result_free(&b->result[i * b->feed->job->variants->n + k]);
    }
    free(b->item);
    free(b->result);
}

// Copies an array to *free_at, and moves *free_at behind it. Returns the copy; of an empty array, the array itself.
static const void *keep_array(char **free_at, const void *array, size_t size)
{
    char *const copy = *free_at;
    if (!size)
        return array;
    *free_at += size;
    return memcpy(copy, array, size);
}

// Copies what the input does not keep beyond the next row.
static bool keep_row(struct read_row *s, struct err *e)
{
    struct row *const x = &s->row.logits;
    const bool stays = s->row.mapped || s->row.bad || !row_is_sampled(s->row.place.use);
    const size_t n_text = stays || !s->row.text ? 0 : s->row.n_text,
                 n_before = s->row.before.n * sizeof *s->row.before.id,
                 n_ids = stays || !x->ids ? 0 : x->n * sizeof *x->ids, n_data = stays ? 0 : x->n * dtype_size(x->type),
                 n_seq = s->row.seq ? strlen(s->row.seq) + 1 : 0;
    if (!mem_grow(&s->copy, &s->copy_cap, n_before + n_ids + n_data + n_seq + n_text, 1))
        return err_from_fault(e, fault_memory());
    char *room = s->copy;
    s->row.before.id = keep_array(&room, s->row.before.id, n_before);
    x->ids = keep_array(&room, x->ids, n_ids);
    x->data = keep_array(&room, x->data, n_data);
    s->row.seq = keep_array(&room, s->row.seq, n_seq);
    s->row.text = keep_array(&room, s->row.text, n_text);
    return true;
}

// ---- reading

// Reads the next row of an input to f->row[k], or sets ends[k]. Returns false with f->e.
static bool read_one(struct feed *f, size_t k, bool *ends)
{
    struct read_row *const to = &f->row[k];
    to->n = 1;
    to->row.bad = false;
    if (input_next(f->in[k], f->how[k], &to->row, &ends[k], &to->bad) || to->row.bad)
        return true;
    f->e = to->bad;
    return false;
}

// Reads the next row of each input to f->row. *end: there is none. Returns false with f->e for an error of an input's.
static bool read_rows(struct feed *f, bool *end)
{
    const char *const against = f->job->args->against;
    bool ends[2] = {false};
    if (f->config[0].texts)
        vocab_clear(f->config[0].texts);
    for (size_t k = 0; k < f->inputs; k++)
        if (!read_one(f, k, ends))
            return false;
    for (size_t k = ends[0]; f->inputs == 2 && ends[0] != ends[1] && f->row[k].row.place.use != ROW_SHOWN;)
        if (!read_one(f, k, ends))
            return false;
    *end = ends[0];
    return f->inputs == 1 || ends[0] == ends[1] ||
           err_set(&f->e, STATUS_DATA, "--against: '%.*s' has %s rows than the input", err_clip(against, 80), against,
                   ends[1] ? "fewer" : "more");
}

// The most bytes that the results of a row of n logits may take beyond their structs.
static size_t most_memory(const struct job *j, size_t n)
{
    const size_t lists = job_records(j, RECORD_LIST) ? sizeof(struct ranked) : 0,
                 values = emit_distribution(j->args->emit) ? sizeof(float) : 0,
                 removals = job_records(j, RECORD_REMOVALS) ? sizeof(uint16_t) : 0;
    return (lists + values + removals) * n * j->variants->n;
}

// Adds rows of a mapped file that lie behind *at to the item, as far as the batch has room. *fill is how full the batch
// is, from 0 to 1.
static void extend(const struct batch *b, struct read_row *at, double *fill)
{
    const struct feed *const f = b->feed;
    const struct row *const x = &at->row.logits;
    if (!f->threads)
        return;
    const uint64_t alike = f->inputs == 1 && !at->row.text ? input_alike(f->in[0], &at->row) : 0;
    const size_t bytes = at->row.text ? at->row.n_text : x->n * dtype_size(x->type);
    const double share = (double)alike * (double)bytes / (double)(SHARES * f->threads);
    double most = MOST_READ;
    if (alike && f->by_variant)
        most = GIVE_BACK;
    else if (alike && share > most)
        most = share < MOST_MAPPED ? share : MOST_MAPPED;
    const size_t memory = most_memory(f->job, at->row.text ? bytes / 4 : x->n);
    const double cost = (double)bytes / most + (double)memory / MOST_RESULTS;
    while (at->n <= alike && b->n + at->n < b->most && *fill + cost * (double)at->n < 1.0)
        at->n++;
    if (at->n > 1)
        input_pass(f->in[0], &at->row, at->n - 1);
    *fill += cost * (double)at->n;
}

// Moves a row, and gives the memory of the row that it replaces in exchange.
static void move_row(struct read_row *to, struct read_row *from)
{
    char *const copy = to->copy;
    const size_t cap = to->copy_cap;
    to->row = from->row;
    to->n = from->n;
    if (from->row.bad)
        to->bad = from->bad;
    to->copy = from->copy;
    to->copy_cap = from->copy_cap;
    from->copy = copy;
    from->copy_cap = cap;
}

// Reads an item, unless the feed holds one, and moves it to the batch. Sets b->last if there is no more for this batch.
// If the batch is closed meanwhile, the feed holds what was read.
static void read_item(struct batch *b, double *fill)
{
    struct feed *const f = b->feed;
    struct read_row *const at = b->item + b->n_items * f->inputs;
    bool more = false, end = false;
    if (f->held == HELD_NOTHING) {
        const bool ok = read_rows(f, &end);
        f->held = !ok ? HELD_ERROR : end ? HELD_NOTHING : HELD_ROW;
    }
    if (f->open != b)
        return;
    for (size_t k = 0; k < f->inputs && f->threads && f->held == HELD_ROW; k++) {
        more = more || input_says_more(&f->row[k].row);
        if (!more && !keep_row(&f->row[k], &f->e))
            f->held = HELD_ERROR;
    }
    b->last = more || f->held != HELD_ROW;
    if (b->last)
        return;
    for (size_t k = 0; k < f->inputs; k++)
        move_row(&at[k], &f->row[k]);
    f->held = HELD_NOTHING;
    extend(b, at, fill);
    b->n_items++;
    b->n += at->n;
}

void batch_read(struct batch *b)
{
    struct feed *const f = b->feed;
    double fill = 0.0;
    for (size_t k = 0; k < f->inputs; k++)
        input_release(f->in[k], b->finished[k]);
    b->n_items = b->n = 0;
    b->last = false;
    f->open = b;
    while (f->open == b && !b->last && b->n < b->most && fill < 1.0)
        read_item(b, &fill);
    batch_close(f);
}

void batch_close(struct feed *f)
{
    for (size_t k = 0; f->open && k < f->inputs; k++)
        f->open->finished[k] = input_finished(f->in[k]);
    f->open = NULL;
}

// Steps over n rows behind the walk's row, which are of its item.
static void walk_step(struct walk *w, size_t n)
{
    input_step(&w->row, n);
    w->k += n;
    w->done += n;
}

bool walk_next(struct walk *w)
{
    const struct batch *const b = w->batch;
    if (w->at && w->k < w->at->n) {
        walk_step(w, 1);
        return true;
    }
    if (w->item == b->n_items)
        return false;
    w->at = b->item + b->feed->inputs * w->item++;
    w->row = w->at->row;
    w->k = 1;
    w->done++;
    assert(w->done <= b->n);
    return true;
}

// ---- memory of mapped files

// Memory of a mapped file that has been worked through.
struct region {
    uint64_t file;     // number of its first row
    const char *begin; // NULL: none
    const char *end;
};

static void region_end(struct region *g)
{
    if (g->begin)
        source_give_back(g->begin, g->end);
    g->begin = NULL;
}

static void region_add(struct region *g, const struct input_row *row)
{
    const struct row *const x = &row->logits;
    const char *const at = row->text ? row->text : x->data;
    if (!row->mapped || row->bad)
        return;
    if (g->begin && (g->file != row->number - row->in_file || at < g->end))
        region_end(g);
    g->begin = g->begin ? g->begin : at;
    g->end = at + (row->text ? row->n_text : x->n * dtype_size(x->type));
    g->file = row->number - row->in_file;
    if (g->end - g->begin >= GIVE_BACK)
        g->begin = source_give_back(g->begin, g->end);
}

void batch_give_back(const struct batch *b)
{
    const size_t inputs = b->feed->inputs;
    struct region region[2] = {{0}};
    struct walk w = {.batch = b};
    while (walk_next(&w))
        for (size_t k = 0; k < inputs; k++)
            region_add(&region[k], k ? &w.at[k].row : &w.row);
    for (size_t k = 0; k < inputs; k++)
        region_end(&region[k]);
}

// ---- working

// A worker at work on a batch.
struct shift {
    struct walk walk;
    struct worker *worker;
    const atomic_bool *stop;
    bool whole;
};

// Gives a row an error in the variants of a worker.
static void fail_row(const struct walk *w, const struct worker *worker, const struct err *e)
{
    const struct batch *const b = w->batch;
    for (size_t k = worker->first; k < worker->last; k++) {
        struct result *const res = &b->result[(w->done - 1) * b->feed->job->variants->n + k];
        res->ok = res->bad = false;
        res->e = *e;
    }
}

// Works on a row. Returns false if the run ends with it.
static bool work_row(struct walk *w, struct worker *worker)
{
    const struct feed *const f = w->batch->feed;
    struct read_row *const at = w->at;
    const struct input_row *const other = other_row(f, at);
    struct result *const res = w->batch->result + (w->done - 1) * f->job->variants->n;
    struct input_row row = w->row; // the other workers look at this one
    if (row.text && row_is_sampled(row.place.use) && !input_read(&worker->reader, &f->config[0], &row, &at->bad) &&
        !row.bad) {
        fail_row(w, worker, &at->bad);
        return false;
    }
    if (at->row.text)
        at->width = row.logits.n;
    worker_row(worker, &row, &at->bad, other, other ? &at[1].bad : NULL, res);
    for (size_t k = worker->first; k < worker->last; k++)
        if (!row_goes_on(f->job, &res[k]))
            return false;
    return true;
}

static void work_through(void *arg)
{
    struct shift *const s = arg;
    while (walk_next(&s->walk)) {
        if (s->stop && atomic_load_explicit(s->stop, memory_order_relaxed))
            return;
        if (!work_row(&s->walk, s->worker))
            return;
    }
    s->whole = true;
}

bool batch_work(const struct batch *b, struct worker *worker, const atomic_bool *stop)
{
    struct shift s = {{.batch = b}, worker, stop, false};
    struct err e;
    if (!b->feed->threads)
        work_through(&s);
    else if (!source_guard(work_through, &s, NULL)) {
        err_set(&e, STATUS_IO, "the file became shorter while it was read");
        fail_row(&s.walk, worker, &e);
    }
    return s.whole;
}

bool batch_skip(const struct batch *b, struct worker *worker)
{
    struct walk w = {.batch = b};
    struct err e;
    while (walk_next(&w)) {
        const size_t more = w.at->n - w.k;
        if (!worker_skip(worker, &w.row, other_row(b->feed, w.at), more + 1, NULL, &e))
            return false;
        walk_step(&w, more);
    }
    return true;
}

bool batch_follow(const struct batch *b, struct worker *worker, struct err *e)
{
    struct walk w = {.batch = b};
    while (walk_next(&w))
        if (w.row.may_change && !worker_skip(worker, &w.row, other_row(b->feed, w.at), 1,
                                             b->result + (w.done - 1) * b->feed->job->variants->n, e))
            return false;
    return true;
}
