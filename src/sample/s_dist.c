// SPDX-License-Identifier: MIT
// dist (selector): a draw from the softmax of what is left, by the inverse of its cumulative distribution.
#include "sample/rng.h"
#include "sample/sampler.h"

// The place of the first candidate whose cumulative weight reaches target; found block by block, then within.
static size_t pick(const struct cand *c, double target)
{
    double running = 0.0;
    for (size_t i = 0; i < c->n; i += KERN_BLOCK) {
        const size_t len = c->n - i < KERN_BLOCK ? c->n - i : KERN_BLOCK;
        const double after = c->kern->sum_wide(c->p + i, len, running);
        if (after < target) {
            running = after;
            continue;
        }
        for (size_t k = i; k < i + len; k++) {
            running += c->p[k];
            if (running >= target)
                return k;
        }
    }
    return c->n - 1;
}

static struct fault apply(void *self, struct cand *c, const struct params *p, const struct history *h)
{
    (void)p, (void)h;
    const struct fault fault = cand_exp(c);
    if (fault.code)
        return fault;
    const double sum = c->kern->sum_wide(c->p, c->n, 0.0);
    const size_t at = pick(c, sum * rng_f64(self));
    for (size_t i = 0; i < c->n; i++)
        c->p[i] = (float)(c->p[i] / sum);
    c->chosen = c->dense ? (uint32_t)at : c->id[at];
    c->chosen_p = c->p[at];
    return fault;
}

static void reset(void *self, const struct params *p)
{
    rng_seed(self, p->seed);
}

const struct sampler sampler_dist = {.size = sizeof(struct rng), .selector = true, .apply = apply, .reset = reset};
