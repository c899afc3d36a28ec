// SPDX-License-Identifier: MIT
// Plain algorithm: p of every candidate, their sum in f64 by position, then a walk until the running sum reaches u
// times that. Too slow: the sum in order waits for each addition, and writing and reading p of all candidates costs
// more than reading the row.
//
// Idea: the sum may be taken in lanes, in any order, or without the smallest weights, if its distance from the sum in
// order is bounded (struct mass). The sums before the blocks tell which block the draw falls into, and only that block
// is walked. If both ends of the drawn candidate's interval are further from the target than twice the bound, the sum
// in order would have chosen the same candidate; and if the bounds of its quotient round to one f32, the same
// probability. Otherwise, rarely, the plain algorithm decides. So the bits are the same.
#include "sample/draw.h"

#include "sample/cand_private.h"

#include <math.h>

size_t draw_part(const double *before, size_t n, double target)
{
    size_t i = 0;
    while (i + 1 < n && before[i + 1] < target)
        i++;
    return i;
}

struct drawn draw_from(const float *w, size_t n, double before, double target)
{
    struct drawn x = {0, w[0], before, before + w[0]};
    while (x.at + 1 < n && x.through < target) {
        x.at++;
        x.weight = w[x.at];
        x.before = x.through;
        x.through += x.weight;
    }
    return x;
}

// draw_from all of p[0..n), with the sum of p in order times u for a target.
static struct drawn draw_by_parts(const struct kern *kern, const float *p, size_t n, double u, double *sum)
{
    enum { PARTS = 64, LEAST = 64 };
    const size_t len = n / PARTS < LEAST ? LEAST : n / PARTS + 1;
    double before[PARTS + 1] = {0.0};
    size_t parts = 0;
    *sum = 0.0;
    for (size_t at = 0; at < n; at += len) {
        const size_t here = n - at < len ? n - at : len;
        before[parts++] = *sum;
        *sum = kern->sum_wide(p + at, here, *sum);
    }
    const size_t part = draw_part(before, parts, *sum * u);
    struct drawn x = draw_from(p + part * len, n - part * len, before[part], *sum * u);
    x.at += part * len;
    return x;
}

// libstdc++ divides each weight by the sum, adds the quotients, and counts the last of these sums as 1. Dividing the
// draw instead is off by less than two roundings a position; only if the draw is that close to an end of the interval
// are the quotients added up.
size_t draw_discrete(const struct kern *kern, const float *p, size_t n, double u)
{
    double sum, running = 0.0;
    const struct drawn x = draw_by_parts(kern, p, n, u, &sum);
    const double target = u * sum, margin = 0x1p-50 * (double)n * sum;
    if ((x.through - target > margin || x.at + 1 == n) && target - x.before > margin)
        return x.at;
    for (size_t at = 0; at + 1 < n; at++) {
        running += p[at] / sum;
        if (running >= u)
            return at;
    }
    return n - 1;
}

size_t rng_discrete(struct rng *r, const struct kern *kern, const float *p, size_t n, double *draw)
{
    *draw = n < 2 ? NAN : rng_f64(r);
    return n < 2 ? 0 : draw_discrete(kern, p, n, *draw);
}

// Chooses the drawn candidate. Returns false if rounding could make it another, or give it another probability that is
// wanted. error: relative, of the sum.
static bool choose_drawn(struct cand *c, double sum, double error, double u, struct drawn x)
{
    const double target = sum * u, margin = 2 * sum * error;
    const float least = (float)(x.weight / (sum * (1 + error))), most = (float)(x.weight / (sum * (1 - error)));
    c->chosen = cand_id(c, x.at);
    c->chosen_p = least;
    return x.through - target > margin && target - x.before > margin && (least == most || c->want < WANT_TOKEN_AND_P);
}

// Draws by sums in lanes, block by block.
static bool draw_by_blocks(struct cand *c, double *before, double u, bool rough)
{
    const struct mass m = cand_mass(c, before, rough);
    const size_t b = c->fault.code ? 0 : draw_part(before, cand_blocks(c), m.sum * u);
    size_t len;
    float w[KERN_BLOCK];
    const float *const x = c->fault.code ? NULL : cand_exponents(c, b, m.max, w, &len);
    if (!x)
        return false;
    c->kern->exp_sub(w, x, m.max, len);
    struct drawn drawn = draw_from(w, len, before[b], m.sum * u);
    drawn.at += b * KERN_BLOCK;
    return choose_drawn(c, m.sum, m.error, u, drawn);
}

// Draws from candidates whose sort is deferred: ranks the best, more and more of them, until their sum reaches the
// target.
static bool draw_by_rank(struct cand *c, double u)
{
    const struct mass m = cand_mass(c, NULL, c->want < WANT_TOKEN_AND_P);
    const bool flat = m.sum > (double)c->n / 64; // the best have a small share
    float *const w = c->store->spare;
    struct drawn x = {0};
    struct ranks ranked = {NULL, 0};
    for (size_t i = 0; !c->fault.code && (!i || x.through < m.sum * u); i++) {
        if (i == c->n)
            return false;
        if (i == ranked.n) {
            const size_t n = ranked.n;
            ranked = cand_rank(c, !n && !flat ? 128 : n < c->n / 64 && !flat ? n * 16 : c->n);
            cand_weigh_ranked(c, ranked, i, m.max, w);
        }
        x = (struct drawn){ranked.at[i], w[i], x.through, x.through + w[i]};
    }
    return !c->fault.code && choose_drawn(c, m.sum, m.error, u, x);
}

// cand_mask_all_but_max has left one candidate of a dense row, which is drawn without looking at the zeros of the
// others; unless u is 0, which the first candidate reaches, masked or not.
static bool draw_single(struct cand *c, double u)
{
    if (!(u > 0.0) || !c->dense || c->store->cut < INFINITY)
        return false;
    c->chosen = (uint32_t)cand_argmax(c);
    c->chosen_p = 1.0f;
    return cand_logit(c, c->chosen) > -INFINITY;
}

// Draws without p of every candidate, if rounding cannot decide.
static bool draw_quickly(struct cand *c, double u)
{
    if (c->want_p)
        return false;
    if (draw_single(c, u))
        return true;
    double *const before =
        c->state != CAND_WEIGHTS && c->n > KERN_BLOCK ? cand_scratch(c, cand_blocks(c), sizeof *before) : NULL;
    return before &&
           ((c->want < WANT_TOKEN_AND_P && draw_by_blocks(c, before, u, true)) || draw_by_blocks(c, before, u, false));
}

void cand_draw(struct cand *c, double u)
{
    double sum;
    if (c->pending_sort && draw_by_rank(c, u))
        return;
    if (c->pending_sort)
        cand_sort(c);
    if (draw_quickly(c, u))
        return;
    if (c->state != CAND_WEIGHTS)
        cand_exp(c);
    const struct drawn x = draw_by_parts(c->kern, c->p, c->n, u, &sum);
    c->chosen = cand_id(c, x.at);
    c->chosen_p = (float)(x.weight / sum);
    for (size_t i = 0; c->want_p && i < c->n; i++)
        c->p[i] = (float)(c->p[i] / sum);
    c->state = CAND_PROBABILITIES;
}

void cand_draw_any(struct cand *c)
{
    if (cand_exp_max(c) < INFINITY && !c->fault.code)
        c->chosen = cand_id(c, cand_argmax(c));
}
