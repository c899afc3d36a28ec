// SPDX-License-Identifier: MIT
// logit-bias: logit[id] += bias, the biases of one id added one after the other in the order given. Ids
// outside of the vocabulary are ignored.
#include "sample/sampler.h"

static bool enabled(const struct stage *stage) { return stage->context->biases->ids.n > 0; }

static float add_biases(float logit, size_t j, const void *arg)
{
    const struct bias_table *const t = arg;
    for (size_t i = j ? t->end[j - 1] : 0; i < t->end[j]; i++)
        logit += t->bias[i];
    return logit;
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct bias_table *const t = stage->context->biases;
    cand_edit(c, &t->ids, add_biases, t);
}

static void explain(struct account *a)
{
    const struct idmap *const ids = &a->stage->context->biases->ids;
    if (a->unchanged)
        account_none(a, ids->id, ids->n, "biased");
}

const struct sampler sampler_logit_bias = {.name = "logit_bias",
                                           .lists = LISTS_BIASES,
                                           .in_llama = LLAMA_IMPLIES,
                                           .enabled = enabled,
                                           .apply = apply,
                                           .explain = explain,
                                           .partial = {apply_partial}};
