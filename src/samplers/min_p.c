// SPDX-License-Identifier: MIT
// min_p (Nguyen et al. 2024, arXiv 2407.01082): the candidates at least p times as likely as the likeliest. In logits
// the bound is max + ln p, so no softmax is needed.
#include "kern/libm.h"
#include "sample/sampler.h"

static const struct param params[] = {
    {"min-p", "keep tokens with at least P of the largest probability; 0: all", FLOAT_AT(value_params, value), FINITE,
     .common = true, .def = 0.05f, .metavar = "P", CLAMPED(0, 1), SLIDER(0, 0.5, 0.005)},
    MIN_KEEP,
    {NULL},
};

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    cand_keep_from(c, cand_max(c) + libm_logf(p->value), p->min_keep ? (size_t)p->min_keep : 1);
}

static void partial(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    unlisted_cut_below(c, cand_max(c) + libm_logf(p->value), (size_t)p->min_keep);
    apply(self, c, stage);
}

static const char *above_one(const struct stage *stage)
{
    return ((const struct value_params *)stage->params)->min_keep > 1 ? NULL : "keeps one token";
}

const struct sampler sampler_min_p = {.limits = LIMITS_RATIO,
                                      .name = "min_p",
                                      .letter = 'm',
                                      PARAMS(params, value_params),
                                      .runs = {ABOVE, 0},
                                      .above_one = above_one,
                                      .apply = apply,
                                      .explain = explain_ratio,
                                      .partial = {partial, stage_always}};
