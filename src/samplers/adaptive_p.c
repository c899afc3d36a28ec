// SPDX-License-Identifier: MIT
// adaptive_p (llama.cpp PR 17927; a selector): prefers tokens whose probability is near a target that moves so that the
// average probability of the chosen ones stays at --adaptive-target.
#include "kern/libm.h"
#include "sample/cand_private.h"
#include "sample/draw.h"
#include "sample/sampler.h"

struct adaptive_p_params {
    float target, decay;
};

static const struct param params[] = {
    {"adaptive-target", "probability that adaptive_p aims at; negative: no target", FLOAT_AT(adaptive_p_params, target),
     FINITE, .def = -1, .metavar = "P", CLAMPED(-INFINITY, 1), SLIDER(0, 1, 0.01)},
    {"adaptive-decay", "how long adaptive_p remembers the tokens it picked; 0 to 0.99",
     FLOAT_AT(adaptive_p_params, decay), FINITE, .def = 0.9f, REFUSED(0, 0.99), SLIDER(0, 0.99, 0.01)},
    {NULL},
};

struct adaptive_p_state {
    struct rng rng;
    float weighted, total; // decaying sum of the chosen tokens' probabilities, and of their weights
    int64_t token;         // the token that was chosen and waits to be accepted; -1: none
    float token_p;         // its probability before the transform
};

static float clamp_f32(float x, float low, float high) { return fminf(fmaxf(x, low), high); }

static float decay(const struct adaptive_p_params *p) { return clamp_f32(p->decay, 0.0f, 0.99f); }

static void reset(void *self, const struct stage *stage, uint64_t seed)
{
    const struct adaptive_p_params *const p = stage->params;
    struct adaptive_p_state *const s = self;
    rng_seed(&s->rng, (uint32_t)seed);
    s->weighted = p->target / (1.0f - decay(p));
    s->total = 1.0f / (1.0f - decay(p));
    s->token = -1;
}

// Returns the probability to aim at in this row, so that the average comes back to the target.
static float aim(const struct adaptive_p_state *s, float target)
{
    target = clamp_f32(target, 0.0f, 1.0f);
    return clamp_f32(s->total == 0.0f ? target : 2.0f * target - s->weighted / s->total, 0.0f, 1.0f);
}

static void transform(const struct cand *c, float *logit, const float *p, size_t n, float at)
{
    c->kern->favour(logit, p, n, at, 1.0f / 0.3f, 5.0f, 10.0f);
}

// The weights after the transform, which rewrites each logit by the distance of its p from the aim.
//
// Plain algorithm: softmax, transform every logit, softmax again, draw. Too slow: two softmaxes of a whole row, when a
// few dozen candidates have nearly all the probability.
//
// Idea: if p is below half an ulp of the aim, p - aim rounds to -aim. All such candidates get one and the same
// transformed logit and weight, `rest`, which is computed once, from p = 0. Only the likely candidates, those of logit
// - max >= floor, are transformed one by one. A lower floor than necessary only adds candidates to them that come out
// as `rest`: the same bits.
struct transformed {
    float max, sum;   // the largest logit; what the weights before the transform come to
    float floor;      // the likely ones' logits less max are at least this
    size_t n;         // how many are likely
    float *w;         // [n] their weights, as they lie
    float rest;       // the weight of every other
    uint32_t *before; // how many likely ones come before each block of KERN_BLOCK
};

// Fills x. Returns false if every candidate needs a weight of its own: when the weights or logits are read afterwards,
// or some candidates are masked.
static bool transform_likely(struct cand *c, float at, struct transformed *x)
{
    if (c->order == CAND_SORTED || // whose first logit counts as the largest
        c->n <= KERN_BLOCK || c->want_p || c->want_logits || cand_alive(c, c->n) < c->n)
        return false;
    const float same = (at - nextafterf(at, 0.0f)) * 0.49f; // p of the likely is above that
    *x = (struct transformed){.max = cand_exp_max(c),
                              .sum = cand_exp_sum(c),
                              .w = cand_scratch(c, c->n + KERN_BLOCK, sizeof *x->w),
                              .before = cand_scratch(c, cand_blocks(c), sizeof *x->before)};
    if (c->fault.code)
        return false;
    x->floor = same > FLT_MIN ? libm_logf(same * x->sum) * 1.0001f - 0.01f : -INFINITY;
    x->n = cand_pack_weights(c, x->max, x->floor, x->w, x->before);
    c->kern->divide(x->w, x->n, x->sum);
    x->w[x->n] = 0.0f;
    transform(c, x->w, x->w, x->n + 1, at);
    c->kern->exp_sub(x->w, x->w, c->kern->max(x->w, x->n + (x->n < c->n)), x->n + 1);
    x->rest = x->w[x->n];
    return true;
}

// Writes the weights of the candidates from position `from` on, a multiple of KERN_BLOCK, up to position `to`.
static void write_weights(const struct cand *c, const struct transformed *x, size_t from, size_t to, float *p)
{
    const float *w = x->w + x->before[from / KERN_BLOCK];
    for (size_t b = from / KERN_BLOCK; b * KERN_BLOCK < to; b++) {
        float tmp[KERN_BLOCK];
        size_t len;
        const float *const logit = cand_exponents(c, b, x->max, tmp, &len);
        for (size_t i = 0; i < len; i++)
            *p++ = logit[i] - x->max >= x->floor ? *w++ : x->rest;
    }
}

