// SPDX-License-Identifier: MIT
// top_k: the k best candidates, sorted.
#include "sample/sampler.h"

static const struct param params[] = {
    {"top-k", "keep the K likeliest tokens; 0 or less: all", INT_AT(count_params, count), ANY_INT, .common = true,
     .def = 40, .metavar = "K", CLAMPED(0, INFINITY), LOG_SLIDER(1, 1000, 1)},
    {NULL},
};

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct count_params *const p = stage->params;
    cand_top_k(c, (size_t)p->count);
}

static void partial(void *self, struct cand *c, const struct stage *stage)
{
    const size_t k = (size_t)((const struct count_params *)stage->params)->count;
    unlisted_top_k(c, k);
    cand_top_k(c, k < c->n ? k : c->n);
}

const struct sampler sampler_top_k = {.limits = LIMITS_RANK,
                                      .name = "top_k",
                                      .letter = 'k',
                                      PARAMS(params, count_params),
                                      .runs = {ABOVE, 0},
                                      .apply = apply,
                                      .explain = explain_rank,
                                      .partial = {partial, stage_always}};
