// SPDX-License-Identifier: MIT
#include "sample/chain.h"

#include <stdlib.h>

struct stage {
    const struct sampler *sampler;
    size_t index; // in the plan
    struct params params;
    void *state;
};

struct chain {
    struct history history;
    size_t n, n_idle;
    struct stage *idle;   // [n_idle] of chains that this one goes on from, kept for one that has them again
    struct stage stage[]; // [n] the enabled ones
};

bool chain_enabled(const struct choice *stage)
{
    const struct sampler *const s = stage->row->sampler;
    return !s->enabled || s->enabled(&stage->params);
}

static struct choice stage_of(const struct sampler *sampler, const struct params *p)
{
    return (struct choice){registry_by_sampler(sampler), *p};
}

size_t chain_plan(const struct params *p, const struct choice *choice, size_t n, struct choice *plan)
{
    size_t stages = 0;
    plan[stages++] = stage_of(&sampler_logit_bias, p);
    if (p->mirostat) {
        plan[stages] = stage_of(&sampler_temperature, p);
        plan[stages++].params.dynatemp_range = 0.0f;
        plan[stages++] = stage_of(p->mirostat == 1 ? &sampler_mirostat : &sampler_mirostat_v2, p);
        return stages;
    }
    struct choice selector = stage_of(&sampler_dist, p);
    for (size_t i = 0; i < n; i++)
        if (choice[i].row->sampler->selector)
            selector = choice[i];
        else
            plan[stages++] = choice[i];
    plan[stages++] = selector;
    return stages;
}

// Builds a stage and, unless there is no memory for it, counts it in *n.
static struct fault add(struct chain *ch, struct stage *stage, size_t *n, struct stage what)
{
    const struct sampler *const s = what.sampler;
    what.state = calloc(1, s->size ? s->size : 1);
    if (!what.state)
        return fault_memory();
    *stage = what;
    ++*n;
    return s->init ? s->init(stage->state, &stage->params, &ch->history) : fault_none();
}

static void reset(struct stage *stage)
{
    if (stage->sampler->reset)
        stage->sampler->reset(stage->state, &stage->params);
}

struct chain *chain_new(const struct choice *plan, size_t n, struct fault *fault)
{
    struct chain *const ch = calloc(1, sizeof *ch + n * sizeof *ch->stage);
    *fault = fault_memory();
    if (!ch)
        return NULL;
    *fault = fault_none();
    for (size_t i = 0; i < n && !fault->code; i++) {
        if (chain_enabled(&plan[i]))
            *fault = add(ch, &ch->stage[ch->n], &ch->n, (struct stage){plan[i].row->sampler, i, plan[i].params, NULL});
    }
    for (size_t i = 0; i < ch->n && !fault->code; i++)
        reset(&ch->stage[i]);
    if (!fault->code)
        return ch;
    chain_free(ch);
    return NULL;
}

// The stages, then the idle ones.
static struct stage *stage_at(struct chain *ch, size_t i)
{
    return i < ch->n ? &ch->stage[i] : &ch->idle[i - ch->n];
}

void chain_free(struct chain *ch)
{
    if (!ch)
        return;
    for (size_t i = 0; i < ch->n + ch->n_idle; i++) {
        struct stage *const stage = stage_at(ch, i);
        if (stage->sampler->release)
            stage->sampler->release(stage->state);
        free(stage->state);
    }
    free(ch->idle);
    history_free(&ch->history);
    free(ch);
}

void chain_reset(struct chain *ch, uint32_t seed)
{
    history_clear(&ch->history);
    for (size_t i = 0; i < ch->n + ch->n_idle; i++) {
        stage_at(ch, i)->params.seed = seed;
        reset(stage_at(ch, i));
    }
}

struct fault chain_apply(struct chain *ch, struct cand *c, chain_watch_fn *watch, void *arg)
{
    struct fault fault = fault_none();
    for (size_t i = 0; i < ch->n; i++) {
        const struct stage *const stage = &ch->stage[i];
        if (fault.code) { // the generators are to stand where a good row leaves them
            if (stage->sampler->skip)
                stage->sampler->skip(stage->state, 1);
            continue;
        }
        fault = stage->sampler->apply(stage->state, c, &stage->params, &ch->history);
        if (watch && !fault.code)
            fault = watch(arg, stage->index, c);
    }
    return fault;
}

enum carry chain_carry(const struct choice *plan, size_t n, size_t *stage)
{
    enum carry most = CARRY_NOTHING;
    for (size_t i = 0; i < n; i++) {
        const struct sampler *const s = plan[i].row->sampler;
        const enum carry carry = chain_enabled(&plan[i]) && s->carry ? s->carry(&plan[i].params) : CARRY_NOTHING;
        if (carry > most && stage)
            *stage = i;
        most = carry > most ? carry : most;
    }
    return most;
}

void chain_skip(struct chain *ch, uint64_t rows)
{
    for (size_t i = 0; i < ch->n; i++)
        if (ch->stage[i].sampler->skip)
            ch->stage[i].sampler->skip(ch->stage[i].state, rows);
}

struct fault chain_accept(struct chain *ch, uint32_t token)
{
    struct fault fault = history_add(&ch->history, token);
    for (size_t i = 0; i < ch->n && !fault.code; i++) {
        const struct stage *const stage = &ch->stage[i];
        if (stage->sampler->accept)
            fault = stage->sampler->accept(stage->state, token, &stage->params, &ch->history);
    }
    return fault;
}

void chain_remember(struct chain *ch)
{
    history_widen(&ch->history, HISTORY_ALL);
}

// How many of the first n stages of ch, idle ones included, have this sampler.
static size_t count(struct chain *ch, const struct sampler *sampler, size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += stage_at(ch, i)->sampler == sampler;
    return found;
}

// Lets the stage of ch with the same sampler, and as many such before it, go on where other's stands. Where there is none, an idle one.
static struct fault hand_on(struct chain *ch, struct chain *other, size_t at)
{
    const struct stage *const from = stage_at(other, at);
    const struct sampler *const s = from->sampler;
    size_t before = count(other, s, at);
    struct stage *to = NULL;
    if (!s->adopt || from->params.seed != ch->stage[0].params.seed)
        return fault_none();
    for (size_t i = 0; i < ch->n && !to; i++)
        if (ch->stage[i].sampler == s && !before--)
            to = &ch->stage[i];
    struct fault fault = fault_none();
    if (!to) {
        to = &ch->idle[ch->n_idle];
        fault = add(ch, to, &ch->n_idle, (struct stage){s, 0, from->params, NULL});
    }
    if (!fault.code)
        s->adopt(to->state, from->state);
    return fault;
}

struct fault chain_adopt(struct chain *ch, struct chain *other)
{
    struct fault fault = fault_none();
    for (size_t i = history_len(&other->history, HISTORY_ALL); i-- && !fault.code;)
        fault = chain_accept(ch, history_newest(&other->history, i));
    ch->idle = calloc(other->n + other->n_idle, sizeof *ch->idle);
    if (!ch->idle && !fault.code)
        fault = fault_memory();
    for (size_t i = 0; i < other->n + other->n_idle && !fault.code; i++)
        fault = hand_on(ch, other, i);
    return fault;
}
