// SPDX-License-Identifier: MIT
// The lines of --trace, and a page's probabilities from stage to stage.
#include "base/mem.h"
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct named named_param(const struct param *row, const void *params)
{
    static const enum named_type types[] = {
        [PARAM_INT] = NAMED_INT, [PARAM_FLOAT] = NAMED_FLOAT, [PARAM_DOUBLE] = NAMED_FLOAT, [PARAM_FLAG] = NAMED_FLAG};
    return (struct named){row->flag, param_load(row, params), types[row->type], false};
}

struct trace_line trace_line_of(const struct recipe *recipe, const struct stage *stage)
{
    const struct catalog *const c = &recipe->of->catalog;
    const struct param *const rows = stage->sampler->params;
    const unsigned char *const number = c->number[sampler_place(stage->sampler)];
    struct trace_line line = {.name = stage->sampler->name};
    for (size_t i = 0; rows && rows[i].flag && line.n_params < NAMED_MOST; i++) {
        const struct param *const row = &rows[i];
        if (!recipe_listens(recipe, row->flag))
            continue;
        struct named *const x = &line.param[line.n_params++];
        *x = named_param(row, stage->params);
        x->usual = x->value == param_rounded(row, c->param[number[i]]->def);
    }
    return line;
}

// A step with the probabilities of its candidates.
struct shares {
    const struct log_step *step;
    const uint32_t *id; // [step->n]
    double *p;          // [step->n]
    uint32_t likeliest;
};

static struct shares shares_of(const struct log *l, const struct log_step *step, const struct cand *c, double *p)
{
    const uint32_t *const id = l->id + step->at;
    size_t best = 0;
    if (step->factor == 1.0f)
        c->kern->shares(p, l->logit + step->at, step->given.max, step->given.sum, step->n);
    for (size_t i = 0; step->factor != 1.0f && i < step->n; i++)
        p[i] = step_prob(step, l->logit[step->at + i]);
    for (size_t i = 1; i < step->n; i++)
        best = p[i] > p[best] ? i : best;
    return (struct shares){step, id, p, step->n ? id[best] : cand_row_id(c, 0)};
}

// Adds the notes of a stage that changes the logits of tokens in the history: how many it changed, the largest change,
// and its token.
static void note_changes(struct trace_line *line, const struct log *l, const struct log_step *before,
                         const struct log_step *step)
{
    const struct sampler *const s = step->stage ? step->stage->sampler : NULL;
    size_t n = 0;
    uint32_t token = 0;
    float change = 0.0f;
    if (!s || !(s->window || s->reads_prompt) || s->scale == WRITES_LOGPROBS) // which changes all logits
        return;
    for (size_t i = 0, k = 0; i < step->n; i++) { // both by rising id, and the step has no other tokens
        while (l->id[before->at + k] < l->id[step->at + i])
            k++;
        const float x = l->logit[step->at + i] - l->logit[before->at + k];
        n += x != 0.0f;
        if (fabsf(x) > fabsf(change)) {
            change = x;
            token = l->id[step->at + i];
        }
    }
    if (n || line->after == line->before)
        line->note[line->n_notes++] = (struct named){"changed", (double)n, NAMED_INT, false};
    if (n) {
        line->note[line->n_notes++] = (struct named){"change", (double)change, NAMED_FLOAT, false};
        line->note[line->n_notes++] = (struct named){"token", (double)token, NAMED_INT, false};
    }
}

// Completes the line of a stage that left `after` of `before`.
static void fill_line(struct trace_line *line, const struct log *l, const struct shares *before,
                      const struct shares *after)
{
    const struct log_step *const step = after->step;
    line->enabled = true;
    if (before->step->unlisted == UNLISTED_LIVE && step->unlisted == UNLISTED_GONE)
        line->unlisted = "gone";
    else if (before->step->unlisted != UNLISTED_INEXACT && step->unlisted == UNLISTED_INEXACT)
        line->unlisted = before->step->unlisted == UNLISTED_LIVE ? "unknown" : "not exact";
    line->before = before->step->n;
    line->after = step->n;
    line->entropy = softmax_entropy(&step->softmax);
    line->top_before = before->likeliest;
    line->top_after = after->likeliest;
    for (size_t i = 0, k = 0; i < line->before; i++) { // both by rising id
        while (k < step->n && after->id[k] < before->id[i])
            k++;
        if (k < step->n && after->id[k] == before->id[i])
            line->mass += before->p[i];
        else
            ranked_insert(line->removed, &line->n_removed, TRACE_REMOVED, before->id[i], before->p[i]);
    }
    if (isnan(before->step->weight))
        line->mass = NAN;
    for (size_t i = 0; i < step->n_notes; i++)
        line->note[line->n_notes++] = (struct named){step->note[i].name, step->note[i].value, NAMED_WIDE, false};
    note_changes(line, l, before->step, step);
    line->selects = step->stage && step->stage->sampler->selector;
    memcpy(line->finding, step->finding, sizeof line->finding);
    line->n_findings = step->n_findings;
}

// The best candidates of a step at to[0..most); all has room for the step's.
static size_t rank_best(const struct log *l, const struct shares *s, size_t most, struct ranked *all, struct ranked *to)
{
    const size_t n = s->step->n < most ? s->step->n : most;
    for (size_t i = 0; most && i < s->step->n; i++)
        all[i] = (struct ranked){s->id[i], l->logit[s->step->at + i], (float)s->p[i], 0.0f};
    if (most)
        qsort(all, s->step->n, sizeof *all, ranked_order);
    memcpy(to, all, n * sizeof *all);
    return n;
}

