// SPDX-License-Identifier: MIT
// scale (the engine akunu): logit *= 1 / temp, which is not quite logit / temp.
#include "sample/sampler.h"

#include <math.h>

static bool enabled(const struct params *p)
{
    return p->temp != 1.0f;
}

static struct fault apply(void *self, struct cand *c, const struct params *p, const struct history *h)
{
    (void)self, (void)h;
    const float factor = 1.0f / p->temp;
    if (!(factor < INFINITY))
        return (struct fault){FAULT_OVERFLOW, 0};
    const struct fault fault = cand_list(c);
    if (!fault.code)
        c->kern->multiply(c->logit, c->n, factor);
    return fault;
}

const struct sampler sampler_scale = {.enabled = enabled, .apply = apply};
