// SPDX-License-Identifier: MIT
// min_p (Nguyen et al. 2024, arXiv 2407.01082): the candidates at least p times as likely as the likeliest. In logits the bound is
// max + ln p, so no softmax is needed.
#include "sample/sampler.h"

#include <math.h>

struct min_p_params {
    float p;
    int32_t min_keep;
};

static const struct param params[] = {
    {"min-p", "keep those at least P times as likely as the likeliest; 0: all", FLOAT_AT(min_p_params, p), FINITE, .def = 0.05f,
     .metavar = "P", CLAMPED(0, 1)},
    {"min-keep", INT_AT(min_p_params, min_keep)},
    {NULL},
};

static bool enabled(const struct stage *stage)
{
    const struct min_p_params *const p = stage->params;
    return p->p > 0.0f;
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct min_p_params *const p = stage->params;
    const float floor = cand_max(c) + logf(p->p);
    const size_t least = p->min_keep ? (size_t)p->min_keep : 1;
    if (c->order != CAND_SORTED) {
        if (!cand_keep_from(c, floor, least))
            cand_top_k(c, least);
        return;
    }
    size_t keep = least < c->n ? least : c->n;
    while (keep < c->n && c->logit[keep] >= floor)
        keep++;
    cand_truncate(c, keep);
}

const struct sampler sampler_min_p = {
    .name = "min_p", .letter = 'm', PARAMS(params, min_p_params), .enabled = enabled, .apply = apply};
