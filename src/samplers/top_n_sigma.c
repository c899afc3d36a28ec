// SPDX-License-Identifier: MIT
// top_n_sigma (Tang et al. 2024, arXiv 2411.07641): masks the logits more than n standard deviations below the largest.
#include "sample/cand_private.h"
#include "sample/sampler.h"

static const struct param params[] = {
    {"top-nsigma", "mask logits more than N standard deviations below the largest; 0 or less: off",
     FLOAT_AT(value_params, value), FINITE, .def = -1, .metavar = "N", .also = "top-n-sigma", .server = "top_n_sigma",
     SLIDER(-1, 5, 0.05)},
    {NULL},
};

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    const float max = c->dense ? cand_max(c) : c->kern->max(c->logit, c->n);
    if (c->n < 2 || max == -INFINITY)
        return;
    const float floor = max - p->value * cand_deviation(c);
    for (size_t i = 0; list_is_rounded(&c->unlisted) && i < c->n; i++)
        if (cand_logit(c, i) < max && fabsf(cand_logit(c, i) - floor) < (float)LIST_SLACK)
            unlisted_remove(c, false);
    cand_mask_below(c, floor);
}

// Only a list of logits tells the deviation of the full row, or bounds of it once logits have changed. The full row's
// limit then lies between two, and the result is known if no candidate does. The largest logit must be listed.
static void partial(void *self, struct cand *c, const struct stage *stage)
{
    const float value = ((const struct value_params *)stage->params)->value, max = cand_max(c);
    float low_sd = 0.0f, high_sd = 0.0f;
    bool known = max >= c->unlisted.ceiling && unlisted_deviation(c, &low_sd, &high_sd);
    const float floor = max - value * high_sd, high = max - value * low_sd;
    known = known && (floor > c->unlisted.ceiling || high <= c->unlisted.ceiling);
    for (size_t i = 0; known && floor < high && i < c->n; i++)
        known = cand_logit(c, i) < floor || cand_logit(c, i) >= high;
    if (!known) {
        unlisted_remove(c, false);
        apply(self, c, stage);
        return;
    }
    if (floor > c->unlisted.ceiling)
        unlisted_mask(c, true);
    else
        unlisted_may_shrink(c);
    cand_mask_below(c, floor);
}

// The standard deviation of the candidates' logits.
static double deviation(const struct compared *of)
{
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < of->n; i++)
        sum += of->logit[i];
    for (size_t i = 0; i < of->n; i++)
        squares += (of->logit[i] - sum / (double)of->n) * (of->logit[i] - sum / (double)of->n);
    return sqrt(squares / (double)of->n);
}

// The number is the distance from the largest logit, and the limit n standard deviations.
static double distance(const struct stage *stage, const struct compared *of)
{
    return distance_between((double)of->softmax->max - of->own, stage_first(stage) * deviation(of));
}

static void explain(struct account *a)
{
    const double lowest = (double)a->of.softmax->max - a->of.own, limit = stage_first(a->stage) * deviation(&a->of);
    if (!account_few(a, 2))
        account_kept(a, ": the limit is ", limit, " below the largest logit, the lowest ", lowest);
}

const struct sampler sampler_top_n_sigma = {.limits = LIMITS_OTHERWISE,
                                            .name = "top_n_sigma",
                                            .letter = 's',
                                            PARAMS(params, value_params),
                                            .runs = {ABOVE, 0},
                                            .apply = apply,
                                            .distance = distance,
                                            .explain = explain,
                                            .partial = {partial, .of_logits = true}};
