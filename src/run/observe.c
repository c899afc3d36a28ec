// SPDX-License-Identifier: MIT
#include "run/observe.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void result_free(struct result *res)
{
    free(res->ranked);
    free(res->line);
    free(res->values);
}

void observer_free(struct observer *o)
{
    free(o->line);
    free(o->logit);
    free(o->weight);
    free(o->earlier);
    free(o->later);
    free(o->before);
    free(o->after);
    free(o->place);
}

// ---- what each stage did

static struct fault trace_lines(struct observer *o, const struct recipe *recipe)
{
    o->first = recipe->parts.rules != NULL;
    o->n_lines = o->first + recipe->n_stages;
    if (!mem_grow(&o->line, &o->line_cap, o->n_lines, sizeof *o->line))
        return fault_memory();
    o->line[0] = (struct trace_line){.name = "grammar"}; // not enabled unless observe_grammar follows
    for (size_t i = 0; i < recipe->n_stages; i++)
        o->line[o->first + i] =
            (struct trace_line){.name = recipe->stage[i].sampler->name, .enabled = stage_enabled(&recipe->stage[i])};
    return fault_none();
}

// Notes the probabilities of the row's tokens as the candidates stand, 0 for what is gone or masked; returns the candidates' softmax.
static struct softmax note_distribution(struct observer *o, const struct cand *c)
{
    cand_snapshot(c, o->logit);
    const struct softmax s = c->dense ? softmax_of(c->kern, o->logit, c->n_row) : softmax_of(c->kern, c->logit, c->n);
    c->kern->exp_sub(o->weight, o->logit, s.max, c->n_row);
    for (size_t i = 0; i < c->n_row; i++)
        o->later[i] = o->weight[i] / s.sum;
    return s;
}

static void swap(struct observer *o)
{
    double *const earlier = o->earlier;
    const size_t cap = o->earlier_cap;
    o->earlier = o->later;
    o->earlier_cap = o->later_cap;
    o->later = earlier;
    o->later_cap = cap;
}

