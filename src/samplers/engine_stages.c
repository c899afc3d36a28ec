// SPDX-License-Identifier: MIT
// The stages that only the engines ollama and akunu have, and the temperature of mlx. They do what llama.cpp's samplers
// do, but compute it in their own way. A softmax fills p once. The stages behind it cut by p and leave p as it is, so
// that p no longer sums to 1. A draw ends the chain.
#include "kern/expf.h"
#include "kern/libm.h"
#include "sample/cand_private.h"
#include "sample/nucleus.h"
#include "sample/sampler.h"

#include <string.h>

struct engine_stage_params {
    float temp, top_p, min_p;
    int32_t k;
    double temp_wide;
};

enum { LISTS = 1, KEEPS_ALL = 1 }; // variants: of scale, which makes a list; of top_k_prob, where 0 is all

static const struct param temp[] = {{"temp", FLOAT_AT(engine_stage_params, temp)}, {NULL}};
static const struct param temp_wide[] = {{"temp", DOUBLE_AT(engine_stage_params, temp_wide)}, {NULL}};
static const struct param top_k[] = {{"top-k", INT_AT(engine_stage_params, k)}, {NULL}};
static const struct param top_p[] = {{"top-p", FLOAT_AT(engine_stage_params, top_p)}, {NULL}};
static const struct param min_p[] = {{"min-p", FLOAT_AT(engine_stage_params, min_p)}, {NULL}};

// The filters of akunu-gpu work on a softmax at the temperature; its draw uses the logits as they are.
static const struct param filter[] = {{"temp", FLOAT_AT(engine_stage_params, temp)},
                                      {"top-k", INT_AT(engine_stage_params, k)},
                                      {"top-p", FLOAT_AT(engine_stage_params, top_p)},
                                      {"min-p", FLOAT_AT(engine_stage_params, min_p)},
                                      {NULL}};
static const struct param top_k_all[] = {{"top-k", INT_AT(engine_stage_params, k)},
                                         {"top-p", FLOAT_AT(engine_stage_params, top_p)},
                                         {"min-p", FLOAT_AT(engine_stage_params, min_p)},
                                         {NULL}};

// ---- logits

// round_f16 (akunu's engines): logits as they arrive there, in half precision.
static void round_f16(void *self, struct cand *c, const struct stage *stage)
{
    unlisted_needs_logits(c);
    if (c->unlisted.state == UNLISTED_LIVE)
        unlisted_map(c, f32_of_f16(f16_of_f32(c->unlisted.ceiling)));
    cand_round_f16(c);
}

// sort (ollama): all candidates by rank, so that equal quotients of unequal logits keep the order of the logits.
static void sort_all(void *self, struct cand *c, const struct stage *stage) { cand_sort(c); }

static void explain_sort(struct account *a) { account_say(a, "only sorts"); }

static void multiply_logits(const struct kern *kern, float *logit, size_t n, const void *factor)
{
    kern->multiply(logit, n, *(const float *)factor);
}

// scale (akunu): logit *= 1 / temp, which is not quite logit / temp. scale_wide (mlx): the temperature keeps its f64.
// The reciprocal of an f32 has the same bits if it is rounded to f64 first, since f64 has more than twice the digits.
static void scale(void *self, struct cand *c, const struct stage *stage)
{
    const float factor = (float)(1.0 / stage_first(stage));
    if (!(factor < INFINITY))
        cand_fail(c, FAULT_OVERFLOW, 0);
    if (stage->sampler->variant == LISTS)
        cand_list(c); // which softmax_id needs
    list_stretch(c, (double)factor);
    cand_map(c, multiply_logits, &factor);
}

static void explain_round(struct account *a)
{
    if (a->unchanged)
        account_say(a, "changed no logit: %s f16", a->before.n == 1 ? "it is an" : "all are");
}

const struct sampler sampler_round_f16 = {
    .name = "round_f16", .scale = READS_LOGITS, .apply = round_f16, .explain = explain_round};
const struct sampler sampler_sort = {
    .name = "sort", .apply = sort_all, .explain = explain_sort, .partial = {apply_partial}};

#define SCALE(NAME, ROWS, VARIANT)                                                                        \
    {                                                                                                     \
        .name = (NAME), .variant = (VARIANT), PARAMS(ROWS, engine_stage_params), .runs = {OTHER_THAN, 1}, \
        .temperature = stage_first, .apply = scale, .partial = {                                          \
            divide_partial                                                                                \
        }                                                                                                 \
    }

const struct sampler sampler_scale = SCALE("scale", temp, LISTS);
const struct sampler sampler_scale_wide = SCALE("scale_wide", temp_wide, 0);

// ---- softmaxes

