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

// The mean of the logits that are not masked, which are *alive; their sum is taken in order.
static float mean_of(const struct cand *c, size_t *alive)
{
    float sum = 0.0f;
    *alive = 0;
    for (size_t b = 0; b < cand_blocks(c); b++) {
        float tmp[KERN_BLOCK];
        size_t len;
        const float *const x = cand_masked_block(c, b, tmp, &len);
        sum = c->kern->sum(x, len, sum);
        *alive += c->kern->count(x, len, -FLT_MAX);
    }
    return *alive ? sum / (float)*alive : 0.0f;
}

// The sum of the squares of their differences from mean, in order.
static float squares_about(const struct cand *c, float mean)
{
    float sum = 0.0f;
    for (size_t b = 0; b < cand_blocks(c); b++) {
        float tmp[KERN_BLOCK];
        size_t len;
        const float *const x = cand_masked_block(c, b, tmp, &len);
        sum = c->kern->sum_squares(x, len, mean, sum);
    }
    return sum;
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct top_n_sigma_params *const p = stage->params;
    size_t alive;
    const float mean = mean_of(c, &alive);
    if (c->n < 2 || !alive)
        return;
    const float max = c->dense ? cand_max(c) : c->kern->max(c->logit, c->n);
    cand_mask_below(c, max - p->n * sqrtf(squares_about(c, mean) / (float)alive));
}

const struct sampler sampler_top_n_sigma = {
    .limits = true, .name = "top_n_sigma", .letter = 's', PARAMS(params, top_n_sigma_params), .runs = {ABOVE, 0}, .apply = apply};
