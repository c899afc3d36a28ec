// SPDX-License-Identifier: MIT
#include "sample/chain.h"

#include <stdlib.h>
#include <string.h>

struct stage {
    const char *name;
    const struct sampler *sampler;
    struct params params;
    void *state;
};

struct chain {
    struct history history;
    size_t n;
    struct stage stage[]; // [n] the enabled ones
};

static struct fault add(struct chain *ch, const char *name, const struct sampler *s, const struct params *p)
{
    if (s->enabled && !s->enabled(p))
        return fault_none();
    struct stage *const stage = &ch->stage[ch->n];
    void *state = NULL;
    if (s->size && !(state = calloc(1, s->size)))
        return fault_memory();
    *stage = (struct stage){name, s, *p, state};
    ch->n++;
    return s->init ? s->init(state, &stage->params, &ch->history) : fault_none();
}

// --mirostat: nothing but a plain temperature before it.
static struct fault build_mirostat(struct chain *ch, const struct params *p)
{
    struct params plain = *p;
    plain.dynatemp_range = 0.0f;
    const struct fault fault = add(ch, "temperature", &sampler_temperature, &plain);
    if (fault.code)
        return fault;
    return p->mirostat == 1 ? add(ch, "mirostat", &sampler_mirostat, p) : add(ch, "mirostat_v2", &sampler_mirostat_v2, p);
}

static struct fault build(struct chain *ch, const struct params *p, const struct choice *choice, size_t n)
{
    struct fault fault = add(ch, "logit_bias", &sampler_logit_bias, p);
    if (p->mirostat && !fault.code)
        return build_mirostat(ch, p);
    struct choice selector = {.row = registry_by_name("dist", 4), .params = *p};
    for (size_t i = 0; i < n && !fault.code; i++)
        if (choice[i].row->sampler->selector)
            selector = choice[i];
        else
            fault = add(ch, choice[i].row->name, choice[i].row->sampler, &choice[i].params);
    return fault.code ? fault : add(ch, selector.row->name, selector.row->sampler, &selector.params);
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

struct fault chain_apply(struct chain *ch, struct cand *c)
{
    struct fault fault = fault_none();
    for (size_t i = 0; i < ch->n && !fault.code; i++) {
        const struct stage *const stage = &ch->stage[i];
        fault = stage->sampler->apply(stage->state, c, &stage->params, &ch->history);
    }
    return fault;
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

void chain_reset(struct chain *ch, uint32_t seed)
{
    history_clear(&ch->history);
    for (size_t i = 0; i < ch->n; i++) {
        struct stage *const stage = &ch->stage[i];
        stage->params.seed = seed;
        if (stage->sampler->reset)
            stage->sampler->reset(stage->state, &stage->params);
    }
}

struct chain *chain_new(const struct params *p, const struct choice *choice, size_t n, struct fault *fault)
{
    struct chain *ch =
        calloc(1, sizeof *ch + (n + 3) * sizeof *ch->stage); // choices, or mirostat's two, and logit-bias and a selector
    *fault = ch ? build(ch, p, choice, n) : fault_memory();
    if (!fault->code) {
        chain_reset(ch, p->seed);
        return ch;
    }
    chain_free(ch);
    return NULL;
}
