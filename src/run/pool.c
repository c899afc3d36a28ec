// SPDX-License-Identifier: MIT
// The threads of a run.
//
// Rows go through the run in batches. Batch k lives in slot k % slots. All threads run the same loop, tend(). A thread
// takes the first of these tasks that there is, or sleeps until the counts change:
//
//   write  the oldest batch that is not written, once it is worked on, unless another thread writes
//   read   the next batch, if a slot is free, unless another thread reads
//   pass   over the oldest batch that another thread has taken since this thread's last batch
//   work   on the oldest batch that no thread has taken
//
// Only its owner may change a batch. A batch goes from its reader to the queue, to its worker, to the queue, and to its
// writer. Batches are read, taken and written in the order of the rows. Records and messages therefore come in this
// order, and the run ends with the first row that ends it, whatever the schedule.
//
// A thread that passes over a batch looks at the rows, which stay as they were read, and not at the results. A thread
// passes over each batch that it does not work on: generators and histories advance with every row. A slot is free when
// its batch is written and each thread has worked on it or passed over it.
//
// If the chain carries state from row to row, and there are several variants, the threads share the variants. Each
// thread then works on every batch, in order, in its own variants, and no thread passes.
//
// If the reader would wait for another program or a person, it first answers the rows so far: it ends its batch, takes
// part in the tasks until all batches are written, and flushes the output.
//
// One mutex guards the counts. A thread holds it between tasks, and not during a task.
#include "run/pool.h"

#include "base/platform.h"
#include "out/message.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { SLOTS = 2, STACK = 1 << 21 }; // slots for each thread; bytes of a thread's stack

struct queue {
    struct pool *pool;
    struct feed *feed;
    struct batch *slot; // [slots]
    size_t slots;
    struct thread *thread; // [feed->threads]

    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t read, taken, written; // how many batches are; written <= taken <= read
    bool reading, writing;         // a thread does so
    bool ended;                    // no batch follows those that are read
    atomic_bool over;              // the threads return, and work in hand does not matter any more
    bool failed;
    struct err *e; // set if failed
};

struct thread {
    struct queue *queue;
    struct worker *worker;
    pthread_t id;  // unset in the first, which is the caller's thread
    uint64_t seen; // how many batches it has worked on or passed over
    bool lost;     // it met a row that ends the run: it neither works nor passes any more
};

// Sets what is done before an input waits.
static void set_idle(struct feed *f, bool (*act)(void *to, struct err *e), void *to)
{
    for (size_t k = 0; k < f->inputs; k++)
        f->config[k].idle = (struct source_idle){act, to};
}

// ---- workers

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

// On one core threads would only wait for each other: the run then has one.
bool pool_init(struct pool *p, bool at_once, struct err *e)
{
    struct feed *const f = p->feed;
    const struct job *const j = f->job;
    const struct args *const a = j->args;
    const size_t variants = j->variants->n, threads = threads_wanted(a);
    const bool splits = job_splits(j);
    const struct rows *const rows = &j->rows;
    f->by_variant = variants > 1 && !splits;
    const char *why = platform_cores() == 1 ? "the system lets the program use one core" : NULL;
    if (at_once)
        why = "each record is written out at once";
    if (job_compares_numbers(j))
        why = "the rows of --expect are read beside them";
    if (variants == 1 && !splits)
        why = "the chain carries state from row to row";
    if (why && threads > 1 && a->verbose)
        message_note("one thread: %s", why);
    f->threads = f->by_variant && threads > variants ? variants : threads;
    f->threads = why || f->threads == 1 ? 0 : f->threads;
    bool tells = false;
    for (size_t k = 0; k < f->inputs && !tells; k++)
        if (!input_tells(f->in[k], &tells, e))
            return false;
    for (size_t k = 0; k < f->inputs; k++) {
        f->config[k].shared = f->threads;
        f->config[k].all_rows = tells;
        f->config[k].recorded = j->follows == FOLLOWS_RECORDED;
    }
    // Rows outside --rows are parsed by the reader, so that a broken row is reported; and rows whose tokens --expect
    // names, since a token must be in the row's vocabulary.
    f->config[0].lazy = f->threads && !f->by_variant && !a->params && !a->shard.n && !job_expects(j) &&
                        !job_skips_by_width(j) && rows->n == 1 && rows->range[0].first >= 0 &&
                        rows->range[0].first <= a->row_base;
    f->by_variant = f->by_variant && f->threads;
    p->alone = f->by_variant ? 0 : f->threads;
    const size_t workers = f->by_variant ? f->threads : f->threads + 1;
    p->worker = calloc(workers, sizeof *p->worker);
    if (!p->worker)
        return err_from_fault(e, fault_memory());
    while (p->workers < workers) {
        const size_t i = p->workers++, first = f->by_variant ? variants * i / workers : 0,
                     last = f->by_variant ? variants * (i + 1) / workers : variants;
        if (!worker_init(&p->worker[i], j, first, last, e))
            return false;
    }
    return true;
}

