// SPDX-License-Identifier: MIT
// softmax_rank (the engine ollama) and softmax_id (akunu): softmaxes that the stages after them cut without dividing anew.
#include "sample/sampler.h"

#include <math.h>

// A sorted list; exp in f64.
static struct fault by_rank(void *self, struct cand *c, const struct stage *stage, const struct history *h)
{
    const float max = c->logit[0];
    if (!(max < INFINITY))
        return (struct fault){FAULT_OVERFLOW, c->id[0]};
    if (max == -INFINITY)
        return (struct fault){FAULT_NOTHING_LEFT, 0};
    for (size_t i = 0; i < c->n; i++)
        c->p[i] = (float)exp((double)(c->logit[i] - max));
    c->has_p = true;
    c->kern->divide(c->p, c->n, c->kern->sum(c->p, c->n, 0.0f));
    return fault_none();
}

static struct fault by_id(void *self, struct cand *c, const struct stage *stage, const struct history *h)
{
    struct fault fault = cand_list(c);
    if (!fault.code)
        fault = cand_exp(c);
    if (!fault.code)
        c->kern->multiply(c->p, c->n, 1.0f / c->kern->sum(c->p, c->n, 0.0f));
    return fault;
}

const struct sampler sampler_softmax_rank = {.name = "softmax_rank", .internal = true, .apply = by_rank};
const struct sampler sampler_softmax_id = {.name = "softmax_id", .internal = true, .apply = by_id};