bool trace_lines(struct log *l, const struct cand *c, size_t most, bool all, struct result *res, struct ranked **behind)
{
    const struct recipe *const recipe = l->recipe;
    const char *const mask[] = {recipe_budget(recipe) ? MASK_REASONING : NULL, recipe->key.rules ? MASK_GRAMMAR : NULL};
    const size_t n_masks = sizeof mask / sizeof *mask, n = n_masks + recipe->n_stages;
    most = most < c->n_row ? most : c->n_row;
    const size_t ranked = l->n_steps * most + c->n_row + 1;
    if (!mem_grow(&res->memory, &res->memory_cap,
                  n * sizeof(struct trace_line) + ranked * sizeof(struct ranked) + l->words.len, 1) ||
        !mem_grow(&l->p, &l->p_cap, 2 * c->n_row, sizeof *l->p))
        return false;
    struct trace_line *line = res->memory;
    struct ranked *best = (struct ranked *)(void *)(line + n);
    *behind = best + l->n_steps * most;
    char *const words = (char *)(best + ranked);
    memcpy(words, l->words.text, l->words.len);
    res->record.trace = line;
    res->record.first_choice = l->first ? words + l->first : NULL;
    res->record.budget = l->standing.budget;
    res->record.budget_left = l->standing.left;
    res->record.rules = l->standing.rules ? words + l->standing.rules : NULL;
    res->record.fits = l->standing.fits;
    const struct log_step *step = l->step, *const end = step + l->n_steps;
    struct shares before = shares_of(l, step++, c, l->p);
    for (size_t i = 0; i < n; i++) {
        const struct stage *const stage = i < n_masks ? NULL : &recipe->stage[i - n_masks];
        const bool ran = step < end && step->stage == stage && (stage || (mask[i] && !strcmp(step->mask, mask[i])));
        if (!ran && (!all || (!stage && !mask[i])))
            continue;
        *line = stage ? trace_line_of(recipe, stage) : (struct trace_line){.name = mask[i]};
        line->words = words + (ran ? step->words : 0);
        if (ran) {
            const struct shares after = shares_of(l, step++, c, before.p == l->p ? l->p + c->n_row : l->p);
            fill_line(line, l, &before, &after);
            line->best = most ? best : NULL;
            line->n_best = rank_best(l, &after, most, *behind, best);
            for (size_t k = 0; stage && stage->sampler->selector && k < line->n_best; k++)
                line->noisy = cand_noise_of(c, best[k].id, &best[k].noised);
            best += line->n_best;
            before = after;
        }
        line++;
    }
    res->record.n_trace = (size_t)(line - res->record.trace);
    return true;
}

// ---- the tokens that a page follows

#define REMOVED_P (-1.0f) // in place of a probability: the token is removed or masked

// The probability of a token after a step.
static float share_at(const struct log *l, const struct log_step *step, uint32_t id)
{
    const size_t at = log_find(l, step, id);
    return at == SIZE_MAX ? REMOVED_P : (float)step_prob(step, l->logit[step->at + at]);
}

// The tokens that are followed, by falling probability in the loaded row.
struct followers {
    struct ranked of[FOLLOWED_MOST];
    size_t n;
};

// Follows a token that the record shows, too. One that the row lacks cannot be followed.
static void add_follower(const struct log *l, const struct cand *c, struct followers *s, uint32_t id)
{
    for (size_t k = 0; k < s->n; k++)
        if (s->of[k].id == id)
            return;
    if (cand_row_place(c, id) < c->n_row)
        ranked_insert(s->of, &s->n, FOLLOWED_MOST, id, share_at(l, l->step, id));
}

static struct followers choose_followers(struct log *l, const struct cand *c, const struct record *r, size_t most)
{
    enum { OTHERS = 2 }; // the tokens that were chosen and accepted
    struct followers s = {.n = 0};
    const size_t best = most && most < FOLLOWED_MOST / 2 ? most : FOLLOWED_MOST / 2 - OTHERS;
    const struct shares row = shares_of(l, l->step, c, l->p);
    for (size_t i = 0; i < row.step->n; i++)
        ranked_insert(s.of, &s.n, best, row.id[i], (float)row.p[i]);
    s.n = s.n < best ? s.n : best;
    for (size_t i = 0; i < r->shown && i < best; i++)
        add_follower(l, c, &s, r->ranked[i].id);
    add_follower(l, c, &s, r->chosen);
    if (r->accepted >= 0)
        add_follower(l, c, &s, (uint32_t)r->accepted);
    return s;
}

bool trace_followed(struct log *l, const struct cand *c, size_t most, struct result *res)
{
    struct record *const r = &res->record;
    const struct followers s = choose_followers(l, c, r, most);
    if (!mem_grow(&res->followed, &res->followed_cap,
                  s.n * (sizeof(struct followed) + (r->n_trace + 1) * sizeof(float)) + 1, 1))
        return false;
    struct followed *const to = res->followed;
    float *p = (float *)(void *)(to + s.n);
    for (size_t i = 0; i < s.n; i++) {
        const struct log_step *step = l->step; // each enabled line has the next
        to[i] = (struct followed){.id = s.of[i].id, .p = p};
        *p++ = s.of[i].p;
        for (size_t k = 0; k < r->n_trace; k++, p++)
            *p = r->trace[k].enabled ? share_at(l, ++step, to[i].id) : p[-1];
        if (c->state == CAND_PROBABILITIES && p[-1] >= 0.0f)
            to[i].share = share_of(c, to[i].id, UINT32_MAX);
    }
    r->followed = to;
    r->n_followed = s.n;
    return true;
}
