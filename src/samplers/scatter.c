// SPDX-License-Identifier: MIT
// scatter (IceFog72's experimental llama.cpp fork): lets neighbouring ranks of the best k candidates exchange
// probability, a local diffusion with a Gaussian kernel over rank distance. Flattens the head of the distribution and
// leaves the tail out. With classes, only candidates of one class exchange probability; with embeddings, candidates
// whose tokens have near vectors do.
#include "base/mem.h"
#include "kern/libm.h"
#include "sample/neighbours.h"
#include "sample/sampler.h"
#include "vocab/token_class.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct scatter_params {
    float strength, radius, strength_min, strength_max, entropy_target, absorption, collision;
    float sigma;                         // 0: that of the row
    int32_t k, steps, absorption_last_n; // absorption_last_n: -1: the whole history
    int32_t neighbours;
    bool adaptive, classes;
};

// Bounds of the time that a row can take: a step takes k times up to 29 * radius multiplications.
enum { MOST_STEPS = 1000, MOST_RADIUS = 1000, MOST_NEIGHBOURS = 1000 };

static const struct param params[] = {
    {"scatter-strength", "fraction of each probability that is spread; 0 or less: off",
     FLOAT_AT(scatter_params, strength), RANGE(-FLT_MAX, 1), SLIDER(0, 1, 0.01)},
    {"scatter-k", "how many of the likeliest tokens take part; the others are removed", INT_AT(scatter_params, k),
     ANY_INT, .def = 64, .metavar = "K", LOG_SLIDER(1, 512, 1)},
    {"scatter-radius", "radius of the Gaussian that spreads probability, in ranks", FLOAT_AT(scatter_params, radius),
     RANGE(-FLT_MAX, MOST_RADIUS), .def = 2.5, SLIDER(0.1, 10, 0.1)},
    {"scatter-steps", "how many times probability is spread", INT_AT(scatter_params, steps),
     RANGE(INT32_MIN, MOST_STEPS), .def = 1, SLIDER(1, 16, 1)},
    {"scatter-adaptive", "let the entropy choose the strength", FLAG_AT(scatter_params, adaptive)},
    {"scatter-strength-min", "least adaptive strength", FLOAT_AT(scatter_params, strength_min), RANGE(0, 1),
     .def = 0.02f, SLIDER(0, 1, 0.01)},
    {"scatter-strength-max", "largest adaptive strength", FLOAT_AT(scatter_params, strength_max), RANGE(0, 1),
     .def = 0.3f, SLIDER(0, 1, 0.01)},
    {"scatter-entropy-target", "normalised entropy at which the adaptive strength is --scatter-strength",
     FLOAT_AT(scatter_params, entropy_target), FINITE, .def = 0.55f, SLIDER(0, 1, 0.01)},
    {"scatter-absorption", "damp recent tokens by exp(-X) for each occurrence; 0: off",
     FLOAT_AT(scatter_params, absorption), FINITE, SLIDER(0, 2, 0.05)},
    {"scatter-absorption-last-n", "how many tokens absorption looks back; -1: all",
     INT_AT(scatter_params, absorption_last_n), RANGE(-1, INT32_MAX), .def = 64, SLIDER(-1, 512, 1)},
    {"scatter-collision", "chance that scatter acts on a row", FLOAT_AT(scatter_params, collision), RANGE(-FLT_MAX, 1),
     .def = 1, .metavar = "P", SLIDER(0, 1, 0.01)},
    {"scatter-classes", "only tokens of one class exchange probability, words with words; needs --vocab",
     FLAG_AT(scatter_params, classes)},
    {"scatter-neighbours", "with --scatter-embeddings, how many nearest tokens each one exchanges probability with",
     INT_AT(scatter_params, neighbours), RANGE(1, MOST_NEIGHBOURS), .def = 5, .metavar = "M", LOG_SLIDER(1, 64, 1)},
    {"scatter-sigma", "with --scatter-embeddings, Gaussian radius in distance of vectors; 0: chosen in each row",
     FLOAT_AT(scatter_params, sigma), RANGE(0, FLT_MAX), .metavar = "S", SLIDER(0, 2, 0.01)},
    {NULL},
};

