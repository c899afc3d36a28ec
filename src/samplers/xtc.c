// SPDX-License-Identifier: MIT
// xtc ("exclude top choices", p-e-w, text-generation-webui PR 6335): now and then drops every candidate that reaches
// the threshold but the least likely of them.
#include "kern/libm.h"
#include "sample/listed.h"
#include "sample/sampler.h"

#include <inttypes.h>

struct xtc_params {
    float probability, threshold;
    int32_t min_keep;
};

static const struct param params[] = {
    {"xtc-probability", "chance that xtc removes the likeliest tokens", .common = true,
     FLOAT_AT(xtc_params, probability), FINITE, .metavar = "P", CLAMPED(0, 1), SLIDER(0, 1, 0.01)},
    {"xtc-threshold", "least probability of a token that xtc may remove; above 0.5: off",
     FLOAT_AT(xtc_params, threshold), FINITE, .def = 0.1f, .metavar = "P", CLAMPED(0, 1), SLIDER(0, 0.5, 0.01)},
    {"min-keep", INT_AT(xtc_params, min_keep)},
    {NULL},
};

static bool enabled(const struct stage *stage)
{
    const struct xtc_params *const p = stage->params;
    return p->probability > 0.0f && p->threshold <= 0.5f;
}

static bool by_chance(const struct stage *stage)
{
    const struct xtc_params *const p = stage->params;
    return p->probability < 1.0f;
}

// Draws whether xtc acts on the row.
static bool acts(void *self, struct cand *c, const struct xtc_params *p)
{
    const float u = rng_f32(self);
    cand_note(c, "draw", u);
    return u <= p->probability;
}

// Drops the top choices of a row that xtc acts on.
static void drop(struct cand *c, const struct xtc_params *p)
{
    if (!(p->threshold > 0x1p-20f && cand_defer(c, 1.0f)))
        cand_sort(c);
    float sum = cand_rank_sum(c);
    const float range = fmaxf(-libm_logf(fmaxf(p->threshold, 0.0f) * sum), 0.0f) * 1.0001f + 0.01f;
    if (c->pending_sort) {
        cand_sort_if_flat(c, range, 8); // to drop as many costs more than sorting all
        sum = c->pending_sort ? sum : cand_rank_sum(c);
    }
    const struct head head = cand_rank_head(c, sum, range, 1);
    size_t top = 0;
    while (top < head.best.n && head.p[top] >= p->threshold)
        top++;
    if (top >= 2 && c->n - (top - 1) >= (size_t)p->min_keep)
        cand_drop_best(c, (struct ranks){head.best.at, top - 1});
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct xtc_params *const p = stage->params;
    if (!full_has_two(c) || !acts(self, c, p))
        return;
    if (p->min_keep > 1) // which masked candidates count for
        unlisted_needs_count(c);
    drop(c, p);
}

// Returns how many of the best reach the threshold, if that is certain; else SIZE_MAX. The sum has the unlisted tokens.
static size_t count_top(struct cand *c, const struct xtc_params *p)
{
    const struct unlisted_sum s = unlisted_sum(c);
    const double at_low = (double)p->threshold * (s.listed + s.low), at_high = p->threshold * (s.listed + s.high);
    size_t low = 0, high = 0;
    for (size_t i = 0; i < c->n; i++) {
        const double x = (double)cand_logit(c, i) - s.max, off = listed_off(c, i);
        low += libm_exp(x + off) >= at_low;
        high += libm_exp(x - off) >= at_high;
    }
    if (low == high && low >= 2 && list_is_coarse(&c->unlisted) && !listed_best_known(c, low - 1))
        return SIZE_MAX;
    return low == high && at_low > libm_exp((double)c->unlisted.ceiling - s.max) ? low : SIZE_MAX;
}

static void partial(void *self, struct cand *c, const struct stage *stage)
{
    const struct xtc_params *const p = stage->params;
    if (!full_has_two(c) || !acts(self, c, p))
        return;
    const size_t top = count_top(c, p), head = listed_head(c);
    if (top >= 2 && (top > head || head < top - 1 + (size_t)p->min_keep)) {
        unlisted_remove(c, false);
        if (c->n >= 2)
            drop(c, p);
        return;
    }
    cand_sort(c);
    if (top >= 2)
        cand_drop_first(c, top - 1);
}

// A candidate is removed if its probability and the next one below reach the threshold: the nearer of both decides.
static double distance(const struct stage *stage, const struct compared *of)
{
    const double threshold = ((const struct xtc_params *)stage->params)->threshold;
    float next = -INFINITY;
    for (size_t i = 0; i < of->n; i++)
        if (of->logit[i] < of->own)
            next = fmaxf(next, of->logit[i]);
    return fmin(distance_of_prob(of, threshold), distance_between(softmax_prob(of->softmax, next), threshold));
}

static void explain(struct account *a)
{
    const struct xtc_params *const p = a->stage->params;
    const double u = account_note(a, "draw"), threshold = p->threshold;
    size_t top = 0;
    if (u > p->probability || !a->unchanged) {
        account_compare(a, a->unchanged ? "did not act: drew " : "acted: drew ", u, ", acts below ", p->probability);
        return;
    }
    account_say(a, "did not act");
    for (size_t i = 0; i < a->of.n; i++)
        top += softmax_prob(a->of.softmax, a->of.logit[i]) >= threshold;
    if (!a->whole)
        return;
    if (isnan(u) || a->of.n < 2) {
        account_say(a, ": 1 candidate");
    } else if (top < 2) {
        account_say(a, ": %s above ", top ? "1 token" : "no token");
        account_number(a, threshold);
    } else if ((double)a->of.n - ((double)top - 1) < p->min_keep) {
        account_say(a, ": min-keep is %" PRId32, p->min_keep);
    }
}

static const char *above_one(const struct stage *stage) { return "acts as 1"; }

const struct sampler sampler_xtc = {.name = "xtc",
                                    .letter = 'x',
                                    PARAMS(params, xtc_params),
                                    RNG_STATE,
                                    .odds = REMOVES_LIKELY,
                                    .enabled = enabled,
                                    .above_one = above_one,
                                    .apply = apply,
                                    .distance = distance,
                                    .explain = explain,
                                    .partial = {partial},
                                    .by_chance = by_chance,
                                    .needs_rows = stage_always}; // a draw only where there are candidates enough
