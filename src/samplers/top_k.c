// SPDX-License-Identifier: MIT
// top_k: the k best candidates, sorted.
#include "sample/sampler.h"

static bool enabled(const struct params *p)
{
    return p->top_k > 0;
}

static struct fault apply(void *self, struct cand *c, const struct params *p, const struct history *h)
{
    (void)self, (void)h;
    return cand_top_k(c, (size_t)p->top_k);
}

const struct sampler sampler_top_k = {.enabled = enabled, .apply = apply};
