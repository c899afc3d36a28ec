// SPDX-License-Identifier: MIT
// adaptive_p (llama.cpp PR 17927; a selector): prefers tokens whose probability is near a target that moves so that the average
// probability of the chosen ones stays at --adaptive-target.
#include "base/bits.h"
#include "kern/libm.h"
#include "sample/sampler.h"

struct adaptive_p_params {
    float target, decay;
};

static const struct param params[] = {
    {"adaptive-target", "adaptive_p: probability to aim at; negative: plain draw", FLOAT_AT(adaptive_p_params, target),
     RANGE(-FLT_MAX, 1), .def = -1, .metavar = "P", CLAMPED(-INFINITY, 1)},
    {"adaptive-decay", "adaptive_p: how long it remembers, 0 to 0.99", FLOAT_AT(adaptive_p_params, decay), FINITE, .def = 0.9f,
     REFUSED(0, 0.99)},
    {NULL},
};

struct adaptive_p_state {
    struct rng rng;
    float weighted, total; // decaying sum of the chosen tokens' probabilities, and of their weights
    bool picked;           // a token was chosen and waits to be accepted
    uint32_t token;
    float token_p; // its probability before the transform
};

static float clamp(float x, float low, float high)
{
    return fminf(fmaxf(x, low), high);
}

static float decay(const struct adaptive_p_params *p)
{
    return clamp(p->decay, 0.0f, 0.99f);
}

static void reset(void *self, const struct stage *stage, uint64_t seed)
{
    const struct adaptive_p_params *const p = stage->params;
    struct adaptive_p_state *const s = self;
    rng_seed(&s->rng, (uint32_t)seed);
    s->weighted = p->target / (1.0f - decay(p));
    s->total = 1.0f / (1.0f - decay(p));
    s->picked = false;
}

// The probability to aim at now, so that the average comes back to the target.
static float aim(const struct adaptive_p_state *s, float target)
{
    target = clamp(target, 0.0f, 1.0f);
    return clamp(s->total == 0.0f ? target : 2.0f * target - s->weighted / s->total, 0.0f, 1.0f);
}

static void lift(const struct cand *c, float *logit, const float *p, size_t n, float at)
{
    c->kern->lift(logit, p, n, at, 1.0f / 0.3f, 5.0f, 10.0f);
}

// Writes to c->p a number for each candidate: x[n] for all but those at c->key[0..n).
static void spread(struct cand *c, const float *x, size_t n)
{
    float *const p = c->p, rest = x[n];
    for (size_t i = 0; i < c->n; i += KERN_BLOCK) // there is room: compilers make much of a constant length
        for (size_t k = 0; k < KERN_BLOCK; k++)
            p[i + k] = rest;
    for (size_t i = 0; i < n; i++)
        p[rank_id(c->key[i])] = x[i];
}

// Most candidates are so unlikely that their p less the aim is minus the aim: they come to one logit. Then this writes the probabilities to draw
// from to c->p and returns the sum of the weights before the transform; else, or when more is wanted, 0. p: scratch for one more than all.
static float weigh_likely(struct cand *c, float at, float *p)
{
    const bool sorted = !c->dense && c->order == CAND_SORTED; // whose first logit counts as the largest
    if (sorted || c->want_p || c->want_logits || cand_alive(c, c->n) < c->n)
        return 0.0f;
    const float max = cand_exp_max(c), same = (at - nextafterf(at, 0.0f)) * 0.49f; // p of the likely is above that
    if (c->fault.code || !(same > FLT_MIN) || cand_within(c, -libm_logf(same)) > c->n / 2)
        return 0.0f;
    const float sum = cand_exp_sum(c);
    const size_t n = cand_collect(c, max + libm_logf(same * sum) * 1.0001f - 0.01f, c->n);
    float *const logit = c->spare; // and then weights
    for (size_t i = 0; i < n; i++)
        p[i] = logit[i] = order_value((uint32_t)(c->key[i] >> 32));
    c->kern->exp_sub(p, p, max, n);
    c->kern->divide(p, n, sum);
    p[n] = logit[n] = 0.0f; // for all others, if there are any
    lift(c, logit, p, n + 1, at);
    c->kern->exp_sub(logit, logit, c->kern->max(logit, n + (n < c->n)), n + 1);
    spread(c, logit, n);
    c->kern->divide(c->p, c->n, c->kern->sum(c->p, c->n, 0.0f));
    c->has_p = true;
    return sum;
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct adaptive_p_params *const p = stage->params;
    struct adaptive_p_state *const s = self;
    float *const original = cand_scratch(c, c->n + 1, sizeof *original); // p before the transform
    const bool aims = p->target >= 0.0f;
    const float max = cand_exp_max(c), at = aim(s, p->target);
    if (c->fault.code)
        return;
    float sum = aims ? weigh_likely(c, at, original) : 0.0f;
    const bool likely = sum > 0.0f;
    if (!likely) {
        cand_list(c);
        if (aims) {
            c->kern->exp_sub(original, c->logit, max, c->n);
            c->kern->divide(original, c->n, c->kern->sum(original, c->n, 0.0f));
            lift(c, c->logit, original, c->n, at);
        }
        cand_softmax(c, false); // a sorted list keeps that mark: its first logit is subtracted, though it need not be the largest
    }
    if (c->fault.code)
        return;
    double u;
    const size_t chosen = rng_discrete(&s->rng, c->kern, c->p, c->n, &u);
    cand_note(c, "draw", u);
    c->chosen = cand_id(c, chosen);
    c->chosen_p = c->p[chosen];
    if (aims) {
        cand_note(c, "aim", at);
        cand_note(c, "average", s->weighted / s->total);
    }
    s->picked = aims;
    s->token = c->chosen;
    s->token_p = c->chosen_p;
    if (likely) {
        s->token_p = cand_logit(c, chosen);
        c->kern->exp_sub(&s->token_p, &s->token_p, max, 1);
        c->kern->divide(&s->token_p, 1, sum);
    } else if (aims) {
        s->token_p = original[chosen];
    }
}

static void accept(void *self, uint32_t token, const struct stage *stage)
{
    struct adaptive_p_state *const s = self;
    const float keep = decay(stage->params);
    if (s->picked && token == s->token) {
        s->weighted = s->token_p + keep * s->weighted;
        s->total = 1.0f + keep * s->total;
    }
    s->picked = false;
}

const struct sampler sampler_adaptive_p = {.name = "adaptive_p",
                                           .letter = 'a',
                                           PARAMS(params, adaptive_p_params),
                                           .size = sizeof(struct adaptive_p_state),
                                           .selector = true,
                                           .apply = apply,
                                           .needs_rows = stage_always,
                                           .reset = reset,
                                           .accept = accept};
