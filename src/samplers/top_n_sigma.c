// SPDX-License-Identifier: MIT
// top_n_sigma (Tang et al. 2024, arXiv 2411.07641): masks the logits more than n standard deviations below the largest.
#include "sample/sampler.h"

struct top_n_sigma_params {
    float n;
};

static const struct param params[] = {
    {"top-nsigma", "mask logits more than N standard deviations below the largest; -1: none",
     FLOAT_AT(top_n_sigma_params, n), FINITE, .def = -1, .metavar = "N", .also = "top-n-sigma",
     .server = "top_n_sigma"},
    {NULL},
};

// The sum of the logits that are not masked, and how many they are; or of the squares of their differences from mean. In order.
static float add_up(const struct cand *c, const float *mean, size_t *alive)
{
    enum { BLOCKS = 16 };
    float sum = 0.0f;
    for (size_t b = 0; b < cand_blocks(c); b += BLOCKS) { // those that stand side by side in memory at once
        float tmp[BLOCKS][KERN_BLOCK];
        const float *at = NULL;
        size_t n = 0;
        for (size_t i = 0; i <= BLOCKS; i++) {
            size_t len = 0;
            const float *const x =
                i < BLOCKS && b + i < cand_blocks(c) ? cand_masked_block(c, b + i, tmp[i], &len) : NULL;
            if (!n || x != at + n) {
                sum = mean ? c->kern->sum_squares(at, n, *mean, sum) : c->kern->sum(at, n, sum);
                *alive += mean ? 0 : c->kern->count(at, n, -FLT_MAX);
                at = x;
                n = 0;
            }
            n += len;
        }
    }
    return sum;
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct top_n_sigma_params *const p = stage->params;
    size_t alive = 0;
    const float sum = add_up(c, NULL, &alive);
    if (c->n < 2 || !alive)
        return;
    const float mean = sum / (float)alive, squares = add_up(c, &mean, &alive);
    const float max = c->dense ? cand_max(c) : c->kern->max(c->logit, c->n);
    cand_mask_below(c, max - p->n * sqrtf(squares / (float)alive));
}

const struct sampler sampler_top_n_sigma = {.limits = true,
                                            .name = "top_n_sigma",
                                            .letter = 's',
                                            PARAMS(params, top_n_sigma_params),
                                            .runs = {ABOVE, 0},
                                            .apply = apply};
