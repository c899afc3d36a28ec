// SPDX-License-Identifier: MIT
// dist (selector): a draw from the softmax of what is left, by the inverse of its cumulative distribution.
#include "sample/sampler.h"

enum { BLOCK = 4096 }; // candidates whose weights are summed in one go

// Sums p in f64, and notes the sum before each block.
static double add_up(const struct cand *c, double *before)
{
    double sum = 0.0;
    for (size_t i = 0; i < c->n; i += BLOCK) {
        before[i / BLOCK] = sum;
        sum = c->kern->sum_wide(c->p + i, c->n - i < BLOCK ? c->n - i : BLOCK, sum);
    }
    return sum;
}

// The last block before which the target is not reached.
static size_t block_reaching(const struct cand *c, const double *before, double target)
{
    size_t b = 0;
    while ((b + 1) * BLOCK < c->n && before[b + 1] < target)
        b++;
    return b;
}

// The place of the first candidate whose cumulative weight reaches target.
static size_t pick(const struct cand *c, const double *before, double target)
{
    const size_t b = block_reaching(c, before, target);
    double running = before[b];
    for (size_t i = b * BLOCK; i < c->n; i++) {
        running += c->p[i];
        if (running >= target)
            return i;
    }
    return c->n - 1;
}

// A candidate's place, its weight, and the sum of all weights before it and through it.
struct drawn {
    size_t at;
    float p;
    double before, through;
};

// Chooses the candidate that a draw of u from the sums m falls to, unless rounding could make it another, or its probability another number.
static bool choose(struct cand *c, const struct mass *m, double u, const struct drawn *x)
{
    const double target = m->sum * u, doubt = 2 * m->sum * m->error;
    const float least = (float)(x->p / (m->sum * (1 + m->error))), most = (float)(x->p / (m->sum * (1 - m->error)));
    c->chosen = cand_id(c, x->at);
    c->chosen_p = least;
    return x->through - target > doubt && target - x->before > doubt && (least == most || !c->want_chosen_p);
}

// The same by sums that are not in order, a block of the store's at a time. False: it is a near thing.
static bool pick_about(struct cand *c, double *before, double u, bool rough)
{
    const struct mass m = cand_mass(c, before, rough);
    const double target = m.sum * u;
    size_t b = 0, len;
    float p[KERN_BLOCK];
    while (b + 1 < cand_blocks(c) && before[b + 1] < target)
        b++;
    const float *const x = c->fault.code ? NULL : cand_exponents(c, b, m.max, p, &len);
    if (!x)
        return false;
    c->kern->exp_sub(p, x, m.max, len);
    struct drawn s = {b * KERN_BLOCK, p[0], before[b], before[b] + p[0]};
    for (size_t i = 1; i < len && s.through < target; i++)
        s = (struct drawn){s.at + 1, p[i], s.through, s.through + p[i]};
    return choose(c, &m, u, &s);
}

// The same by weights that are there already, BLOCK of them at a time.
static bool pick_weighed(struct cand *c, double *before, double u)
{
    struct mass m = {.error = 0x1p-50 * (double)c->n};
    for (size_t i = 0; i < c->n; i += BLOCK) {
        double lanes[KERN_MANY] = {0};
        before[i / BLOCK] = m.sum;
        c->kern->sum_lanes(lanes, c->p + i, c->n - i < BLOCK ? c->n - i : BLOCK);
        for (size_t k = 0; k < KERN_MANY; k += KERN_LANES)
            m.sum += kern_lanes_total(lanes + k);
    }
    const double target = m.sum * u;
    const size_t from = block_reaching(c, before, target) * BLOCK;
    struct drawn s = {from, c->p[from], before[from / BLOCK], before[from / BLOCK] + c->p[from]};
    for (size_t i = from + 1; i < c->n && s.through < target; i++)
        s = (struct drawn){i, c->p[i], s.through, s.through + c->p[i]};
    return choose(c, &m, u, &s);
}

// The same of candidates that are still to be sorted: of the best, more and more of them.
static bool pick_by_rank(struct cand *c, double u)
{
    const struct mass m = cand_mass(c, NULL, !c->want_chosen_p);
    const bool flat = m.sum > (double)c->n / 64; // few of the best have a small share
    struct drawn s = {0};
    size_t ranked = 0;
    for (size_t i = 0; !c->fault.code && (!i || s.through < m.sum * u); i++) {
        if (i == c->n)
            return false;
        if (i == ranked) {
            ranked = !ranked && !flat ? 128 : ranked < c->n / 64 && !flat ? ranked * 16 : c->n;
            cand_rank(c, ranked);
            for (size_t k = i; k < ranked; k++)
                c->spare[k] = cand_logit(c, c->key[k]) / c->later_temp;
            c->kern->exp_sub(c->spare + i, c->spare + i, m.max, ranked - i);
        }
        s = (struct drawn){c->key[i], c->spare[i], s.through, s.through + c->spare[i]};
    }
    return !c->fault.code && choose(c, &m, u, &s);
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const double u = rng_f64(self);
    cand_note(c, "draw", u);
    double *const before = cand_scratch(c, cand_blocks(c), sizeof *before);
    if (!before)
        return;
    if (c->later && pick_by_rank(c, u))
        return;
    cand_settle(c);
    // One candidate and otherwise masked ones: it is drawn without their zeros being looked at, unless the draw is 0, which the first
    // candidate of all reaches, masked or not.
    c->chosen_p = 1.0f;
    if (!c->want_p && u > 0.0 && cand_single(c, &c->chosen))
        return;
    if (!c->want_p && c->weighed && pick_weighed(c, before, u))
        return;
    if (!c->want_p && !c->weighed && c->n > KERN_BLOCK &&
        ((!c->want_chosen_p && pick_about(c, before, u, true)) || pick_about(c, before, u, false)))
        return;
    if (c->weighed)
        c->has_p = true;
    else
        cand_exp(c);
    const double sum = add_up(c, before);
    const size_t at = pick(c, before, sum * u);
    c->chosen = c->dense ? (uint32_t)at : c->id[at];
    c->chosen_p = (float)(c->p[at] / sum);
    for (size_t i = 0; c->want_p && i < c->n; i++)
        c->p[i] = (float)(c->p[i] / sum);
}

// One draw a row, of two words, whatever the row.
static void skip(void *self, uint64_t rows)
{
    rng_discard(self, 2 * rows);
}

const struct sampler sampler_dist = {.name = "dist",
                                     .size = sizeof(struct rng),
                                     .takes_later = true,
                                     .selector = true,
                                     .apply = apply,
                                     .reset = reset_rng,
                                     .skip = skip};
