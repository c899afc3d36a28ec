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

// The sum of the logits that are not masked, in order; or of the squares of their differences from mean.
static float sum(const struct cand *c, const float *mean)
{
    float s = 0.0f;
    for (size_t b = 0; b < cand_blocks(c); b++) {
        float tmp[KERN_BLOCK];
        size_t len;
        const float *const x = cand_masked_block(c, b, tmp, &len);
        s = mean ? c->kern->sum_squares(x, len, *mean, s) : c->kern->sum(x, len, s);
    }
    return s;
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct top_n_sigma_params *const p = stage->params;
    const float alive = c->n < 2 ? 0.0f : (float)cand_alive(c, c->n);
    if (!(alive > 0.0f))
        return;
    const float max = c->dense ? cand_max(c) : c->kern->max(c->logit, c->n), mean = sum(c, NULL) / alive;
    cand_mask_below(c, max - p->n * sqrtf(sum(c, &mean) / alive));
}

const struct sampler sampler_top_n_sigma = {
    .limits = true, .name = "top_n_sigma", .letter = 's', PARAMS(params, top_n_sigma_params), .runs = {ABOVE, 0}, .apply = apply};
