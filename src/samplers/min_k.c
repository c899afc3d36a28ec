// SPDX-License-Identifier: MIT
// min_k (arXiv 2604.11012): the candidates above the steepest cliff of the sorted logits, where a gap counts the less
// the deeper it is; at least as many as tau goes times into the range of the logits. A temperature does not move the
// cliff.
#include "sample/cand_private.h"
#include "sample/sampler.h"

#include <stdlib.h>

static const struct param params[] = {
    {"min-k", "keep tokens above the steepest drop of the logits, and at least TAU / their range; below 0: all",
     FLOAT_AT(value_params, value), FINITE, .def = -1, .metavar = "TAU", SLIDER(-1, 20, 0.5)},
    MIN_KEEP,
    {NULL},
};

static float steepness(float upper, float lower, float range, size_t rank)
{
    return (upper - lower) / range / (float)(rank + 1);
}

// Returns how many of the sorted logits x[0..n) stand above the steepest of their gaps, the first of equal ones, and
// writes its steepness.
static size_t above_cliff(const float *x, size_t n, float range, float *steepest)
{
    size_t above = 1;
    *steepest = -1.0f;
    for (size_t i = 0; i + 1 < n; i++) {
        const float w = steepness(x[i], x[i + 1], range, i);
        if (w > *steepest) {
            *steepest = w;
            above = i + 1;
        }
    }
    return above;
}

// Returns the same from the few best candidates, or 0 if they do not tell. No gap below them is larger than the
// distance to the lowest logit, and deeper gaps count less: if even that distance is not steeper than the steepest gap
// found, no later gap is.
static size_t above_first_cliff(struct cand *c, size_t alive, float lowest, float range)
{
    enum { FEW = 256 };
    const size_t n = alive < FEW ? alive : FEW;
    float x[FEW], steepest;
    const struct ranks best = cand_rank(c, n);
    for (size_t i = 0; i < n; i++)
        x[i] = cand_logit(c, best.at[i]);
    const size_t above = above_cliff(x, n, range, &steepest);
    return n == alive || steepness(x[n - 1], lowest, range, n - 1) <= steepest ? above : 0;
}

// Returns whether the rounding of a list may make another gap the steepest one, or change how often tau goes into the
// range.
static bool rounding_decides(struct cand *c, size_t alive, float tau, float range)
{
    double steepest = 0.0, next = 0.0;
    cand_sort(c);
    for (size_t i = 0; i + 1 < alive; i++) {
        const double w = ((double)c->logit[i] - c->logit[i + 1]) / (double)(i + 1);
        next = fmax(next, fmin(w, steepest));
        steepest = fmax(w, steepest);
    }
    return (steepest > 0.0 && steepest - next < 2 * LIST_SLACK) ||
           floor(tau / (range - 2 * LIST_SLACK)) != floor(tau / (range + 2 * LIST_SLACK));
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    const size_t alive = cand_alive(c, c->n), least = (size_t)p->min_keep;
    const bool sorted = c->order == CAND_SORTED;
    const float lowest = sorted ? c->logit[alive ? alive - 1 : 0] : cand_least(c), range = cand_max(c) - lowest + 1e-8f;
    size_t keep = sorted || !alive ? 0 : above_first_cliff(c, alive, lowest, range);
    if (!keep) {
        float steepest;
        cand_sort(c);
        keep = above_cliff(c->logit, alive, range, &steepest);
    }
    const float by_tau = alive > 1 ? floorf(p->value / range) : 0.0f;
    if (by_tau > (float)keep)
        keep = by_tau < (float)alive ? (size_t)by_tau : alive;
    if (list_is_rounded(&c->unlisted) && alive > 1 && rounding_decides(c, alive, p->value, range))
        unlisted_remove(c, false);
    cand_top_k(c, keep > least ? keep : least);
}

// A candidate stays if a gap below it is steeper than all gaps above it, or if tau goes into the range as often as its
// rank says. The number is the larger of both quotients, and its limit is 1.
static double distance(const struct stage *stage, const struct compared *of)
{
    float *const x = compared_ranked(of);
    double above = 0.0, below = 0.0;
    size_t rank = 1;
    for (size_t i = 0; x && i + 1 < of->n; i++) {
        const double w = ((double)x[i] - x[i + 1]) / (double)(i + 1);
        if (x[i] > of->own) {
            above = fmax(above, w);
            rank++;
        } else {
            below = fmax(below, w);
        }
    }
    const double range = x ? (double)x[0] - x[of->n - 1] : 0.0;
    free(x);
    return range > 0.0 ? distance_between(fmax(below / above, stage_first(stage) / range / (double)rank), 1.0)
                       : INFINITY;
}

// A cliff lies above the last candidate, so that only tau keeps all.
static void explain(struct account *a)
{
    const double range = (double)a->of.softmax->max - a->of.own, n = (double)a->before.n;
    if (!a->unchanged || account_few(a, 2) || account_min_keep(a, n))
        return;
    account_kept(a, ": tau over the range of the logits is ", range > 0.0 ? stage_first(a->stage) / range : NAN,
                 ", at least ", n);
}

const struct sampler sampler_min_k = {.name = "min_k",
                                      .letter = 'g',
                                      FOREIGN,
                                      .joins_default = true,
                                      PARAMS(params, value_params),
                                      .runs = {ABOVE, -FLT_TRUE_MIN}, // from 0 on
                                      .apply = apply,
                                      .distance = distance,
                                      .explain = explain};
