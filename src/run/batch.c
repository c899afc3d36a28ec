// SPDX-License-Identifier: MIT
#include "run/batch.h"

#include "base/mem.h"
#include "base/platform.h"
#include "out/message.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SHARE = 2 << 20, MOST_ROWS = 4096 }; // a thread's part of a batch: bytes of rows, though at least one; and rows

struct member {
    struct batch *batch;
    struct worker worker;
    struct input_reader *reader; // of lazy rows
    pthread_t thread;            // but of the first, which works in the caller's
    size_t index;
    bool started;
};

bool batch_goes_on(const struct job *j, const struct result *res)
{
    return res->ok || (res->bad && j->args->skip_bad);
}

// ---- members

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

static bool start_members(struct batch *b, size_t members, struct err *e)
{
    const size_t variants = b->job->n_variants;
    assert(members && variants);
    b->at_work = members;
    b->most = members > 1 ? MOST_ROWS * members / variants + 1 : 1;
    b->member = calloc(members, sizeof *b->member);
    b->row = calloc(b->most * b->inputs, sizeof *b->row);
    b->result = calloc(b->most * variants, sizeof *b->result);
    if (!b->member || !b->row || !b->result)
        return err_from_fault(e, fault_memory());
    for (size_t i = 0; i < members; i++) {
        const size_t first = b->by_variant ? variants * i / members : 0,
                     last = b->by_variant ? variants * (i + 1) / members : variants;
        b->member[i].batch = b;
        b->member[i].index = i;
        b->made++;
        if (!worker_init(&b->member[i].worker, b->job, first, last, e))
            return false;
    }
    return true;
}

bool batch_init(struct batch *b, struct err *e)
{
    const struct args *const a = b->job->args;
    const size_t variants = b->job->n_variants, threads = threads_wanted(a);
    const bool splits = job_splits(b->job);
    const struct rows *const rows = &b->job->rows;
    b->by_variant = variants > 1 && !splits;
    size_t members = b->by_variant && threads > variants ? variants : threads;
    const char *const why = variants == 1 && !splits ? "the chain carries state from row to row"
                            : b->at_once             ? "each record is written out at once"
                                                     : NULL;
    if (why && threads > 1 && a->verbose)
        message_note("one thread: %s", why);
    members = why ? 1 : members;
    // Rows outside --rows are parsed here, so that a broken row is reported.
    b->config->lazy = members > 1 && !b->by_variant && !a->params && !a->shard.n && rows->n == 1 &&
                      rows->range[0].first >= 0 && rows->range[0].first <= a->row_base;
    return start_members(b, members, e);
}

void batch_free(struct batch *b)
{
    for (size_t i = 0; i < b->made; i++) {
        worker_free(&b->member[i].worker);
        input_reader_free(b->member[i].reader);
    }
    for (size_t i = 0; i < b->used * b->inputs; i++)
        free(b->row[i].copy);
    for (size_t i = 0; i < b->used * b->job->n_variants; i++)
        result_free(&b->result[i]);
    free(b->member);
    free(b->row);
    free(b->result);
}

// ---- reading

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
    const bool stays = s->row.stays || s->row.bad;
    const size_t n_text = stays || !s->row.text ? 0 : s->row.n_text, n_before = s->row.n_before * sizeof *s->row.before,
                 n_ids = stays || !x->ids ? 0 : x->n * sizeof *x->ids, n_data = stays ? 0 : x->n * dtype_size(x->type),
                 n_seq = s->row.seq ? strlen(s->row.seq) + 1 : 0;
    if (!mem_grow(&s->copy, &s->copy_cap, n_before + n_ids + n_data + n_seq + n_text, 1))
        return err_from_fault(e, fault_memory());
    char *room = s->copy;
    s->row.before = keep_array(&room, s->row.before, n_before);
    x->ids = keep_array(&room, x->ids, n_ids);
    x->data = keep_array(&room, x->data, n_data);
    s->row.seq = keep_array(&room, s->row.seq, n_seq);
    s->row.text = keep_array(&room, s->row.text, n_text);
    return true;
}

