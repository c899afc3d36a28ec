// SPDX-License-Identifier: MIT
// The nucleus as transformers, vllm, vllm-v2 and mlx have it: candidates sorted by rising logit, of equal ones the
// lower id first; those whose cumulative probability does not exceed 1 - P are masked, but never the last. Of tied
// candidates at the boundary the higher ids stay. Formulas: sampl-spec(7).
#include "kern/kern.h"
#include "sample/cand_private.h"
#include "sample/nucleus.h"
#include "sample/sampler.h"
#include "sample/softmax_wide.h"

struct rising_params {
    double top_p;    // transformers, mlx: the difference is taken in f64
    float top_p_f32; // vllm: in f32
};

enum { NARROW = 1 }; // the variant whose limit is f32

static const struct param wide[] = {{"top-p", DOUBLE_AT(rising_params, top_p)}, {NULL}};
static const struct param narrow[] = {{"top-p", FLOAT_AT(rising_params, top_p_f32)}, {NULL}};

// Masks the candidates of a list by id, with probabilities, whose cumulative probability by rising logit is at most
// `tail`.
static void drop_tail(struct cand *c, float tail)
{
    const uint32_t *const rank = cand_rank_rising(c, c->logit);
    unsigned char *const keep = cand_scratch(c, c->n, 1);
    double sum = 0.0;
    size_t masked = 0;
    if (!keep)
        return;
    memset(keep, 1, c->n);
    for (; masked + 1 < c->n; masked++) {
        const uint32_t at = rank[masked];
        sum += c->p[at];
        if (!((float)sum <= tail))
            break;
        keep[at] = 0;
    }
    cand_keep_marked(c, keep);
}

// Counts the best candidates that drop_tail keeps; *least is the logit of the last of them. 0: the bounds do not tell.
//
// Plain algorithm: drop_tail, which sorts all candidates and adds up the probabilities from the least on. Too slow: the
// candidates that stay are few. Idea: the tail behind the k best has the weight of all less that of the k best, so that
// only the k best need be ranked. The sum of drop_tail is near this one: each of its probabilities is off by 2^-24 at
// most, or by half the smallest float, the sum is rounded to f32, and sums in f64 are off by m.error. If no sum within
// these bounds changes the comparison with `tail`, the comparison is that of drop_tail. unit: the weight of
// probability 1. Weights are those of logit - m.max.
static size_t count_kept(struct cand *c, const struct mass *m, double unit, double tail, float *least)
{
    enum { MANY = 256 }; // weights that are computed at a time: mostly, few of the ranked are needed
    const double relative = 0x1p-22, absolute = 0x1p-148 * (double)c->n + m->error + 0x1p-52 * (double)c->n;
    const double masked = unit * (tail - absolute) * (1.0 - relative),
                 kept = unit * (tail + absolute) * (1.0 + relative);
    struct nucleus needed = {.limit = (float)(1.0 - tail)};
    struct ranks ranked = {NULL, 0};
    float *const weight = c->store->spare;
    double head = 0.0;
    while (ranked.n < c->n) {
        const size_t from = ranked.n;
        needed.sum = (float)(head / m->sum);
        ranked = cand_rank(c, nucleus_to_rank(c, ranked, (float)m->sum, &needed));
        for (size_t i = from, weighed = from; i < ranked.n; i++) {
            if (i == weighed) {
                weighed = ranked.n - i < MANY ? ranked.n : i + MANY;
                cand_weigh_ranked(c, (struct ranks){ranked.at, weighed}, i, m->max, weight);
            }
            head += (double)weight[i];
            const double rest = m->sum - head;
            if (rest <= masked) {
                *least = cand_logit(c, ranked.at[i]);
                return i + 1;
            }
            if (rest <= kept)
                return 0;
        }
    }
    return 0;
}

