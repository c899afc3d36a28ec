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
    size_t n;
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

static struct fault add(struct chain *ch, const struct choice *choice, size_t index)
{
    const struct sampler *const s = choice->row->sampler;
    struct stage *const stage = &ch->stage[ch->n];
    void *const state = calloc(1, s->size ? s->size : 1);
    if (!state)
        return fault_memory();
    *stage = (struct stage){s, index, choice->params, state};
    ch->n++;
    return s->init ? s->init(state, &stage->params, &ch->history) : fault_none();
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
            *fault = add(ch, &plan[i], i);
    }
    for (size_t i = 0; i < ch->n && !fault->code; i++)
        reset(&ch->stage[i]);
    if (!fault->code)
        return ch;
    chain_free(ch);
    return NULL;
}

void chain_free(struct chain *ch)
{
    if (!ch)
        return;
    for (size_t i = 0; i < ch->n; i++) {
        if (ch->stage[i].sampler->release)
            ch->stage[i].sampler->release(ch->stage[i].state);
        free(ch->stage[i].state);
    }
    history_free(&ch->history);
    free(ch);
}

void chain_reset(struct chain *ch, uint32_t seed)
{
    history_clear(&ch->history);
    for (size_t i = 0; i < ch->n; i++) {
        ch->stage[i].params.seed = seed;
        reset(&ch->stage[i]);
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

// The stage of ch with this sampler, not counting the first `before`; NULL: none.
static const struct stage *find_stage(const struct chain *ch, const struct sampler *sampler, size_t before)
{
    for (size_t i = 0; i < ch->n; i++)
        if (ch->stage[i].sampler == sampler && !before--)
            return &ch->stage[i];
    return NULL;
}

static void adopt(struct chain *ch, size_t at, const struct chain *other)
{
    const struct stage *const stage = &ch->stage[at];
    size_t before = 0;
    for (size_t i = 0; i < at; i++)
        before += ch->stage[i].sampler == stage->sampler;
    const struct stage *const from = find_stage(other, stage->sampler, before);
    if (stage->sampler->adopt && from && from->params.seed == stage->params.seed)
        stage->sampler->adopt(stage->state, from->state);
}

struct fault chain_adopt(struct chain *ch, const struct chain *other)
{
    struct fault fault = fault_none();
    for (size_t i = history_len(&other->history, HISTORY_ALL); i-- && !fault.code;)
        fault = chain_accept(ch, history_newest(&other->history, i));
    for (size_t i = 0; i < ch->n && !fault.code; i++)
        adopt(ch, i, other);
    return fault;
}
