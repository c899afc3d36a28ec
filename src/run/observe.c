// SPDX-License-Identifier: MIT
#include "run/observe.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void result_free(struct result *res)
{
    free(res->room);
    free(res->gone);
}

void observer_free(struct observer *o)
{
    free(o->room);
    raw_free(&o->raw);
    after_free(&o->after);
}

// ---- what each stage did

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

// Takes down the candidates' probabilities, and in the line how they differ from those before.
static void note_stage(struct observer *o, struct trace_line *line, const struct cand *c)
{
    float *const weight = o->scratch;
    cand_snapshot(c, weight);
    const struct softmax softmax = c->dense ? softmax_of(c->kern, weight, c->n) : softmax_of(c->kern, c->logit, c->n);
    c->kern->exp_sub(weight, weight, softmax.max, c->n_row);
    *line = (struct trace_line){.name = line->name, .enabled = true, .entropy = softmax_entropy(&softmax)};
    size_t top_before = 0, top_after = 0; // places in the row
    double most_before = 0.0, most_after = 0.0;
    for (size_t i = 0; i < c->n_row; i++) {
        const double before = o->p[i], after = weight[i] / softmax.sum;
        o->p[i] = after;
        line->before += before > 0.0;
        line->after += after > 0.0;
        if (before > most_before) {
            most_before = before;
            top_before = i;
        }
        if (after > most_after) {
            most_after = after;
            top_after = i;
        }
        if (after > 0.0)
            line->mass += before;
        else if (before > 0.0)
            note_removed(line, cand_row_id(c, i), before);
    }
    line->top_before = cand_row_id(c, top_before);
    line->top_after = cand_row_id(c, top_after);
}

static struct fault trace_begin(struct observer *o, const struct recipe *recipe, const struct cand *c, struct result *res)
{
    struct trace_line start;
    const char *const masks[] = {recipe_budget(recipe) ? TRACE_REASONING : NULL, recipe->parts.rules ? TRACE_GRAMMAR : NULL};
    o->first = (masks[0] ? 1u : 0u) + (masks[1] ? 1u : 0u);
    o->n_lines = o->first + recipe->n_stages;
    if (!mem_grow(&res->room, &res->room_cap, o->n_lines * sizeof *o->line, 1))
        return fault_memory();
    o->line = res->room;
    for (size_t i = 0, line = 0; i < 2; i++)
        if (masks[i])
            o->line[line++] = (struct trace_line){.name = masks[i]}; // not enabled unless observe_masked follows
    for (size_t i = 0; i < recipe->n_stages; i++)
        o->line[o->first + i] =
            (struct trace_line){.name = recipe->stage[i].sampler->name, .enabled = stage_enabled(&recipe->stage[i])};
    memset(o->p, 0, c->n_row * sizeof *o->p);
    note_stage(o, &start, c);
    return fault_none();
}

void observe_masked(struct observer *o, const char *by, const struct cand *c)
{
    size_t line = 0;
    while (line < o->first && strcmp(o->line[line].name, by) != 0)
        line++;
    assert(line < o->first);
    note_stage(o, &o->line[line], c);
}

struct fault observe_stage(void *arg, size_t stage, struct cand *c)
{
    struct observer *const o = arg;
    note_stage(o, &o->line[o->first + stage], c);
    return fault_none();
}

// ---- what removed a token

enum { GONE_MOST = 1 << 24 }; // ids; beyond that nobody asks

void observe_gone(struct observer *o, unsigned char code, const struct cand *c)
{
    unsigned char *const gone = o->result->gone;
    cand_snapshot(c, o->scratch);
    for (size_t i = 0; i < c->n_row; i++) {
        const uint32_t id = cand_row_id(c, i);
        if (id >= o->result->n_gone)
            return;
        if (o->scratch[i] > -INFINITY)
            gone[id] = GONE_NOT;
        else if (gone[id] == GONE_NOT)
            gone[id] = code;
    }
}

struct fault observe_gone_stage(void *arg, size_t stage, struct cand *c)
{
    struct observer *const o = arg;
    observe_gone(o, (unsigned char)(GONE_STAGE + sampler_place(o->recipe->stage[stage].sampler)), c);
    return fault_none();
}

static struct fault gone_begin(struct observer *o, const struct recipe *recipe, const struct cand *c, struct result *res)
{
    o->recipe = recipe;
    o->result = res;
    res->n_gone = (size_t)cand_row_id(c, c->n_row - 1) + 1; // the highest id comes last
    if (res->n_gone > GONE_MOST)
        res->n_gone = 0;
    if (!mem_grow(&res->gone, &res->gone_cap, res->n_gone, 1))
        return fault_memory();
    memset(res->gone, GONE_ROW, res->n_gone);
    observe_gone(o, GONE_ROW, c);
    return fault_none();
}

// ---- logits and what follows from them

// The logits that the chain left, c->n of them: those of a list as they lie there, of a dense row a copy by id in room.
static const float *logits_left(const struct cand *c, float *room)
{
    if (!c->dense)
        return c->logit;
    cand_snapshot(c, room);
    return room;
}

