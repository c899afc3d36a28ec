// SPDX-License-Identifier: MIT
// scatter (IceFog72's experimental llama.cpp fork): lets neighbouring ranks of the best k candidates exchange
// probability, a local diffusion with a Gaussian kernel over rank distance. Flattens the head of the distribution and
// leaves the tail out.
#include "base/mem.h"
#include "kern/libm.h"
#include "sample/sampler.h"

#include <stdlib.h>
#include <string.h>

struct scatter_params {
    float strength, radius, strength_min, strength_max, entropy_target, absorption, collision;
    int32_t k, steps, absorption_last_n; // absorption_last_n: -1: the whole history
    bool adaptive;
};

// Bounds of the time that a row can take: a step takes k times up to 29 * radius multiplications.
enum { MOST_STEPS = 1000, MOST_RADIUS = 1000 };

static const struct param params[] = {
    {"scatter-strength", "share of each probability that is spread; 0 or less: off", FLOAT_AT(scatter_params, strength),
     RANGE(-FLT_MAX, 1), SLIDER(0, 1, 0.01)},
    {"scatter-k", "how many of the best take part and remain", INT_AT(scatter_params, k), ANY_INT, .def = 64,
     .metavar = "K", LOG_SLIDER(1, 512, 1)},
    {"scatter-radius", "Gaussian radius in ranks", FLOAT_AT(scatter_params, radius), RANGE(-FLT_MAX, MOST_RADIUS),
     .def = 2.5, SLIDER(0.1, 10, 0.1)},
    {"scatter-steps", "diffusion steps", INT_AT(scatter_params, steps), RANGE(INT32_MIN, MOST_STEPS), .def = 1,
     SLIDER(1, 16, 1)},
    {"scatter-adaptive", "let the entropy choose the strength", FLAG_AT(scatter_params, adaptive)},
    {"scatter-strength-min", "least adaptive strength", FLOAT_AT(scatter_params, strength_min), RANGE(0, 1),
     .def = 0.02f, SLIDER(0, 1, 0.01)},
    {"scatter-strength-max", "largest adaptive strength", FLOAT_AT(scatter_params, strength_max), RANGE(0, 1),
     .def = 0.3f, SLIDER(0, 1, 0.01)},
    {"scatter-entropy-target", "normalised entropy at which the adaptive strength is --scatter-strength",
     FLOAT_AT(scatter_params, entropy_target), FINITE, .def = 0.55f, SLIDER(0, 1, 0.01)},
    {"scatter-absorption", "damp recent tokens by exp(-X) for each occurrence; 0: off",
     FLOAT_AT(scatter_params, absorption), FINITE, SLIDER(0, 2, 0.05)},
    {"scatter-absorption-last-n", "tokens that absorption looks back on; -1: all",
     INT_AT(scatter_params, absorption_last_n), RANGE(-1, INT32_MAX), .def = 64, SLIDER(-1, 512, 1)},
    {"scatter-collision", "chance, row by row, that scatter acts", FLOAT_AT(scatter_params, collision),
     RANGE(-FLT_MAX, 1), .def = 1, .metavar = "P", SLIDER(0, 1, 0.01)},
    {NULL},
};

// What --stats shows of the rows.
enum { ACTS, STRENGTH, ENTROPY, MOVED };
static const char *const measures[] = {[ACTS] = "scatter_acts",
                                       [STRENGTH] = "scatter_strength",
                                       [ENTROPY] = "scatter_entropy",
                                       [MOVED] = "scatter_moved",
                                       NULL};

struct scatter_state {
    struct rng rng;      // of the collision gate
    struct tally recent; // for absorption
    double radius;       // of the kernel below
    double *weight;      // [reach] the kernel by rank distance, cut where it is 0 in f32
    double *weight_sum;  // [reach] weight[1] + ... + weight[d]
    size_t reach, weight_cap, sum_cap;
};

static bool acts(const struct scatter_params *p) { return p->strength > 0.0f || p->adaptive || p->absorption > 0.0f; }

static bool enabled(const struct stage *stage)
{
    const struct scatter_params *const p = stage->params;
    return acts(p) && p->k > 1 && p->radius > 0.0f && p->steps > 0 && p->collision > 0.0f;
}

