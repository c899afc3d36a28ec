// SPDX-License-Identifier: MIT
#include "base/mem.h"
#include "run/rows.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SHARE = 2 << 20, MOST_ROWS = 4096 }; // a thread's part of a batch: bytes of rows, and rows

struct slot {
    struct input_row row;
    struct err bad;   // if the row is
    void *copy;       // of the row's logits, when the input does not keep them
    uint32_t *ids;    // of its ids, if it is sparse
    uint32_t *before; // of the tokens before it
    size_t copy_cap, ids_cap, before_cap;
    struct result *result; // [n_variants]
};

struct team {
    const struct job *job;
    struct slot *slot; // [cap]
    size_t n;          // rows of the batch at hand
    size_t slots, cap; // slots in use by some batch so far
    struct member {
        struct team *team;
        struct worker worker;
        pthread_t thread;
        size_t index;
        bool started;
    } * member; // [members]
    size_t members;
    struct input_row serial; // the first row that must be worked on after all others before it, once has_serial
    struct err serial_bad;   // if it is bad
    bool has_serial;
};

// Does the run end at this row?
static bool ends_run(const struct job *j, const struct result *res)
{
    for (size_t i = 0; i < j->n_variants; i++)
        if (!res[i].ok && !(res[i].bad && j->skip_bad))
            return true;
    return false;
}

// Samples this thread's part of the batch, and passes over the rest.
static void *work(void *arg)
{
    struct member *const m = arg;
    struct team *const t = m->team;
    const size_t first = t->n * m->index / t->members, last = t->n * (m->index + 1) / t->members;
    for (size_t i = 0; i < t->n; i++) {
        struct slot *const s = &t->slot[i];
        struct err e;
        if (i < first || i >= last) {
            if (!worker_skip(&m->worker, &s->row, &e)) // the row's own thread reports it
                break;
            continue;
        }
        worker_row(&m->worker, &s->row, &s->bad, s->result);
        if (ends_run(t->job, s->result))
            break;
    }
    return NULL;
}

static bool take_ids(struct slot *s, const struct row *row, struct err *e)
{
    if (!mem_grow(&s->ids, &s->ids_cap, row->n, sizeof *s->ids))
        return err_from_fault(e, fault_memory());
    memcpy(s->ids, row->ids, row->n * sizeof *s->ids);
    s->row.logits.ids = s->ids;
    return true;
}

// The next slot, for a row to be taken into.
static struct slot *next_slot(struct team *t, struct err *e)
{
    if (!mem_grow(&t->slot, &t->cap, t->n + 1, sizeof *t->slot)) {
        err_from_fault(e, fault_memory());
        return NULL;
    }
    if (t->n == t->slots) {
        t->slot[t->slots] = (struct slot){.result = calloc(t->job->n_variants, sizeof(struct result))};
        if (!t->slot[t->slots].result) {
            err_from_fault(e, fault_memory());
            return NULL;
        }
        t->slots++;
    }
    return &t->slot[t->n];
}

// Takes a row into the batch; bad is its error, if it is bad.
static bool take(struct team *t, const struct input_row *row, const struct err *bad, struct err *e)
{
    struct slot *const s = next_slot(t, e);
    const size_t bytes = row->logits.n * dtype_size(row->logits.type);
    if (!s)
        return false;
    s->row = *row;
    if (!mem_grow(&s->before, &s->before_cap, row->n_before, sizeof *s->before))
        return err_from_fault(e, fault_memory());
    for (size_t i = 0; i < row->n_before; i++)
        s->before[i] = row->before[i];
    s->row.before = s->before;
    t->n++;
    if (row->bad)
        s->bad = *bad;
    if (row->stays || row->bad)
        return true;
    if (!mem_grow(&s->copy, &s->copy_cap, bytes, 1))
        return err_from_fault(e, fault_memory());
    memcpy(s->copy, row->logits.data, bytes);
    s->row.logits.data = s->copy;
    return !row->logits.ids || take_ids(s, &row->logits, e);
}

// Fills the batch. *end when there is no more, or when the next row may bring parameters for which all tokens must be known: such rows
// are worked on one after the other. An error of the input comes after the rows before it.
static bool fill(struct team *t, struct input *in, bool *end, struct err *e)
{
    const size_t most = MOST_ROWS * t->members;
    size_t bytes = 0;
    *end = false;
    input_release(in);
    for (t->n = 0; t->n < most && bytes < SHARE * t->members;) {
        struct input_row row = {0};
        struct err own;
        if (!input_next(in, &row, end, &own) && !row.bad) {
            *e = own;
            return false;
        }
        if (*end)
            return true;
        if (row.may_change) {
            t->serial = row;
            if (row.bad)
                t->serial_bad = own;
            t->has_serial = *end = true;
            return true;
        }
        if (!take(t, &row, &own, e))
            return false;
        bytes += row.logits.n * dtype_size(row.logits.type);
    }
    return true;
}

// Runs the workers on the batch; the first works in this thread.
static bool run_batch(struct team *t, struct err *e)
{
    bool ok = true;
    for (size_t i = 1; i < t->members; i++) {
        struct member *const m = &t->member[i];
        m->started = pthread_create(&m->thread, NULL, work, m) == 0;
        ok = ok && m->started;
    }
    if (ok)
        work(&t->member[0]);
    for (size_t i = 1; i < t->members; i++)
        if (t->member[i].started)
            pthread_join(t->member[i].thread, NULL);
    return ok || err_set(e, STATUS_IO, "cannot start a thread");
}

static bool write_batch(struct team *t, struct sink *sink, struct err *e)
{
    for (size_t i = 0; i < t->n; i++)
        if (!sink_take(sink, &t->slot[i].row, t->slot[i].result, e))
            return false;
    return true;
}

static bool team_init(struct team *t, const struct job *j, struct err *e)
{
    *t = (struct team){.job = j, .member = calloc(j->threads, sizeof *t->member)};
    if (!t->member)
        return err_from_fault(e, fault_memory());
    for (; t->members < j->threads; t->members++) {
        struct member *const m = &t->member[t->members];
        m->team = t;
        m->index = t->members;
        if (!worker_init(&m->worker, j, e)) {
            worker_free(&m->worker);
            return false;
        }
    }
    return true;
}

static void team_free(struct team *t)
{
    for (size_t i = 0; i < t->members; i++)
        worker_free(&t->member[i].worker);
    for (size_t i = 0; i < t->slots; i++) {
        free(t->slot[i].copy);
        free(t->slot[i].ids);
        free(t->slot[i].before);
        for (size_t k = 0; k < t->job->n_variants; k++)
            result_free(&t->slot[i].result[k]);
        free(t->slot[i].result);
    }
    free(t->member);
    free(t->slot);
}

bool run_threads(const struct job *j, struct input *in, struct sink *sink, struct err *e)
{
    assert(j->threads > 1 && job_splits(j));
    struct team t;
    bool ok = team_init(&t, j, e), end = false;
    while (ok && !end) {
        struct err late;
        const bool filled = fill(&t, in, &end, &late);
        ok = !t.n || (run_batch(&t, e) && write_batch(&t, sink, e));
        if (ok && !filled) {
            *e = late;
            ok = false;
        }
    }
    if (ok && t.has_serial)
        ok = run_serial(&t.member[0].worker, in, sink, &t.serial, &t.serial_bad, e);
    team_free(&t);
    return ok;
}