// Draws a position with sums of weights that are not divided by their total. Dividing would round each weight. Returns
// false if that could change the position.
static bool draw_undivided(struct cand *c, const struct transformed *x, double u, size_t *place)
{
    enum { BLOCKS = 8, STRETCH = BLOCKS * KERN_BLOCK }; // candidates that are added up in one go
    const size_t stretches = (c->n + STRETCH - 1) / STRETCH;
    double *const before = cand_scratch(c, stretches, sizeof *before), sum = 0.0;
    float w[STRETCH];
    if (!before)
        return false;
    for (size_t i = 0; i < stretches; i++) {
        const size_t b = i * BLOCKS, left = c->n - b * KERN_BLOCK, all = left < STRETCH ? left : STRETCH;
        before[i] = sum;
        const size_t from = x->before[b], to = b + BLOCKS < cand_blocks(c) ? x->before[b + BLOCKS] : x->n;
        sum = c->kern->sum_wide(x->w + from, to - from, sum) + (double)(all - (to - from)) * x->rest;
    }
    const double target = sum * u, margin = 0x1p-22 * sum;
    const size_t from = draw_part(before, stretches, target) * STRETCH,
                 to = from + STRETCH < c->n ? from + STRETCH : c->n;
    write_weights(c, x, from, to, w);
    const struct drawn drawn = draw_from(w, to - from, before[from / STRETCH], target);
    *place = from + drawn.at;
    return drawn.through - target > margin && target - drawn.before > margin;
}

// Chooses the position, and returns its p before the transform.
static float draw_from_transformed(struct cand *c, const struct transformed *x, double u, size_t *place)
{
    if (c->want == WANT_TOKEN_AND_P || !draw_undivided(c, x, u, place)) {
        write_weights(c, x, 0, c->n, c->p);
        c->state = CAND_PROBABILITIES;
        c->kern->divide(c->p, c->n, c->kern->sum(c->p, c->n, 0.0f));
        *place = draw_discrete(c->kern, c->p, c->n, u);
        c->chosen_p = c->p[*place];
    }
    float p = cand_logit(c, *place);
    c->kern->exp_sub(&p, &p, x->max, 1);
    c->kern->divide(&p, 1, x->sum);
    return p;
}

// Chooses a position of any candidates, by two softmaxes. Returns its p before the transform; without an aim there is
// no transform, and this is the final p.
static float draw_from_all(struct cand *c, bool aims, float at, struct rng *rng, double *u, size_t *place)
{
    float *const original = cand_scratch(c, c->n, sizeof *original);
    if (!original)
        return 0.0f;
    const float max = cand_exp_max(c);
    cand_list(c);
    if (aims) {
        c->kern->exp_sub(original, c->logit, max, c->n);
        c->kern->divide(original, c->n, c->kern->sum(original, c->n, 0.0f));
        transform(c, c->logit, original, c->n, at);
    }
    cand_softmax(c); // a sorted list keeps that mark: its first logit is subtracted, though it need not be the largest
    if (c->fault.code)
        return 0.0f;
    *place = rng_discrete(rng, c->kern, c->p, c->n, u);
    c->chosen_p = c->p[*place];
    c->chosen = c->id[*place];
    unlisted_draw(c, c->p, *u);
    return aims ? original[*place] : c->chosen_p;
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct adaptive_p_params *const p = stage->params;
    struct adaptive_p_state *const s = self;
    const bool aims = p->target >= 0.0f;
    const float at = aim(s, p->target);
    struct transformed x;
    size_t place = 0;
    float before = 0.0f; // the transform
    double u = 0.0;
    if (aims && transform_likely(c, at, &x))
        before = draw_from_transformed(c, &x, u = rng_f64(&s->rng), &place);
    else if (!c->fault.code)
        before = draw_from_all(c, aims, at, &s->rng, &u, &place);
    if (c->fault.code)
        return;
    cand_note(c, "draw", u);
    c->chosen = cand_id(c, place);
    if (aims) {
        cand_note(c, "aim", at);
        cand_note(c, "average", s->weighted / s->total);
    }
    s->token = aims ? (int64_t)c->chosen : -1;
    s->token_p = before;
}

static void accept(void *self, uint32_t token, const struct stage *stage)
{
    struct adaptive_p_state *const s = self;
    const float keep = decay(stage->params);
    if (token == s->token) {
        s->weighted = s->token_p + keep * s->weighted;
        s->total = 1.0f + keep * s->total;
    }
    s->token = -1;
}

static bool by_chance(const struct stage *stage)
{
    const struct adaptive_p_params *const p = stage->params;
    return p->target >= 0.0f;
}

const struct sampler sampler_adaptive_p = {.name = "adaptive_p",
                                           .once = true,
                                           .letter = 'a',
                                           PARAMS(params, adaptive_p_params),
                                           .size = sizeof(struct adaptive_p_state),
                                           .selector = true,
                                           .apply = apply,
                                           .needs_rows = stage_always,
                                           .learns = true,
                                           .by_chance = by_chance,
                                           .reset = reset,
                                           .accept = accept,
                                           .release = release_rng};
