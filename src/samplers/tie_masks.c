// SPDX-License-Identifier: MIT
// The filters of the engines transformers, vllm, vllm-v2 and mlx that compare each candidate with one threshold, and so
// keep or mask equal logits together. Where a filter needs probabilities, it takes a new softmax of what is left.
// Formulas: sampl-spec(7).
#include "kern/expf.h"
#include "kern/libm.h"
#include "sample/sampler.h"
#include "sample/softmax_wide.h"

#include <math.h>

struct tie_params {
    float value;
    int32_t k;
    double min_p;
};

static const struct param top_k[] = {{"top-k", INT_AT(tie_params, k)}, {NULL}};
static const struct param min_p[] = {{"min-p", FLOAT_AT(tie_params, value)}, {NULL}};
static const struct param min_p_wide[] = {{"min-p", DOUBLE_AT(tie_params, min_p)}, {NULL}};
static const struct param epsilon[] = {{"epsilon-cutoff", FLOAT_AT(tie_params, value)}, {NULL}};
static const struct param eta[] = {{"eta-cutoff", FLOAT_AT(tie_params, value)}, {NULL}};

// top_k_ties: all candidates at least as large as the k-th. More than k may stay.
static void top_k_ties(void *self, struct cand *c, const struct stage *stage)
{
    const size_t k = (size_t)((const struct tie_params *)stage->params)->k;
    if (k >= c->n)
        return;
    const struct ranks best = cand_rank(c, k);
    cand_keep_from(c, cand_logit(c, best.at[k - 1]), 1);
}

static void top_k_ties_partial(void *self, struct cand *c, const struct stage *stage)
{
    const size_t k = (size_t)((const struct tie_params *)stage->params)->k;
    if (k > listed_head(c)) {
        unlisted_may_cut(c);
        return;
    }
    const struct ranks best = cand_rank(c, k);
    unlisted_remove(c, list_is_coarse(&c->unlisted) ? full_best_known(c, k)
                                                    : cand_logit(c, best.at[k - 1]) > c->unlisted.ceiling);
    top_k_ties(self, c, stage);
}

// Keeps the candidates with p >= floor, and those that tie with the largest logit.
static void keep_from_p(struct cand *c, const struct normaliser *z, float floor)
{
    unsigned char *const keep = cand_scratch(c, c->n, 1);
    for (size_t i = 0; keep && i < c->n; i++)
        keep[i] = !(c->p[i] < floor) || c->logit[i] == z->max;
    if (keep)
        cand_keep_marked(c, keep);
}

// min_p_prob: p of at least min_p times the largest, the product in f32. The largest weight is 1, so that
// the sum of the
// weights does not matter; the product and both quotients are off by 2^-24 each.
static void min_p_prob(void *self, struct cand *c, const struct stage *stage)
{
    const float share = ((const struct tie_params *)stage->params)->value;
    const double t = (double)share, slack = t * 0x1p-21;
    cand_max_wide(c);
    if (cand_keep_share(c, t - slack, t + slack))
        return;
    const struct normaliser z = cand_softmax_wide(c);
    if (!c->fault.code)
        keep_from_p(c, &z, (float)(1.0 / z.sum) * share);
}

// min_p_log (mlx): log-probabilities of at least the largest + ln min_p.
static void min_p_log(void *self, struct cand *c, const struct stage *stage)
{
    const double share = ((const struct tie_params *)stage->params)->min_p;
    cand_keep_from(c, cand_max(c) + (float)libm_log(share), 1);
}

static void min_p_prob_partial(void *self, struct cand *c, const struct stage *stage)
{
    unlisted_cut_below(c, cand_max(c) + libm_logf(((const struct tie_params *)stage->params)->value), 1);
    min_p_prob(self, c, stage);
}

static void min_p_log_partial(void *self, struct cand *c, const struct stage *stage)
{
    unlisted_cut_below(c, cand_max(c) + (float)libm_log(((const struct tie_params *)stage->params)->min_p), 1);
    min_p_log(self, c, stage);
}

