// SPDX-License-Identifier: MIT
// min_p (Nguyen et al. 2024, arXiv 2407.01082): the candidates at least p times as likely as the likeliest. In logits the bound is
// max + ln p, so no softmax is needed.
#include "sample/sampler.h"

#include <math.h>

static bool enabled(const struct params *p)
{
    return p->min_p > 0.0f;
}

static struct fault apply(void *self, struct cand *c, const struct params *p, const struct history *h)
{
    (void)self, (void)h;
    float max;
    struct fault fault = cand_max(c, &max);
    if (fault.code)
        return fault;
    const float floor = max + logf(p->min_p);
    const size_t least = p->min_keep ? MIN_KEEP(p) : 1;
    if (c->order != CAND_SORTED) {
        bool kept;
        fault = cand_keep_from(c, floor, least, &kept);
        return fault.code || kept ? fault : cand_top_k(c, least);
    }
    size_t keep = least < c->n ? least : c->n;
    while (keep < c->n && c->logit[keep] >= floor)
        keep++;
    cand_truncate(c, keep);
    return fault;
}

const struct sampler sampler_min_p = {.enabled = enabled, .apply = apply};
