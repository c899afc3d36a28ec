// SPDX-License-Identifier: MIT
// top_p (nucleus; Holtzman et al. 2019, arXiv 1904.09751): the likeliest candidates up to and with the one whose cumulative probability
// reaches p.
#include "sample/sampler.h"

static bool enabled(const struct params *p)
{
    return p->top_p < 1.0f;
}

// How many to keep. Ranks more and more candidates until the sum is reached: most rows need few of them.
static struct fault count(struct cand *c, const struct params *p, size_t *keep)
{
    const float total = c->kern->sum(c->p, c->n, 0.0f);
    float sum = 0.0f;
    for (size_t i = 0, ranked = 0; i < c->n; i++) {
        if (i == ranked) {
            ranked = i && i < c->n / 16 ? i * 16 : i ? c->n : 128;
            ranked = ranked < c->n ? ranked : c->n;
            const struct fault fault = cand_rank(c, ranked);
            if (fault.code)
                return fault;
        }
        sum += c->p[(uint32_t)c->key[i]] / total;
        *keep = i + 1;
        if (sum >= p->top_p && i + 1 >= MIN_KEEP(p))
            break;
    }
    return fault_none();
}

static struct fault apply(void *self, struct cand *c, const struct params *p, const struct history *h)
{
    (void)self, (void)h;
    size_t keep = 0;
    struct fault fault = cand_exp(c);
    if (!fault.code)
        fault = count(c, p, &keep);
    return fault.code ? fault : cand_gather(c, keep, CAND_SORTED);
}

const struct sampler sampler_top_p = {.enabled = enabled, .apply = apply};
