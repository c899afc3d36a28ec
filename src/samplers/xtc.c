// SPDX-License-Identifier: MIT
// xtc ("exclude top choices", p-e-w, text-generation-webui PR 6335): now and then drops every candidate that reaches the threshold but
// the least likely of them.
#include "sample/rng.h"
#include "sample/sampler.h"

static bool enabled(const struct params *p)
{
    return p->xtc_probability > 0.0f && p->xtc_threshold <= 0.5f;
}

static struct fault apply(void *self, struct cand *c, const struct params *p, const struct history *h)
{
    (void)h;
    if (c->n < 2 || rng_f32(self) > p->xtc_probability)
        return fault_none();
    const struct fault fault = cand_softmax(c, true);
    if (fault.code)
        return fault;
    size_t top = 0;
    while (top < c->n && c->p[top] >= p->xtc_threshold)
        top++;
    if (top > 1 && c->n - (top - 1) >= MIN_KEEP(p))
        cand_drop_first(c, top - 1);
    return fault;
}

static void reset(void *self, const struct params *p)
{
    rng_seed(self, p->seed);
}

static void adopt(void *self, const void *other)
{
    *(struct rng *)self = *(const struct rng *)other;
}

static enum carry carry(const struct params *p)
{
    (void)p;
    return CARRY_ROWS; // a draw only where there are candidates enough
}

const struct sampler sampler_xtc = {
    .carry = carry, .size = sizeof(struct rng), .enabled = enabled, .apply = apply, .reset = reset, .adopt = adopt};