// What --stats shows of the rows.
enum { ACTS, STRENGTH, ENTROPY, MOVED, WITHIN };
static const struct row_measure measures[] = {
    [ACTS] = {"scatter_acts", "1: scatter acted on the row; 0: it was gated, or had one candidate"},
    [STRENGTH] = {"scatter_strength", "strength with which scatter exchanged probability"},
    [ENTROPY] = {"scatter_entropy", "entropy of scatter's candidates, divided by the largest entropy of as many"},
    [MOVED] = {"scatter_moved", "probability that scatter moved: half the sum of |after - before|"},
    [WITHIN] = {"scatter_within", "fraction of scatter_moved that stays within classes of tokens"},
    {NULL},
};

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

static const char *idle(const struct stage *stage, const struct param *row)
{
    const struct scatter_params *const p = stage->params;
    const size_t at = row->at;
    const bool vectors = stage->context->embeddings;
    if (at == offsetof(struct scatter_params, neighbours) || at == offsetof(struct scatter_params, sigma))
        return vectors ? NULL : "has no effect without --scatter-embeddings";
    if (at == offsetof(struct scatter_params, radius) && p->radius > 0.0f)
        return acts(p) && vectors ? "has no effect with --scatter-embeddings" : NULL;
    if (at == offsetof(struct scatter_params, strength_min) || at == offsetof(struct scatter_params, strength_max) ||
        at == offsetof(struct scatter_params, entropy_target))
        return p->adaptive ? NULL : "has no effect without --scatter-adaptive";
    if (at == offsetof(struct scatter_params, k))
        return acts(p) && p->k < 2 ? "below 2 switches scatter off" : NULL;
    const bool zero = (at == offsetof(struct scatter_params, collision) && p->collision <= 0.0f) ||
                      (at == offsetof(struct scatter_params, radius) && p->radius <= 0.0f) ||
                      (at == offsetof(struct scatter_params, steps) && p->steps < 1);
    return acts(p) && zero ? "of 0 switches scatter off" : NULL;
}

static const char *conflict(const void *of_all)
{
    const struct scatter_params *const p = of_all;
    return p->strength_min > p->strength_max ? "--scatter-strength-min is above --scatter-strength-max" : NULL;
}

