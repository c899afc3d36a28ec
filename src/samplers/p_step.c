// SPDX-License-Identifier: MIT
// p_step (llama.cpp PR 5675, which was not merged): the likeliest candidates up to the first step down, where one is
// less than s times as likely as the one before.
#include "kern/libm.h"
#include "sample/sampler.h"

#include <stdlib.h>

static const struct param params[] = {
    {"p-step", "keep tokens before the first that is less than S times as likely as the one before; 0: all",
     FLOAT_AT(value_params, value), RANGE(0, 1), .metavar = "S", SLIDER(0, 1, 0.01)},
    MIN_KEEP,
    {NULL},
};

static size_t keep_before_step(struct cand *c, const struct head *head, const void *of_stage)
{
    const struct value_params *const p = of_stage;
    size_t i = 1;
    while (i < head->best.n && !(head->p[i] < p->value * head->p[i - 1]))
        i++;
    return i < head->best.n || i == c->n ? i : 0;
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    cand_cut(c, 16.7f, (size_t)p->min_keep, keep_before_step, p);
}

// Returns how many stand before the step, which lies in the head; 0: it does not; SIZE_MAX: rounding decides.
static size_t count_before_step(struct cand *c, float step)
{
    const bool coarse = list_is_coarse(&c->unlisted);
    const double off = coarse ? libm_exp((double)c->unlisted.slack) - 1.0 : LIST_SLACK; // of a ratio
    const size_t head = listed_head(c);
    const struct ranks best = head ? cand_rank(c, head) : (struct ranks){NULL, 0};
    for (size_t i = 1; i < best.n; i++) {
        const double x = cand_logit(c, best.at[i]), before = cand_logit(c, best.at[i - 1]),
                     ratio = libm_exp(x - before);
        if (ratio < step * (1.0 + off))
            return ratio < step / (1.0 + off) ? i : SIZE_MAX;
    }
    return head ? 0 : SIZE_MAX;
}

static void partial(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    if (!unlisted_keep_best(c, count_before_step(c, p->value), (size_t)p->min_keep))
        apply(self, c, stage);
}

// The least ratio of two ranks down to the candidate.
static double least_ratio(const struct compared *of)
{
    float *const x = compared_ranked(of);
    double least = INFINITY;
    for (size_t i = 1; x && i < of->n && x[i] >= of->own; i++)
        least = fmin(least, libm_exp((double)x[i] - x[i - 1]));
    free(x);
    return least;
}

static double distance(const struct stage *stage, const struct compared *of)
{
    return distance_between(least_ratio(of), stage_first(stage));
}

static void explain(struct account *a)
{
    account_kept(a, ": each has at least ", least_ratio(&a->of), " of the one before, at least ",
                 stage_first(a->stage));
}

const struct sampler sampler_p_step = {.name = "p_step",
                                       .letter = 'j',
                                       FOREIGN,
                                       .joins_default = true,
                                       PARAMS(params, value_params),
                                       .runs = {ABOVE, 0},
                                       .apply = apply,
                                       .distance = distance,
                                       .explain = explain,
                                       .partial = {partial, stage_always}};