void pool_free(struct pool *p)
{
    for (size_t i = 0; i < p->workers; i++)
        worker_free(&p->worker[i]);
    free(p->worker);
}

// ---- tasks: each is called with the mutex locked, and unlocks it meanwhile

static struct batch *batch_number(const struct queue *q, uint64_t number) { return &q->slot[number % q->slots]; }

static void end_with(struct queue *q, const struct err *e)
{
    if (!q->over)
        *q->e = *e;
    q->over = true;
    q->failed = true;
}

static void read_guarded(void *batch) { batch_read(batch); }

// Slots are filled in turn, so that a slot is free only after those of all earlier batches.
static bool can_read(const struct queue *q)
{
    assert(q->written <= q->taken && q->taken <= q->read);
    return !q->reading && !q->ended && !batch_number(q, q->read)->users;
}

// Gives the batch that was read to the queue.
static void hand_over(struct queue *q)
{
    struct batch *const b = batch_number(q, q->read++);
    q->ended = b->last;
    b->to_work = q->feed->by_variant ? q->feed->threads : 1;
    b->users = q->feed->threads + 1;
}

static bool answer(void *to, struct err *e);

static void read_next(struct queue *q, struct thread *t)
{
    const uint64_t number = q->read;
    struct batch *const b = batch_number(q, number);
    q->reading = true;
    set_idle(q->feed, answer, t);
    pthread_mutex_unlock(&q->mutex);
    struct err e;
    const bool whole = source_guard(read_guarded, b, &e);
    pthread_mutex_lock(&q->mutex);
    q->reading = false;
    if (!whole && q->read != number) {
        end_with(q, &e);
    } else if (!whole) {
        q->feed->e = e;
        q->feed->held = HELD_ERROR;
        b->last = true;
    }
    if (q->read == number)
        hand_over(q);
}

static bool can_write(const struct queue *q)
{
    return !q->writing && q->written < q->taken && !batch_number(q, q->written)->to_work;
}

// Writes the records of a batch, and lets the worker that may go on alone follow. Returns false with *e if the run ends
// with an error.
static bool write_batch(struct pool *p, const struct batch *b, struct err *e)
{
    const struct feed *const f = p->feed;
    if (!p->write(p->to, b, e))
        return false;
    if (f->threads && !f->by_variant && !batch_follow(b, &p->worker[p->alone], e))
        return false;
    if (b->last && f->held == HELD_ERROR)
        *e = f->e;
    return !b->last || f->held != HELD_ERROR;
}

static void write_next(struct queue *q)
{
    struct batch *const b = batch_number(q, q->written);
    struct err e;
    q->writing = true;
    pthread_mutex_unlock(&q->mutex);
    const bool ok = write_batch(q->pool, b, &e);
    if (q->feed->by_variant)
        batch_give_back(b);
    pthread_mutex_lock(&q->mutex);
    q->writing = false;
    q->written++;
    if (!ok)
        end_with(q, &e);
    q->over = q->over || b->last;
    b->users--;
}

static void pass_next(struct queue *q, struct thread *t)
{
    struct batch *const b = batch_number(q, t->seen++);
    pthread_mutex_unlock(&q->mutex);
    t->lost = t->lost || !batch_skip(b, t->worker);
    pthread_mutex_lock(&q->mutex);
    b->users--;
}

static void work_on_next(struct queue *q, struct thread *t)
{
    struct batch *const b = batch_number(q, t->seen++);
    assert(b->to_work && (q->feed->by_variant || t->seen == q->taken + 1));
    q->taken = q->taken > t->seen ? q->taken : t->seen;
    pthread_mutex_unlock(&q->mutex);
    t->lost = t->lost || !batch_work(b, t->worker);
    pthread_mutex_lock(&q->mutex);
    b->to_work--;
    b->users--;
}

// ---- the loop

// Does the first task that there is, or sleeps until the counts change.
static void do_task(struct queue *q, struct thread *t)
{
    if (can_write(q))
        write_next(q);
    else if (can_read(q))
        read_next(q, t);
    else if (!q->feed->by_variant && t->seen < q->taken)
        pass_next(q, t);
    else if (t->seen < q->read)
        work_on_next(q, t);
    else {
        pthread_cond_wait(&q->changed, &q->mutex);
        return;
    }
    pthread_cond_broadcast(&q->changed);
}