static bool check(const struct stage *stage, struct err *e)
{
    const struct scatter_params *const p = stage->params;
    const struct embeddings *const m = stage->context->embeddings;
    const size_t most = m ? EMBEDDINGS_BYTES / sizeof(float) / m->width : 0;
    if (p->classes && !stage->context->vocab)
        return err_set(e, STATUS_USAGE, "--scatter-classes needs --vocab, as the classes are those of the texts");
    if (m && ((size_t)p->k > EMBEDDINGS_K || (size_t)p->k > most))
        return err_set(e, STATUS_USAGE, "--scatter-k: with --scatter-embeddings at most %zu candidates, not %" PRId32,
                       most < EMBEDDINGS_K ? most : (size_t)EMBEDDINGS_K, p->k);
    return true;
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

// How the candidates of a row exchange probability: all by rank, those of a class by rank, or by their vectors.
struct medium {
    unsigned char *class;   // [k] the class of each candidate; NULL: all exchange with all
    double *weight;         // [k] by rank: the kernel's sum over the candidates that exchange with this one
    struct neighbours near; // near.n 0: the vectors do not matter
};

// Finds the classes of the candidates. Returns NULL if all are of one class, or after a fault.
static unsigned char *classes_of(struct cand *c, const struct vocab *v)
{
    unsigned char *const class = cand_scratch(c, c->n, sizeof *class);
    bool several = false;
    for (size_t i = 0; class && i < c->n; i++) {
        class[i] = (unsigned char)token_class(v, c->id[i]);
        several = several || class[i] != class[0];
    }
    return several ? class : NULL;
}

// Sums the kernel over the candidates of the class of candidate i to one side of i: over the `n` nearest places.
static double class_weight(const struct scatter_state *s, const unsigned char *at, size_t n, int side)
{
    double sum = 0.0;
    for (size_t d = 1; d <= n; d++)
        if (at[(ptrdiff_t)d * side] == *at)
            sum += s->weight[d];
    return sum;
}

// Makes the medium of the candidates. Returns false after a fault. spare: [k] scratch.
static bool make_medium(struct medium *m, const struct scatter_state *s, struct cand *c, const struct stage *stage,
                        double *spare)
{
    const struct scatter_params *const p = stage->params;
    const struct embeddings *const e = stage->context->embeddings;
    const size_t k = c->n, far = s->reach - 1;
    double *const weight = e ? NULL : cand_scratch(c, k, sizeof *weight);
    *m = (struct medium){.class = p->classes ? classes_of(c, stage->context->vocab) : NULL, .weight = weight};
    if (e && neighbours_find(&m->near, c, e, m->class, (size_t)p->neighbours)) {
        const double sigma = p->sigma > 0.0f ? p->sigma : neighbours_width(&m->near, spare);
        cand_note(c, "sigma", sigma);
        neighbours_weigh(&m->near, sigma);
    }
    for (size_t i = 0; weight && i < k; i++) {
        const size_t up = i < far ? i : far,
                     down = k - 1 - i < far ? k - 1 - i : far; // neighbours at better and at worse ranks
        weight[i] = m->class ? 1.0 + class_weight(s, m->class + i, up, -1) + class_weight(s, m->class + i, down, 1)
                             : 1.0 + s->weight_sum[up] + s->weight_sum[down];
    }
    return !c->fault.code;
}

// Blurs p[0..k), row-normalised: q[i] = p[i] + weight[1] * (p[i - 1] + p[i + 1]) + ..., in this order, divided by
// m->weight[i]. p is readable, and 0, at reach - 1 places on either side.
static void blur(const struct scatter_state *s, const struct medium *m, double *q, const double *p, size_t k)
{
    for (size_t i = 0; i < k; i++) {
        double sum = p[i];
        for (size_t d = 1; d < s->reach; d++)
            sum += s->weight[d] * (*(p + i - d) + p[i + d]);
        q[i] = sum / m->weight[i];
    }
}

// Blurs within the classes: the sums of blur, in which candidates of other classes count as 0.
static void blur_classes(const struct scatter_state *s, const struct medium *m, double *q, const double *p, size_t k)
{
    const unsigned char *const class = m->class;
    for (size_t i = 0; i < k; i++) {
        double sum = p[i];
        for (size_t d = 1; d < s->reach; d++) {
            const double left = i >= d && class[i - d] == class[i] ? p[i - d] : 0.0;
            const double right = i + d < k && class[i + d] == class[i] ? p[i + d] : 0.0;
            sum += s->weight[d] * (left + right);
        }
        q[i] = sum / m->weight[i];
    }
}

// One step: p = (1 - strength) p + strength q, q being what a candidate gets from those that exchange with it.
static void exchange(const struct scatter_state *s, const struct medium *m, double *p, double *q, size_t k,
                     double strength)
{
    if (m->near.n)
        neighbours_mix(&m->near, q, p);
    else if (m->class)
        blur_classes(s, m, q, p, k);
    else
        blur(s, m, q, p, k);
    for (size_t i = 0; i < k; i++)
        p[i] = (1.0 - strength) * p[i] + strength * q[i];
}

// Restores what a step may break. By rank, only rounding breaks the order. Within a class, other classes may lie
// between two candidates, which then lose unequal shares. The first candidate stays the likeliest, so that greedy
// decoding chooses the same token with scatter.
static void restore_order(const struct medium *m, double *p, size_t k)
{
    double least[TOKEN_CLASSES] = {0}; // of each class so far
    bool seen[TOKEN_CLASSES] = {false};
    for (size_t i = 0; i < k && !m->near.n; i++) {
        const size_t class = m->class ? m->class[i] : 0;
        p[i] = seen[class] ? fmin(p[i], least[class]) : p[i];
        least[class] = p[i];
        seen[class] = true;
    }
    if (!m->class && !m->near.n)
        return;
    for (size_t i = 1; i < k; i++)
        p[0] = fmax(p[0], p[i]);
    normalise(p, k);
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

// Returns the share of the moved probability that stays within classes. The rest is what the classes gain and lose:
// half of all differences of their sums. NaN if nothing has moved.
static double moved_within(const struct cand *c, const double *p, const struct vocab *v, double all)
{
    double gain[TOKEN_CLASSES] = {0.0}, across = 0.0;
    for (size_t i = 0; i < c->n; i++)
        gain[token_class(v, c->id[i])] += p[i] - c->p[i];
    for (size_t class = 0; class < TOKEN_CLASSES; class ++)
        across += 0.5 * fabs(gain[class]);
    return all > 0.0 ? fmax(1.0 - across / all, 0.0) : NAN;
}

static void measure(const struct cand *c, const double *p, const struct vocab *v)
{
    if (!c->measure)
        return;
    c->measure[MOVED] = moved(c, p);
    c->measure[WITHIN] = v ? moved_within(c, p, v, c->measure[MOVED]) : NAN;
}

static void scatter(const struct scatter_state *s, struct cand *c, const struct stage *stage)
{
    const struct scatter_params *const p = stage->params;
    const size_t k = c->n, pad = s->reach - 1;
    double *const padded = cand_scratch(c, k + 2 * pad, sizeof *padded), *const q = cand_scratch(c, k, sizeof *q);
    struct medium medium;
    if (c->fault.code || !make_medium(&medium, s, c, stage, q))
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
            exchange(s, &medium, prob, q, k, blend);
        normalise(prob, k);
    }
    restore_order(&medium, prob, k);
    if (p->absorption > 0.0f)
        absorb(&s->recent, c, prob, p->absorption);
    cand_measure(c, STRENGTH, blend);
    cand_measure(c, ENTROPY, entropy);
    measure(c, prob, stage->context->vocab);
    if (p->absorption > 0.0f || medium.class || medium.near.n)
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
static void scatter_best(struct scatter_state *s, struct cand *c, const struct stage *stage)
{
    const struct scatter_params *const p = stage->params;
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
    scatter(s, c, stage);
    unlisted_writes_logs(c);
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    cand_measure(c, ACTS, 0.0);
    if (full_has_two(c) && collides(self, c, stage->params))
        scatter_best(self, c, stage);
}

static void partial(void *self, struct cand *c, const struct stage *stage)
{
    const struct scatter_params *const p = stage->params;
    cand_measure(c, ACTS, 0.0);
    if (!full_has_two(c) || !collides(self, c, p))
        return;
    unlisted_remove(c, p->k > 0 && !list_is_coarse(&c->unlisted) && full_best_known(c, (size_t)p->k));
    scatter_best(self, c, stage);
}

static void explain(struct account *a)
{
    const struct scatter_params *const p = a->stage->params;
    const double u = account_note(a, "draw");
    if (!a->unchanged)
        return;
    if (u > p->collision)
        account_compare(a, "did not act: drew ", u, ", collides below ", p->collision);
    else if (a->whole && a->of.n < 2)
        account_say(a, "did not act: 1 candidate");
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
                                        .scale = WRITES_LOGPROBS,
                                        .letter = 'r',
                                        .heading = "Scatter",
                                        PARAMS(params, scatter_params),
                                        .size = sizeof(struct scatter_state),
                                        .conflict = conflict,
                                        .check = check,
                                        .enabled = enabled,
                                        .idle = idle,
                                        .lists = LISTS_VECTORS,
                                        .in_llama = LLAMA_SOME_BUILDS,
                                        .odds = RAISES_UNLIKELY,
                                        .window = window,
                                        .measures = measures,
                                        .apply = apply,
                                        .explain = explain,
                                        .partial = {partial, stage_always},
                                        .reset = reset_rng,
                                        .needs_rows = needs_rows,
                                        .by_chance = needs_rows,
                                        .release = release};
