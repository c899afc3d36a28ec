// SPDX-License-Identifier: MIT
// --stats: means over the rows, printed on stderr when the output is complete.
#include "base/hash.h"
#include "kern/libm.h"
#include "views/view.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// ---- repeated runs of tokens

// How many runs of four chosen tokens have come before: loops and stock phrases of a text raise the share. A run lies
// in one sequence, and is looked for among the last REPEATS_WINDOW runs of all sequences, so that memory is constant.
enum { REPEATS_LENGTH = 4, REPEATS_WINDOW = 1 << 16, REPEATS_SEQUENCES = 1 << 10 };

// A zeroed struct is empty.
struct repeats {
    uint64_t runs, repeated; // runs so far, and those that had come before
    struct token_run {
        uint32_t id[REPEATS_LENGTH];
    } * window; // [REPEATS_WINDOW] the newest distinct runs, the oldest of them at `next`
    size_t next, n;
    struct hash_table places; // of the runs in the window
    struct sequence_end {
        uint64_t key;
        struct token_run run;
        size_t n; // tokens of the run that are known, the newest last
    } * end;      // [REPEATS_SEQUENCES] by key; of two sequences in one place, the newer one stays
};

static void repeats_free(struct repeats *r)
{
    free(r->window);
    free(r->end);
    hash_free(&r->places);
    *r = (struct repeats){0};
}

// Counts a run, and puts it into the window, in place of the oldest one, unless it is there.
static bool count_run(struct repeats *r, const struct token_run *run)
{
    const uint32_t hash = hash_bytes(run, sizeof *run);
    r->runs++;
    for (size_t at = hash, i; (i = hash_next(&r->places, hash, &at)) != HASH_NONE;)
        if (!memcmp(&r->window[i], run, sizeof *run)) {
            r->repeated++;
            return true;
        }
    struct token_run *const oldest = &r->window[r->next];
    if (r->n == REPEATS_WINDOW)
        hash_remove(&r->places, hash_bytes(oldest, sizeof *oldest), (uint32_t)r->next);
    else
        r->n++;
    *oldest = *run;
    const size_t place = r->next;
    r->next = (r->next + 1) % REPEATS_WINDOW;
    return hash_add(&r->places, hash, (uint32_t)place);
}

// Adds a chosen token to a sequence, which a number names. begins, ends: it is the first or the last one. Returns false
// when memory is short.
static bool repeats_add(struct repeats *r, uint64_t sequence, bool begins, bool ends, uint32_t id)
{
    if (!r->window && (!(r->window = calloc(REPEATS_WINDOW, sizeof *r->window)) ||
                       !(r->end = calloc(REPEATS_SEQUENCES, sizeof *r->end))))
        return false;
    struct sequence_end *const end = &r->end[sequence % REPEATS_SEQUENCES];
    if (begins || end->key != sequence)
        *end = (struct sequence_end){.key = sequence};
    memmove(end->run.id, end->run.id + 1, sizeof end->run - sizeof id);
    end->run.id[REPEATS_LENGTH - 1] = id;
    end->n += end->n < REPEATS_LENGTH;
    const bool ok = end->n < REPEATS_LENGTH || count_run(r, &end->run);
    if (ends)
        end->n = 0;
    return ok;
}

// A row of the sequence has no token: no run goes over it.
static void repeats_break(struct repeats *r, uint64_t sequence)
{
    struct sequence_end *const end = r->end ? &r->end[sequence % REPEATS_SEQUENCES] : NULL;
    if (end && end->key == sequence)
        end->n = 0;
}

// ---- means

#define LOG2_E 1.4426950408889634

// Gaps that another kernel may turn round in a greedy choice.
static const struct near {
    const char *name;
    double below;
} near[] = {{"gap_below_0.01", 0.01}, {"gap_below_0.1", 0.1}};

struct stats {
    const struct job *job;
    struct dest *dest;
    double start;           // in seconds on a monotonic clock
    uint64_t rows, bad;     // rows counts bad ones, too
    double sum[STAT_COUNT]; // over the good rows, in their order, so that sums do not depend on threads
    uint64_t n[STAT_COUNT]; // rows in the sum
    double surprise;        // sum of -log2 of the chosen tokens' probabilities after the chain
    struct repeats repeats; // of the chosen tokens, unless rows are independent
    uint64_t greedy;        // good rows whose chosen token has the highest raw logit
    uint64_t gaps[2];       // good rows whose raw logits have a gap below near[i]
};