static const char *idle(const void *of_all, const struct param *row)
{
    const struct scatter_params *const p = of_all;
    const size_t at = row->at;
    if (at == offsetof(struct scatter_params, strength_min) || at == offsetof(struct scatter_params, strength_max) ||
        at == offsetof(struct scatter_params, entropy_target))
        return p->adaptive ? NULL : "has no effect without --scatter-adaptive";
    if (at == offsetof(struct scatter_params, k))
        return acts(p) && p->k < 2 ? "below 2 leaves scatter no effect" : NULL;
    const bool zero = (at == offsetof(struct scatter_params, collision) && p->collision <= 0.0f) ||
                      (at == offsetof(struct scatter_params, radius) && p->radius <= 0.0f) ||
                      (at == offsetof(struct scatter_params, steps) && p->steps < 1);
    return acts(p) && zero ? "of 0 leaves scatter no effect" : NULL;
}

static const char *conflict(const void *of_all)
{
    const struct scatter_params *const p = of_all;
    return p->strength_min > p->strength_max ? "--scatter-strength-min is above --scatter-strength-max" : NULL;
}

static size_t window(const struct stage *stage)
{
    const struct scatter_params *const p = stage->params;
    return p->absorption > 0.0f ? window_of(p->absorption_last_n) : 0;
}

// Computes the kernel for the distances below k that are missing. The kernel ends before the first weight that is 0 in
// f32. Returns false when memory is short.
static bool reach_to(struct scatter_state *s, size_t k, double radius)
{
    if (s->radius != radius)
        s->reach = 0;
    s->radius = radius;
    while (s->reach < k) {
        const size_t d = s->reach;
        const double weight = libm_exp(-(double)d * (double)d / (2.0 * radius * radius));
        if ((float)weight == 0.0f)
            break;
        if (!mem_grow(&s->weight, &s->weight_cap, d + 1, sizeof *s->weight) ||
            !mem_grow(&s->weight_sum, &s->sum_cap, d + 1, sizeof *s->weight_sum))
            return false;
        s->weight[d] = weight;
        s->weight_sum[d] = d ? s->weight_sum[d - 1] + weight : 0.0;
        s->reach++;
    }
    return true;
}

// Scales p[0..k) to sum 1.
static void normalise(double *p, size_t k)
{
    double sum = 0.0;
    for (size_t i = 0; i < k; i++)
        sum += p[i];
    for (size_t i = 0; i < k; i++)
        p[i] /= sum;
}

// The entropy of prob[0..k) as a share of the largest that k can have.
static double normalised_entropy(const double *prob, size_t k)
{
    double entropy = 0.0;
    for (size_t i = 0; i < k; i++)
        if (prob[i] > 0.0)
            entropy -= prob[i] * libm_log(prob[i]);
    return entropy / libm_log((double)k);
}

static double strength(const struct scatter_params *p, double entropy)
{
    const double wanted = fmaxf(p->strength, 0.0f);
    if (!p->adaptive)
        return wanted;
    const double low = p->strength_min, high = p->strength_max;
    const double wish = wanted + (p->entropy_target - entropy) * (high - low);
    return fmin(fmax(wish, low), high);
}

// Blurs p[0..k): q[i] = p[i] + weight[1] * (p[i - 1] + p[i + 1]) + ..., in this order. p is readable, and 0, at reach
// - 1 places on either side.
static void blur(const struct scatter_state *s, double *q, const double *p, size_t k)
{
    for (size_t i = 0; i < k; i++) {
        double sum = p[i];
        for (size_t d = 1; d < s->reach; d++)
            sum += s->weight[d] * (*(p + i - d) + p[i + d]);
        q[i] = sum;
    }
}

// One step: p = (1 - strength) p + strength q, q the row-normalised Gaussian blur of p.
static void diffuse(const struct scatter_state *s, double *p, double *q, size_t k, double strength)
{
    const size_t far = s->reach - 1;
    blur(s, q, p, k);
    for (size_t i = 0; i < k; i++) {
        const size_t up = i < far ? i : far,
                     down = k - 1 - i < far ? k - 1 - i : far; // neighbours at better and at worse ranks
        const double weight = 1.0 + s->weight_sum[up] + s->weight_sum[down];
        p[i] = (1.0 - strength) * p[i] + strength * (q[i] / weight);
    }
}

// Damps recent tokens.
static void absorb(const struct tally *recent, const struct cand *c, double *p, double absorption)
{
    for (size_t i = 0; i < c->n; i++) {
        const size_t t = idmap_find(&recent->tokens, c->id[i]);
        if (t != IDMAP_NONE)
            p[i] *= libm_exp(-absorption * recent->count[t]);
    }
    normalise(p, c->n);
}

// Sorts the list and p again. Insertion sort: all but a few candidates stand where they belong.
static void sort_again(struct cand *c, double *p)
{
    uint32_t *const at = cand_scratch(c, c->n, sizeof *at);
    for (size_t i = 0; at && i < c->n; i++) {
        const double x = p[i];
        size_t j = i;
        for (; j && p[j - 1] < x; j--) {
            p[j] = p[j - 1];
            at[j] = at[j - 1];
        }
        p[j] = x;
        at[j] = (uint32_t)i;
    }
    if (at)
        cand_gather(c, (struct ranks){at, c->n}, CAND_SORTED);
}

