// SPDX-License-Identifier: MIT
// p_step (llama.cpp PR 5675, which was not merged): the likeliest candidates up to the first step down, where one is
// less than s times as likely as the one before.
#include "sample/sampler.h"

static const struct param params[] = {
    {"p-step", "keep those before the first that is less than S times as likely as the one before; 0: all",
     FLOAT_AT(value_params, value), RANGE(0, 1), .metavar = "S", SLIDER(0, 1, 0.01)},
    MIN_KEEP,
    {NULL},
};

static size_t keep_before_step(struct cand *c, const struct head *head, const void *of_stage)
{
    const struct value_params *const p = of_stage;
    size_t i = 1;
    while (i < head->best.n && !(head->p[i] < p->value * head->p[i - 1]))
        i++;
    return i < head->best.n || i == c->n ? i : 0;
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    cand_cut(c, 16.7f, (size_t)p->min_keep, keep_before_step, p);
}

const struct sampler sampler_p_step = {
    .name = "p_step", .letter = 'j', .foreign = true, PARAMS(params, value_params), .runs = {ABOVE, 0}, .apply = apply};
