// SPDX-License-Identifier: MIT
// draw_pcg (selector of the engine ollama): by the inverse of the cumulative distribution, in f32, with Go's PCG generator.
#include "sample/draw.h"
#include "sample/pcg.h"
#include "sample/sampler.h"

static struct fault apply(void *self, struct cand *c, const struct stage *stage, const struct history *h)
{
    const float total = c->kern->sum(c->p, c->n, 0.0f);
    draw_running(c, pcg_f32(self) * total);
    c->chosen_p /= total;
    if (c->want_p)
        c->kern->divide(c->p, c->n, total);
    return fault_none();
}

static void reset(void *self, const struct stage *stage, uint32_t seed)
{
    pcg_seed(self, seed, seed ^ UINT64_C(0x9E3779B9));
}

// One draw a row.
static void skip(void *self, uint64_t rows)
{
    pcg_discard(self, rows);
}

const struct sampler sampler_draw_pcg = {.name = "draw_pcg",
                                         .internal = true,
                                         .size = sizeof(struct pcg),
                                         .selector = true,
                                         .apply = apply,
                                         .reset = reset,
                                         .skip = skip};