static double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool prepare(void *self, struct job *j, struct dest *d, struct err *e)
{
    ((struct stats *)self)->start = clock_seconds();
    return true;
}

// ---- rows

// Adds the chosen token of a row to the text of its sequence. NULL: the row is bad.
static bool count_repeats(struct stats *v, const struct input_row *row, const uint32_t *id, struct err *e)
{
    const uint64_t sequence = row->seq ? hash_bytes(row->seq, strlen(row->seq)) : 0;
    if (!id)
        repeats_break(&v->repeats, sequence);
    return !id || repeats_add(&v->repeats, sequence, row->fresh, row->ends, *id) || err_from_fault(e, fault_memory());
}

// Adds a good row. A mean is that of the rows that have the number.
static void add(struct stats *v, const double stat[STAT_COUNT])
{
    for (size_t i = 0; i < STAT_COUNT; i++) {
        v->sum[i] += isnan(stat[i]) ? 0.0 : stat[i];
        v->n[i] += isnan(stat[i]) ? 0u : 1u;
    }
    if (!isnan(stat[STAT_PROB]))
        v->surprise += stat[STAT_PROB] > 0.0 ? -libm_log(stat[STAT_PROB]) * LOG2_E : INFINITY;
    v->greedy += stat[STAT_RAW_RANK] == 1.0;
    for (size_t i = 0; i < sizeof near / sizeof *near; i++)
        v->gaps[i] += stat[STAT_GAP] < near[i].below;
}

// A row is good if it is good in all variants; the numbers are those of the base.
static bool row(void *self, const struct seen *s, struct err *e)
{
    struct stats *const v = self;
    bool good = true;
    for (size_t i = 0; i < v->job->variants->n; i++)
        good = good && s->result[i].ok;
    v->rows++;
    v->bad += !good;
    if (good)
        add(v, s->result->stat);
    return v->job->args->independent || count_repeats(v, s->row, good ? &s->result->record.chosen : NULL, e);
}

// ---- the end

// Prints the mean of n numbers, in the digits that people read: --emit stats has the numbers with all of theirs.
static void print_mean(const char *name, double sum, uint64_t n)
{
    if (n)
        fprintf(stderr, "%-17s %.6g\n", name, sum / (double)n);
    else
        fprintf(stderr, "%-17s -\n", name);
}

// Prints the means with the seed of the run; the speed only to a terminal.
static bool end(void *self, enum ending how, struct err *e)
{
    struct stats *const v = self;
    const struct row_measure *const measures = recipe_measures(v->job->variants->recipe[0]);
    const double seconds = clock_seconds() - v->start;
    clearerr(stderr);
    errno = EIO;
    fprintf(stderr, "%-17s %" PRIu64 "\n", "rows", v->rows);
    fprintf(stderr, "%-17s %" PRIu64 "\n", "bad_rows", v->bad);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "%-17s %.6g\n", "rows_per_second", seconds > 0.0 ? (double)v->rows / seconds : 0.0);
    for (const struct stat_column *c = stat_columns; c->group == STAT_MEANS; c++)
        print_mean(c->name, v->sum[c->source], v->n[c->source]);
    print_mean("greedy", (double)v->greedy, v->n[STAT_PROB]);
    print_mean("surprise", v->surprise, v->n[STAT_PROB]);
    print_mean("repeated", (double)v->repeats.repeated, v->repeats.runs);
    for (size_t i = 0; measures && measures[i].name; i++)
        print_mean(measures[i].name, v->sum[STAT_MEASURED + i], v->n[STAT_MEASURED + i]);
    for (size_t i = 0; i < sizeof near / sizeof *near; i++)
        print_mean(near[i].name, (double)v->gaps[i], v->n[STAT_GAP]);
    fprintf(stderr, "%-17s %" PRIu64 "\n", "seed", (uint64_t)v->job->variants->recipe[0]->key.seed);
    fprintf(stderr, "%-17s %s\n", "units", "nats: entropies, kl_raw; bits: surprise");
    return !(ferror(stderr) | fflush(stderr)) ||
           err_set(e, STATUS_IO, "--stats: standard error: cannot write: %s", strerror(errno));
}

static void stats_free(void *self) { repeats_free(&((struct stats *)self)->repeats); }

const struct view view_stats = {.name = "--stats",
                                .size = sizeof(struct stats),
                                .pace = PACE_END,
                                .late = true,
                                .prepare = prepare,
                                .needs = NEED_STATS,
                                .row = row,
                                .end = end,
                                .free = stats_free};