// Keeps the n best, the last of which has the logit `least`; of those that tie with it, the higher ids.
static void keep_best(struct cand *c, size_t n, float least)
{
    c->state = CAND_LOGITS;
    cand_keep_from(c, least, 1);
    if (c->n == n)
        return;
    size_t surplus = c->n - n, to = 0;
    cand_list(c);
    for (size_t i = 0; i < c->n; i++) {
        if (surplus && c->logit[i] == least) {
            surplus--;
            continue;
        }
        c->id[to] = c->id[i];
        c->logit[to++] = c->logit[i];
    }
    c->n = to;
}

// Keeps what drop_tail keeps. Returns false, and leaves all candidates, if the bounds do not tell.
static bool keep_head(struct cand *c, const struct mass *m, double unit, float tail)
{
    float least;
    const size_t kept = count_kept(c, m, unit, (double)tail, &least);
    if (kept)
        keep_best(c, kept, least);
    return kept;
}

static float tail_of(const struct stage *stage)
{
    const struct rising_params *const p = stage->params;
    return stage->sampler->variant == NARROW ? 1.0f - p->top_p_f32 : (float)(1.0 - p->top_p);
}

static void rising_partial(void *self, struct cand *c, const struct stage *stage)
{
    const size_t kept = unlisted_nucleus(c, 1.0 - (double)tail_of(stage));
    if (!kept && listed_head(c)) {
        unlisted_may_cut(c);
        return;
    }
    // The higher ids of tied candidates at the boundary stay, but a list has the lower ones.
    const struct ranks head = cand_rank(c, kept && kept < SIZE_MAX ? kept : 1);
    const float last = cand_logit(c, head.at[head.n - 1]);
    unlisted_remove(c, kept && kept < SIZE_MAX && last > c->unlisted.ceiling);
    if (c->unlisted.state == UNLISTED_INEXACT) {
        stage->sampler->apply(self, c, stage);
        return;
    }
    keep_best(c, kept, last);
}

static void top_p_rising(void *self, struct cand *c, const struct stage *stage)
{
    const float tail = tail_of(stage);
    cand_max_wide(c);
    if (!c->fault.code && c->order == CAND_BY_ID) {
        const struct mass m = cand_mass(c, NULL, false);
        if (keep_head(c, &m, m.sum, tail))
            return;
    }
    cand_softmax_wide(c);
    if (!c->fault.code)
        drop_tail(c, tail);
}

// top_p_log (mlx): logits are log-probabilities already, so that weights are probabilities.
static void top_p_log(void *self, struct cand *c, const struct stage *stage)
{
    const float tail = tail_of(stage);
    cand_max_wide(c);
    if (!c->fault.code && c->order == CAND_BY_ID) {
        const struct mass m = cand_mass_from(c, 0.0f, NULL, false);
        if (keep_head(c, &m, 1.0, tail))
            return;
    }
    cand_softmax_wide(c);
    if (c->fault.code)
        return;
    c->kern->exp_sub(c->p, c->logit, 0.0f, c->n);
    drop_tail(c, tail);
}

// mlx takes 0 and less as off, too.
static bool log_enabled(const struct stage *stage)
{
    return ((const struct rising_params *)stage->params)->top_p > 0.0;
}

static double distance(const struct stage *stage, const struct compared *of)
{
    return distance_of_sum(of, 1.0 - (double)tail_of(stage));
}

static void explain(struct account *a) { account_sum(a, 1.0 - (double)tail_of(a->stage), false); }

#define RISING(NAME, VARIANT, ROWS, ENABLED, APPLY)                                                            \
    {                                                                                                          \
        .name = (NAME), .variant = (VARIANT), PARAMS(ROWS, rising_params), .limits = LIMITS_OTHERWISE,         \
        .runs = {BELOW, 1}, .enabled = (ENABLED), .partial = {rising_partial, stage_always}, .apply = (APPLY), \
        .distance = distance, .explain = explain                                                               \
    }

const struct sampler sampler_top_p_rising = RISING("top_p_rising", 0, wide, NULL, top_p_rising);
const struct sampler sampler_top_p_rising_f32 = RISING("top_p_rising_f32", NARROW, narrow, NULL, top_p_rising);
const struct sampler sampler_top_p_log = RISING("top_p_log", 0, wide, log_enabled, top_p_log);
