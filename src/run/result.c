// SPDX-License-Identifier: MIT
#include "run/result.h"

#include "base/mem.h"
#include "run/emit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void result_free(struct result *res)
{
    free(res->ranked);
    free(res->line);
    free(res->values);
}

// By falling probability, then rising id.
static int by_probability(const void *a, const void *b)
{
    const struct ranked *const x = a, *const y = b;
    if (x->p != y->p)
        return x->p < y->p ? 1 : -1;
    return x->id < y->id ? -1 : x->id > y->id;
}

// Fills in what only dumps show. The candidates are a list.
static struct fault describe(struct result *res, const struct options *o, const struct cand *c, const struct trace *t)
{
    struct record *const rec = &res->record;
    if (!mem_grow(&res->ranked, &res->ranked_cap, c->n, sizeof *res->ranked))
        return fault_memory();
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->logit[i] > -INFINITY)
            res->ranked[n++] = (struct ranked){c->id[i], c->logit[i], c->p[i]};
    qsort(res->ranked, n, sizeof *res->ranked, by_probability);
    for (size_t i = 0; i < n; i++)
        if (res->ranked[i].p > 0.0f)
            rec->entropy -= (double)res->ranked[i].p * log(res->ranked[i].p);
    rec->kept = n;
    rec->ranked = res->ranked;
    rec->shown = o->dump_most && (size_t)o->dump_most < n ? (size_t)o->dump_most : n;
    if (!o->trace)
        return fault_none();
    if (!mem_grow(&res->line, &res->line_cap, t->n, sizeof *res->line))
        return fault_memory();
    memcpy(res->line, t->line, t->n * sizeof *res->line);
    rec->trace = res->line;
    rec->n_trace = t->n;
    return fault_none();
}

struct fault result_fill(struct result *res, const struct options *o, struct cand *c, const struct trace *trace,
                         struct stats_scratch *stats, int64_t known)
{
    struct record *const rec = &res->record;
    struct fault fault = fault_none();
    rec->chosen = c->chosen;
    rec->chosen_p = c->chosen_p;
    if (o->stats)
        fault = stats_after(stats, c, &res->stats);
    if (fault.code)
        return fault;
    if (o->emit == EMIT_SCORE || emit_distribution(o->emit)) {
        rec->scored = (uint32_t)known;
        fault = emit_values(o->emit, c, rec->scored, &res->values, &res->values_cap);
        rec->values = res->values;
        return fault;
    }
    if (!o->dump)
        return strcmp(o->output_format, "text") != 0 ? cand_alive(c, c->n, &rec->kept) : fault;
    fault = cand_list(c);
    return fault.code ? fault : describe(res, o, c, trace);
}