// Called before the reader waits for input.
static bool answer(void *to, struct err *e)
{
    struct thread *const t = to;
    struct queue *const q = t->queue;
    struct err late;
    pthread_mutex_lock(&q->mutex);
    if (q->feed->open && q->feed->open->n) {
        batch_close(q->feed);
        hand_over(q);
        pthread_cond_broadcast(&q->changed);
    }
    while (!q->over && q->written < q->read)
        do_task(q, t);
    if (!q->over && !q->pool->flush(q->pool->to, &late))
        end_with(q, &late);
    const bool goes_on = !q->over;
    pthread_mutex_unlock(&q->mutex);
    return goes_on || err_silent(e, STATUS_OK);
}

static void *tend(void *arg)
{
    struct thread *const t = arg;
    struct queue *const q = t->queue;
    pthread_mutex_lock(&q->mutex);
    while (!q->over)
        do_task(q, t);
    pthread_mutex_unlock(&q->mutex);
    return NULL;
}

// Starts the threads but the first. Returns how many there are. They wait for the mutex, which is locked, so that no
// task has begun if a thread cannot be started.
static size_t start_threads(struct queue *q)
{
    pthread_attr_t attributes;
    size_t started = 1;
    if (pthread_attr_init(&attributes))
        return started;
    pthread_attr_setstacksize(&attributes, STACK);
    while (started < q->feed->threads &&
           !pthread_create(&q->thread[started].id, &attributes, tend, &q->thread[started]))
        started++;
    pthread_attr_destroy(&attributes);
    return started;
}

static void run_threads(struct queue *q)
{
    pthread_mutex_lock(&q->mutex);
    const size_t started = start_threads(q);
    if (started < q->feed->threads) {
        struct err e;
        err_set(&e, STATUS_IO, "cannot start a thread");
        end_with(q, &e);
    }
    pthread_mutex_unlock(&q->mutex);
    tend(&q->thread[0]);
    for (size_t i = 1; i < started; i++)
        pthread_join(q->thread[i].id, NULL);
}

bool pool_run(struct pool *p, struct err *e)
{
    const size_t threads = p->feed->threads;
    struct queue q = {.pool = p,
                      .feed = p->feed,
                      .slots = SLOTS * threads,
                      .mutex = PTHREAD_MUTEX_INITIALIZER,
                      .changed = PTHREAD_COND_INITIALIZER,
                      .e = e};
    assert(threads > 1);
    q.slot = calloc(q.slots, sizeof *q.slot);
    q.thread = calloc(threads, sizeof *q.thread);
    bool ok = q.slot && q.thread;
    if (!ok)
        err_from_fault(e, fault_memory());
    for (size_t i = 0; ok && i < q.slots; i++) {
        ok = batch_init(&q.slot[i], p->feed, e);
        q.slot[i].hurry = &q.over;
    }
    for (size_t i = 0; ok && i < threads; i++)
        q.thread[i] = (struct thread){.queue = &q, .worker = &p->worker[i]};
    if (ok)
        run_threads(&q);
    for (size_t i = 0; q.slot && i < q.slots; i++)
        batch_free(&q.slot[i]);
    free(q.slot);
    free(q.thread);
    p->feed->threads = 0;
    for (size_t k = 0; k < p->feed->inputs; k++)
        p->feed->config[k].lazy = p->feed->config[k].shared = false;
    pthread_mutex_destroy(&q.mutex);
    pthread_cond_destroy(&q.changed);
    return ok && !q.failed;
}

// ---- without threads

// Answers the rows so far. The input adds its place to the error, and so does not get that of the output.
static bool answer_alone(void *to, struct err *e)
{
    struct pool *const p = to;
    p->failed = !p->flush(p->to, &p->late);
    return !p->failed || err_silent(e, STATUS_OK);
}

bool pool_alone(struct pool *p, struct err *e)
{
    struct batch b = {0};
    bool ok = batch_init(&b, p->feed, e);
    set_idle(p->feed, answer_alone, p);
    while (ok && !b.last) {
        batch_read(&b);
        for (size_t i = p->alone; i < p->workers; i++)
            batch_work(&b, &p->worker[i]);
        ok = write_batch(p, &b, e);
    }
    if (!ok && p->failed)
        *e = p->late;
    set_idle(p->feed, NULL, NULL);
    batch_free(&b);
    return ok;
}
