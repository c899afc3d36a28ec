// SPDX-License-Identifier: MIT
// top_n_sigma (Tang et al. 2024, arXiv 2411.07641): masks the logits more than n standard deviations below the largest.
#include "sample/sampler.h"

#include <math.h>

struct top_n_sigma_params {
    float n;
};

static const struct param params[] = {
    {"top-nsigma", "mask logits more than N standard deviations below the largest; -1: none", FLOAT_AT(top_n_sigma_params, n),
     FINITE, .def = -1, .metavar = "N", .also = "top-n-sigma", .server = "top_n_sigma"},
    {NULL},
};

static bool enabled(const struct stage *stage)
{
    const struct top_n_sigma_params *const p = stage->params;
    return p->n > 0.0f;
}

// max - n * standard deviation of the unmasked logits, of which there is at least one.
static float threshold(const struct cand *c, size_t alive, float n)
{
    const struct kern *const k = c->kern;
    const float count = (float)alive;
    const float mean = k->sum(c->logit, c->n, 0.0f) / count;
    const float deviation = sqrtf(k->sum_squares(c->logit, c->n, mean, 0.0f) / count);
    return k->max(c->logit, c->n) - n * deviation;
}

static struct fault apply(void *self, struct cand *c, const struct stage *stage, const struct history *h)
{
    const struct top_n_sigma_params *const p = stage->params;
    if (c->n < 2)
        return fault_none();
    struct fault fault = cand_list(c);
    size_t alive = 0;
    if (!fault.code)
        fault = cand_alive(c, c->n, &alive);
    if (!fault.code && alive)
        c->kern->mask_below(c->logit, c->n, threshold(c, alive, p->n));
    return fault;
}

const struct sampler sampler_top_n_sigma = {
    .name = "top_n_sigma", .letter = 's', PARAMS(params, top_n_sigma_params), .enabled = enabled, .apply = apply};