// softmax_rank (ollama): of a sorted list, exp in f64.
static void softmax_rank(void *self, struct cand *c, const struct stage *stage)
{
    const float max = c->logit[0];
    if (!(max < INFINITY))
        cand_fail(c, FAULT_OVERFLOW, c->id[0]);
    if (max == -INFINITY)
        cand_fail(c, FAULT_NOTHING_LEFT, 0);
    for (size_t i = 0; i < c->n; i++)
        c->p[i] = (float)kern_exp((double)(c->logit[i] - max));
    c->state = CAND_PROBABILITIES;
    c->kern->divide(c->p, c->n, c->kern->sum(c->p, c->n, 0.0f));
}

// Multiplies the weights by 1 / sum, which rounds in another way than dividing by sum.
static void scale_weights(struct cand *c)
{
    c->kern->multiply(c->p, c->n, 1.0f / c->kern->sum(c->p, c->n, 0.0f));
    c->state = CAND_PROBABILITIES;
}

// softmax_id (akunu)
static void softmax_id(void *self, struct cand *c, const struct stage *stage)
{
    cand_list(c);
    cand_exp(c);
    scale_weights(c);
}

static bool filters(const struct stage *stage)
{
    const struct engine_stage_params *const p = stage->params;
    return p->k > 0 || p->top_p < 1.0f || p->min_p > 0.0f;
}

// softmax_scaled (akunu-gpu): what scale and softmax_id come to, but the logits stay.
static void softmax_scaled(void *self, struct cand *c, const struct stage *stage)
{
    const struct engine_stage_params *const p = stage->params;
    const float factor = 1.0f / p->temp, max = cand_max(c) * factor;
    if (!(factor < INFINITY && max < INFINITY))
        cand_fail(c, FAULT_OVERFLOW, 0);
    cand_list(c);
    memcpy(c->p, c->logit, c->n * sizeof *c->p);
    c->kern->multiply(c->p, c->n, factor);
    c->kern->exp_sub(c->p, c->p, max, c->n);
    scale_weights(c);
}

const struct sampler sampler_softmax_scaled = {.hands = HANDS_DIVIDED,
                                               .name = "softmax_scaled",
                                               PARAMS(filter, engine_stage_params),
                                               .enabled = filters,
                                               .apply = softmax_scaled};
const struct sampler sampler_softmax_rank = {
    .hands = HANDS_SOFTMAX, .name = "softmax_rank", .apply = softmax_rank, .partial = {apply_partial}};
const struct sampler sampler_softmax_id = {.hands = HANDS_SOFTMAX, .name = "softmax_id", .apply = softmax_id};

// ---- cuts

enum { DEFAULT_K = 256 };

// top_k_prob (akunu): the k most probable. Equal probabilities of unequal logits go by id. 0, or all there are, is 256.
// top_k_prob_all (akunu-gpu): 0, or all there are, is all. It also ranks them for the cuts behind it.
static void top_k_prob(void *self, struct cand *c, const struct stage *stage)
{
    const struct engine_stage_params *const p = stage->params;
    const bool keeps_all = stage->sampler->variant == KEEPS_ALL || c->n < DEFAULT_K;
    const bool given = p->k > 0 && (size_t)p->k < c->n;
    cand_top_k_by_p(c, given ? (size_t)p->k : keeps_all ? c->n : DEFAULT_K);
}

// min_p_cut (ollama, akunu): those before the first below min_p times the best one's.
static void min_p_cut(void *self, struct cand *c, const struct stage *stage)
{
    const struct engine_stage_params *const p = stage->params;
    const float floor = c->p[0] * p->min_p;
    size_t keep = 1;
    while (keep < c->n && !(c->p[keep] < floor))
        keep++;
    c->n = keep;
}

// The quotient of two p does not depend on unlisted tokens.
static void min_p_cut_partial(void *self, struct cand *c, const struct stage *stage)
{
    unlisted_cut_below(c, cand_max(c) + libm_logf(((const struct engine_stage_params *)stage->params)->min_p), 1);
    if (c->unlisted.state != UNLISTED_LIVE)
        min_p_cut(self, c, stage);
}

extern const struct sampler sampler_top_p_above;

// top_p_above (ollama), top_p_reach (akunu): through the first at which the running sum is above p, or has reached it.
static void top_p_cut(void *self, struct cand *c, const struct stage *stage)
{
    const struct engine_stage_params *const p = stage->params;
    struct nucleus kept = {.limit = p->top_p, .past = stage->sampler == &sampler_top_p_above, .least = 1};
    nucleus_add(&kept, c->kern, c->p, c->n);
    c->n = kept.n;
}