// Reads the next row of each input. *end when there is none; false with *e for an error of an input's.
static bool read_rows(struct batch *b, struct read_row *to, bool *end, struct err *e)
{
    const char *const against = b->job->args->against;
    bool ends[2] = {false};
    if (b->config->texts)
        vocab_forget(b->config->texts);
    for (size_t k = 0; k < b->inputs; k++) {
        to[k].row.bad = false;
        if (!input_next(b->in[k], &to[k].row, &ends[k], &to[k].bad) && !to[k].row.bad) {
            *e = to[k].bad;
            return false;
        }
    }
    *end = ends[0];
    return b->inputs == 1 || ends[0] == ends[1] ||
           err_set(e, STATUS_DATA, "--against: '%.*s' has %s rows than the input", err_clip(against, 80), against,
                   ends[1] ? "fewer" : "more");
}

bool batch_read(struct batch *b, bool *end, struct err *e)
{
    size_t bytes = 0;
    for (size_t k = 0; b->ahead && k < b->inputs; k++) {
        const struct read_row first = b->row[k];
        b->row[k] = b->row[b->n * b->inputs + k];
        b->row[b->n * b->inputs + k] = first;
    }
    if (b->ahead) {
        b->ahead = false;
        b->most = b->n = 1;
        b->in_turn = b->by_variant;
        b->at_work = b->by_variant ? b->at_work : 1;
        return true;
    }
    for (size_t k = 0; k < b->inputs; k++)
        input_release(b->in[k]);
    for (b->n = 0; b->n < b->most && (bytes < SHARE * b->at_work || b->n % b->at_work); b->n++) {
        struct read_row *const rows = b->row + b->n * b->inputs;
        if (!read_rows(b, rows, end, e))
            return false;
        if (*end)
            return true;
        b->used = b->n < b->used ? b->used : b->n + 1;
        for (size_t k = 0; k < b->inputs; k++) {
            b->in_turn = b->in_turn || (b->by_variant && rows[k].row.seq);
            b->ahead = b->ahead || (b->most > 1 && input_says_more(&rows[k].row));
        }
        if (b->ahead)
            return true;
        for (size_t k = 0; b->most > 1 && k < b->inputs; k++)
            if (!keep_row(&rows[k], e))
                return false;
        bytes += rows->row.n_text + rows->row.logits.n * dtype_size(rows->row.logits.type);
    }
    return true;
}

// ---- working

// Works on the member's part of the batch, until a row ends the run.
static void *work(void *arg)
{
    struct member *const m = arg;
    const struct batch *const b = m->batch;
    const size_t variants = b->job->n_variants;
    const size_t first = b->by_variant ? 0 : b->n * m->index / b->at_work;
    const size_t last = b->by_variant ? b->n : b->n * (m->index + 1) / b->at_work;
    assert(m->index < b->at_work);
    for (size_t i = 0; i < b->n; i++) {
        struct read_row *const at = &b->row[i * b->inputs], *const other = b->inputs > 1 ? at + 1 : NULL;
        struct result *const res = b->result + i * variants;
        struct input_row row = at->row; // the other members look at this one
        if (i < first || i >= last || row.origin.earlier_part) {
            if (!worker_skip(&m->worker, &at->row, other ? &other->row : NULL)) // the row's own member reports why
                return NULL;
            continue;
        }
        if (row.text && !input_read(&m->reader, b->config, &row, &at->bad) && !row.bad) {
            for (size_t k = 0; k < variants; k++) {
                res[k].ok = res[k].bad = false;
                res[k].e = at->bad;
            }
            return NULL;
        }
        if (at->row.text)
            at->width = row.logits.n;
        worker_row(&m->worker, &row, &at->bad, other ? &other->row : NULL, other ? &other->bad : NULL, res);
        for (size_t k = m->worker.first; k < m->worker.last; k++)
            if (!batch_goes_on(b->job, &res[k]))
                return NULL;
    }
    return NULL;
}

bool batch_work(struct batch *b, struct err *e)
{
    bool ok = true;
    for (size_t i = 0; b->in_turn && i < b->at_work; i++)
        work(&b->member[i]);
    if (b->in_turn)
        return true;
    for (size_t i = 1; i < b->at_work; i++) {
        struct member *const m = &b->member[i];
        m->started = pthread_create(&m->thread, NULL, work, m) == 0;
        ok = ok && m->started;
    }
    if (ok)
        work(&b->member[0]);
    for (size_t i = 1; i < b->at_work; i++)
        if (b->member[i].started)
            pthread_join(b->member[i].thread, NULL);
    if (!ok)
        return err_set(e, STATUS_IO, "cannot start a thread");
    for (size_t i = b->by_variant ? b->n : b->n / b->at_work; ok && i < b->n; i++)
        ok = worker_accept(&b->member[0].worker, &b->row[i * b->inputs].row, b->result + i * b->job->n_variants, e);
    return ok;
}
