// SPDX-License-Identifier: MIT
// skew (turboderp, ExLlamaV2): raises the cumulative distribution to a power. Above 0 it favours the unlikely, below 0 the likely.
#include "sample/sampler.h"

struct skew_params {
    float s;
};

static const struct param params[] = {
    {"skew", "above 0 favour the unlikely, below 0 the likely; 0: off", FLOAT_AT(skew_params, s), FINITE, .metavar = "S"},
    {NULL},
};

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct skew_params *const p = stage->params;
    if (c->n < 2)
        return;
    cand_softmax(c, true);
    const double total = c->kern->sum_wide(c->p, c->n, 0.0), power = exp((double)p->s);
    double sum = 0.0, share = 0.0, skewed = 0.0;
    for (size_t i = 0; !c->fault.code && i < c->n; i++) {
        const double share_before = share, skewed_before = skewed;
        sum += (double)c->p[i];
        share = i + 1 < c->n ? sum / total : 1.0;
        if (share != share_before)
            skewed = pow(share, power);
        c->p[i] = (float)(skewed - skewed_before);
        c->logit[i] = c->p[i] > 0.0f ? logf(c->p[i]) : -INFINITY;
    }
    c->order = CAND_UNSORTED;
}

const struct sampler sampler_skew = {
    .name = "skew", .letter = 'w', .foreign = true, PARAMS(params, skew_params), .runs = {OTHER_THAN, 0}, .apply = apply};
