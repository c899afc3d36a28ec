// SPDX-License-Identifier: MIT
// --stats: means over the rows, printed on stderr when the output is complete.
#include "base/hash.h"
#include "base/number.h"
#include "kern/libm.h"
#include "trace/repeats.h"
#include "views/view.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOG2_E 1.4426950408889634

struct stats {
    const struct job *job;
    struct dest *dest;
    double start;           // in seconds on a monotonic clock
    uint64_t rows, bad;     // rows counts bad ones, too
    double sum[STAT_COUNT]; // over the good rows, in their order, so that sums do not depend on threads; of STAT_MEANS
    uint64_t n_ranked;      // good rows whose raw rank is known
    double surprise;        // sum of -log2 of the chosen tokens' probabilities after the chain
    struct repeats repeats; // of the chosen tokens, unless rows are independent
    struct {
        double sum;
        uint64_t rows; // that have the number
    } measured[MEASURES_MOST];
    uint64_t greedy; // good rows whose chosen token has the highest raw logit
};

static double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool open(void *self, struct job *j, struct dest *d, struct err *e)
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

static void add(struct stats *v, const double stat[STAT_COUNT])
{
    for (const struct stat_column *c = stat_columns; c->group == STAT_MEANS; c++)
        v->sum[c->source] += c->source == STAT_RAW_RANK && isnan(stat[c->source]) ? 0.0 : stat[c->source];
    v->n_ranked += isnan(stat[STAT_RAW_RANK]) ? 0 : 1;
    v->surprise += stat[STAT_PROB] > 0.0 ? -libm_log(stat[STAT_PROB]) * LOG2_E : INFINITY;
    for (size_t i = 0; i < MEASURES_MOST; i++)
        if (!isnan(stat[STAT_MEASURED + i])) {
            v->measured[i].sum += stat[STAT_MEASURED + i];
            v->measured[i].rows++;
        }
    v->greedy += stat[STAT_RAW_RANK] == 1.0;
}

// A row is good if it is good in all variants; the numbers are those of the base.
static bool row(void *self, const struct seen *s, struct err *e)
{
    struct stats *const v = self;
    bool good = true;
    for (size_t i = 0; i < v->job->n_variants; i++)
        good = good && s->result[i].ok;
    v->rows++;
    v->bad += !good;
    if (good)
        add(v, s->result->stat);
    return v->job->independent || count_repeats(v, s->row, good ? &s->result->record.chosen : NULL, e);
}

// ---- the end

// Prints the mean of n numbers.
static void print_mean(const char *name, double sum, uint64_t n)
{
    char text[NUMBER_TEXT];
    fprintf(stderr, "%-17s %s\n", name, n ? number_text_wide(sum / (double)n, text) : "-");
}

// Prints the means with the seed of the run; the speed only to a terminal.
static enum verdict end(void *self, enum ending how, struct err *e)
{
    struct stats *const v = self;
    const uint64_t good = v->rows - v->bad;
    const char *const *const measures = recipe_measures(v->job->variant[0]);
    const double seconds = clock_seconds() - v->start;
    if (how == ENDING_NO_ROWS)
        return VERDICT_FINE;
    clearerr(stderr);
    errno = EIO;
    fprintf(stderr, "%-17s %" PRIu64 "\n", "rows", v->rows);
    fprintf(stderr, "%-17s %" PRIu64 "\n", "bad_rows", v->bad);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "%-17s %.6g\n", "rows_per_second", seconds > 0.0 ? (double)v->rows / seconds : 0.0);
    for (const struct stat_column *c = stat_columns; c->group == STAT_MEANS; c++)
        print_mean(c->name, v->sum[c->source], c->source == STAT_RAW_RANK ? v->n_ranked : good);
    print_mean("greedy", (double)v->greedy, good);
    print_mean("surprise", v->surprise, good);
    print_mean("repeated", (double)v->repeats.repeated, v->repeats.runs);
    for (size_t i = 0; measures && measures[i]; i++)
        print_mean(measures[i], v->measured[i].sum, v->measured[i].rows);
    fprintf(stderr, "%-17s %" PRIu64 "\n", "seed", (uint64_t)v->job->variant[0]->parts.seed);
    if (!(ferror(stderr) | fflush(stderr)))
        return VERDICT_FINE;
    err_set(e, STATUS_IO, "--stats: standard error: cannot write: %s", strerror(errno));
    return VERDICT_FAILED;
}

static void stats_free(void *self) { repeats_free(&((struct stats *)self)->repeats); }

const struct view view_stats = {.name = "--stats",
                                .size = sizeof(struct stats),
                                .late = true,
                                .open = open,
                                .needs = NEED_STATS,
                                .row = row,
                                .end = end,
                                .free = stats_free};
