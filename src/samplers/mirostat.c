// SPDX-License-Identifier: MIT
// mirostat (Basu et al. 2020, arXiv 2007.14966), versions 1 and 2 (selectors): cut the list so that the surprise of the
// chosen tokens stays near a target, tau bits.
#include "kern/libm.h"
#include "sample/draw.h"
#include "sample/sampler.h"

struct mirostat_params {
    float tau, eta;
};

static const struct param params[] = {
    {"mirostat-ent", "mirostat target entropy, tau, in bits", FLOAT_AT(mirostat_params, tau), FINITE, .def = 5,
     .server = "mirostat_tau", SLIDER(0.5, 10, 0.1)},
    {"mirostat-lr", "mirostat learning rate, eta", FLOAT_AT(mirostat_params, eta), FINITE, .def = 0.1f,
     .server = "mirostat_eta", LOG_SLIDER(0.01, 1, 0.01)},
    {NULL},
};

struct mirostat_state {
    struct rng rng;
    float mu; // the largest surprise allowed now
};

static void reset(void *self, const struct stage *stage, uint64_t seed)
{
    const struct mirostat_params *const p = stage->params;
    struct mirostat_state *const s = self;
    rng_seed(&s->rng, (uint32_t)seed);
    s->mu = 2.0f * p->tau;
}

// Keeps the k best, softmaxes them, draws, and moves mu towards the target. ranked: the best that are ranked already,
// or at NULL.
static void draw(struct mirostat_state *s, struct cand *c, size_t k, struct ranks ranked,
                 const struct mirostat_params *p)
{
    if (c->state != CAND_PROBABILITIES || c->order != CAND_SORTED || k < c->n) { // else they are softmaxed already
        if (ranked.at && k <= ranked.n)
            cand_gather(c, (struct ranks){ranked.at, k}, CAND_SORTED);
        else
            cand_top_k(c, k);
        cand_softmax(c);
    }
    if (c->fault.code)
        return;
    double u;
    const size_t at = rng_discrete(&s->rng, c->kern, c->p, c->n, &u);
    c->chosen = c->id[at];
    c->chosen_p = c->p[at];
    unlisted_draw(c, c->p, u);
    cand_note(c, "draw", u);
    const float surprise = -libm_log2f(c->chosen_p);
    cand_note(c, "mu", s->mu);
    cand_note(c, "surprise", surprise);
    s->mu -= p->eta * (surprise - p->tau);
}

enum { M = 100 }; // candidates that version 1 looks at

// Version 1's k before it is rounded down: fits Zipf's exponent to the best candidates, of which there are n.
static float zipf_k(const struct cand *c, const float *p, size_t n, float mu)
{
    float tb = 0.0f, tt = 0.0f;
    for (size_t i = 0; i + 1 < n && i + 1 < M; i++) {
        const float t = libm_logf((float)(i + 2) / (float)(i + 1)), b = libm_logf(p[i] / p[i + 1]);
        tb += t * b;
        tt += t * t;
    }
    const size_t n_vocab = c->n_vocab ? c->n_vocab : c->n_row;
    const float s = tb / tt, eps = s - 1.0f;
    return libm_powf((eps * libm_powf(2.0f, mu)) / (1.0f - libm_powf((float)n_vocab, -eps)), 1.0f / s);
}

// Returns k, rounded down.
static size_t whole_k(float k)
{
    return k >= 1.0f && k < 0x1p31f ? (size_t)k : 1; // C++'s int(k) is negative beyond, on x86
}

static void apply_1(void *self, struct cand *c, const struct stage *stage)
{
    const struct mirostat_params *const p = stage->params;
    struct mirostat_state *const s = self;
    if (c->n > 1) {
        const float sum = cand_rank_sum(c);
        const struct head head = cand_rank_head(c, sum, 0.0f, M);
        draw(s, c, whole_k(zipf_k(c, head.p, head.best.n, s->mu)), head.best, p);
    } else {
        cand_list(c);
        cand_softmax(c);
        c->chosen = c->id[0];
        c->chosen_p = c->p[0];
    }
}

