// SPDX-License-Identifier: MIT
// The threads of a run: fork and join.
//
// Rows go through the run in batches. The caller's thread reads a batch and begins it. All threads, also the caller's,
// then go through it: the first one takes its rows through the chains, and the others pass over them, since generators
// and histories advance with every row. No thread waits for the others: it goes on with the next batch if that has been
// read. The caller's thread reads ahead as long as there are free batches, and goes through batches when all are in
// use.
//
// If the chain carries state from row to row, and there are several variants, the threads share the variants: each
// works on all rows of a batch in its own variants.
//
// A thread whose work on a batch is done writes it, and those behind it whose rows are done, unless an earlier one is
// not written yet. Records and messages therefore come in the order of the rows, and the run ends with the first row
// that ends it, whatever the schedule. A batch is free when it is written and all threads have passed it.
//
// If the reader would wait for another program or a person, it first answers the rows so far: it begins the batch with
// what it has read, goes on until all are written, and flushes the output.
#include "run/pool.h"

#include "base/platform.h"
#include "out/message.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum {
    BATCHES = 2,     // for each thread: one to work on, and one that waits for a slower thread
    STACK = 1 << 21, // bytes of a thread's stack
};

// A batch, and how far the threads are with it.
struct shared_batch {
    struct batch batch;
    bool taken;     // a thread works on its rows, or has done so
    size_t working; // threads whose work on it is not done, or has not begun
    size_t busy;    // threads that have not gone through it
};

struct crew {
    struct pool *pool;
    struct feed *feed;
    struct thread *thread;      // [feed->threads] the first is the caller's
    struct shared_batch *batch; // [batches]
    size_t batches;
    struct batch *reading; // by the caller's thread; NULL: it is not, or answer() has begun the batch

    pthread_mutex_t mutex; // guards what follows, and how far threads are with batches
    pthread_cond_t begins, ends;
    uint64_t begun, written; // number of batches; the i-th is batch[i % batches]
    bool writing;            // a thread writes the next batch
    bool leave;              // the threads return
    bool failed;
    struct err *e; // set if failed

    atomic_bool over; // the run is: work in hand does not matter any more
};