// p sums to 1 without the unlisted tokens, so that the weights tell which candidates stay.
static void top_p_above_partial(void *self, struct cand *c, const struct stage *stage)
{
    if (!unlisted_keep_best(c, unlisted_nucleus(c, stage_first(stage)), 1))
        top_p_cut(self, c, stage);
}

static double distance_top_k(const struct stage *stage, const struct compared *of)
{
    const int32_t k = ((const struct engine_stage_params *)stage->params)->k;
    const bool all = stage->sampler->variant == KEEPS_ALL;
    return distance_of_rank(of, k > 0 ? (size_t)k : all ? of->n : DEFAULT_K);
}

static void explain_top_k(struct account *a)
{
    const int32_t k = ((const struct engine_stage_params *)a->stage->params)->k;
    const bool all = a->stage->sampler->variant == KEEPS_ALL;
    if (a->unchanged && (k > 0 || !all))
        account_rank(a, k > 0 && (size_t)k < a->before.n ? (size_t)k : k > 0 && all ? (size_t)k : DEFAULT_K);
    else if (a->unchanged)
        account_say(a, "kept all: no top-k");
}

#define CUT(NAME, ROWS, APPLY, ...)                                                                           \
    {                                                                                                         \
        .name = (NAME), PARAMS(ROWS, engine_stage_params), .hands = HANDS_SAME, .apply = (APPLY), __VA_ARGS__ \
    }

const struct sampler sampler_top_k_prob = CUT("top_k_prob", top_k, top_k_prob, .limits = LIMITS_OTHERWISE,
                                              .distance = distance_top_k, .explain = explain_top_k);
const struct sampler sampler_top_k_prob_all =
    CUT("top_k_prob_all", top_k_all, top_k_prob, .variant = KEEPS_ALL, .enabled = filters, .distance = distance_top_k,
        .explain = explain_top_k);
const struct sampler sampler_min_p_cut =
    CUT("min_p_cut", min_p, min_p_cut, .limits = LIMITS_OTHERWISE, .distance = compares_ratio, .runs = {ABOVE, 0},
        .explain = explain_ratio, .partial = {min_p_cut_partial, stage_always});
const struct sampler sampler_top_p_above =
    CUT("top_p_above", top_p, top_p_cut, .limits = LIMITS_OTHERWISE, .distance = compares_sum, .runs = {BELOW, 1},
        .explain = explain_sum_past, .partial = {top_p_above_partial, stage_always});
const struct sampler sampler_top_p_reach = CUT("top_p_reach", top_p, top_p_cut, .limits = LIMITS_OTHERWISE,
                                               .distance = compares_sum, .runs = {BELOW, 1}, .explain = explain_sum);

// ---- draws, one a row, by the inverse of the cumulative distribution

// Chooses the first candidate at which the running f32 sum of p reaches r, else the last.
static void choose_at(struct cand *c, float r)
{
    float running = c->p[0];
    size_t at = 0;
    while (running < r && at + 1 < c->n)
        running += c->p[++at];
    c->chosen = c->id[at];
    c->chosen_p = c->p[at];
}

// draw_pcg (ollama): with Go's PCG generator.
static void draw_pcg(void *self, struct cand *c, const struct stage *stage)
{
    const float total = c->kern->sum(c->p, c->n, 0.0f);
    const float u = pcg_f32(self);
    cand_note(c, "draw", u);
    choose_at(c, u * total);
    unlisted_draw(c, c->p, (double)u);
    c->chosen_p /= total;
    if (c->want_p)
        c->kern->divide(c->p, c->n, total);
}

static void reset_pcg(void *self, const struct stage *stage, uint64_t seed)
{
    pcg_seed(self, seed, seed ^ UINT64_C(0x9E3779B9));
}

static void skip_pcg(void *self, uint64_t rows, uint64_t width) { pcg_discard(self, rows); }

// draw_mt (akunu): the probabilities are made to sum to 1 again; with mt19937.
static void draw_mt(void *self, struct cand *c, const struct stage *stage)
{
    scale_weights(c);
    const float u = rng_f32(self);
    cand_note(c, "draw", u);
    choose_at(c, u);
    unlisted_draw(c, c->p, (double)u);
}

static void skip_rng(void *self, uint64_t rows, uint64_t width) { rng_discard(self, rows); }

const struct sampler sampler_draw_pcg = {.name = "draw_pcg",
                                         .size = sizeof(struct pcg),
                                         .selector = true,
                                         .apply = draw_pcg,
                                         .partial = {apply_partial},
                                         .reset = reset_pcg,
                                         .skip = skip_pcg};
const struct sampler sampler_draw_mt = {
    .name = "draw_mt", RNG_STATE, .selector = true, .apply = draw_mt, .skip = skip_rng};
