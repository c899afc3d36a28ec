// SPDX-License-Identifier: MIT
// top_n_sigma (Tang et al. 2024, arXiv 2411.07641): masks the logits more than n standard deviations below the largest.
#include "sample/sampler.h"

static const struct param params[] = {
    {"top-nsigma", "mask logits more than N standard deviations below the largest; -1: none",
     FLOAT_AT(value_params, value), FINITE, .def = -1, .metavar = "N", .also = "top-n-sigma", .server = "top_n_sigma"},
    {NULL},
};

struct moments {
    const struct kern *kern;
    float sum, mean, squares; // squares: of the differences from mean
    size_t alive;             // logits that are not masked
};

static void add_logits(void *arg, const float *x, size_t n)
{
    struct moments *const m = arg;
    m->sum = m->kern->sum(x, n, m->sum);
    m->alive += m->kern->count(x, n, -FLT_MAX);
}

static void add_squares(void *arg, const float *x, size_t n)
{
    struct moments *const m = arg;
    m->squares = m->kern->sum_squares(x, n, m->mean, m->squares);
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    struct moments m = {.kern = c->kern};
    cand_each_run(c, add_logits, &m);
    if (c->n < 2 || !m.alive)
        return;
    m.mean = m.sum / (float)m.alive;
    cand_each_run(c, add_squares, &m);
    const float max = c->dense ? cand_max(c) : c->kern->max(c->logit, c->n);
    cand_mask_below(c, max - p->value * sqrtf(m.squares / (float)m.alive));
}

const struct sampler sampler_top_n_sigma = {.limits = true,
                                            .name = "top_n_sigma",
                                            .letter = 's',
                                            PARAMS(params, value_params),
                                            .runs = {ABOVE, 0},
                                            .apply = apply};