struct thread {
    struct crew *crew;
    struct worker *worker;
    pthread_t id;  // unset in the first
    uint64_t done; // number of batches
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
    const bool mixes_widths = a->files.n > 1 && job_skips_by_width(j);
    f->by_variant = variants > 1 && !splits && a->emit != EMIT_RESIDUAL; // one worker needs both distributions
    const char *why = platform_cores() == 1 ? "the system lets the program use one core" : NULL;
    if (at_once)
        why = "each record is written out at once";
    if (job_compares_numbers(j))
        why = "the rows of --expect are read beside them";
    if ((variants == 1 || a->emit == EMIT_RESIDUAL) && !splits)
        why = "the chain carries state from row to row";
    if (why && threads > 1 && a->verbose)
        message_note("one thread: %s", why);
    f->threads = f->by_variant && threads > variants ? variants : threads;
    f->threads = why || f->threads == 1 ? 0 : f->threads;
    bool tells = false;
    for (size_t k = 0; k < f->inputs && !tells; k++)
        if (!input_tells(f->in[k], &tells, e))
            return false;
    // The params of a row may begin to read earlier tokens.
    const bool samples_all = !splits || (tells && !a->independent);
    for (size_t k = 0; k < f->inputs; k++)
        f->how[k] =
            (tells || mixes_widths ? READ_ALL : 0) | (samples_all ? READ_UNSEEN : 0) | (f->threads ? READ_SHARED : 0);
    // Rows whose tokens --expect or --audit names are parsed by the reader, since a token must be in the row's
    // vocabulary.
    const bool text =
        f->threads && !f->by_variant && !a->params && !a->shard.n && !job_has_claims(j) && !job_skips_by_width(j);
    f->how[0] |= text ? READ_TEXT : 0;
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

// ---- the part of a thread in a batch

static void end_with(struct crew *c, const struct err *e)
{
    pthread_mutex_lock(&c->mutex);
    if (!c->over)
        *c->e = *e;
    c->over = true;
    c->failed = true;
    pthread_mutex_unlock(&c->mutex);
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

// Writes the batches that come next and are worked on, unless another thread is at it.
static void write_ready(struct crew *c)
{
    struct err e;
    pthread_mutex_lock(&c->mutex);
    while (!c->writing && c->written < c->begun && !c->batch[c->written % c->batches].working) {
        const struct batch *const b = &c->batch[c->written % c->batches].batch;
        c->writing = true;
        pthread_mutex_unlock(&c->mutex);
        if (!c->over && !write_batch(c->pool, b, &e))
            end_with(c, &e);
        batch_give_back(b);
        pthread_mutex_lock(&c->mutex);
        c->writing = false;
        c->written++;
        pthread_cond_signal(&c->ends);
    }
    pthread_mutex_unlock(&c->mutex);
}

// Goes through the next batch, which has begun: works on it, or passes over it if another thread has taken it.
static void take_part(struct thread *t)
{
    struct crew *const c = t->crew;
    struct shared_batch *const b = &c->batch[t->done++ % c->batches];
    pthread_mutex_lock(&c->mutex);
    const bool works = !t->lost && (c->feed->by_variant || !b->taken);
    b->taken = b->taken || works;
    pthread_mutex_unlock(&c->mutex);
    if (!t->lost && !c->over)
        t->lost = !(works ? batch_work(&b->batch, t->worker, &c->over) : batch_skip(&b->batch, t->worker));
    pthread_mutex_lock(&c->mutex);
    b->working -= works;
    if (!--b->busy)
        pthread_cond_signal(&c->ends);
    pthread_mutex_unlock(&c->mutex);
    if (works)
        write_ready(c);
}

static void *serve(void *arg)
{
    struct thread *const t = arg;
    struct crew *const c = t->crew;
    pthread_mutex_lock(&c->mutex);
    for (;;) {
        while (c->begun == t->done && !c->leave)
            pthread_cond_wait(&c->begins, &c->mutex);
        if (c->begun == t->done)
            break;
        pthread_mutex_unlock(&c->mutex);
        take_part(t);
        pthread_mutex_lock(&c->mutex);
    }
    pthread_mutex_unlock(&c->mutex);
    return NULL;
}

// ---- what the caller's thread does beside it

// Begins the batch that has been read. wakes: threads that wait for one should know at once.
static void begin_batch(struct crew *c, bool wakes)
{
    struct shared_batch *const b = &c->batch[c->begun % c->batches];
    assert(c->reading == &b->batch);
    c->reading = NULL;
    pthread_mutex_lock(&c->mutex);
    b->taken = false;
    b->working = c->feed->by_variant ? c->feed->threads : 1;
    b->busy = c->feed->threads;
    c->begun++;
    if (wakes)
        pthread_cond_broadcast(&c->begins);
    pthread_mutex_unlock(&c->mutex);
}

// Returns whether the next batch is free.
static bool has_room(const struct crew *c)
{
    return c->written + c->batches > c->begun && !c->batch[c->begun % c->batches].busy;
}

// Takes part in batches, or waits, until the next batch is free, or until all that have begun are written.
static void go_on(struct crew *c, bool all)
{
    struct thread *const own = &c->thread[0];
    pthread_mutex_lock(&c->mutex);
    while (!c->over && (all ? c->written < c->begun : !has_room(c)))
        if (own->done == c->begun) {
            pthread_cond_broadcast(&c->begins);
            pthread_cond_wait(&c->ends, &c->mutex);
        } else {
            pthread_mutex_unlock(&c->mutex);
            take_part(own);
            pthread_mutex_lock(&c->mutex);
        }
    pthread_mutex_unlock(&c->mutex);
}

// Called before the reader waits for input.
static bool answer(void *to, struct err *e)
{
    struct crew *const c = to;
    struct err late;
    if (c->reading && c->reading->n && !c->over) {
        batch_close(c->feed);
        begin_batch(c, c->feed->by_variant); // else this thread can take it as soon as another
    }
    go_on(c, true);
    if (!c->over && !c->pool->flush(c->pool->to, &late))
        end_with(c, &late);
    return !c->over || err_silent(e, STATUS_OK);
}

static void read_guarded(void *batch) { batch_read(batch); }

// Reads a batch, whose memory is free.
static void read_next(struct crew *c)
{
    c->reading = &c->batch[c->begun % c->batches].batch;
    if (source_guard(read_guarded, c->reading, &c->feed->e))
        return;
    c->feed->held = HELD_ERROR;
    if (c->reading)
        c->reading->last = true;
}

static void lead(struct crew *c)
{
    bool last = false;
    set_idle(c->feed, answer, c);
    while (!last) {
        go_on(c, false);
        if (c->over)
            break;
        read_next(c);
        if (c->reading && !c->over) {
            last = c->reading->last;
            begin_batch(c, true);
        }
    }
    go_on(c, true);
}

// Starts the threads but the first. Returns how many there are.
static size_t start_threads(struct crew *c)
{
    pthread_attr_t attributes;
    size_t started = 1;
    if (pthread_attr_init(&attributes))
        return started;
    pthread_attr_setstacksize(&attributes, STACK);
    while (started < c->feed->threads &&
           !pthread_create(&c->thread[started].id, &attributes, serve, &c->thread[started]))
        started++;
    pthread_attr_destroy(&attributes);
    return started;
}

static void run_threads(struct crew *c)
{
    const size_t started = start_threads(c);
    if (started == c->feed->threads) {
        lead(c);
    } else {
        struct err e;
        err_set(&e, STATUS_IO, "cannot start a thread");
        end_with(c, &e);
    }
    pthread_mutex_lock(&c->mutex);
    c->leave = true;
    pthread_cond_broadcast(&c->begins);
    pthread_mutex_unlock(&c->mutex);
    for (size_t i = 1; i < started; i++)
        pthread_join(c->thread[i].id, NULL);
}

bool pool_run(struct pool *p, struct err *e)
{
    const size_t threads = p->feed->threads, batches = BATCHES * threads;
    struct crew c = {.pool = p,
                     .feed = p->feed,
                     .thread = calloc(threads, sizeof *c.thread),
                     .batch = calloc(batches, sizeof *c.batch),
                     .batches = batches,
                     .mutex = PTHREAD_MUTEX_INITIALIZER,
                     .begins = PTHREAD_COND_INITIALIZER,
                     .ends = PTHREAD_COND_INITIALIZER,
                     .e = e};
    assert(threads > 1);
    bool ok = c.thread && c.batch;
    if (!ok)
        err_from_fault(e, fault_memory());
    for (size_t i = 0; ok && i < batches; i++)
        ok = batch_init(&c.batch[i].batch, p->feed, e);
    for (size_t i = 0; ok && i < threads; i++)
        c.thread[i] = (struct thread){.crew = &c, .worker = &p->worker[i]};
    if (ok)
        run_threads(&c);
    for (size_t i = 0; c.batch && i < batches; i++)
        batch_free(&c.batch[i].batch);
    free(c.thread);
    free(c.batch);
    p->feed->threads = 0;
    for (size_t k = 0; k < p->feed->inputs; k++)
        p->feed->how[k] &= READ_ALL | READ_UNSEEN;
    pthread_mutex_destroy(&c.mutex);
    pthread_cond_destroy(&c.begins);
    pthread_cond_destroy(&c.ends);
    return ok && !c.failed;
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
            batch_work(&b, &p->worker[i], NULL);
        ok = write_batch(p, &b, e);
    }
    if (!ok && p->failed)
        *e = p->late;
    set_idle(p->feed, NULL, NULL);
    batch_free(&b);
    return ok;
}
