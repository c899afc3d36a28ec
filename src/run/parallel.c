// SPDX-License-Identifier: MIT
#include "run/parallel.h"

#include "base/mem.h"
#include "run/serial.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SHARE = 2 << 20, MOST_ROWS = 4096 }; // a worker's part of a batch: bytes of rows, and rows

struct slot {
    struct input_row row;
    void *copy;       // of the row's logits, when the input does not keep them
    uint32_t *ids;    // of its ids, if it is sparse
    uint32_t *before; // of the tokens before it
    size_t copy_cap, ids_cap, before_cap;
    struct result result;
    bool failed;
    struct err e;
};

struct team {
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
    bool has_serial;
};

// Samples this worker's part of the batch, and passes over the rest.
static void *work(void *arg)
{
    struct member *const m = arg;
    struct team *const t = m->team;
    const size_t first = t->n * m->index / t->members, last = t->n * (m->index + 1) / t->members;
    for (size_t i = 0; i < t->n; i++) {
        struct slot *const s = &t->slot[i];
        struct err e;
        if (i < first || i >= last) {
            if (!worker_skip(&m->worker, &s->row, &e)) // the row's own worker reports it
                break;
            continue;
        }
        s->failed = !worker_row(&m->worker, &s->row, &s->result, &s->e);
        if (s->failed && !(s->result.bad && m->worker.o->skip_bad))
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

// Takes a row into the batch.
static bool take(struct team *t, const struct input_row *row, struct err *e)
{
    struct slot *const s = &t->slot[t->n++];
    const size_t bytes = row->logits.n * dtype_size(row->logits.type);
    s->row = *row;
    s->failed = false;
    if (!mem_grow(&s->before, &s->before_cap, row->n_before, sizeof *s->before))
        return err_from_fault(e, fault_memory());
    for (size_t i = 0; i < row->n_before; i++)
        s->before[i] = row->before[i];
    s->row.before = s->before;
    if (row->bad)
        s->e = *e;
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
    size_t room = MOST_ROWS * t->members, bytes = 0;
    *end = false;
    input_release(in);
    for (t->n = 0; t->n < room && bytes < SHARE * t->members;) {
        struct input_row row = {0};
        if (!mem_grow(&t->slot, &t->cap, t->n + 1, sizeof *t->slot))
            return err_from_fault(e, fault_memory());
        if (t->n == t->slots)
            t->slot[t->slots++] = (struct slot){0};
        const bool read = input_next(in, &row, end, e);
        if (!read && !row.bad)
            return false;
        if (row.may_change && !*end) {
            t->serial = row;
            t->has_serial = *end = true;
        }
        if (*end)
            return true;
        if (!take(t, &row, e))
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
    for (size_t i = 0; i < t->n; i++) {
        struct slot *const s = &t->slot[i];
        if (!sink_take(sink, &s->row, &s->result, !s->failed, &s->e)) {
            *e = s->e;
            return false;
        }
    }
    return true;
}

static bool recruit(struct team *t, const struct options *o, const struct kern *kern, struct err *e)
{
    const size_t members = (size_t)o->threads;
    t->member = calloc(members, sizeof *t->member);
    if (!t->member)
        return err_from_fault(e, fault_memory());
    for (; t->members < members; t->members++) {
        struct member *const m = &t->member[t->members];
        m->team = t;
        m->index = t->members;
        if (!worker_init(&m->worker, o, kern, e)) {
            worker_free(&m->worker);
            return false;
        }
    }
    return true;
}

static void dismiss(struct team *t)
{
    for (size_t i = 0; i < t->members; i++)
        worker_free(&t->member[i].worker);
    for (size_t i = 0; i < t->slots; i++) {
        free(t->slot[i].copy);
        free(t->slot[i].ids);
        free(t->slot[i].before);
        result_free(&t->slot[i].result);
    }
    free(t->member);
    free(t->slot);
}

bool parallel_run(const struct options *o, const struct kern *kern, struct input *in, struct sink *sink, struct err *e)
{
    struct team t = {0};
    bool ok = recruit(&t, o, kern, e), end = false;
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
        ok = serial_run(&t.member[0].worker, in, sink, &t.serial, e);
    dismiss(&t);
    return ok;
}
