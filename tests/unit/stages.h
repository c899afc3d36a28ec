// SPDX-License-Identifier: MIT
// stages.h: makes chains from a flat list of all samplers' parameters, without recipes and options.
#ifndef SAMPL_TESTS_STAGES_H
#define SAMPL_TESTS_STAGES_H

#include "chain/chain.h"
#include "programs/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct params {
    uint32_t seed;
    float temp, dynatemp_range, dynatemp_exp, top_p, min_p, typical, top_nsigma, xtc_probability, xtc_threshold;
    float repeat_penalty, frequency_penalty, presence_penalty, dry_multiplier, dry_base, mirostat_lr, mirostat_ent;
    float adaptive_target, adaptive_decay, scatter_strength, scatter_radius, scatter_strength_min, scatter_strength_max;
    float scatter_entropy_target, scatter_absorption, scatter_collision;
    int32_t min_keep, top_k, repeat_last_n, dry_allowed_length, dry_penalty_last_n, mirostat, scatter_k, scatter_steps;
    int32_t scatter_absorption_last_n;
    bool scatter_adaptive;
    const struct embeddings *embeddings; // of scatter; NULL: none
    const struct bias *bias;
    size_t n_bias;
    const struct tokens *dry_breakers;
    size_t n_dry_breakers;
    struct bans bans;
    struct more {
        const char *flag;
        float value;
    } more[16]; // other parameters that are not at their defaults
    size_t n_more;
};

#define STAGES_FLOAT(flag, member)                         \
    {                                                      \
        flag, PARAM_FLOAT, offsetof(struct params, member) \
    }
#define STAGES_INT(flag, member)                         \
    {                                                    \
        flag, PARAM_INT, offsetof(struct params, member) \
    }

static const struct {
    const char *flag;
    enum param_type type;
    size_t at;
} stages_fields[] = {
    STAGES_FLOAT("temp", temp),
    STAGES_FLOAT("dynatemp-range", dynatemp_range),
    STAGES_FLOAT("dynatemp-exp", dynatemp_exp),
    STAGES_FLOAT("top-p", top_p),
    STAGES_FLOAT("min-p", min_p),
    STAGES_FLOAT("typical", typical),
    STAGES_FLOAT("top-nsigma", top_nsigma),
    STAGES_FLOAT("xtc-probability", xtc_probability),
    STAGES_FLOAT("xtc-threshold", xtc_threshold),
    STAGES_FLOAT("repeat-penalty", repeat_penalty),
    STAGES_FLOAT("frequency-penalty", frequency_penalty),
    STAGES_FLOAT("presence-penalty", presence_penalty),
    STAGES_FLOAT("dry-multiplier", dry_multiplier),
    STAGES_FLOAT("dry-base", dry_base),
    STAGES_FLOAT("mirostat-lr", mirostat_lr),
    STAGES_FLOAT("mirostat-ent", mirostat_ent),
    STAGES_FLOAT("adaptive-target", adaptive_target),
    STAGES_FLOAT("adaptive-decay", adaptive_decay),
    STAGES_FLOAT("scatter-strength", scatter_strength),
    STAGES_FLOAT("scatter-radius", scatter_radius),
    STAGES_FLOAT("scatter-strength-min", scatter_strength_min),
    STAGES_FLOAT("scatter-strength-max", scatter_strength_max),
    STAGES_FLOAT("scatter-entropy-target", scatter_entropy_target),
    STAGES_FLOAT("scatter-absorption", scatter_absorption),
    STAGES_FLOAT("scatter-collision", scatter_collision),
    STAGES_INT("min-keep", min_keep),
    STAGES_INT("top-k", top_k),
    STAGES_INT("repeat-last-n", repeat_last_n),
    STAGES_INT("dry-allowed-length", dry_allowed_length),
    STAGES_INT("dry-penalty-last-n", dry_penalty_last_n),
    STAGES_INT("mirostat", mirostat),
    STAGES_INT("scatter-k", scatter_k),
    STAGES_INT("scatter-steps", scatter_steps),
    STAGES_INT("scatter-absorption-last-n", scatter_absorption_last_n),
    {"scatter-adaptive", PARAM_FLAG, offsetof(struct params, scatter_adaptive)},
};

