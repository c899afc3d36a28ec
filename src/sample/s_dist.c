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

// One candidate and otherwise masked ones: it is drawn without their zeros being looked at, unless the draw is 0, which the first
// candidate of all reaches, masked or not.
static bool draw_single(struct cand *c, double u)
{
    uint32_t id;
    if (c->want_p || !(u > 0.0) || !cand_single(c, &id))
        return false;
    c->chosen = id;
    c->chosen_p = 1.0f;
    return true;
}

static struct fault apply(void *self, struct cand *c, const struct params *p, const struct history *h)
{
    (void)p, (void)h;
    const double u = rng_f64(self);
    if (draw_single(c, u))
        return fault_none();
    const struct fault fault = cand_exp(c);
    if (fault.code)
        return fault;
    const double sum = c->kern->sum_wide(c->p, c->n, 0.0);
    const size_t at = pick(c, sum * u);
    c->chosen = c->dense ? (uint32_t)at : c->id[at];
    c->chosen_p = (float)(c->p[at] / sum);
    for (size_t i = 0; c->want_p && i < c->n; i++)
        c->p[i] = (float)(c->p[i] / sum);
    return fault;
}

static void reset(void *self, const struct params *p)
{
    rng_seed(self, p->seed);
}

const struct sampler sampler_dist = {.size = sizeof(struct rng), .selector = true, .apply = apply, .reset = reset};
