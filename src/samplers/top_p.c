// SPDX-License-Identifier: MIT
// top_p (nucleus; Holtzman et al. 2019, arXiv 1904.09751): the likeliest candidates up to and with the one whose
// cumulative probability reaches p. top_p_past (the engine batch): through the first at which it is above p, so that a
// p that is met exactly keeps one more.
#include "sample/nucleus.h"
#include "sample/sampler.h"

enum { PAST = 1 }; // the variant that keeps the candidate past the sum, too

static const struct param params[] = {
    {"top-p", "keep the likeliest tokens up to the sum P; 1: all", FLOAT_AT(value_params, value), FINITE,
     .common = true, .def = 0.95f, .metavar = "P", CLAMPED(0, 1), SLIDER(0, 1, 0.01)},
    {"min-keep", "least number of tokens that top-p, min-p, typical, xtc and cuts of other programs keep",
     INT_AT(value_params, min_keep), RANGE(0, INT32_MAX), REFUSED(0, INFINITY), SLIDER(0, 20, 1)},
    {NULL},
};

// min_keep is 0, which does nothing.
static const struct param past_params[] = {{"top-p", FLOAT_AT(value_params, value)}, {NULL}};

// Returns whether the candidates fill the nucleus.
static bool keep(struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    const bool past = stage->sampler->variant == PAST;
    return cand_keep_nucleus(c, (struct nucleus){.limit = p->value, .past = past, .least = (size_t)p->min_keep});
}

static void apply(void *self, struct cand *c, const struct stage *stage) { keep(c, stage); }

static void partial(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    if (cand_knows_sum(c)) {
        if (keep(c, stage))
            unlisted_remove(c, full_best_known(c, c->n));
        else
            unlisted_may_cut(c);
        return;
    }
    if (!unlisted_keep_best(c, unlisted_nucleus(c, p->value), (size_t)p->min_keep))
        apply(self, c, stage);
}

const struct sampler sampler_top_p = {.limits = LIMITS_SUM,
                                      .name = "top_p",
                                      .aliases = "nucleus",
                                      .letter = 'p',
                                      PARAMS(params, value_params),
                                      .runs = {BELOW, 1},
                                      .apply = apply,
                                      .explain = explain_sum,
                                      .partial = {partial, stage_always}};
const struct sampler sampler_top_p_past = {.limits = LIMITS_SUM,
                                           .name = "top_p_past",
                                           .variant = PAST,
                                           PARAMS(past_params, value_params),
                                           .runs = {BELOW, 1},
                                           .apply = apply,
                                           .explain = explain_sum_past,
                                           .partial = {partial, stage_always}};