// epsilon_ties: p of at least epsilon.
static void epsilon_ties(void *self, struct cand *c, const struct stage *stage)
{
    const float floor = ((const struct tie_params *)stage->params)->value;
    cand_max_wide(c);
    const struct mass m = cand_mass(c, NULL, true);
    const double t = (double)floor * m.sum, slack = t * (0x1p-22 + m.error);
    if (cand_keep_share(c, t - slack, t + slack))
        return;
    const struct normaliser z = cand_softmax_wide(c);
    if (!c->fault.code)
        keep_from_p(c, &z, floor);
}

// The largest weight is 1. If its p is below epsilon, all that tie with it stay.
static void epsilon_ties_partial(void *self, struct cand *c, const struct stage *stage)
{
    const double e = ((const struct tie_params *)stage->params)->value;
    const struct unlisted_sum s = unlisted_sum(c);
    const double low = e * (s.listed + s.low), high = e * (s.listed + s.high);
    if (low > 1.0)
        unlisted_remove(c, false);
    if (low > 1.0 || !unlisted_cut_between(c, low, high, 1))
        epsilon_ties(self, c, stage);
}

// eta_ties: p of at least the smaller of eta and sqrt(eta) * exp(-entropy). The bounds hold for the roundings of the
// entropy, the root, the exponential and the product, too.
static void eta_ties(void *self, struct cand *c, const struct stage *stage)
{
    const float eta_value = ((const struct tie_params *)stage->params)->value;
    const float max = cand_max_wide(c);
    if (!c->fault.code) {
        const struct spread s = cand_spread(c, max);
        const double error = (s.entropy + 2.0) * 0x1p-20, root = (double)sqrtf(eta_value);
        const double low = fmin((double)eta_value, root * kern_exp(-(s.entropy + error))),
                     high = fmin((double)eta_value, root * kern_exp(-fmax(s.entropy - error, 0.0)));
        if (cand_keep_share(c, low * s.sum * (1.0 - 0x1p-20), high * s.sum * (1.0 + 0x1p-20)))
            return;
    }
    const struct normaliser z = cand_softmax_wide(c);
    if (!c->fault.code)
        keep_from_p(c, &z, fminf(eta_value, sqrtf(eta_value) * kern_expf(-entropy_wide(c, &z))));
}

#define TIES(NAME, ROWS, LIMITS, DISTANCE, EXPLAIN, APPLY, ...)                                                     \
    {                                                                                                               \
        .name = (NAME), PARAMS(ROWS, tie_params), .limits = (LIMITS), .runs = {ABOVE, 0}, .partial = {__VA_ARGS__}, \
        .apply = (APPLY), .distance = (DISTANCE), .explain = (EXPLAIN)                                              \
    }

const struct sampler sampler_top_k_ties = TIES("top_k_ties", top_k, LIMITS_OTHERWISE, compares_rank, explain_rank,
                                               top_k_ties, top_k_ties_partial, stage_always);
const struct sampler sampler_min_p_prob =
    TIES("min_p_prob", min_p, LIMITS_RATIO, NULL, explain_ratio, min_p_prob, min_p_prob_partial, stage_always);
const struct sampler sampler_min_p_log = TIES("min_p_log", min_p_wide, LIMITS_OTHERWISE, compares_ratio, explain_ratio,
                                              min_p_log, min_p_log_partial, stage_always);
const struct sampler sampler_epsilon_ties = TIES("epsilon_ties", epsilon, LIMITS_OTHERWISE, compares_prob, explain_prob,
                                                 epsilon_ties, epsilon_ties_partial, stage_always);
const struct sampler sampler_eta_ties =
    TIES("eta_ties", eta, LIMITS_OTHERWISE, compares_eta, explain_eta, eta_ties, NULL);
