// SPDX-License-Identifier: MIT
// dist (selector): a draw from the softmax of what is left, by the inverse of its cumulative distribution.
#include "sample/draw.h"
#include "sample/sampler.h"

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const double u = rng_f64(self);
    cand_note(c, "draw", u);
    if (c->want)
        cand_draw(c, u);
    else
        cand_draw_any(c);
    unlisted_draw(c, NULL, u);
}

// One draw a row, of two words, whatever the row.
static void skip(void *self, uint64_t rows, uint64_t width) { rng_discard(self, 2 * rows); }

const struct sampler sampler_dist = {.name = "dist",
                                     .in_llama = LLAMA_IMPLIES,
                                     RNG_STATE,
                                     .takes_deferred = true,
                                     .selector = true,
                                     .apply = apply,
                                     .partial = {apply_partial},
                                     .skip = skip};
