// SPDX-License-Identifier: MIT
// top_a (BlinkDL, RWKV): the candidates at least a * p0 * p0 likely, p0 being the likeliest's probability. The surer
// the model, the fewer they are.
#include "sample/listed.h"
#include "sample/sampler.h"

static const struct param params[] = {
    {"top-a", "keep tokens of at least A times the largest probability squared; 0: all", FLOAT_AT(value_params, value),
     RANGE(0, 1), .metavar = "A", SLIDER(0, 1, 0.01)},
    MIN_KEEP,
    {NULL},
};

static size_t keep_above_bound(struct cand *c, const struct head *head, const void *of_stage)
{
    const struct value_params *const p = of_stage;
    const float floor = p->value * head->p[0] * head->p[0];
    size_t i = 1;
    while (i < head->best.n && head->p[i] >= floor)
        i++;
    return i < head->best.n || i == c->n || head->tail_p < floor ? i : 0;
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    if (c->order != CAND_SORTED) {
        const struct mass m = cand_mass(c, NULL, true);
        const double t = p->value / m.sum, slack = t * (m.error_f32 + 0x1p-21);
        if (cand_keep_by_weight(c, t - slack, fmin(t + slack, 1.0), (size_t)p->min_keep)) {
            cand_sort(c);
            return;
        }
    }
    cand_cut(c, 16.7f, (size_t)p->min_keep, keep_above_bound, p);
}

static void partial(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    const struct unlisted_sum s = unlisted_sum(c);
    const double a = p->value;
    double low = 1.0, high = 1.0; // of the largest weight
    if (list_is_coarse(&c->unlisted))
        listed_top(c, &low, &high);
    if (unlisted_cut_between(c, a * low * low / (s.listed + s.high), a * high * high / (s.listed + s.low),
                             (size_t)p->min_keep))
        cand_sort(c);
    else
        apply(self, c, stage);
}

static double limit_of(const struct stage *stage, const struct compared *of)
{
    const double most = 1.0 / of->softmax->sum;
    return stage_first(stage) * most * most;
}

static double distance(const struct stage *stage, const struct compared *of)
{
    return distance_of_prob(of, limit_of(stage, of));
}

static void explain(struct account *a) { account_prob(a, limit_of(a->stage, &a->of)); }

const struct sampler sampler_top_a = {.name = "top_a",
                                      .letter = 'o',
                                      FOREIGN,
                                      .joins_default = true,
                                      PARAMS(params, value_params),
                                      .runs = {ABOVE, 0},
                                      .apply = apply,
                                      .distance = distance,
                                      .explain = explain,
                                      .partial = {partial, stage_always}};
