// SPDX-License-Identifier: MIT
// The threads of a run: fork and join.
//
// Rows go through the run in batches, and the run goes through phases. In the phase of a batch all threads work on its
// rows, one of them first writes the batch before, and the caller's thread first reads the batch behind. A phase ends
// when each thread is done with it. So a batch is read in one phase, worked on in the next, and written in the third.
//
// Threads take rows in order, many at first and fewer towards the end, and pass over the rows that others take, since
// generators and histories advance with every row. If the chain carries state from row to row, and there are several
// variants, the threads share the variants: each works on every row in its own variants.
//
// Batches are written in the order of the rows. Records and messages therefore come in this order, and the run ends
// with the first row that ends it, whatever the schedule.
//
// If the reader would wait for another program or a person, it first answers the rows so far: it ends the phase, goes
// through one for what it has read, writes all, and flushes the output.
#include "run/pool.h"

#include "base/platform.h"
#include "out/message.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum {
    BATCHES = 3,     // read, worked on, written
    SHARES = 4,      // a thread takes 1 / SHARES of its part of the rows that nobody has taken yet
    STACK = 1 << 21, // bytes of a thread's stack
};

struct crew {
    struct pool *pool;
    struct feed *feed;
    struct thread *thread; // [feed->threads] the first is the caller's
    struct batch batch[BATCHES];
    struct batch *reading; // by the caller's thread; NULL: it is not, or answer() has ended the batch

    // The phase. The caller's thread changes these members between phases.
    struct batch *work, *write; // or NULL
    bool joined;                // it has ended

    pthread_mutex_t mutex; // guards what follows
    pthread_cond_t begins, ends;
    uint64_t phases;  // that have begun
    size_t busy;      // threads beside the caller's that are not done with the phase
    bool write_taken; // a thread writes, or has written, in this phase
    size_t taken;     // rows of `work` that threads have taken
    bool leave;       // the threads return
    bool failed;
    struct err *e; // set if failed

    atomic_bool over; // the run is: work in hand does not matter any more
};

