// SPDX-License-Identifier: MIT
// draw_mt (selector of the engine akunu): the probabilities are made to sum to 1 again; then by the inverse of the cumulative distribution,
// in f32, with mt19937.
#include "sample/draw.h"
#include "sample/rng.h"
#include "sample/sampler.h"

static struct fault apply(void *self, struct cand *c, const struct stage *stage, const struct history *h)
{
    c->kern->multiply(c->p, c->n, 1.0f / c->kern->sum(c->p, c->n, 0.0f));
    draw_running(c, rng_f32(self));
    return fault_none();
}

static void reset(void *self, const struct stage *stage, uint32_t seed)
{
    rng_seed(self, seed);
}

// One draw a row.
static void skip(void *self, uint64_t rows)
{
    rng_discard(self, rows);
}

const struct sampler sampler_draw_mt = {.name = "draw_mt",
                                        .internal = true,
                                        .size = sizeof(struct rng),
                                        .selector = true,
                                        .apply = apply,
                                        .reset = reset,
                                        .skip = skip};
