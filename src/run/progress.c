// SPDX-License-Identifier: MIT
#include "run/progress.h"

#include "base/err.h"
#include "out/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 2.0  // seconds that a run may take without a word
#define PERIOD   0.25 // between two lines

double progress_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool progress_wanted(bool output_on_terminal)
{
    return !output_on_terminal && isatty(STDERR_FILENO);
}

void progress_start(struct progress *p, bool on, int64_t total)
{
    *p = (struct progress){.on = on, .start = progress_clock(), .total = total};
    p->shown = p->start + PATIENCE - PERIOD;
}

static void show(const struct progress *p, double seconds)
{
    char text[120];
    const double rate = (double)p->rows / seconds;
    int len = snprintf(text, sizeof text, "%" PRIu64, p->rows);
    if (p->total > 0)
        len += snprintf(text + len, sizeof text - (size_t)len, " of %" PRId64, p->total);
    len += snprintf(text + len, sizeof text - (size_t)len, " rows, %.1f MB/s", p->bytes / seconds * 1e-6);
    if (p->total >= (int64_t)p->rows) {
        const uint64_t left = (uint64_t)((double)(p->total - (int64_t)p->rows) / rate + 0.5);
        snprintf(text + len, sizeof text - (size_t)len, ", %" PRIu64 ":%02" PRIu64 " left", left / 60, left % 60);
    }
    message_progress(text);
}

void progress_step(struct progress *p, uint64_t bytes)
{
    if (!p->on)
        return;
    p->rows++;
    p->bytes += (double)bytes;
    const double now = progress_clock();
    if (now - p->shown < PERIOD)
        return;
    p->shown = now;
    show(p, now - p->start);
}

void progress_end(struct progress *p)
{
    if (p->on)
        message_progress(NULL);
    p->on = false;
}
