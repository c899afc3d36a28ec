// SPDX-License-Identifier: MIT
// top_p (nucleus; Holtzman et al. 2019, arXiv 1904.09751): the likeliest candidates up to and with the one whose cumulative probability
// reaches p.
// top_p_past (the engine batch): through the first at which it is above p, so that a p that is met exactly keeps one more.
#include "sample/nucleus.h"
#include "sample/sampler.h"

#include <string.h>

struct top_p_params {
    float p;
    int32_t min_keep;
};

static const struct param params[] = {
    {"top-p", "keep the likeliest up to cumulative probability P; 1: all", FLOAT_AT(top_p_params, p), FINITE,
     .def = 0.95f, .metavar = "P", CLAMPED(0, 1)},
    {"min-keep", "top-p, min-p, typical, xtc and those of other programs leave at least N",
     INT_AT(top_p_params, min_keep), RANGE(0, INT32_MAX), REFUSED(0, INFINITY)},
    {NULL},
};

// min_keep is 0, which does nothing.
static const struct param past_params[] = {{"top-p", FLOAT_AT(top_p_params, p)}, {NULL}};

// How many to rank when those that are do not suffice: most rows need few, the others as many as a sample says, or all. No weight is above 1,
// so that at least p * total are needed.
static size_t more(struct cand *c, size_t ranked, float total, float sum, const struct top_p_params *p)
{
    enum { FIRST = 128 };
    const size_t least = (size_t)p->min_keep;
    size_t n = !ranked && p->p * total < (float)c->n / 8 ? FIRST : c->n;
    if (ranked == FIRST)
        n = cand_likely_needed(c, cand_logit(c, (uint32_t)c->key[ranked - 1]), (p->p - sum) / (1 - sum));
    n = n > least ? n : least;
    return ranked < n && n < c->n ? n : c->n;
}

// Ranks more candidates than *ranked. Returns logits by rank, which those from that on have.
static const float *rank_more(struct cand *c, size_t *ranked, float total, float sum, const struct top_p_params *p)
{
    const size_t from = *ranked, n = *ranked = more(c, from, total, sum, p);
    if (n == c->n) {
        cand_sort(c);
        return c->logit;
    }
    cand_rank(c, n);
    for (size_t i = from; i < n; i++)
        c->spare[i] = cand_logit(c, (uint32_t)c->key[i]);
    return c->spare;
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    enum { BLOCK = 1024 };
    const struct top_p_params *const p = stage->params;
    struct nucleus kept = {p->p, stage->sampler->params == past_params, (size_t)p->min_keep, 0};
    const float max = cand_max(c), total = cand_exp_sum(c);
    size_t ranked = 0;
    float share[BLOCK];
    while (!c->fault.code && !kept.full && ranked < c->n) {
        const float *const logit = rank_more(c, &ranked, total, kept.sum, p);
        while (kept.n < ranked && !kept.full) {
            const size_t len = ranked - kept.n < BLOCK ? ranked - kept.n : BLOCK;
            float *const weight = c->has_p ? share : c->p + kept.n; // where the next stage finds them
            c->kern->exp_sub(weight, logit + kept.n, max, len);
            memmove(share, weight, len * sizeof *share);
            c->kern->divide(share, len, total);
            nucleus_take(&kept, c->kern, share, len);
        }
    }
    if (c->fault.code)
        return;
    if (ranked == c->n)
        cand_truncate(c, kept.n);
    else
        cand_gather(c, kept.n, CAND_SORTED);
    c->weighed = !c->has_p;
}

const struct sampler sampler_top_p = {.limits = true,
                                      .name = "top_p",
                                      .aliases = "nucleus",
                                      .letter = 'p',
                                      PARAMS(params, top_p_params),
                                      .runs = {BELOW, 1},
                                      .apply = apply};
const struct sampler sampler_top_p_past = {.limits = true,
                                           .name = "top_p_past",
                                           .internal = true,
                                           PARAMS(past_params, top_p_params),
                                           .runs = {BELOW, 1},
                                           .apply = apply};
