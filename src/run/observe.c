// SPDX-License-Identifier: MIT
#include "run/observe.h"

#include "base/mem.h"
#include "samplers/list.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void result_free(struct result *res)
{
    free(res->room);
    free(res->gone);
    free(res->page);
}

void observer_free(struct observer *o)
{
    free(o->room);
    raw_free(&o->raw);
    after_free(&o->after);
    trail_free(&o->trail);
    follow_free(&o->follow);
}

// ---- what removed a token

enum { GONE_MOST = 1 << 24 }; // ids; beyond that nobody asks

// The code of a stage: its sampler's place and, in units of CATALOG_SAMPLERS, which of several stages it is.
static uint16_t gone_code(const struct recipe *recipe, size_t stage)
{
    const size_t place = sampler_place(recipe->stage[stage].sampler), nth = recipe_stage_nth(recipe, stage),
                 most = (UINT16_MAX - GONE_STAGE) / CATALOG_SAMPLERS - 1;
    return (uint16_t)(GONE_STAGE + place + CATALOG_SAMPLERS * (nth < most ? nth : most));
}

const char *result_removed_by(const struct result *res, uint32_t id, char text[NUMBER_TEXT])
{
    static const char *const others[] = {[GONE_NOT] = "-", [GONE_ROW] = "row", [GONE_MASK] = "mask"};
    const unsigned code = id < res->n_gone ? res->gone[id] : GONE_NOT, stage = code - GONE_STAGE;
    if (code < GONE_STAGE)
        return strcpy(text, others[code]);
    return stage_name(samplers[stage % CATALOG_SAMPLERS], stage / CATALOG_SAMPLERS, text);
}

