// SPDX-License-Identifier: MIT
#include "sample/draw.h"

// The first place whose cumulative probability reaches u; the last one's counts as 1.
static size_t pick(const float *p, size_t n, double sum, double u)
{
    double running = 0.0;
    for (size_t i = 0; i + 1 < n; i++) {
        running += p[i] / sum;
        if (running >= u)
            return i;
    }
    return n - 1;
}

size_t draw_discrete(struct rng *r, struct cand *c)
{
    const size_t at = c->n < 2 ? 0 : pick(c->p, c->n, c->kern->sum_wide(c->p, c->n, 0.0), rng_f64(r));
    c->chosen = c->id[at];
    c->chosen_p = c->p[at];
    return at;
}

void draw_running(struct cand *c, float r)
{
    float running = c->p[0];
    size_t at = 0;
    while (running < r && at + 1 < c->n)
        running += c->p[++at];
    c->chosen = c->id[at];
    c->chosen_p = c->p[at];
}
