// SPDX-License-Identifier: MIT
// top_n_sigma (Tang et al. 2024, arXiv 2411.07641): masks the logits more than n standard deviations below the largest.
#include "sample/cand_private.h"
#include "sample/sampler.h"

static const struct param params[] = {
    {"top-nsigma", "mask logits more than N standard deviations below the largest; -1: none",
     FLOAT_AT(value_params, value), FINITE, .def = -1, .metavar = "N", .also = "top-n-sigma", .server = "top_n_sigma",
     SLIDER(-1, 5, 0.05)},
    {NULL},
};

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    float tmp[KERN_BLOCK], sum = 0.0f, squares = 0.0f;
    size_t len, alive = 0; // alive: logits that are not masked
    for (size_t b = 0; b < cand_blocks(c); b++) {
        const float *const x = cand_masked_block(c, b, tmp, &len);
        sum = c->kern->sum(x, len, sum);
        alive += c->kern->count(x, len, -FLT_MAX);
    }
    if (c->n < 2 || !alive)
        return;
    const float mean = sum / (float)alive;
    for (size_t b = 0; b < cand_blocks(c); b++) {
        const float *const x = cand_masked_block(c, b, tmp, &len);
        squares = c->kern->sum_squares(x, len, mean, squares);
    }
    const float max = c->dense ? cand_max(c) : c->kern->max(c->logit, c->n),
                floor = max - p->value * sqrtf(squares / (float)alive);
    for (size_t i = 0; rest_is_list(&c->rest) && i < c->n; i++)
        if (cand_logit(c, i) < max && fabsf(cand_logit(c, i) - floor) < (float)REST_SLACK)
            rest_end(c, false);
    cand_mask_below(c, floor);
}

const struct sampler sampler_top_n_sigma = {.limits = LIMITS_OTHERWISE,
                                            .name = "top_n_sigma",
                                            .letter = 's',
                                            PARAMS(params, value_params),
                                            .runs = {ABOVE, 0},
                                            .apply = apply};
