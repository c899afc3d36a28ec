// SPDX-License-Identifier: MIT
// tfs (tail free sampling; Phénix and Egan 2019): the candidates before the tail, in which the curve of the sorted
// probabilities bends no more. llama.cpp had it until October 2024. tfs_tg: as text-generation-webui has it, which
// keeps one more.
#include "sample/sampler.h"

#include <stdlib.h>

enum { TG = 1 }; // the variant of text-generation-webui

static const struct param params[] = {
    {"tfs",
     "keep tokens before the tail, which begins where the curve has used the fraction Z of its curvature; 1: all",
     FLOAT_AT(value_params, value), RANGE(0, 1), .def = 1, .metavar = "Z", SLIDER(0, 1, 0.01)},
    MIN_KEEP,
    {NULL},
};
static const struct param tg_params[] = {{"tfs", FLOAT_AT(value_params, value)}, MIN_KEEP, {NULL}};

// Returns whether adding x would leave the sum as it is.
static bool negligible(float x, float sum) { return x < (nextafterf(sum, INFINITY) - sum) / 2; }

// Returns how many to keep; 0 if the head does not tell. The curvature at rank i is at most p[i], because the
// probabilities fall. If p behind the head is below half an ulp of the total curvature, adding the rest would not
// change the total.
static size_t keep_before_tail(struct cand *c, const struct head *head, const void *of_stage)
{
    const struct stage *const stage = of_stage;
    const struct value_params *const t = stage->params;
    const bool part = head->best.n < c->n, tg = stage->sampler->variant == TG;
    const float *const p = head->p;
    const size_t m = head->best.n > 2 ? head->best.n - 2 : 0, least = tg                ? 0
                                                                      : t->min_keep > 1 ? (size_t)t->min_keep
                                                                                        : 1;
    float *const curve = cand_scratch(c, head->best.n, sizeof *curve);
    if (!curve || !m)
        return 0;
    for (size_t i = 0; i < m; i++)
        curve[i] = fabsf((p[i] - p[i + 1]) - (p[i + 1] - p[i + 2]));
    const float total = c->kern->sum(curve, m, 0.0f);
    const bool flat = !(total > 1e-6f);
    if (part && (flat || !negligible(p[m], total)))
        return 0;
    float sum = 0.0f;
    for (size_t i = 0; i < m; i++) {
        sum += flat ? 1.0f / (float)m : curve[i] / total;
        if (sum > t->value && i >= least)
            return i + tg;
    }
    if (part && (least >= m || !negligible(p[m] / total, sum)))
        return 0;
    return c->n - tg;
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    if (c->n > 2)
        cand_cut(c, 20.0f, (size_t)p->min_keep, keep_before_tail, stage);
}

// The number is the share of the curvature down to the candidate; for tfs_tg, to the one before it.
static double distance(const struct stage *stage, const struct compared *of)
{
    const bool tg = stage->sampler->variant == TG;
    float *const x = of->n > 2 ? compared_ranked(of) : NULL;
    double sum = 0.0, down_to = 0.0;
    for (size_t i = 0; x && i + 2 < of->n; i++) {
        const double p0 = softmax_prob(of->softmax, x[i]), p1 = softmax_prob(of->softmax, x[i + 1]),
                     p2 = softmax_prob(of->softmax, x[i + 2]);
        sum += fabs((p0 - p1) - (p1 - p2));
        if (x[i + tg] >= of->own)
            down_to = sum;
    }
    free(x);
    return sum > 1e-6 ? distance_between(down_to / sum, stage_first(stage)) : INFINITY;
}

// Of three candidates the curve has one bend, which no fraction below 1 leaves out; tfs keeps the best in any case.
static void explain(struct account *a)
{
    const bool tg = a->stage->sampler->variant == TG;
    const double most = (double)a->before.n - (tg ? 2 : 3); // it keeps where the curve has one more bend
    if (a->unchanged && !account_few(a, tg ? 3 : 4) && !account_min_keep(a, most))
        account_say(a, "kept all");
}

const struct sampler sampler_tfs = {.name = "tfs",
                                    .aliases = "tfs_z",
                                    .letter = 'f',
                                    FOREIGN,
                                    .joins_default = true,
                                    PARAMS(params, value_params),
                                    .runs = {BELOW, 1},
                                    .apply = apply,
                                    .distance = distance,
                                    .explain = explain};
const struct sampler sampler_tfs_tg = {.name = "tfs_tg",
                                       .variant = TG,
                                       FOREIGN,
                                       PARAMS(tg_params, value_params),
                                       .runs = {BELOW, 1},
                                       .apply = apply,
                                       .distance = distance,
                                       .explain = explain};
