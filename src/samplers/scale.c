// SPDX-License-Identifier: MIT
// scale (the engine akunu): logit *= 1 / temp, which is not quite logit / temp.
#include "sample/sampler.h"

#include <math.h>

struct scale_params {
    float temp;
};

static const struct param params[] = {
    {"temp", FLOAT_AT(scale_params, temp)},
    {NULL},
};

static bool enabled(const struct stage *stage)
{
    const struct scale_params *const p = stage->params;
    return p->temp != 1.0f;
}

static struct fault apply(void *self, struct cand *c, const struct stage *stage, const struct history *h)
{
    const struct scale_params *const p = stage->params;
    const float factor = 1.0f / p->temp;
    if (!(factor < INFINITY))
        return (struct fault){FAULT_OVERFLOW, 0};
    const struct fault fault = cand_list(c);
    if (!fault.code)
        c->kern->multiply(c->logit, c->n, factor);
    return fault;
}

const struct sampler sampler_scale = {
    .name = "scale", .internal = true, PARAMS(params, scale_params), .enabled = enabled, .apply = apply};