static struct fault trace_begin(struct observer *o, const struct recipe *recipe, const struct cand *c)
{
    const struct fault fault = trace_lines(o, recipe);
    if (fault.code)
        return fault;
    if (!mem_grow(&o->logit, &o->logit_cap, c->n_row, sizeof *o->logit) ||
        !mem_grow(&o->weight, &o->weight_cap, c->n_row, sizeof *o->weight) ||
        !mem_grow(&o->earlier, &o->earlier_cap, c->n_row, sizeof *o->earlier) ||
        !mem_grow(&o->later, &o->later_cap, c->n_row, sizeof *o->later))
        return fault_memory();
    note_distribution(o, c);
    swap(o);
    return fault;
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

static void note_stage(struct observer *o, size_t at, const struct cand *c)
{
    struct trace_line *const line = &o->line[at];
    const struct softmax softmax = note_distribution(o, c);
    *line = (struct trace_line){.name = line->name, .enabled = true, .entropy = softmax_entropy(&softmax)};
    size_t top_before = 0, top_after = 0; // places in the row
    for (size_t i = 0; i < c->n_row; i++) {
        const double before = o->earlier[i], after = o->later[i];
        line->before += before > 0.0;
        line->after += after > 0.0;
        if (before > o->earlier[top_before])
            top_before = i;
        if (after > o->later[top_after])
            top_after = i;
        if (after > 0.0)
            line->mass += before;
        else if (before > 0.0)
            note_removed(line, cand_row_id(c, i), before);
    }
    line->top_before = cand_row_id(c, top_before);
    line->top_after = cand_row_id(c, top_after);
    swap(o);
}

struct fault observe_grammar(struct observer *o, const struct cand *c)
{
    assert(o->first);
    note_stage(o, 0, c);
    return fault_none();
}

struct fault observe_stage(void *arg, size_t stage, struct cand *c)
{
    struct observer *const o = arg;
    note_stage(o, o->first + stage, c);
    return fault_none();
}

// ---- logits and what follows from them

// The logits that the chain left: those of a list as they lie there, of a dense row a copy by id in *room. *id: the tokens they belong to,
// or NULL when that is their place. c->n of them; NULL when memory is short.
static const float *logits_left(const struct cand *c, const uint32_t **id, float **room, size_t *cap)
{
    *id = c->dense ? NULL : c->id;
    if (!c->dense)
        return c->logit;
    if (!mem_grow(room, cap, c->n, sizeof **room))
        return NULL;
    cand_snapshot(c, *room);
    return *room;
}

// Every token's logit.
static void logits(const struct cand *c, float *to)
{
    if (!c->row_id) {
        cand_snapshot(c, to);
        return;
    }
    for (size_t i = 0; i < c->n_vocab; i++)
        to[i] = -INFINITY;
    for (size_t i = 0; i < c->n; i++)
        to[c->id[i]] = c->logit[i];
}

// p of every token; 0 for those that are gone.
static void probs(const struct cand *c, float *to)
{
    if (c->dense) {
        memcpy(to, c->p, c->n * sizeof *to);
        return;
    }
    memset(to, 0, c->n_vocab * sizeof *to);
    for (size_t i = 0; i < c->n; i++)
        to[c->id[i]] = c->p[i];
}

// From the logits and not from p, which is rounded twice and falls to 0 where the logarithm is still an ordinary number.
static float logprob(float logit, const struct softmax *s, double log_sum)
{
    return (float)((double)logit - s->max - log_sum);
}

static void logprobs(const struct cand *c, float *to)
{
    logits(c, to);
    const struct softmax s = c->dense ? softmax_of(c->kern, to, c->n) : softmax_of(c->kern, c->logit, c->n);
    const double log_sum = softmax_log_sum(&s);
    for (size_t i = 0; i < c->n_vocab; i++)
        to[i] = logprob(to[i], &s, log_sum);
}

static struct fault score(const struct cand *c, uint32_t token, float **values, size_t *cap)
{
    const uint32_t *id;
    const float *const logit = logits_left(c, &id, values, cap);
    if (!logit || !mem_grow(values, cap, 1, sizeof **values))
        return fault_memory();
    const struct softmax s = softmax_of(c->kern, logit, c->n);
    float x = -INFINITY;
    for (size_t i = 0; id && i < c->n; i++)
        x = id[i] == token ? logit[i] : x;
    if (!id && token < c->n)
        x = logit[token];
    **values = logprob(x, &s, softmax_log_sum(&s));
    return fault_none();
}

static struct fault emit_values(enum emit emit, const struct cand *c, uint32_t scored, float **values, size_t *cap)
{
    if (emit == EMIT_SCORE)
        return score(c, scored, values, cap);
    if (!c->n_vocab)
        return (struct fault){FAULT_NO_SIZE, 0};
    if (!mem_grow(values, cap, c->n_vocab, sizeof **values))
        return fault_memory();
    if (emit == EMIT_PROBS)
        probs(c, *values);
    else if (emit == EMIT_LOGPROBS)
        logprobs(c, *values);
    else
        logits(c, *values);
    return fault_none();
}

// ---- statistics

static struct fault stats_before(struct observer *o, const struct cand *c)
{
    if (!mem_grow(&o->before, &o->before_cap, c->n_row + 1, sizeof *o->before))
        return fault_memory();
    cand_snapshot(c, o->before);
    o->before[c->n_row] = -INFINITY; // of tokens that the row lacks
    o->softmax = softmax_of(c->kern, o->before, c->n_row);
    return fault_none();
}

// Of a sparse row: the candidates' places in before.
static const uint32_t *places(struct observer *o, const struct cand *c)
{
    if (!mem_grow(&o->place, &o->place_cap, c->n, sizeof *o->place))
        return NULL;
    for (size_t i = 0; i < c->n; i++)
        o->place[i] = (uint32_t)cand_row_place(c, c->id[i]);
    return o->place;
}

static struct fault stats_after(struct observer *o, const struct cand *c, double stat[STAT_COUNT])
{
    const uint32_t *id;
    const float *const logit = logits_left(c, &id, &o->after, &o->after_cap);
    if (logit && c->row_id)
        id = places(o, c);
    if (!logit || (c->row_id && !id))
        return fault_memory();
    const struct softmax after = softmax_of(c->kern, logit, c->n);
    stat[STAT_KEPT] = (double)c->kern->count(logit, c->n, -FLT_MAX);
    stat[STAT_ENTROPY_BEFORE] = softmax_entropy(&o->softmax);
    stat[STAT_ENTROPY_AFTER] = softmax_entropy(&after);
    stat[STAT_DIVERGENCE] = softmax_divergence(c->kern, &after, logit, id, c->n, &o->softmax, o->before);
    stat[STAT_AGREEMENT] = c->chosen == cand_row_id(c, c->kern->argmax(o->before, c->n_row));
    return fault_none();
}

// ---- the record

struct fault observe_before(struct observer *o, const struct job *j, const struct recipe *recipe, const struct cand *c)
{
    const struct fault fault = j->args->stats ? stats_before(o, c) : fault_none();
    return fault.code || !j->args->trace ? fault : trace_begin(o, recipe, c);
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
static struct fault describe(struct result *res, const struct observer *o, const struct job *j, const struct cand *c)
{
    struct record *const rec = &res->record;
    if (!mem_grow(&res->ranked, &res->ranked_cap, c->n, sizeof *res->ranked))
        return fault_memory();
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->logit[i] > -INFINITY)
            res->ranked[n++] = (struct ranked){c->id[i], c->logit[i], c->p[i]};
    qsort(res->ranked, n, sizeof *res->ranked, by_probability);
    const struct softmax softmax = softmax_of(c->kern, c->logit, c->n);
    rec->entropy = softmax_entropy(&softmax);
    rec->kept = n;
    rec->ranked = res->ranked;
    const size_t most = (size_t)j->args->dump_most;
    rec->shown = most && most < n ? most : n;
    if (!j->args->trace)
        return fault_none();
    if (!mem_grow(&res->line, &res->line_cap, o->n_lines, sizeof *res->line))
        return fault_memory();
    memcpy(res->line, o->line, o->n_lines * sizeof *res->line);
    rec->trace = res->line;
    rec->n_trace = o->n_lines;
    return fault_none();
}

struct fault observe_after(struct observer *o, const struct job *j, struct cand *c, int64_t known, struct result *res)
{
    struct record *const rec = &res->record;
    struct fault fault = j->args->stats ? stats_after(o, c, res->stat) : fault_none();
    rec->chosen = c->chosen;
    rec->chosen_p = c->chosen_p;
    if (fault.code)
        return fault;
    if (j->args->emit == EMIT_SCORE || emit_distribution(j->args->emit)) {
        rec->scored = (uint32_t)known;
        fault = emit_values(j->args->emit, c, rec->scored, &res->values, &res->values_cap);
        rec->values = res->values;
        return fault;
    }
    if (!j->args->dump)
        return j->plain ? fault : cand_alive(c, c->n, &rec->kept);
    fault = cand_list(c);
    return fault.code ? fault : describe(res, o, j, c);
}