// A number for every token: that of its candidate in the list, or `none`.
static void spread(const struct cand *c, const float *x, float none, float *to)
{
    for (size_t i = 0; i < c->n_vocab; i++)
        to[i] = none;
    for (size_t i = 0; i < c->n; i++)
        to[c->id[i]] = x[i];
}

// From the logits and not from p, which is rounded twice and falls to 0 where the logarithm is still an ordinary number.
static float logprob(float logit, const struct softmax *s, double log_sum)
{
    return (float)((double)logit - s->max - log_sum);
}

// to[0..n_vocab): what is emitted of every token.
static void distribution(enum emit emit, const struct cand *c, float *to)
{
    if (emit == EMIT_PROBS) {
        if (c->dense)
            memcpy(to, c->p, c->n * sizeof *to);
        else
            spread(c, c->p, 0.0f, to);
        return;
    }
    if (c->dense)
        cand_snapshot(c, to);
    else
        spread(c, c->logit, -INFINITY, to);
    if (emit == EMIT_LOGITS)
        return;
    const struct softmax s = softmax_of(c->kern, c->dense ? to : c->logit, c->n);
    const double log_sum = softmax_log_sum(&s);
    for (size_t i = 0; i < c->n_vocab; i++)
        to[i] = logprob(to[i], &s, log_sum);
}

// The log-probability of a token; room has room for a row.
static float score(const struct cand *c, uint32_t token, float *room)
{
    const float *const logit = logits_left(c, room);
    const struct softmax s = softmax_of(c->kern, logit, c->n);
    float x = -INFINITY;
    if (c->dense && token < c->n)
        x = logit[token];
    for (size_t i = 0; !c->dense && i < c->n; i++)
        x = c->id[i] == token ? logit[i] : x;
    return logprob(x, &s, softmax_log_sum(&s));
}

static struct fault emit_values(enum emit emit, const struct cand *c, struct result *res)
{
    const size_t n = emit == EMIT_SCORE ? c->n : c->n_vocab;
    if (!n)
        return (struct fault){FAULT_NO_SIZE, 0};
    if (!mem_grow(&res->room, &res->room_cap, n * sizeof(float), 1))
        return fault_memory();
    float *const to = res->room;
    if (emit == EMIT_SCORE)
        *to = score(c, res->record.scored, to);
    else
        distribution(emit, c, to);
    res->record.values = to;
    return fault_none();
}

// ---- the record

struct fault observe_before(struct observer *o, const struct job *j, const struct recipe *recipe, const struct cand *c,
                            struct result *res)
{
    const size_t n = c->n_row;
    if (!mem_grow(&o->room, &o->room_cap, n * (sizeof *o->p + sizeof *o->scratch), 1) ||
        (j->measures && !o->raw_taken && !raw_take(&o->raw, c)))
        return fault_memory();
    o->raw_taken = true;
    o->p = o->room;
    o->scratch = (float *)(void *)(o->p + n);
    if (j->side_by_side)
        return gone_begin(o, recipe, c, res);
    return j->args->trace ? trace_begin(o, recipe, c, res) : fault_none();
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
    const size_t n_lines = j->args->trace ? o->n_lines : 0, most = (size_t)j->args->dump_most;
    if (!mem_grow(&res->room, &res->room_cap, n_lines * sizeof *o->line + c->n * sizeof *rec->ranked, 1))
        return fault_memory();
    struct trace_line *const lines = res->room;
    struct ranked *const ranked = (struct ranked *)(lines + n_lines);
    const struct softmax softmax = softmax_of(c->kern, c->logit, c->n);
    for (size_t i = 0; i < c->n; i++)
        if (c->logit[i] > -INFINITY)
            ranked[rec->kept++] = (struct ranked){c->id[i], c->logit[i], c->p[i]};
    qsort(ranked, rec->kept, sizeof *ranked, by_probability);
    rec->entropy = softmax_entropy(&softmax);
    rec->ranked = ranked;
    rec->shown = most && most < rec->kept ? most : rec->kept;
    rec->trace = n_lines ? lines : NULL;
    rec->n_trace = n_lines;
    return fault_none();
}

struct fault observe_after(struct observer *o, const struct job *j, struct cand *c, int64_t known, struct result *res)
{
    const struct args *const a = j->args;
    struct record *const rec = &res->record;
    if (j->measures) {
        if (!after_take(&o->after, c))
            return fault_memory();
        measure(&o->raw, &o->after, c, known, res->stat);
        rec->stat = res->stat;
    }
    rec->chosen = c->chosen;
    rec->chosen_p = c->chosen_p;
    rec->scored = (uint32_t)known;
    if (a->emit == EMIT_SCORE || emit_distribution(a->emit))
        return emit_values(a->emit, c, res);
    if (!a->dump && !j->side_by_side) {
        if (!j->plain)
            rec->kept = cand_alive(c, c->n);
        return c->fault;
    }
    cand_list(c);
    return describe(res, o, j, c);
}
