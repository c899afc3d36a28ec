// SPDX-License-Identifier: MIT
// mirostat (Basu et al. 2020, arXiv 2007.14966), versions 1 and 2 (selectors): cut the list so that the surprise of the chosen tokens
// stays near a target, tau bits.
#include "sample/draw.h"
#include "sample/sampler.h"

#include <math.h>

struct state {
    struct rng rng;
    float mu; // the largest surprise allowed now
};

static void reset(void *self, const struct params *p)
{
    struct state *const s = self;
    rng_seed(&s->rng, p->seed);
    s->mu = 2.0f * p->mirostat_ent;
}

// Softmaxes what the cut left, draws, and moves mu towards the target.
static struct fault draw(struct state *s, struct cand *c, const struct params *p)
{
    const struct fault fault = cand_softmax(c, false);
    if (fault.code)
        return fault;
    draw_discrete(&s->rng, c);
    s->mu -= p->mirostat_lr * (-log2f(c->chosen_p) - p->mirostat_ent);
    return fault;
}

// Version 1's k: fits Zipf's exponent to the best candidates.
static size_t zipf_k(const struct cand *c, float mu)
{
    enum { M = 100 };
    float tb = 0.0f, tt = 0.0f;
    for (size_t i = 0; i + 1 < c->n && i + 1 < M; i++) {
        const float t = logf((float)(i + 2) / (float)(i + 1)), b = logf(c->p[i] / c->p[i + 1]);
        tb += t * b;
        tt += t * t;
    }
    const float s = tb / tt, eps = s - 1.0f;
    const float k = powf((eps * powf(2.0f, mu)) / (1.0f - powf((float)c->n_vocab, -eps)), 1.0f / s);
    return k >= 1.0f && k < 0x1p31f ? (size_t)k : 1; // C++'s int(k) is negative beyond, on x86
}

static struct fault apply_1(void *self, struct cand *c, const struct params *p, const struct history *h)
{
    struct state *const s = self;
    (void)h;
    struct fault fault = cand_softmax(c, true);
    if (fault.code)
        return fault;
    if (c->n == 1) {
        draw_discrete(&s->rng, c);
        return fault;
    }
    fault = cand_top_k(c, zipf_k(c, s->mu));
    return fault.code ? fault : draw(s, c, p);
}

static struct fault apply_2(void *self, struct cand *c, const struct params *p, const struct history *h)
{
    struct state *const s = self;
    (void)h;
    const struct fault fault = cand_softmax(c, true);
    if (fault.code)
        return fault;
    size_t keep = 1;
    while (keep < c->n && !(-log2f(c->p[keep]) > s->mu))
        keep++;
    cand_truncate(c, keep);
    return draw(s, c, p);
}

const struct sampler sampler_mirostat = {.size = sizeof(struct state), .selector = true, .apply = apply_1, .reset = reset};
const struct sampler sampler_mirostat_v2 = {.size = sizeof(struct state), .selector = true, .apply = apply_2, .reset = reset};