enum { STAGES_MOST = 20 };

// Stages and the memory that they point to. Must outlive the chain.
struct stages {
    struct catalog catalog;
    size_t n;
    struct stage stage[STAGES_MOST];
    struct context context[STAGES_MOST];
    struct bias_table biases[STAGES_MOST];
    struct breakers breakers[STAGES_MOST];
    struct bans bans[STAGES_MOST];
    double params[STAGES_MOST][CATALOG_PARAMS];
};

static inline void stages_init(struct stages *s)
{
    memset(s, 0, sizeof *s);
    catalog_make(&s->catalog);
}

static inline size_t stages_number(const struct stages *s, const char *flag)
{
    const size_t number = catalog_find(&s->catalog, flag);
    if (number == s->catalog.n) {
        fprintf(stderr, "tests/unit/stages.h: there is no parameter %s\n", flag);
        exit(2);
    }
    return number;
}

static inline void stages_values(const struct stages *s, const struct params *p, double *value)
{
    catalog_defaults(&s->catalog, value);
    for (size_t i = 0; i < sizeof stages_fields / sizeof *stages_fields; i++) {
        const struct param row = {.type = stages_fields[i].type, .at = stages_fields[i].at};
        value[stages_number(s, stages_fields[i].flag)] = param_load(&row, p);
    }
    for (size_t i = 0; i < p->n_more; i++)
        value[stages_number(s, p->more[i].flag)] = (double)p->more[i].value;
}

// Appends a stage for the sampler at this index of the list.
static inline void stages_add(struct stages *s, size_t place, const double *value, const struct params *p)
{
    const size_t i = s->n++;
    catalog_fill(&s->catalog, place, value, s->params[i]);
    s->breakers[i] = (struct breakers){.sequence = p->dry_breakers, .n_sequences = p->n_dry_breakers};
    if (!bias_table_build(&s->biases[i], p->bias, p->n_bias) || !breakers_find_heads(&s->breakers[i], NULL))
        exit(3);
    s->bans[i] = p->bans;
    s->context[i] = (struct context){NULL, &s->biases[i], &s->breakers[i], &s->bans[i], p->embeddings};
    s->stage[i] = (struct stage){samplers[place], s->params[i], &s->context[i]};
}

static inline struct chain *stages_chain(const struct stages *s, uint32_t seed)
{
    return chain_new(s->stage, s->n, seed);
}

// Makes the chain of an engine; with engine llama, a chain of n samplers by name, each with parameters of its own.
static inline void stages_fill(struct stages *s, const struct engine *engine, const struct params *common,
                               const char *const *name, const struct params *own, size_t n)
{
    double value[CATALOG_MOST];
    struct order_entry choice[STAGES_MOST], plan[STAGES_MOST];
    stages_values(s, common, value);
    if (engine->options) {
        if (engine->adjust)
            engine->adjust(&s->catalog, value);
        const size_t stages = order_engine(engine, value[s->catalog.temp], false, plan);
        for (size_t i = 0; i < stages; i++)
            stages_add(s, plan[i].place, value, common);
        return;
    }
    for (size_t i = 0; i < n; i++) // the value selects the parameters
        choice[i] =
            (struct order_entry){sampler_place(sampler_by_name(name[i], strlen(name[i]))), true, SIZE_MAX, (double)i};
    const size_t stages = order_chain(choice, n, common->mirostat, plan);
    for (size_t i = 0; i < stages; i++) {
        const bool is_own = plan[i].own && plan[i].param == SIZE_MAX;
        const struct params *const p = is_own ? &own[(size_t)plan[i].value] : common;
        double values[CATALOG_MOST];
        stages_values(s, p, values);
        stages_add(s, plan[i].place, values, p);
        if (plan[i].own && !is_own)
            param_store(&samplers[plan[i].place]->params[plan[i].param], s->params[s->n - 1], plan[i].value);
    }
}

static inline void stages_free(struct stages *s)
{
    for (size_t i = 0; i < s->n; i++) {
        bias_table_free(&s->biases[i]);
        breakers_free(&s->breakers[i]);
    }
    s->n = 0;
}

#endif
