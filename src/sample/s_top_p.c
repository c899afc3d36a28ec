// SPDX-License-Identifier: MIT
// top_p (nucleus; Holtzman et al. 2019, arXiv 1904.09751): the likeliest candidates up to and with the one whose cumulative probability
// reaches p.
#include "sample/sampler.h"

static bool enabled(const struct params *p)
{
    return p->top_p < 1.0f;
}

// Ranks more and more candidates until the sum is reached: most rows need few of them.
static struct fault apply(void *self, struct cand *c, const struct params *p, const struct history *h)
{
    (void)self, (void)h;
    struct fault fault = cand_softmax(c, false);
    size_t ranked = 0, keep = c->n;
    float sum = 0.0f;
    for (size_t i = 0; !fault.code && i < c->n; i++) {
        if (i == ranked) {
            ranked = i ? i * 16 : 128;
            ranked = ranked < c->n ? ranked : c->n;
            fault = cand_rank(c, ranked);
            if (fault.code)
                break;
        }
        sum += c->p[(uint32_t)c->key[i]];
        if (sum >= p->top_p && i + 1 >= MIN_KEEP(p)) {
            keep = i + 1;
            break;
        }
    }
    if (!fault.code)
        cand_gather(c, keep, CAND_SORTED);
    return fault;
}

const struct sampler sampler_top_p = {.enabled = enabled, .apply = apply};
