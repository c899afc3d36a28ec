// SPDX-License-Identifier: MIT
// adaptive_p (llama.cpp PR 17927; a selector): prefers tokens whose probability is near a target that moves so that the average
// probability of the chosen ones stays at --adaptive-target.
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

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct adaptive_p_params *const p = stage->params;
    struct adaptive_p_state *const s = self;
    float *const original = cand_scratch(c, c->n, sizeof *original); // p before the transform
    const bool aims = p->target >= 0.0f;
    cand_list(c);
    const float max = cand_exp_max(c);
    if (c->fault.code)
        return;
    if (aims) {
        c->kern->exp_sub(original, c->logit, max, c->n);
        c->kern->divide(original, c->n, c->kern->sum(original, c->n, 0.0f));
        c->kern->lift(c->logit, original, c->n, aim(s, p->target), 1.0f / 0.3f, 5.0f, 10.0f);
    }
    cand_softmax(c, false); // a sorted list keeps that mark: its first logit is subtracted, though it need not be the largest
    if (c->fault.code)
        return;
    double u;
    const size_t at = rng_discrete(&s->rng, c->kern, c->p, c->n, &u);
    cand_note(c, "draw", u);
    cand_choose(c, at);
    if (aims) {
        cand_note(c, "aim", aim(s, p->target));
        cand_note(c, "average", s->weighted / s->total);
    }
    s->picked = aims;
    s->token = c->chosen;
    s->token_p = aims ? original[at] : c->p[at];
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
