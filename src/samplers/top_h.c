// SPDX-License-Identifier: MIT
// top_h (Potraghloo et al. 2025, arXiv 2509.02510), as Hugging Face's TopHLogitsWarper has it: of the 100 best, the
// likeliest whose terms of the entropy stay within share h of all of it.
#include "sample/sampler.h"

static const struct param params[] = {
    {"top-h", "keep the first of the 100 likeliest, up to the fraction H of their entropy; 0: all",
     FLOAT_AT(value_params, value), RANGE(0, 1), .metavar = "H", SLIDER(0, 1, 0.01)},
    MIN_KEEP,
    {NULL},
};

enum { BEST = 100 }; // candidates that the stage looks at

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    float term[BEST];
    size_t keep = 1;
    cand_top_k(c, BEST);
    cand_softmax(c);
    c->kern->log(term, c->p, c->n);
    c->kern->entropy_terms(term, c->p, term, c->n);
    const float most = p->value * c->kern->sum(term, c->n, 0.0f);
    float sum = term[0];
    while (keep < c->n && c->p[keep] > 0.0f && (sum += term[keep]) <= most)
        keep++;
    const size_t least = (size_t)p->min_keep;
    cand_top_k(c, keep > least ? keep : least);
}

const struct sampler sampler_top_h = {.name = "top_h",
                                      .letter = 'h',
                                      FOREIGN,
                                      .joins_default = true,
                                      PARAMS(params, value_params),
                                      .runs = {ABOVE, 0},
                                      .apply = apply,
                                      .distance = compares_terms,
                                      .explain = explain_terms,
                                      .partial = {keep_best_partial, stage_always, BEST}};
