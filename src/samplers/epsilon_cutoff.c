// SPDX-License-Identifier: MIT
// epsilon_cutoff (truncation sampling; Hewitt et al. 2022, arXiv 2210.15191): the candidates at least epsilon likely.
// eta_cutoff, from the same paper: the bound falls where the entropy is high.
#include "kern/expf.h"
#include "sample/sampler.h"

#define BELOW_ONE RANGE(0, 0x1.fffffep-1)

enum { ETA = 1 }; // the variant whose floor depends on the entropy

static const struct param epsilon_params[] = {
    {"epsilon-cutoff", "keep tokens of at least probability E; 0: all", FLOAT_AT(value_params, value), BELOW_ONE,
     .metavar = "E", LOG_SLIDER(0.0001, 0.1, 0.0001)},
    MIN_KEEP,
    {NULL},
};
static const struct param eta_params[] = {
    {"eta-cutoff", "keep tokens of at least probability E, or of less at high entropy; 0: all",
     FLOAT_AT(value_params, value), BELOW_ONE, .metavar = "E", LOG_SLIDER(0.0001, 0.1, 0.0001)},
    MIN_KEEP,
    {NULL},
};

// Returns eta, from the probabilities.
static float eta_bound(struct cand *c, float epsilon)
{
    float *const term = cand_scratch(c, c->n, sizeof *term);
    if (!term)
        return 0.0f;
    c->kern->log(term, c->p, c->n);
    c->kern->entropy_terms(term, c->p, term, c->n);
    return fminf(epsilon, sqrtf(epsilon) * kern_expf(-c->kern->sum(term, c->n, 0.0f)));
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    const size_t least = (size_t)p->min_keep;
    const bool eta = stage->sampler->variant == ETA;
    const double t = eta ? 0.0 : p->value * (double)cand_exp_sum(c), slack = t * 0x1p-22;
    if (!eta && cand_keep_by_weight(c, t - slack, t + slack, least))
        return;
    cand_softmax(c);
    cand_keep_likely(c, eta ? eta_bound(c, p->value) : p->value, least);
}

static void partial(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    if (cand_knows_sum(c)) {
        unlisted_cut_likely(c, p->value, (size_t)p->min_keep);
        return;
    }
    const struct unlisted_sum s = unlisted_sum(c);
    const double e = p->value;
    if (!unlisted_cut_between(c, e * (s.listed + s.low), e * (s.listed + s.high), (size_t)p->min_keep))
        apply(self, c, stage);
}

const struct sampler sampler_epsilon_cutoff = {.name = "epsilon_cutoff",
                                               .letter = 'c',
                                               FOREIGN,
                                               .joins_default = true,
                                               PARAMS(epsilon_params, value_params),
                                               .runs = {ABOVE, 0},
                                               .apply = apply,
                                               .distance = compares_prob,
                                               .explain = explain_prob,
                                               .partial = {partial, stage_always}};
const struct sampler sampler_eta_cutoff = {.name = "eta_cutoff",
                                           .variant = ETA,
                                           .letter = 'u',
                                           FOREIGN,
                                           .joins_default = true,
                                           PARAMS(eta_params, value_params),
                                           .runs = {ABOVE, 0},
                                           .apply = apply,
                                           .distance = compares_eta,
                                           .explain = explain_eta};
