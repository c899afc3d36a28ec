// SPDX-License-Identifier: MIT
#include "run/stats.h"

#include "base/mem.h"
#include "run/emit.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void stats_scratch_free(struct stats_scratch *s)
{
    free(s->before);
    free(s->after);
    free(s->place);
}

struct fault stats_before(struct stats_scratch *s, const struct cand *c)
{
    if (!mem_grow(&s->before, &s->before_cap, c->n_row + 1, sizeof *s->before))
        return fault_memory();
    cand_snapshot(c, s->before);
    s->before[c->n_row] = -INFINITY; // of tokens that the row lacks
    s->softmax = softmax_of(c->kern, s->before, c->n_row);
    return fault_none();
}

// Of a sparse row: the candidates' places in before.
static const uint32_t *places(struct stats_scratch *s, const struct cand *c)
{
    if (!mem_grow(&s->place, &s->place_cap, c->n, sizeof *s->place))
        return NULL;
    for (size_t i = 0; i < c->n; i++)
        s->place[i] = (uint32_t)cand_row_place(c, c->id[i]);
    return s->place;
}

struct fault stats_after(struct stats_scratch *s, const struct cand *c, struct row_stats *row)
{
    const uint32_t *id;
    const float *const logit = emit_logits(c, &id, &s->after, &s->after_cap);
    if (logit && c->row_id)
        id = places(s, c);
    if (!logit || (c->row_id && !id))
        return fault_memory();
    const struct softmax after = softmax_of(c->kern, logit, c->n);
    row->kept = c->kern->count(logit, c->n, -FLT_MAX);
    row->entropy_before = softmax_entropy(&s->softmax);
    row->entropy_after = softmax_entropy(&after);
    row->divergence = softmax_divergence(c->kern, &after, logit, id, c->n, &s->softmax, s->before);
    row->agrees = c->chosen == cand_row_id(c, c->kern->argmax(s->before, c->n_row));
    return fault_none();
}

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
