// SPDX-License-Identifier: MIT
#include "run/stats.h"

#include <inttypes.h>
#include <stdio.h>

void stats_add(struct stats *s, const struct row_stats *row)
{
    s->rows++;
    s->agree += row->agrees;
    s->kept += (double)row->kept;
    s->entropy_before += row->entropy_before;
    s->entropy_after += row->entropy_after;
    s->divergence += row->divergence;
}

static void line(const char *name, double sum, uint64_t rows)
{
    if (rows)
        fprintf(stderr, "%-17s %.6g\n", name, sum / (double)rows);
    else
        fprintf(stderr, "%-17s -\n", name);
}

void stats_print(const struct stats *s, double seconds)
{
    fprintf(stderr, "%-17s %" PRIu64 "\n", "rows", s->rows + s->bad);
    fprintf(stderr, "%-17s %" PRIu64 "\n", "bad_rows", s->bad);
    fprintf(stderr, "%-17s %.6g\n", "rows_per_second", seconds > 0.0 ? (double)(s->rows + s->bad) / seconds : 0.0);
    line("kept", s->kept, s->rows);
    line("entropy_before", s->entropy_before, s->rows);
    line("entropy_after", s->entropy_after, s->rows);
    line("divergence", s->divergence, s->rows);
    line("greedy_agreement", (double)s->agree, s->rows);
}
