// SPDX-License-Identifier: MIT
// mirostat (Basu et al. 2020, arXiv 2007.14966), versions 1 and 2 (selectors): cut the list so that the surprise of the chosen tokens
// stays near a target, tau bits.
#include "sample/draw.h"
#include "sample/sampler.h"

#include <math.h>

struct mirostat_params {
    float tau, eta;
};

static const struct param params[] = {
    {"mirostat-ent", "mirostat target entropy, tau, in bits", FLOAT_AT(mirostat_params, tau), FINITE, .def = 5, .metavar = "X",
     .server = "mirostat_tau"},
    {"mirostat-lr", "mirostat learning rate, eta", FLOAT_AT(mirostat_params, eta), FINITE, .def = 0.1f, .metavar = "X",
     .server = "mirostat_eta"},
    {NULL},
};

struct mirostat_state {
    struct rng rng;
    float mu; // the largest surprise allowed now
};

static void reset(void *self, const struct stage *stage, uint32_t seed)
{
    const struct mirostat_params *const p = stage->params;
    struct mirostat_state *const s = self;
    rng_seed(&s->rng, seed);
    s->mu = 2.0f * p->tau;
}

// Keeps the k best, softmaxes them, draws, and moves mu towards the target.
static struct fault draw(struct mirostat_state *s, struct cand *c, size_t k, const struct mirostat_params *p)
{
    const bool done = c->has_p && c->order == CAND_SORTED && k >= c->n; // a softmax of the same, in the same order
    struct fault fault = done ? fault_none() : cand_top_k(c, k);
    if (!done && !fault.code)
        fault = cand_softmax(c, false);
    if (fault.code)
        return fault;
    draw_discrete(&s->rng, c);
    s->mu -= p->eta * (-log2f(c->chosen_p) - p->tau);
    return fault;
}

enum { M = 100 }; // candidates that version 1 looks at

// Version 1's k: fits Zipf's exponent to the best candidates, of which there are n.
static size_t zipf_k(const struct cand *c, const float *p, size_t n, float mu)
{
    float tb = 0.0f, tt = 0.0f;
    for (size_t i = 0; i + 1 < n && i + 1 < M; i++) {
        const float t = logf((float)(i + 2) / (float)(i + 1)), b = logf(p[i] / p[i + 1]);
        tb += t * b;
        tt += t * t;
    }
    const size_t n_vocab = c->n_vocab ? c->n_vocab : c->n_row;
    const float s = tb / tt, eps = s - 1.0f;
    const float k = powf((eps * powf(2.0f, mu)) / (1.0f - powf((float)n_vocab, -eps)), 1.0f / s);
    return k >= 1.0f && k < 0x1p31f ? (size_t)k : 1; // C++'s int(k) is negative beyond, on x86
}

static struct fault apply_1(void *self, struct cand *c, const struct stage *stage, const struct history *h)
{
    const struct mirostat_params *const p = stage->params;
    struct mirostat_state *const s = self;
    struct head head;
    struct fault fault = cand_softmax_head(c, 16.7f, M, &head);
    if (fault.code)
        return fault;
    if (c->n > 1)
        return draw(s, c, zipf_k(c, head.p, head.n, s->mu), p);
    fault = cand_softmax(c, true);
    if (!fault.code)
        draw_discrete(&s->rng, c);
    return fault;
}

// How many of the best are not too surprising, at least one. The probabilities fall, so the logarithm is only looked at where it matters.
static size_t unsurprising(const float *p, size_t n, float mu)
{
    const float surely = exp2f(-mu) * 1.0001f;
    size_t low = 1, high = n; // the first that may be too surprising lies in [low, high]
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (p[mid] > surely)
            low = mid + 1;
        else
            high = mid;
    }
    while (low < n && !(-log2f(p[low]) > mu))
        low++;
    return low;
}

static struct fault apply_2(void *self, struct cand *c, const struct stage *stage, const struct history *h)
{
    const struct mirostat_params *const p = stage->params;
    struct mirostat_state *const s = self;
    struct head head = {0};
    struct fault fault = fault_none();
    size_t keep = 0;
    if (s->mu < 24.0f) { // beyond, the cut is hardly within the head
        fault = cand_softmax_head(c, 16.7f, 1, &head);
        if (!fault.code)
            keep = unsurprising(head.p, head.n, s->mu);
    }
    if (keep == head.n && !fault.code) { // which may go on behind it
        fault = cand_softmax(c, true);
        if (!fault.code)
            keep = unsurprising(c->p, c->n, s->mu);
    }
    return fault.code ? fault : draw(s, c, keep, p);
}

static enum carry carry(const struct stage *stage)
{
    return CARRY_ROWS;
}

#define VERSION(NAME, APPLY)                                                                                      \
    {                                                                                                             \
        .name = (NAME), .internal = true, PARAMS(params, mirostat_params), .size = sizeof(struct mirostat_state), \
        .selector = true, .apply = (APPLY), .reset = reset, .carry = carry                                        \
    }

const struct sampler sampler_mirostat = VERSION("mirostat", apply_1);
const struct sampler sampler_mirostat_v2 = VERSION("mirostat_v2", apply_2);
