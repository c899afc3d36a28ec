// SPDX-License-Identifier: MIT
#include "run/observe.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
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
    trail_free(&o->trail);
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
    for (size_t line = 0; o->job->args->trace && line < o->first; line++)
        if (!strcmp(o->line[line].name, by))
            note_stage(o, &o->line[line], c);
    if (o->job->expects)
        trail_step(&o->trail, c, NULL, by);
    if (o->views && o->view_at == SIZE_MAX)
        cand_snapshot(c, o->view);
}

struct fault observe_stage(void *arg, size_t stage, struct cand *c)
{
    struct observer *const o = arg;
    if (o->job->args->trace)
        note_stage(o, &o->line[o->first + stage], c);
    if (o->job->expects)
        trail_step(&o->trail, c, &o->recipe->stage[stage], o->recipe->stage[stage].sampler->name);
    if (o->views && o->view_at == stage)
        cand_snapshot(c, o->view);
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

static struct fault gone_begin(struct observer *o, const struct cand *c, struct result *res)
{
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

// A number of what is emitted for a logit.
static float emitted(enum emit emit, float logit, const struct softmax *s, double log_sum)
{
    return emit == EMIT_PROBS ? (float)softmax_prob(s, logit) : emit == EMIT_LOGPROBS ? logprob(logit, s, log_sum) : logit;
}

// The same of what stood after a stage.
static void distribution_then(enum emit emit, const struct observer *o, const struct cand *c, float *to)
{
    const struct softmax s = softmax_of(c->kern, o->view, c->n_row);
    const double log_sum = softmax_log_sum(&s);
    for (size_t i = 0; i < c->n_vocab; i++)
        to[i] = emit == EMIT_PROBS ? 0.0f : -INFINITY;
    for (size_t i = 0; i < c->n_row; i++)
        to[cand_row_id(c, i)] = emitted(emit, o->view[i], &s, log_sum);
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

static struct fault emit_values(const struct observer *o, const struct cand *c, struct result *res)
{
    const enum emit emit = o->job->args->emit;
    const size_t n = emit == EMIT_SCORE ? c->n : c->n_vocab;
    if (!n)
        return (struct fault){FAULT_NO_SIZE, 0};
    if (!mem_grow(&res->room, &res->room_cap, n * sizeof(float), 1))
        return fault_memory();
    float *const to = res->room;
    if (emit == EMIT_SCORE)
        *to = score(c, res->record.scored, to);
    else if (o->views)
        distribution_then(emit, o, c, to);
    else
        distribution(emit, c, to);
    res->record.values = to;
    return fault_none();
}

// ---- the record

// Looks after the last stage that runs, up to the one that was asked for. What the selector leaves is what is shown anyway.
static void find_view(struct observer *o)
{
    o->views = o->job->args->after && o->view_at + 1 < o->recipe->n_stages;
    while (o->views && o->view_at < SIZE_MAX && !stage_enabled(&o->recipe->stage[o->view_at]))
        o->view_at--; // from 0 to SIZE_MAX
}

struct fault observe_before(struct observer *o, const struct recipe *recipe, const struct cand *c, struct result *res)
{
    const struct job *const j = o->job;
    const size_t n = c->n_row;
    o->recipe = recipe;
    if (!mem_grow(&o->room, &o->room_cap, n * (sizeof *o->p + sizeof *o->scratch + sizeof *o->view), 1) ||
        (j->measures && !o->raw_taken && !raw_take(&o->raw, c)) ||
        (j->expects && !trail_begin(&o->trail, c, recipe->n_stages, res->expected.id)))
        return fault_memory();
    o->raw_taken = true;
    o->p = o->room;
    o->scratch = (float *)(void *)(o->p + n);
    o->view = o->scratch + n;
    find_view(o);
    if (o->views)
        cand_snapshot(c, o->view);
    if (j->side_by_side)
        return gone_begin(o, c, res);
    return j->args->trace ? trace_begin(o, recipe, c, res) : fault_none();
}

// What a stage that keeps by a limit has for one; "" of others, and of NULL.
static void put_limit(const struct stage *stage, char text[NUMBER_TEXT])
{
    char room[NUMBER_TEXT];
    const struct param *const row = stage && stage->sampler->limits ? stage->sampler->params : NULL;
    strcpy(text, row ? value_text(row, param_load(row, stage->params), room) : "");
}

// The share of the unit interval that a token has in the selector's draw, when one token is left out (UINT32_MAX: none).
static struct interval share_of(const struct cand *c, uint32_t token, uint32_t without)
{
    struct interval share = {0.0, 0.0};
    double sum = 0.0;
    for (size_t i = 0; i < c->n; i++) {
        const uint32_t id = c->dense ? (uint32_t)i : c->id[i];
        const double p = id == without ? 0.0 : c->p[i];
        if (id == token)
            share = (struct interval){sum, sum + p};
        sum += p;
    }
    return (struct interval){share.low / sum, share.high / sum};
}

// What became of the token that was expected. If it was kept, would it have been chosen without the last one, which a port may not keep?
static void compare(const struct observer *o, const struct cand *c, struct expected *x)
{
    const struct trail *const t = &o->trail;
    size_t last;
    const struct stage *const edge = trail_edge(t, c, &last), *blamed = t->stage;
    x->kept = t->there;
    x->draw = c->has_p ? selector_draw(c) : NAN;
    x->edge_of = NULL;
    if (!isnan(x->draw)) {
        x->chosen = share_of(c, c->chosen, UINT32_MAX);
        x->wanted = share_of(c, x->id, UINT32_MAX);
    }
    if (t->there && edge && !isnan(x->draw)) {
        x->edge = cand_row_id(c, last);
        const struct interval then = share_of(c, x->id, x->edge);
        if (then.low < x->draw && x->draw <= then.high) {
            x->edge_of = edge->sampler->name;
            blamed = edge;
        }
    }
    x->removed_by = t->by;
    x->rank = t->rank;
    put_limit(blamed, x->limit);
}

// By falling probability, then rising id.
static int by_probability(const void *a, const void *b)
{
    const struct ranked *const x = a, *const y = b;
    if (x->p != y->p)
        return x->p < y->p ? 1 : -1;
    return x->id < y->id ? -1 : x->id > y->id;
}

// Fills in what only dumps show. The candidates are a list, unless what stood after a stage is shown.
static struct fault describe(struct result *res, const struct observer *o, const struct cand *c)
{
    struct record *const rec = &res->record;
    const struct args *const a = o->job->args;
    const float *const logit = o->views ? o->view : c->logit;
    const size_t n_lines = a->trace ? o->n_lines : 0, most = (size_t)a->dump_most, n = o->views ? c->n_row : c->n;
    if (!mem_grow(&res->room, &res->room_cap, n_lines * sizeof *o->line + n * sizeof *rec->ranked, 1))
        return fault_memory();
    struct trace_line *const lines = res->room;
    struct ranked *const ranked = (struct ranked *)(lines + n_lines);
    const struct softmax softmax = softmax_of(c->kern, logit, n);
    for (size_t i = 0; i < n; i++)
        if (logit[i] > -INFINITY)
            ranked[rec->kept++] = o->views ? (struct ranked){cand_row_id(c, i), logit[i], (float)softmax_prob(&softmax, logit[i])}
                                           : (struct ranked){c->id[i], logit[i], c->p[i]};
    qsort(ranked, rec->kept, sizeof *ranked, by_probability);
    rec->entropy = softmax_entropy(&softmax);
    rec->ranked = ranked;
    rec->shown = most && most < rec->kept ? most : rec->kept;
    rec->trace = n_lines ? lines : NULL;
    rec->n_trace = n_lines;
    return fault_none();
}

struct fault observe_after(struct observer *o, struct cand *c, int64_t known, struct result *res)
{
    const struct args *const a = o->job->args;
    struct record *const rec = &res->record;
    if (o->job->measures) {
        if (!after_take(&o->after, c))
            return fault_memory();
        measure(&o->raw, &o->after, c, known, res->stat);
        rec->stat = res->stat;
    }
    if (o->job->expects)
        compare(o, c, &res->expected);
    rec->expected = a->expect ? &res->expected : NULL;
    rec->chosen = c->chosen;
    rec->chosen_p = c->chosen_p;
    rec->scored = (uint32_t)known;
    if (a->emit == EMIT_SCORE || emit_distribution(a->emit))
        return emit_values(o, c, res);
    if (!a->dump && !o->job->side_by_side) {
        if (!o->job->plain || o->job->expects)
            rec->kept = cand_alive(c, c->n);
        return c->fault;
    }
    if (!o->views)
        cand_list(c);
    return describe(res, o, c);
}
