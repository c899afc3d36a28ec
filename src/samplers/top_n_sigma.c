// SPDX-License-Identifier: MIT
// top_n_sigma (Tang et al. 2024, arXiv 2411.07641): masks the logits more than n standard deviations below the largest.
#include "sample/sampler.h"

struct top_n_sigma_params {
    float n;
};

static const struct param params[] = {
    {"top-nsigma", "mask logits more than N standard deviations below the largest; -1: none", FLOAT_AT(top_n_sigma_params, n),
     FINITE, .def = -1, .metavar = "N", .also = "top-n-sigma", .server = "top_n_sigma"},
    {NULL},
};

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct top_n_sigma_params *const p = stage->params;
    const struct kern *const k = c->kern;
    if (c->n < 2)
        return;
    cand_list(c);
    const float alive = (float)cand_alive(c, c->n);
    if (!(alive > 0.0f))
        return;
    const float mean = k->sum(c->logit, c->n, 0.0f) / alive;
    const float deviation = sqrtf(k->sum_squares(c->logit, c->n, mean, 0.0f) / alive);
    k->mask_below(c->logit, c->n, k->max(c->logit, c->n) - p->n * deviation);
}

const struct sampler sampler_top_n_sigma = {
    .limits = true, .name = "top_n_sigma", .letter = 's', PARAMS(params, top_n_sigma_params), .runs = {ABOVE, 0}, .apply = apply};
