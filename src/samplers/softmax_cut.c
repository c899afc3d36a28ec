// SPDX-License-Identifier: MIT
// softmax_cut (the engine sglang): one softmax, then top-k, top-p and min-p cut the candidates in place by their
// probabilities of the whole vocabulary. Nothing is renormalised between the cuts: P is a share of all candidates, not
// of those that top-k left. Formulas: sampl-engines(7).
#include "sample/cand_private.h"
#include "sample/sampler.h"
#include "sample/softmax_wide.h"

struct cut_params {
    int32_t k;
    float top_p, min_p;
};

static const struct param params[] = {{"top-k", INT_AT(cut_params, k)},
                                      {"top-p", FLOAT_AT(cut_params, top_p)},
                                      {"min-p", FLOAT_AT(cut_params, min_p)},
                                      {NULL}};

static bool cuts(const struct cut_params *p) { return p->k > 0 || p->top_p < 1.0f || p->min_p > 0.0f; }

// A rank stays if the sum before it is at most P, so that a P that is met exactly keeps one more. A candidate whose p
// is 0 in f32 goes: no draw chooses it.
static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct cut_params *const p = stage->params;
    cand_softmax_wide(c);
    if (c->fault.code || !cuts(p))
        return;
    cand_top_k_by_p(c, c->n);
    const size_t most = p->k > 0 && (size_t)p->k < c->n ? (size_t)p->k : c->n;
    const float floor = c->p[0] * p->min_p;
    double sum = 0.0;
    size_t n = 0;
    for (; n < most && !(c->p[n] < floor) && c->p[n] > 0.0f; n++) {
        sum += c->p[n];
        if (p->top_p < 1.0f && (float)sum - c->p[n] > p->top_p)
            break;
    }
    c->n = n;
}

const struct sampler sampler_softmax_cut = {.name = "softmax_cut", PARAMS(params, cut_params), .apply = apply};
