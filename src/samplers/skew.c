// SPDX-License-Identifier: MIT
// skew (turboderp, ExLlamaV2): raises the cumulative distribution to a power. Above 0 it favours the unlikely, below 0 the likely.
#include "kern/libm.h"
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
    double *const cumulative = cand_scratch(c, c->n, sizeof *cumulative), sum = 0.0, before = 0.0;
    if (c->fault.code)
        return;
    for (size_t i = 0; i < c->n; i++)
        cumulative[i] = sum += (double)c->p[i];
    c->kern->raise_shares(cumulative, c->n, sum, libm_exp((double)p->s));
    for (size_t i = 0; i < c->n; i++) {
        c->p[i] = (float)(cumulative[i] - before);
        c->logit[i] = c->p[i] > 0.0f ? c->p[i] : 0.0f;
        before = cumulative[i];
    }
    c->kern->log(c->logit, c->logit, c->n);
    c->order = CAND_UNSORTED;
}

const struct sampler sampler_skew = {
    .name = "skew", .letter = 'w', .foreign = true, PARAMS(params, skew_params), .runs = {OTHER_THAN, 0}, .apply = apply};