// The list must hold the M best and the k best. The list's rounding must not change k.
static void partial_1(void *self, struct cand *c, const struct stage *stage)
{
    const struct mirostat_state *const s = self;
    bool known = c->n_vocab && full_best_known(c, M);
    if (known) {
        const struct head head = cand_rank_head(c, cand_rank_sum(c), 0.0f, M);
        const float k = zipf_k(c, head.p, head.best.n, s->mu), slack = 1e-3f * k;
        known = k < (float)c->n && whole_k(k - slack) == whole_k(k + slack) && full_best_known(c, whole_k(k));
    }
    unlisted_remove(c, known);
    apply_1(self, c, stage);
}

// Returns how many of the best are not too surprising, at least one. The probabilities fall, so that a bisection with a
// bound on p finds the first that may be too surprising; the logarithm decides only from there on.
static size_t unsurprising(const float *p, size_t n, float mu)
{
    const float surely = libm_exp2f(-mu) * 1.0001f;
    size_t low = 1, high = n; // the first that may be too surprising lies in [low, high]
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (p[mid] > surely)
            low = mid + 1;
        else
            high = mid;
    }
    while (low < n && !(-libm_log2f(p[low]) > mu))
        low++;
    return low;
}

static void apply_2(void *self, struct cand *c, const struct stage *stage)
{
    const struct mirostat_params *const p = stage->params;
    struct mirostat_state *const s = self;
    const float sum = cand_rank_sum(c), range = s->mu * 0x1.62e43p-1f - libm_logf(sum);
    struct head head = cand_rank_head(c, sum, fmaxf(range, 0.0f) * 1.0001f + 0.01f, 1);
    if (c->fault.code)
        return;
    size_t keep = unsurprising(head.p, head.best.n, s->mu);
    if (keep == head.best.n && keep < c->n && !(-libm_log2f(head.tail_p) > s->mu)) { // others may be unsurprising
        cand_sort(c);
        cand_softmax(c);
        keep = unsurprising(c->p, c->n, s->mu);
        head.best.at = NULL;
    }
    draw(s, c, keep, head.best, p);
}

static void partial_2(void *self, struct cand *c, const struct stage *stage)
{
    const struct mirostat_state *const s = self;
    const struct unlisted_sum sum = unlisted_sum(c);
    const double least = libm_exp2f(-s->mu); // probability
    unlisted_cut_between(c, least * (sum.listed + sum.low), least * (sum.listed + sum.high), 1);
    apply_2(self, c, stage);
}

// mu has moved on since the row, and its note tells what it was.
static void explain(struct account *a)
{
    const struct softmax *const of = a->of.softmax; // p may be too small for a number, but not its logarithm
    const double mu = account_note(a, "mu"),
                 most = (of->max + of->log_sum - a->of.own) * 0x1.71547652b82fep+0; // / ln 2
    if (!a->unchanged)
        return;
    account_say(a, "kept all");
    if (a->whole && a->stage->sampler->mirostat == 2 && most < mu)
        account_compare(a, ": the least likely is a surprise of ", most, " bits, below mu, ", mu);
}

#define VERSION(NUMBER, NAME, APPLY, PARTIAL)                                                                         \
    {                                                                                                                 \
        .name = (NAME), .mirostat = (NUMBER), PARAMS(params, mirostat_params), .size = sizeof(struct mirostat_state), \
        .selector = true, .apply = (APPLY), .partial = {(PARTIAL), stage_always}, .explain = explain, .reset = reset, \
        .needs_rows = stage_always, .by_chance = stage_always, .learns = true, .release = release_rng                 \
    }

const struct sampler sampler_mirostat = VERSION(1, "mirostat", apply_1, partial_1);
const struct sampler sampler_mirostat_v2 = VERSION(2, "mirostat_v2", apply_2, partial_2);
