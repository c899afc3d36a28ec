// SPDX-License-Identifier: MIT
// dist (selector): a draw from the softmax of what is left, by the inverse of its cumulative distribution.
#include "base/mem.h"
#include "sample/rng.h"
#include "sample/sampler.h"

#include <stdlib.h>

enum { BLOCK = 4096 }; // candidates whose weights are summed in one go

struct dist_state {
    struct rng rng;
    double *before; // [n / BLOCK + 1] sum of all p before each block
    size_t cap;
};

// Sums p in f64 and notes the sum before each block.
static struct fault add_up(struct dist_state *s, const struct cand *c, double *sum)
{
    *sum = 0.0;
    if (!mem_grow(&s->before, &s->cap, c->n / BLOCK + 1, sizeof *s->before))
        return fault_memory();
    for (size_t i = 0; i < c->n; i += BLOCK) {
        s->before[i / BLOCK] = *sum;
        *sum = c->kern->sum_wide(c->p + i, c->n - i < BLOCK ? c->n - i : BLOCK, *sum);
    }
    return fault_none();
}

// The place of the first candidate whose cumulative weight reaches target: in the last block before which it is not reached.
static size_t pick(const struct dist_state *s, const struct cand *c, double target)
{
    size_t b = 0;
    while ((b + 1) * BLOCK < c->n && s->before[b + 1] < target)
        b++;
    double running = s->before[b];
    for (size_t i = b * BLOCK; i < c->n; i++) {
        running += c->p[i];
        if (running >= target)
            return i;
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

static struct fault apply(void *self, struct cand *c, const struct stage *stage, const struct history *h)
{
    struct dist_state *const s = self;
    const double u = rng_f64(&s->rng);
    if (draw_single(c, u))
        return fault_none();
    double sum;
    struct fault fault = cand_exp(c);
    if (!fault.code)
        fault = add_up(s, c, &sum);
    if (fault.code)
        return fault;
    const size_t at = pick(s, c, sum * u);
    c->chosen = c->dense ? (uint32_t)at : c->id[at];
    c->chosen_p = (float)(c->p[at] / sum);
    for (size_t i = 0; c->want_p && i < c->n; i++)
        c->p[i] = (float)(c->p[i] / sum);
    return fault;
}

static void reset(void *self, const struct stage *stage, uint32_t seed)
{
    rng_seed(&((struct dist_state *)self)->rng, seed);
}

// One draw a row, of two words, whatever the row.
static void skip(void *self, uint64_t rows)
{
    rng_discard(&((struct dist_state *)self)->rng, 2 * rows);
}

static void release(void *self)
{
    free(((struct dist_state *)self)->before);
}

const struct sampler sampler_dist = {.name = "dist",
                                     .size = sizeof(struct dist_state),
                                     .selector = true,
                                     .apply = apply,
                                     .reset = reset,
                                     .skip = skip,
                                     .release = release};
