// SPDX-License-Identifier: MIT
#include "run/trace.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool trace_plan(struct trace *t, const struct choice *plan, size_t n, bool grammar)
{
    free(t->line);
    t->line = calloc(n + 1, sizeof *t->line);
    t->plan = plan;
    t->n = n + grammar;
    t->first = grammar;
    if (t->line && grammar)
        t->line[0].name = "grammar";
    for (size_t i = 0; t->line && i < n; i++)
        t->line[t->first + i] = (struct trace_line){.name = plan[i].row->name, .enabled = chain_enabled(&plan[i])};
    return t->line;
}

void trace_free(struct trace *t)
{
    free(t->line);
    free(t->logit);
    free(t->before);
    free(t->after);
    memset(t, 0, sizeof *t);
}

// The softmax of the candidates as they stand, in the row's order, in f64; 0 for what is gone or masked.
static void distribution(struct trace *t, const struct cand *c)
{
    double max = -INFINITY, sum = 0.0;
    cand_snapshot(c, t->logit);
    for (size_t i = 0; i < c->n_row; i++)
        max = fmax(max, t->logit[i]);
    for (size_t i = 0; i < c->n_row; i++)
        sum += t->after[i] = t->logit[i] > -INFINITY ? exp(t->logit[i] - max) : 0.0;
    for (size_t i = 0; i < c->n_row; i++)
        t->after[i] = sum > 0.0 ? t->after[i] / sum : 0.0; // 0 when infill leaves a token that the row lacks
}

static void swap(struct trace *t)
{
    double *const before = t->before;
    t->before = t->after;
    t->after = before;
    const size_t cap = t->before_cap;
    t->before_cap = t->after_cap;
    t->after_cap = cap;
}

struct fault trace_begin(struct trace *t, const struct cand *c)
{
    if (!mem_grow(&t->logit, &t->logit_cap, c->n_row, sizeof *t->logit) ||
        !mem_grow(&t->before, &t->before_cap, c->n_row, sizeof *t->before) ||
        !mem_grow(&t->after, &t->after_cap, c->n_row, sizeof *t->after))
        return fault_memory();
    distribution(t, c);
    swap(t);
    if (t->first)
        t->line[0].enabled = false; // unless trace_grammar follows
    return fault_none();
}

// Puts a removed candidate among the likeliest of them, which stand by falling probability.
static void note_removed(struct trace_line *line, uint32_t id, double p)
{
    size_t at = line->n_removed < TRACE_REMOVED ? line->n_removed : TRACE_REMOVED;
    line->n_removed++;
    for (; at && line->removed[at - 1].p < p; at--)
        if (at < TRACE_REMOVED)
            line->removed[at] = line->removed[at - 1];
    if (at < TRACE_REMOVED)
        line->removed[at] = (struct ranked){.id = id, .p = (float)p};
}

static void note_stage(struct trace *t, size_t at, const struct cand *c)
{
    struct trace_line *const line = &t->line[at];
    *line = (struct trace_line){.name = line->name, .enabled = true};
    distribution(t, c);
    size_t top_before = 0, top_after = 0; // places in the row
    for (size_t i = 0; i < c->n_row; i++) {
        const double before = t->before[i], after = t->after[i];
        line->before += before > 0.0;
        line->after += after > 0.0;
        if (before > t->before[top_before])
            top_before = i;
        if (after > t->after[top_after])
            top_after = i;
        if (after > 0.0) {
            line->mass += before;
            line->entropy -= after * log(after);
        } else if (before > 0.0) {
            note_removed(line, cand_row_id(c, i), before);
        }
    }
    line->top_before = cand_row_id(c, top_before);
    line->top_after = cand_row_id(c, top_after);
    swap(t);
}

struct fault trace_grammar(struct trace *t, const struct cand *c)
{
    note_stage(t, 0, c);
    return fault_none();
}

struct fault trace_stage(void *arg, size_t stage, struct cand *c)
{
    struct trace *const t = arg;
    note_stage(t, t->first + stage, c);
    return fault_none();
}
