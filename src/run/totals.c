// SPDX-License-Identifier: MIT
#include "run/totals.h"

#include "base/mem.h"
#include "base/platform.h"
#include "out/dest.h"
#include "out/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 2.0  // seconds before the first progress line
#define PERIOD   0.25 // seconds between two progress lines

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool totals_shown(bool rows_on_terminal)
{
    const struct screen s = screen_of(STDERR_FILENO);
    return !rows_on_terminal && s.columns && !s.dumb;
}

void totals_start(struct totals *t, bool shows, int64_t total)
{
    *t = (struct totals){.shows = shows, .total = total, .start = now()};
    if (shows)
        dest_catch_signals();
    t->shown = t->start + PATIENCE - PERIOD;
}

void totals_free(struct totals *t) { free(t->partial); }

// Shows the progress line. Leaves out the MB/s if the line would be too wide.
static void show_progress(const struct totals *t, double seconds)
{
    char rows[100], bytes[40], left[40] = "", text[sizeof rows + sizeof bytes + sizeof left];
    const double rate = (double)t->rows / seconds;
    int len = snprintf(rows, sizeof rows, "%" PRIu64, t->rows);
    if (t->total > 0)
        len += snprintf(rows + len, sizeof rows - (size_t)len, " of %" PRId64, t->total);
    len +=
        snprintf(rows + len, sizeof rows - (size_t)len, rate < 10 ? " rows, %.1f rows/s" : " rows, %.0f rows/s", rate);
    len += snprintf(bytes, sizeof bytes, ", %.1f MB/s", t->bytes / seconds * 1e-6);
    if (t->total >= (int64_t)t->rows) {
        const uint64_t s = (uint64_t)((double)(t->total - (int64_t)t->rows) / rate + 0.5);
        len += snprintf(left, sizeof left, ", %" PRIu64 ":%02" PRIu64 " left", s / 60, s % 60);
    }
    snprintf(text, sizeof text, "%s%s%s", rows, len < screen_of(STDERR_FILENO).columns ? bytes : "", left);
    message_progress(text);
}

void totals_add(struct totals *t, bool good, uint64_t bytes)
{
    t->rows++;
    t->bad += !good;
    t->bytes += (double)bytes;
    const double at = t->shows ? now() : t->shown;
    if (at - t->shown < PERIOD)
        return;
    t->shown = at;
    if (platform_in_front(STDERR_FILENO))
        show_progress(t, at - t->start);
}

bool totals_add_partial(struct totals *t, size_t chain, const struct record *r, const struct row *row)
{
    if (!mem_grow(&t->partial, &t->partial_cap, chain + 1, sizeof *t->partial))
        return false;
    while (t->n_partial <= chain)
        t->partial[t->n_partial++] = (struct partial_rows){0};
    struct partial_rows *const p = &t->partial[chain];
    const double held = 1.0 - r->unlisted_weight;
    const size_t listed = row_listed(row);
    p->least = !p->rows || held < p->least ? held : p->least;
    p->most = held > p->most ? held : p->most;
    p->listed = listed > p->listed ? listed : p->listed;
    p->scale = row->unlisted.scale;
    p->rows++;
    p->exact += r->exact;
    return true;
}

void totals_end(struct totals *t)
{
    if (t->shows)
        message_progress(NULL);
    t->shows = false;
}