static void note_gone(struct observer *o, uint16_t code, const struct cand *c)
{
    uint16_t *const gone = o->result->gone;
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

static struct fault gone_begin(struct observer *o, const struct cand *c, struct result *res)
{
    o->result = res;
    res->n_gone = (size_t)cand_row_id(c, c->n_row - 1) + 1; // the highest id comes last
    if (res->n_gone > GONE_MOST)
        res->n_gone = 0;
    if (!mem_grow(&res->gone, &res->gone_cap, res->n_gone, sizeof *res->gone))
        return fault_memory();
    for (size_t i = 0; i < res->n_gone; i++)
        res->gone[i] = GONE_ROW;
    note_gone(o, GONE_ROW, c);
    return fault_none();
}

// ---- what each stage did

// Puts a removed candidate among the likeliest of them, which stand by falling probability.
static void note_removed(struct ranked removed[TRACE_REMOVED], size_t *n, uint32_t id, double p)
{
    size_t at = *n < TRACE_REMOVED ? *n : TRACE_REMOVED;
    ++*n;
    for (; at && removed[at - 1].p < p; at--)
        if (at < TRACE_REMOVED)
            removed[at] = removed[at - 1];
    if (at < TRACE_REMOVED)
        removed[at] = (struct ranked){.id = id, .p = (float)p};
}

// By falling probability, then rising id.
static int by_probability(const void *a, const void *b)
{
    const struct ranked *const x = a, *const y = b;
    if (x->p != y->p)
        return x->p < y->p ? 1 : -1;
    return x->id < y->id ? -1 : x->id > y->id;
}

// The best of the logits in the row's order, which stand in o->scratch.
static void note_best(const struct observer *o, struct trace_line *line, const struct cand *c,
                      const struct softmax *softmax)
{
    const size_t most = (size_t)o->job->args->trace_most;
    struct ranked *const all = o->ranked;
    size_t n = 0;
    if (!most)
        return;
    for (size_t i = 0; i < c->n_row; i++)
        if (o->scratch[i] > -INFINITY)
            all[n++] = (struct ranked){cand_row_id(c, i), o->scratch[i], (float)softmax_prob(softmax, o->scratch[i])};
    qsort(all, n, sizeof *all, by_probability);
    line->n_best = n < most ? n : most;
    memcpy((void *)(uintptr_t)line->best, all, line->n_best * sizeof *all);
}

// Takes down the candidates' probabilities, and in the line how they differ from those before.
static void note_stage(struct observer *o, struct trace_line *line, const struct cand *c)
{
    float *const logit = o->scratch;
    cand_snapshot(c, logit);
    const struct softmax softmax = c->dense ? softmax_of(c->kern, logit, c->n) : softmax_of(c->kern, c->logit, c->n);
    line->enabled = true;
    line->entropy = softmax_entropy(&softmax);
    line->before = line->after = line->n_removed = 0;
    line->mass = 0.0;
    size_t top_before = 0, top_after = 0; // places in the row
    double most_before = GONE, most_after = GONE;
    for (size_t i = 0; i < c->n_row; i++) {
        const double before = o->p[i], after = logit[i] > -INFINITY ? softmax_prob(&softmax, logit[i]) : GONE;
        o->p[i] = after;
        line->before += before != GONE;
        line->after += after != GONE;
        if (before > most_before) {
            most_before = before;
            top_before = i;
        }
        if (after > most_after) {
            most_after = after;
            top_after = i;
        }
        if (after != GONE)
            line->mass += before != GONE ? before : 0.0;
        else if (before != GONE)
            note_removed(line->removed, &line->n_removed, cand_row_id(c, i), before);
    }
    line->top_before = cand_row_id(c, top_before);
    line->top_after = cand_row_id(c, top_after);
    line->n_notes = 0;
    for (size_t i = 0; i < c->n_notes; i++)
        if (!isnan(c->note[i].value))
            line->note[line->n_notes++] = (struct named){c->note[i].name, c->note[i].value, NAMED_WIDE, false};
    if (line->best)
        note_best(o, line, c, &softmax);
}

static void note_line(struct observer *o, size_t line, const struct cand *c)
{
    note_stage(o, &o->line[line], c);
    if (o->job->page)
        follow_step(&o->follow, line + 1, o->p);
}

// A line for a stage that has not run.
static struct trace_line line_of(const struct recipe *recipe, const struct stage *stage)
{
    static const enum named_type types[] = {
        [PARAM_INT] = NAMED_INT, [PARAM_FLOAT] = NAMED_FLOAT, [PARAM_FLAG] = NAMED_FLAG};
    const struct catalog *const c = &recipe->of->catalog;
    struct trace_line line = {.name = stage->sampler->name};
    for (const struct param *row = stage->sampler->params; row && row->flag && line.n_params < NAMED_MOST; row++) {
        const double value = param_load(row, stage->params);
        if (recipe_listens(recipe, row->flag))
            line.param[line.n_params++] =
                (struct named){row->flag, value, types[row->type],
                               value == c->param[catalog_find(c, row->flag, strlen(row->flag))]->def};
    }
    return line;
}

// The lines, room for the best candidates after each stage, and for all in the end.
static struct fault trace_begin(struct observer *o, const struct recipe *recipe, struct cand *c, struct result *res)
{
    struct trace_line start = {0};
    const char *const masks[] = {recipe_budget(recipe) ? TRACE_REASONING : NULL,
                                 recipe->parts.rules ? TRACE_GRAMMAR : NULL};
    const size_t asked = (size_t)o->job->args->trace_most, most = asked < c->n_row ? asked : c->n_row;
    o->first = (masks[0] ? 1u : 0u) + (masks[1] ? 1u : 0u);
    o->n_lines = o->first + recipe->n_stages;
    if (!mem_grow(&res->room, &res->room_cap,
                  o->n_lines * sizeof *o->line + (o->n_lines * most + c->n_row) * sizeof *o->ranked, 1))
        return fault_memory();
    o->line = res->room;
    struct ranked *const best = (struct ranked *)(o->line + o->n_lines);
    o->ranked = best + o->n_lines * most;
    for (size_t i = 0, line = 0; i < 2; i++)
        if (masks[i])
            o->line[line++] = (struct trace_line){.name = masks[i]}; // not enabled unless observe_masked follows
    for (size_t i = 0; i < recipe->n_stages; i++)
        o->line[o->first + i] = line_of(recipe, &recipe->stage[i]);
    if (o->job->page && !follow_begin(&o->follow, c->n_row, o->n_lines))
        return fault_memory();
    for (size_t i = 0; i < o->n_lines; i++)
        o->line[i].best = most ? best + i * most : NULL;
    for (size_t i = 0; i < c->n_row; i++)
        o->p[i] = GONE;
    c->n_notes = 0;
    note_stage(o, &start, c);
    if (o->job->page)
        follow_step(&o->follow, 0, o->p);
    return fault_none();
}

void observe_masked(struct observer *o, const char *by, const struct cand *c)
{
    for (size_t line = 0; o->job->traces && line < o->first; line++)
        if (!strcmp(o->line[line].name, by))
            note_line(o, line, c);
    if (o->job->removals)
        note_gone(o, GONE_MASK, c);
    if (o->job->expects)
        trail_step(&o->trail, c, NULL, by);
    if (o->views && o->view_at == SIZE_MAX)
        cand_snapshot(c, o->view);
}

struct fault observe_stage(void *arg, size_t stage, struct cand *c)
{
    struct observer *const o = arg;
    if (o->job->traces)
        note_line(o, o->first + stage, c);
    if (o->job->removals)
        note_gone(o, gone_code(o->recipe, stage), c);
    if (o->job->expects)
        trail_step(&o->trail, c, &o->recipe->stage[stage], o->recipe->stage[stage].sampler->name);
    if (o->views && o->view_at == stage)
        cand_snapshot(c, o->view);
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
static float logprob(float logit, const struct softmax *s)
{
    return (float)((double)logit - s->max - s->log_sum);
}

// A number of what is emitted for a logit.
static float emitted(enum emit emit, float logit, const struct softmax *s)
{
    return emit == EMIT_PROBS ? (float)softmax_prob(s, logit) : emit == EMIT_LOGPROBS ? logprob(logit, s) : logit;
}

// The same of what stood after a stage.
static void distribution_then(enum emit emit, const struct observer *o, const struct cand *c, float *to)
{
    const struct softmax s = softmax_of(c->kern, o->view, c->n_row);
    for (size_t i = 0; i < c->n_vocab; i++)
        to[i] = emit == EMIT_PROBS ? 0.0f : -INFINITY;
    for (size_t i = 0; i < c->n_row; i++)
        to[cand_row_id(c, i)] = emitted(emit, o->view[i], &s);
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
    for (size_t i = 0; i < c->n_vocab; i++)
        to[i] = logprob(to[i], &s);
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
    return logprob(x, &s);
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

struct fault observe_before(struct observer *o, const struct recipe *recipe, const struct row *row, struct cand *c,
                            struct result *res)
{
    const struct job *const j = o->job;
    const size_t n = c->n_row;
    o->recipe = recipe;
    if (!mem_grow(&o->room, &o->room_cap, n * (sizeof *o->p + sizeof *o->scratch + sizeof *o->view), 1) ||
        (j->raws && !o->raw_taken && !raw_take(&o->raw, row, c)) ||
        (j->expects && !trail_begin(&o->trail, c, recipe->n_stages, res->expected.id)))
        return fault_memory();
    o->raw_taken = true;
    o->p = o->room;
    o->scratch = (float *)(void *)(o->p + n);
    o->view = o->scratch + n;
    find_view(o);
    if (o->views)
        cand_snapshot(c, o->view);
    const struct fault fault = j->removals ? gone_begin(o, c, res) : fault_none();
    return !fault.code && j->traces ? trace_begin(o, recipe, c, res) : fault;
}

// What a stage that keeps by a limit has for one; "" of others, and of NULL.
static void put_limit(const struct stage *stage, char text[NUMBER_TEXT])
{
    char room[NUMBER_TEXT];
    const struct param *const row = stage && stage->sampler->limits ? stage->sampler->params : NULL;
    strcpy(text, row ? value_text(row, param_load(row, stage->params), room) : "");
}

// What became of the token that was expected. If it was kept, would it have been chosen without the last one, which a port may not keep?
static void compare(const struct observer *o, const struct cand *c, struct expected *x)
{
    const struct trail *const t = &o->trail;
    size_t last;
    const struct stage *const edge = trail_edge(t, c, &last), *blamed = t->stage;
    x->kept = t->there;
    x->draw = c->state == CAND_PROBABILITIES ? selector_draw(c) : NAN;
    x->edge_of = NULL;
    if (!isnan(x->draw)) {
        x->chosen = share_of(c, c->chosen, UINT32_MAX);
        x->wanted = share_of(c, x->id, UINT32_MAX);
    }
    if (t->there && edge && !isnan(x->draw)) {
        x->edge = cand_row_id(c, last);
        const struct interval then = share_of(c, x->id, x->edge);
        if (then.low < x->draw && x->draw <= then.high) {
            x->edge_of = x->stage;
            blamed = edge;
        }
    }
    x->removed_by = t->stage ? x->stage : t->by;
    x->rank = t->rank;
    put_limit(blamed, x->limit);
    if (blamed)
        stage_name(blamed->sampler, recipe_stage_nth(o->recipe, (size_t)(blamed - o->recipe->stage)), x->stage);
}

// What a picture shows beside what is left.
static void note_cuts(const struct observer *o, struct record *rec, const struct cand *c, const struct result *res)
{
    rec->n_cut = 0;
    rec->cut_p = 0.0;
    for (size_t i = 0; i < c->n_row; i++) {
        const uint32_t id = cand_row_id(c, i);
        if (id >= res->n_gone || res->gone[id] <= GONE_ROW || (o->views && o->view[i] > -INFINITY))
            continue;
        const double p = softmax_prob(&o->raw.softmax, raw_logit(&o->raw, i));
        rec->cut_p += p;
        note_removed(rec->cut, &rec->n_cut, id, p);
    }
    for (size_t i = 0; i < rec->n_cut && i < TRACE_REMOVED; i++)
        result_removed_by(res, rec->cut[i].id, rec->cut_by[i]);
}

// Fills in what only dumps show. The candidates are a list, unless what stood after a stage is shown.
static struct fault describe(struct result *res, struct observer *o, const struct cand *c)
{
    struct record *const rec = &res->record;
    const struct job *const j = o->job;
    const float *const logit = o->views ? o->view : c->logit;
    const size_t most = j->list_most, n = o->views ? c->n_row : c->n;
    if (!j->traces && !mem_grow(&res->room, &res->room_cap, n * sizeof *o->ranked, 1))
        return fault_memory();
    struct ranked *const ranked = j->traces ? o->ranked : res->room;
    const struct softmax softmax = softmax_of(c->kern, logit, n);
    for (size_t i = 0; i < n; i++)
        if (logit[i] > -INFINITY)
            ranked[rec->kept++] =
                o->views ? (struct ranked){cand_row_id(c, i), logit[i], (float)softmax_prob(&softmax, logit[i])}
                         : (struct ranked){c->id[i], logit[i], c->p[i]};
    qsort(ranked, rec->kept, sizeof *ranked, by_probability);
    rec->entropy = softmax_entropy(&softmax);
    rec->ranked = ranked;
    rec->shown = !j->lists ? 0 : most && most < rec->kept ? most : rec->kept;
    for (size_t i = 0; j->raws && i < rec->shown; i++)
        ranked[i].raw_p = (float)softmax_prob(&o->raw.softmax, raw_logit(&o->raw, cand_row_place(c, ranked[i].id)));
    if (j->page && j->traces &&
        !follow_end(&o->follow, c, o->line, o->n_lines, j->args->verbose, j->list_most, rec, &res->page,
                    &res->page_cap))
        return fault_memory();
    if (j->pictures)
        note_cuts(o, rec, c, res);
    for (size_t i = 0; j->traces && i < o->n_lines; i++) // with -v those that are off, too
        if (o->line[i].enabled || j->args->verbose)
            o->line[rec->n_trace++] = o->line[i];
    rec->trace = j->traces ? o->line : NULL;
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
    rec->accepted = known;
    if (a->emit == EMIT_SCORE || emit_distribution(a->emit))
        return emit_values(o, c, res);
    if (!o->job->dumps && !o->job->side_by_side) {
        if (!o->job->plain || o->job->expects)
            rec->kept = cand_alive(c, c->n);
        return c->fault;
    }
    if (!o->views)
        cand_list(c);
    return describe(res, o, c);
}