// Returns the probability that has moved from the candidates p to other ones: half of all differences, without signs.
static double moved(const struct cand *c, const double *p)
{
    double sum = 0.0;
    for (size_t i = 0; i < c->n; i++)
        sum += fabs(p[i] - c->p[i]);
    return 0.5 * sum;
}

static void scatter(const struct scatter_state *s, struct cand *c, const struct scatter_params *p)
{
    const size_t k = c->n, pad = s->reach - 1;
    double *const padded = cand_scratch(c, k + 2 * pad, sizeof *padded), *const q = cand_scratch(c, k, sizeof *q);
    if (c->fault.code)
        return;
    double *const prob = padded + pad; // between zeros
    memset(padded, 0, (k + 2 * pad) * sizeof *padded);
    for (size_t i = 0; i < k; i++)
        prob[i] = c->p[i];
    const double entropy = p->adaptive || c->want_notes || c->measure ? normalised_entropy(prob, k) : NAN,
                 blend = strength(p, entropy);
    cand_note(c, "normalised_entropy", entropy);
    cand_note(c, "strength", blend);
    for (int step = 0; step < p->steps; step++) {
        if (blend > 0.0)
            diffuse(s, prob, q, k, blend);
        normalise(prob, k);
    }
    for (size_t i = 1; i < k; i++) // rounding must not break the order
        prob[i] = fmin(prob[i], prob[i - 1]);
    if (p->absorption > 0.0f)
        absorb(&s->recent, c, prob, p->absorption);
    cand_measure(c, STRENGTH, blend);
    cand_measure(c, ENTROPY, entropy);
    cand_measure(c, MOVED, c->measure ? moved(c, prob) : NAN);
    if (p->absorption > 0.0f)
        sort_again(c, prob);
    for (size_t i = 0; i < k; i++) {
        c->p[i] = (float)prob[i];
        c->logit[i] = libm_logf((float)fmax(prob[i], FLT_MIN));
    }
}

// Draws whether scatter acts on the row.
static bool collides(struct scatter_state *s, struct cand *c, const struct scatter_params *p)
{
    if (!(p->collision < 1.0f))
        return true;
    const float u = rng_f32(&s->rng);
    cand_note(c, "draw", u);
    cand_note(c, "acts", u <= p->collision);
    return u <= p->collision;
}

// Scatters the best of a row that scatter acts on.
static void scatter_best(struct scatter_state *s, struct cand *c, const struct scatter_params *p)
{
    const size_t k = cand_alive(c, (size_t)p->k);
    if (k < 2)
        return;
    cand_top_k(c, k);
    cand_softmax(c);
    if (!reach_to(s, k, p->radius) ||
        (p->absorption > 0.0f && !tally_update(&s->recent, c->history, window_of(p->absorption_last_n)))) {
        cand_fail(c, FAULT_MEMORY, 0);
        return;
    }
    cand_measure(c, ACTS, 1.0);
    scatter(s, c, p);
    rest_writes_logs(c);
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    cand_measure(c, ACTS, 0.0);
    if (rest_has_two(c) && collides(self, c, stage->params))
        scatter_best(self, c, stage->params);
}

static void rest(void *self, struct cand *c, const struct stage *stage)
{
    const struct scatter_params *const p = stage->params;
    cand_measure(c, ACTS, 0.0);
    if (!rest_has_two(c) || !collides(self, c, p))
        return;
    rest_end(c, p->k > 0 && rest_knows_best(c, (size_t)p->k));
    scatter_best(self, c, p);
}

static void release(void *self)
{
    struct scatter_state *const s = self;
    rng_free(&s->rng);
    tally_free(&s->recent);
    free(s->weight);
    free(s->weight_sum);
}

static bool needs_rows(const struct stage *stage)
{
    const struct scatter_params *const p = stage->params;
    return p->collision < 1.0f;
}

const struct sampler sampler_scatter = {.name = "scatter",
                                        .letter = 'r',
                                        .heading = "Scatter",
                                        PARAMS(params, scatter_params),
                                        .size = sizeof(struct scatter_state),
                                        .conflict = conflict,
                                        .enabled = enabled,
                                        .idle = idle,
                                        .window = window,
                                        .measures = measures,
                                        .apply = apply,
                                        .rest = rest,
                                        .reset = reset_rng,
                                        .needs_rows = needs_rows,
                                        .by_chance = needs_rows,
                                        .release = release};