struct thread {
    struct crew *crew;
    struct worker *worker;
    pthread_t id; // unset in the first
    bool lost;    // it met a row that ends the run: it neither works nor passes any more
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

// ---- the part of a thread in a phase

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

// Returns whether this thread is to write the batch before.
static bool take_writing(struct crew *c)
{
    pthread_mutex_lock(&c->mutex);
    const bool takes = c->write && !c->write_taken;
    c->write_taken = true;
    pthread_mutex_unlock(&c->mutex);
    return takes;
}

static void write_before(struct crew *c)
{
    struct err e;
    if (!write_batch(c->pool, c->write, &e))
        end_with(c, &e);
    if (c->feed->by_variant)
        batch_give_back((struct walk){.batch = c->write}, c->write->n);
    if (c->write->last)
        c->over = true;
}

// Takes rows: from *from up to *to. Returns false if none is left.
static bool take_rows(struct crew *c, size_t *from, size_t *to)
{
    pthread_mutex_lock(&c->mutex);
    const size_t left = c->work->n - c->taken;
    *from = c->taken;
    *to = c->taken += left ? 1 + (left - 1) / (SHARES * c->feed->threads) : 0;
    pthread_mutex_unlock(&c->mutex);
    return left;
}

static bool work_on_rows(struct crew *c, struct worker *worker)
{
    struct walk w = {.batch = c->work};
    size_t from, to;
    if (c->feed->by_variant)
        return batch_work(&w, c->work->n, worker, &c->over);
    while (take_rows(c, &from, &to))
        if (!batch_skip(&w, from, worker) || !batch_work(&w, to, worker, &c->over))
            return false;
    return batch_skip(&w, c->work->n, worker);
}

static void take_part(struct thread *t)
{
    struct crew *const c = t->crew;
    if (take_writing(c))
        write_before(c);
    if (c->work && !t->lost && !c->over)
        t->lost = !work_on_rows(c, t->worker);
}

static void *serve(void *arg)
{
    struct thread *const t = arg;
    struct crew *const c = t->crew;
    uint64_t phases = 0;
    pthread_mutex_lock(&c->mutex);
    for (;;) {
        while (c->phases == phases && !c->leave)
            pthread_cond_wait(&c->begins, &c->mutex);
        if (c->phases == phases)
            break;
        phases = c->phases;
        pthread_mutex_unlock(&c->mutex);
        take_part(t);
        pthread_mutex_lock(&c->mutex);
        if (!--c->busy)
            pthread_cond_signal(&c->ends);
    }
    pthread_mutex_unlock(&c->mutex);
    return NULL;
}

// ---- phases, as the caller's thread leads them

// Begins the phase of a batch (NULL: only the batch before is written).
static void fork_phase(struct crew *c, struct batch *b)
{
    assert(c->joined);
    pthread_mutex_lock(&c->mutex);
    c->write = c->work;
    c->work = b;
    c->joined = c->write_taken = false;
    c->taken = 0;
    c->busy = c->feed->threads - 1;
    c->phases++;
    pthread_cond_broadcast(&c->begins);
    pthread_mutex_unlock(&c->mutex);
}

// Takes part in the phase, and waits for its end.
static void join_phase(struct crew *c)
{
    if (c->joined)
        return;
    take_part(&c->thread[0]);
    pthread_mutex_lock(&c->mutex);
    while (c->busy)
        pthread_cond_wait(&c->ends, &c->mutex);
    pthread_mutex_unlock(&c->mutex);
    c->joined = true;
}

// Ends the phase, and writes its batch.
static void write_all(struct crew *c)
{
    join_phase(c);
    if (c->work && !c->over)
        fork_phase(c, NULL);
    join_phase(c);
}

// Called before the reader waits for input.
static bool answer(void *to, struct err *e)
{
    struct crew *const c = to;
    struct err late;
    join_phase(c);
    if (c->reading && c->reading->n && !c->over) {
        batch_close(c->feed);
        fork_phase(c, c->reading);
        c->reading = NULL;
    }
    write_all(c);
    if (!c->over && !c->pool->flush(c->pool->to, &late))
        end_with(c, &late);
    return !c->over || err_silent(e, STATUS_OK);
}

static void read_guarded(void *batch) { batch_read(batch); }

static void read_next(struct crew *c, struct batch *b)
{
    c->reading = b;
    if (source_guard(read_guarded, b, &c->feed->e))
        return;
    c->feed->held = HELD_ERROR;
    if (c->reading)
        b->last = true;
}

static void lead(struct crew *c)
{
    bool last = false;
    set_idle(c->feed, answer, c);
    for (size_t i = 0; !c->over && !last; i = (i + 1) % BATCHES) {
        read_next(c, &c->batch[i]);
        join_phase(c);
        if (c->reading && !c->over) {
            last = c->reading->last;
            fork_phase(c, c->reading);
        }
    }
    write_all(c);
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
    const size_t threads = p->feed->threads;
    struct crew c = {.pool = p,
                     .feed = p->feed,
                     .thread = calloc(threads, sizeof *c.thread),
                     .joined = true,
                     .mutex = PTHREAD_MUTEX_INITIALIZER,
                     .begins = PTHREAD_COND_INITIALIZER,
                     .ends = PTHREAD_COND_INITIALIZER,
                     .e = e};
    assert(threads > 1);
    bool ok = c.thread || err_from_fault(e, fault_memory());
    for (size_t i = 0; ok && i < BATCHES; i++)
        ok = batch_init(&c.batch[i], p->feed, e);
    for (size_t i = 0; ok && i < threads; i++)
        c.thread[i] = (struct thread){.crew = &c, .worker = &p->worker[i]};
    if (ok)
        run_threads(&c);
    for (size_t i = 0; i < BATCHES; i++)
        batch_free(&c.batch[i]);
    free(c.thread);
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
            batch_work(&(struct walk){.batch = &b}, b.n, &p->worker[i], NULL);
        ok = write_batch(p, &b, e);
    }
    if (!ok && p->failed)
        *e = p->late;
    set_idle(p->feed, NULL, NULL);
    batch_free(&b);
    return ok;
}
