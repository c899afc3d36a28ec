// SPDX-License-Identifier: MIT
// parity [COUNT [SEED]]: runs random chains over random sequences of rows, on every tier and in every input type that can hold the row.
// Compares the fault, the choice and the whole list (ids, bits of logits and probabilities, order) with the reference in oracle.h.
// Case i depends only on the number SEED + i: `parity 1 NUMBER` repeats it.
#include "oracle.h"
#include "random.h"
#include "stages.h"

#include <inttypes.h>
#include <stdio.h>

#define COUNT(array)    (sizeof(array) / sizeof *(array))
#define PICK(type, ...) (((const type[]){__VA_ARGS__})[random_below(COUNT(((const type[]){__VA_ARGS__})))])
#define PICK_FLOAT(...) PICK(float, __VA_ARGS__)
#define PICK_INT(...)   PICK(int, __VA_ARGS__)
#define ONE_IN(n)       (random_below(n) == 0)

enum { MAX_CHOICES = 9, MAX_LANES = 16, MAX_PROMPT = 400 };

// The arrays that struct params points to, besides the oracle's parameters.
struct arrays {
    struct bias bias[8];
    struct tokens breaker[4];
    uint32_t end[8];
};

// One way to run the case: a tier and an input type.
struct lane {
    const struct kern *kern;
    enum dtype type;
    struct chain *chain;
    struct cand cand;
};

struct test {
    uint64_t number;
    struct oracle_params common;
    struct oracle_choice choice[MAX_CHOICES];
    size_t n_choices;
    struct arrays arrays[MAX_CHOICES + 1];
    struct stages stages;
    size_t n_vocab;
    enum dtype narrow; // every row is exact in this type
    uint32_t prompt[MAX_PROMPT];
    size_t n_prompt;
    size_t n_rows, row;
    struct oracle oracle;
    struct lane lane[MAX_LANES];
    size_t n_lanes;
};

static uint64_t compared_rows, compared_sparse, compared_candidates, compared_faults;

// ---- random values

static float uniform(float low, float high) { return low + (high - low) * ((float)(random_bits() >> 40) * 0x1p-24f); }

static float normal(void)
{
    float sum = -6.0f;
    for (int i = 0; i < 12; i++)
        sum += uniform(0.0f, 1.0f);
    return sum;
}

// Frequent ids: a few small ones.
static uint32_t random_token(const struct test *t)
{
    const size_t few = PICK(size_t, 1, 2, 3, 5, 20);
    return (uint32_t)random_below(ONE_IN(8) || few > t->n_vocab ? t->n_vocab : few);
}

// ---- input types

static float widen_half(uint16_t h)
{
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    float x = exponent ? ldexpf((float)(1024 + fraction), exponent - 25) : ldexpf((float)fraction, -24);
    if (exponent == 31)
        x = fraction ? NAN : INFINITY;
    return h & 0x8000 ? -x : x;
}

// Truncates towards zero; a finite x stays finite. The tests need any exact value, not the nearest.
static uint16_t narrow_to_half(float x)
{
    const unsigned sign = signbit(x) ? 0x8000 : 0;
    const float a = fabsf(x);
    if (isnan(x))
        return 0x7e00;
    if (a == INFINITY)
        return (uint16_t)(sign | 0x7c00);
    if (a >= 65504.0f)
        return (uint16_t)(sign | 0x7bff);
    if (a < 0x1p-14f)
        return (uint16_t)(sign | (unsigned)(a * 0x1p24f));
    int exponent;
    const float fraction = frexpf(a, &exponent); // in [0.5, 1)
    return (uint16_t)(sign | (unsigned)(exponent + 14) << 10 | ((unsigned)(fraction * 2048.0f) & 1023));
}

static uint32_t bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

// Truncates to eight significant bits. Uses arithmetic, because gcc 12.2 -O2 drops
// `type == DTYPE_BF16 ? of_bits(bits(x) & 0xffff0000u) : x`.
static float round_to_bf16(float x)
{
    int exponent;
    const float fraction = frexpf(x, &exponent);
    return x == 0.0f || !isfinite(x) ? x : ldexpf(truncf(fraction * 256.0f), exponent - 8);
}

static float round_to(enum dtype type, float x)
{
    if (type == DTYPE_F16)
        return widen_half(narrow_to_half(x));
    return type == DTYPE_BF16 ? round_to_bf16(x) : x;
}

// Returns the lowest finite number of a type, which masks a token as -inf does.
static float lowest(enum dtype type)
{
    return type == DTYPE_F32 ? -FLT_MAX : type == DTYPE_F16 ? -65504.0f : -0x1.fep127f;
}

static uint32_t element(float x, enum dtype type)
{
    return type == DTYPE_F32 ? bits(x) : type == DTYPE_F16 ? narrow_to_half(x) : bits(x) >> 16;
}

// Returns the row as bytes of this type, at a random alignment, at the end of its memory, with both forms of masks. The caller frees *base.
static void *encode(const float *x, size_t n, enum dtype type, void **base)
{
    const size_t shift = PICK(size_t, 0, 0, 1, 2, 4, 8, 20), size = dtype_size(type);
    const bool finite_masks = ONE_IN(4);
    char *const at = (char *)(*base = malloc(shift + n * size)) + shift;
    for (size_t i = 0; i < n; i++) {
        const bool mask = finite_masks && x[i] == -INFINITY && ONE_IN(2);
        const uint32_t e = element(mask ? lowest(type) : x[i], type); // little-endian, as src/ demands
        memcpy(at + i * size, &e, size);
    }
    return at;
}

// ---- random rows

static void row_of_ties(float *x, size_t n)
{
    float value[5];
    for (size_t i = 0; i < COUNT(value); i++)
        value[i] = ONE_IN(8) ? -INFINITY : uniform(-6.0f, 6.0f);
    value[0] = 1.0f;
    const size_t values = 1 + random_below(COUNT(value));
    for (size_t i = 0; i < n; i++)
        x[i] = value[random_below(values)];
    x[random_below(n)] = value[0];
}

static void row_of_zeros(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = PICK_FLOAT(0.0f, -0.0f, 0.0f, -0.0f, 1e-3f, -1e-3f);
}

// Masks most logits.
static void row_of_masks(float *x, size_t n)
{
    const size_t rarity = PICK(size_t, 2, 5, 50);
    for (size_t i = 0; i < n; i++)
        x[i] = ONE_IN(rarity) ? 3.0f * normal() : -INFINITY;
    x[random_below(n)] = normal();
}

// Makes one large logit above equal ones, or one logit that is not masked.
static void row_of_one(float *x, size_t n, float rest)
{
    for (size_t i = 0; i < n; i++)
        x[i] = rest;
    x[random_below(n)] = uniform(-5.0f, 5.0f);
}

// Makes a few large logits above equal or random ones.
static void row_with_head(float *x, size_t n)
{
    const float noise = PICK_FLOAT(0.0f, 0.01f, 0.5f), height = PICK_FLOAT(3.0f, 10.0f, 40.0f, 120.0f);
    const size_t head = 1 + random_below(6);
    for (size_t i = 0; i < n; i++)
        x[i] = noise * normal();
    for (size_t i = 0; i < head; i++)
        x[random_below(n)] = height + normal();
}

// Makes a bad row, or an extreme good one.
static void row_with_faults(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = ONE_IN(2) ? -INFINITY : normal();
    x[random_below(n)] = PICK_FLOAT(NAN, INFINITY, -FLT_MAX, -INFINITY);
    x[random_below(n)] = PICK_FLOAT(NAN, INFINITY, -FLT_MAX, -3e38f, 3e38f);
}

static void random_row(float *x, size_t n, enum dtype type)
{
    const size_t kind = random_below(40);
    const float scale = PICK_FLOAT(0.3f, 1.0f, 3.0f, 10.0f);
    if (kind < 15)
        for (size_t i = 0; i < n; i++)
            x[i] = scale * normal();
    else if (kind < 20)
        row_of_ties(x, n);
    else if (kind < 23)
        row_of_masks(x, n);
    else if (kind < 25)
        row_of_one(x, n, -INFINITY);
    else if (kind < 27)
        row_of_one(x, n, PICK_FLOAT(-5.0f, -15.0f, -40.0f, 0.0f));
    else if (kind < 31)
        row_with_head(x, n);
    else if (kind < 34)
        row_of_zeros(x, n);
    else if (kind < 39)
        for (size_t i = 0; i < n; i++)
            x[i] = (float)random_below(40) * 0.5f - 10.0f;
    else
        ONE_IN(3) ? row_with_faults(x, n) : row_of_one(x, n, 1.0f);
    for (size_t i = 0; i < n; i++) {
        x[i] = round_to(type, x[i]);
        if (x[i] == lowest(type) || x[i] == -FLT_MAX)
            x[i] = -INFINITY;
    }
}

// ---- random chains

static void random_breakers(const struct test *t, struct oracle_params *p)
{
    p->n_breakers = ONE_IN(2) ? random_below(COUNT(p->breaker) + 1) : 0;
    for (size_t b = 0; b < p->n_breakers; b++) {
        p->breaker[b].n = 1 + random_below(COUNT(p->breaker[b].id));
        for (size_t i = 0; i < p->breaker[b].n; i++)
            p->breaker[b].id[i] = random_token(t);
    }
}

static void random_penalties(const struct test *t, struct oracle_params *p)
{
    p->repeat_last_n = PICK_INT(-1, 0, 1, 3, 10, 64, 64, 1000);
    p->repeat_penalty = PICK_FLOAT(1.0f, 1.1f, 1.5f, 0.5f, 3.0f);
    p->frequency_penalty = PICK_FLOAT(0.0f, 0.0f, 0.3f, -0.4f, 2.0f);
    p->presence_penalty = PICK_FLOAT(0.0f, 0.0f, 0.7f, -0.2f, ONE_IN(8) ? 7e4f : 20.0f);
    p->dry_multiplier = PICK_FLOAT(0.0f, 0.8f, 0.8f, 2.0f, -0.5f);
    p->dry_base = PICK_FLOAT(1.75f, 1.0f, 1.0000005f, 1.1f, 4.0f, 1e10f);
    p->dry_allowed_length = PICK_INT(0, 1, 2, 2, 3, 8);
    p->dry_last_n = PICK_INT(-1, -1, 0, 1, 4, 20, 64, 64, 150);
    random_breakers(t, p);
}

static void random_cuts(const struct test *t, struct oracle_params *p)
{
    const int n = (int)t->n_vocab;
    p->min_keep = ONE_IN(2) ? 0 : (int)random_below(ONE_IN(8) ? 700 : 11);
    p->top_k = PICK_INT(-1, 0, 1, 2, 5, 40, n / 9, n / 8, n / 7, n / 2, n - 1, n, n + 5);
    p->top_p = PICK_FLOAT(0.0f, 0.05f, 0.5f, 0.8f, 0.95f, 0.95f, 0.9999999f, 1.0f, 2.0f);
    p->min_p = PICK_FLOAT(-1.0f, 0.0f, 1e-30f, 0.001f, 0.05f, 0.05f, 0.3f, 1.0f, 1.5f);
    p->typical = PICK_FLOAT(0.0f, 0.2f, 0.6f, 0.9f, 0.9999999f, 1.0f);
    p->top_nsigma = PICK_FLOAT(-1.0f, 0.0f, 0.01f, 0.5f, 1.0f, 1.0f, 2.0f, 10.0f);
    p->xtc_probability = PICK_FLOAT(-1.0f, 0.0f, 0.3f, 0.7f, 1.0f, 1.0f);
    p->xtc_threshold = PICK_FLOAT(0.0f, 0.001f, 0.02f, 0.1f, 0.1f, 0.3f, 0.5f, 0.6f);
}

static void random_temperature(struct oracle_params *p)
{
    p->temp = PICK_FLOAT(0.8f, 0.8f, 0.8f, 1.0f, 1.0f, 0.0f, -1.0f, 1e-3f, 0.3f, 5.0f, ONE_IN(20) ? 1e-38f : 0.7f);
    p->dynatemp_range = ONE_IN(2) ? 0.0f : PICK_FLOAT(-1.0f, 0.1f, 0.5f, 0.8f, 3.0f);
    p->dynatemp_exp = PICK_FLOAT(1.0f, 1.0f, 0.5f, 2.0f, 0.0f, -1.0f);
    p->mirostat_lr = PICK_FLOAT(0.1f, 0.1f, 1.0f, 0.0f, -0.3f);
    p->mirostat_ent = PICK_FLOAT(5.0f, 5.0f, 1.0f, 0.1f, 0.0f, -2.0f, 12.0f);
    p->adaptive_target = PICK_FLOAT(-1.0f, 0.0f, 0.3f, 0.3f, 0.5f, 0.9f, 1.0f, 1.7f);
    p->adaptive_decay = PICK_FLOAT(0.9f, 0.9f, 0.5f, 0.0f, -1.0f, 0.99f, 1.0f);
}

static void random_scatter(const struct test *t, struct oracle_params *p)
{
    const int n = t->n_vocab > 5000 ? 500 : (int)t->n_vocab;
    p->scatter_k = PICK_INT(0, 1, 2, 3, 8, 64, 64, n / 2, n - 1, n, n + 5);
    p->scatter_steps = PICK_INT(1, 1, 1, 2, 5, 0, -1);
    p->scatter_strength = PICK_FLOAT(0.0f, 0.05f, 0.2f, 0.2f, 0.7f, 1.0f, -0.4f);
    p->scatter_radius = PICK_FLOAT(2.5f, 2.5f, 1.0f, 0.3f, 0.08f, 0.02f, 9.0f, 1000.0f, 0.0f, -1.0f);
    p->scatter_adaptive = ONE_IN(3);
    p->scatter_min = PICK_FLOAT(0.02f, 0.02f, 0.0f, 0.2f);
    p->scatter_max = PICK_FLOAT(0.3f, 0.3f, 0.2f, 1.0f);
    p->scatter_target = PICK_FLOAT(0.55f, 0.55f, 0.0f, 1.0f, -3.0f);
    p->scatter_absorption = ONE_IN(2) ? 0.0f : PICK_FLOAT(0.1f, 0.5f, 3.0f, 40.0f, 800.0f, -1.0f);
    p->scatter_collision = PICK_FLOAT(1.0f, 1.0f, 1.0f, 0.5f, 0.1f, 0.0f, -0.3f);
    p->scatter_last_n = PICK_INT(-1, 0, 1, 5, 64);
}

static void random_biases(const struct test *t, struct oracle_params *p)
{
    p->n_biases = ONE_IN(4) ? 1 + random_below(COUNT(p->bias)) : 0;
    for (size_t b = 0; b < p->n_biases; b++) {
        p->bias[b].id = ONE_IN(500) ? (uint32_t)(t->n_vocab + random_below(3)) : random_token(t);
        p->bias[b].bias = ONE_IN(6) ? -INFINITY : ONE_IN(300) ? 3e38f : uniform(-8.0f, 8.0f);
    }
}

static void random_foreign(struct oracle_params *p)
{
    p->top_a = PICK_FLOAT(0.0f, 1e-30f, 0.001f, 0.05f, 0.2f, 0.2f, 1.0f);
    p->smoothing_factor = PICK_FLOAT(0.0f, 1e-3f, 0.2f, 0.2f, 3.0f, 1e20f, 3e38f);
    p->smoothing_curve = PICK_FLOAT(1.0f, 1.0f, 1.7f, 3.0f, 5.0f, 10.0f);
    p->epsilon = PICK_FLOAT(0.0f, 1e-30f, 1e-3f, 0.02f, 0.3f, 0.99f);
    p->eta = PICK_FLOAT(0.0f, 1e-30f, 1e-3f, 0.02f, 0.3f, 0.99f);
    p->skew = PICK_FLOAT(0.0f, 0.3f, 1.3f, -0.8f, 30.0f, -30.0f, 1000.0f, -1000.0f);
    p->tfs = PICK_FLOAT(0.0f, 0.3f, 0.9f, 0.95f, 0.999f, 0.9999999f, 1.0f);
    p->p_step = PICK_FLOAT(0.0f, 1e-20f, 0.01f, 0.3f, 0.9f, 1.0f);
    p->top_h = PICK_FLOAT(0.0f, 1e-6f, 0.1f, 0.4f, 0.4f, 0.9f, 1.0f);
    p->ngram = PICK_FLOAT(0.0f, 1.0f, 2.0f, 2.0f, 3.0f, 50.0f);
    p->encoder = PICK_FLOAT(1.0f, 1.3f, 0.7f, 1e-30f, 3e38f);
    p->slope = PICK_FLOAT(1.0f, 1.0f, 0.3f, 0.9f, 1e-30f);
    p->min_k = PICK_FLOAT(-1.0f, -0.0f, 0.0f, 0.5f, 3.0f, 3.0f, 60.0f, 1e30f);
}

static struct oracle_params random_params(const struct test *t)
{
    struct oracle_params p = {.seed = t->common.seed};
    random_foreign(&p);
    random_penalties(t, &p);
    random_cuts(t, &p);
    random_temperature(&p);
    random_scatter(t, &p);
    return p;
}

// Chooses random samplers, or llama.cpp's default chain with most parameters at their defaults; sometimes adds a selector at any place.
static void random_chain(struct test *t)
{
    const bool usual = ONE_IN(5);
    t->n_choices = usual ? 0 : random_below(MAX_CHOICES);
    for (size_t i = 0; i < t->n_choices; i++)
        t->choice[i] = (struct oracle_choice){
            (enum oracle_kind)(ORACLE_PENALTIES + random_below(ORACLE_DIST - ORACLE_PENALTIES)), random_params(t)};
    for (int kind = ORACLE_PENALTIES; usual && kind < ORACLE_TOP_A; kind++)
        if (t->n_choices < MAX_CHOICES - 1 && !ONE_IN(4))
            t->choice[t->n_choices++] = (struct oracle_choice){(enum oracle_kind)kind, random_params(t)};
    const size_t selector = random_below(10);
    if (selector < 6)
        return;
    const size_t at = random_below(t->n_choices + 1);
    memmove(t->choice + at + 1, t->choice + at, (t->n_choices++ - at) * sizeof *t->choice);
    t->choice[at] = (struct oracle_choice){selector < 9 ? ORACLE_ADAPTIVE_P
                                           : ONE_IN(2)  ? ORACLE_GREEDY
                                                        : ORACLE_DIST,
                                           random_params(t)};
}

static size_t random_vocabulary(void)
{
    const size_t kind = random_below(200);
    if (kind == 0)
        return 4090 + random_below(12);
    if (kind == 1)
        return ONE_IN(4) ? 32760 + random_below(300) : 250 + random_below(12);
    return kind < 12 ? 200 + random_below(2800) : 1 + random_below(40);
}

static void random_test(struct test *t, uint64_t number)
{
    memset(t, 0, sizeof *t);
    random_state = number;
    t->number = number;
    t->n_vocab = random_vocabulary();
    t->n_rows = t->n_vocab > 5000 ? 2 : 1 + random_below(8);
    t->narrow = PICK(enum dtype, DTYPE_F32, DTYPE_F32, DTYPE_F16, DTYPE_BF16);
    t->common.seed = (uint32_t)random_bits();
    t->common = random_params(t);
    t->common.mirostat = ONE_IN(8) ? 1 + ONE_IN(2) : 0;
    random_biases(t, &t->common);
    t->common.bans = ONE_IN(4);
    t->common.min_tokens = t->common.bans ? PICK_FLOAT(0.0f, 1.0f, 3.0f, 20.0f) : 0.0f;
    random_chain(t);
    t->n_prompt = ONE_IN(4) ? 0 : random_below(ONE_IN(10) ? MAX_PROMPT : ONE_IN(3) ? 120 : 12);
    for (size_t i = 0; i < t->n_prompt; i++)
        t->prompt[i] = random_token(t);
}

// ---- sampl's chain

static const char *const kind_names[] = {
    [ORACLE_LOGIT_BIAS] = "logit_bias",
    [ORACLE_PENALTIES] = "penalties",
    [ORACLE_DRY] = "dry",
    [ORACLE_TOP_N_SIGMA] = "top_n_sigma",
    [ORACLE_TOP_K] = "top_k",
    [ORACLE_TYP_P] = "typ_p",
    [ORACLE_TOP_P] = "top_p",
    [ORACLE_MIN_P] = "min_p",
    [ORACLE_XTC] = "xtc",
    [ORACLE_SCATTER] = "scatter",
    [ORACLE_TEMPERATURE] = "temperature",
    [ORACLE_DIST] = "dist",
    [ORACLE_GREEDY] = "greedy",
    [ORACLE_ADAPTIVE_P] = "adaptive_p",
    [ORACLE_TOP_A] = "top_a",
    [ORACLE_TFS] = "tfs",
    [ORACLE_TFS_TG] = "tfs_tg",
    [ORACLE_P_STEP] = "p_step",
    [ORACLE_TOP_H] = "top_h",
    [ORACLE_MIN_K] = "min_k",
    [ORACLE_SMOOTHING] = "smoothing",
    [ORACLE_EPSILON] = "epsilon_cutoff",
    [ORACLE_ETA] = "eta_cutoff",
    [ORACLE_P_LESS] = "p_less",
    [ORACLE_P_LESS_NORM] = "p_less_norm",
    [ORACLE_SKEW] = "skew",
    [ORACLE_NGRAM] = "no_repeat_ngram",
    [ORACLE_ENCODER] = "encoder_penalty",
    [ORACLE_BANS] = "bans",
};

// Parameters that parity sets by the names of their options.
static const struct {
    enum oracle_kind kind;
    const char *flag;
    size_t at; // offset of the float in struct oracle_params
} foreign[] = {
    {ORACLE_TOP_A, "top-a", offsetof(struct oracle_params, top_a)},
    {ORACLE_TFS, "tfs", offsetof(struct oracle_params, tfs)},
    {ORACLE_P_STEP, "p-step", offsetof(struct oracle_params, p_step)},
    {ORACLE_TOP_H, "top-h", offsetof(struct oracle_params, top_h)},
    {ORACLE_MIN_K, "min-k", offsetof(struct oracle_params, min_k)},
    {ORACLE_SMOOTHING, "smoothing-factor", offsetof(struct oracle_params, smoothing_factor)},
    {ORACLE_SMOOTHING, "smoothing-curve", offsetof(struct oracle_params, smoothing_curve)},
    {ORACLE_EPSILON, "epsilon-cutoff", offsetof(struct oracle_params, epsilon)},
    {ORACLE_ETA, "eta-cutoff", offsetof(struct oracle_params, eta)},
    {ORACLE_SKEW, "skew", offsetof(struct oracle_params, skew)},
    {ORACLE_NGRAM, "no-repeat-ngram", offsetof(struct oracle_params, ngram)},
    {ORACLE_ENCODER, "encoder-repeat-penalty", offsetof(struct oracle_params, encoder)},
    {ORACLE_PENALTIES, "repeat-penalty-slope", offsetof(struct oracle_params, slope)},
    {ORACLE_BANS, "min-tokens", offsetof(struct oracle_params, min_tokens)},
};

static float foreign_value(size_t i, const struct oracle_params *p)
{
    return *(const float *)(const void *)((const char *)p + foreign[i].at);
}

static void copy_arrays(struct params *to, const struct oracle_params *p, struct arrays *a)
{
    for (size_t i = 0; i < p->n_biases; i++)
        a->bias[i] = (struct bias){p->bias[i].id, p->bias[i].bias};
    for (size_t i = 0; i < p->n_breakers; i++)
        a->breaker[i] = (struct tokens){p->breaker[i].id, p->breaker[i].n};
    for (size_t i = 0; i < p->n_biases; i++)
        a->end[i] = p->bias[i].id;
    if (p->bans)
        to->bans = (struct bans){a->breaker, p->n_breakers, COUNT(p->breaker[0].id), a->end, p->n_biases};
    to->bias = a->bias;
    to->n_bias = p->n_biases;
    to->dry_breakers = a->breaker;
    to->n_dry_breakers = p->n_breakers;
}

static struct params real_params(const struct oracle_params *p, struct arrays *a)
{
    struct params to = {
        .seed = p->seed,
        .min_keep = p->min_keep,
        .temp = p->temp,
        .dynatemp_range = p->dynatemp_range,
        .dynatemp_exp = p->dynatemp_exp,
        .top_k = p->top_k,
        .top_p = p->top_p,
        .min_p = p->min_p,
        .typical = p->typical,
        .top_nsigma = p->top_nsigma,
        .xtc_probability = p->xtc_probability,
        .xtc_threshold = p->xtc_threshold,
        .repeat_last_n = p->repeat_last_n,
        .repeat_penalty = p->repeat_penalty,
        .frequency_penalty = p->frequency_penalty,
        .presence_penalty = p->presence_penalty,
        .dry_multiplier = p->dry_multiplier,
        .dry_base = p->dry_base,
        .dry_allowed_length = p->dry_allowed_length,
        .dry_penalty_last_n = p->dry_last_n,
        .mirostat = p->mirostat,
        .mirostat_lr = p->mirostat_lr,
        .mirostat_ent = p->mirostat_ent,
        .adaptive_target = p->adaptive_target,
        .adaptive_decay = p->adaptive_decay,
        .scatter_k = p->scatter_k,
        .scatter_steps = p->scatter_steps,
        .scatter_strength = p->scatter_strength,
        .scatter_radius = p->scatter_radius,
        .scatter_adaptive = p->scatter_adaptive,
        .scatter_strength_min = p->scatter_min,
        .scatter_strength_max = p->scatter_max,
        .scatter_entropy_target = p->scatter_target,
        .scatter_absorption = p->scatter_absorption,
        .scatter_collision = p->scatter_collision,
        .scatter_absorption_last_n = p->scatter_last_n,
    };
    copy_arrays(&to, p, a);
    for (; to.n_more < COUNT(foreign); to.n_more++) {
        to.more[to.n_more].flag = foreign[to.n_more].flag;
        to.more[to.n_more].value = foreign_value(to.n_more, p);
    }
    return to;
}

static void real_stages(struct test *t)
{
    const char *name[MAX_CHOICES];
    struct params own[MAX_CHOICES];
    const struct params common = real_params(&t->common, &t->arrays[MAX_CHOICES]);
    for (size_t i = 0; i < t->n_choices; i++) {
        name[i] = kind_names[t->choice[i].kind];
        own[i] = real_params(&t->choice[i].p, &t->arrays[i]);
    }
    stages_init(&t->stages);
    stages_fill(&t->stages, engine_by_name("llama"), &common, name, own, t->n_choices);
}

static void add_lane(struct test *t, const struct kern *kern, enum dtype type)
{
    struct lane *const lane = &t->lane[t->n_lanes++];
    lane->kern = kern;
    lane->type = type;
    lane->chain = stages_chain(&t->stages, t->common.seed);
    cand_init(&lane->cand, kern);
    lane->cand.want_p = !ONE_IN(3);
    lane->cand.want_logits = lane->cand.want_p || ONE_IN(2);
    lane->cand.want = lane->cand.want_p || ONE_IN(2) ? WANT_TOKEN_AND_P : WANT_TOKEN;
    if (!lane->chain) {
        fprintf(stderr, "parity: chain_new failed\n");
        exit(2);
    }
}

static void begin(struct test *t)
{
    oracle_build(&t->oracle, &t->common, t->choice, t->n_choices);
    real_stages(t);
    for (size_t i = 0; kern_tier(i) && t->n_lanes + 2 <= MAX_LANES; i++) {
        add_lane(t, kern_tier(i), DTYPE_F32);
        if (t->narrow != DTYPE_F32)
            add_lane(t, kern_tier(i), t->narrow);
    }
}

static void end(struct test *t)
{
    oracle_free(&t->oracle);
    for (size_t i = 0; i < t->n_lanes; i++) {
        chain_free(t->lane[i].chain);
        cand_free(&t->lane[i].cand);
    }
    stages_free(&t->stages);
}

static void accept_prompt(struct test *t)
{
    for (size_t i = 0; i < t->n_prompt; i++) {
        oracle_accept(&t->oracle, t->prompt[i]);
        for (size_t k = 0; k < t->n_lanes; k++)
            chain_accept_prompt(t->lane[k].chain, t->prompt[i]);
    }
    t->oracle.n_prompt = t->n_prompt;
}

static void accept_all(struct test *t, uint32_t token)
{
    oracle_accept(&t->oracle, token);
    for (size_t i = 0; i < t->n_lanes; i++)
        chain_accept(t->lane[i].chain, token);
}

static void reset_all(struct test *t, uint32_t seed)
{
    oracle_reset(&t->oracle, seed);
    for (size_t i = 0; i < t->n_lanes; i++)
        chain_reset(t->lane[i].chain, seed);
}

// ---- reports

static void print_breakers(const struct oracle_params *p)
{
    for (size_t b = 0; b < p->n_breakers; b++) {
        printf(" breaker");
        for (size_t i = 0; i < p->breaker[b].n; i++)
            printf("%c%" PRIu32, i ? ',' : '=', p->breaker[b].id[i]);
    }
}

static void print_scatter(const struct oracle_params *p)
{
    printf(
        " k=%d strength=%.9g radius=%.9g steps=%d adaptive=%d min=%.9g max=%.9g target=%.9g absorption=%.9g last_n=%d"
        " collision=%.9g",
        p->scatter_k, p->scatter_strength, p->scatter_radius, p->scatter_steps, p->scatter_adaptive, p->scatter_min,
        p->scatter_max, p->scatter_target, p->scatter_absorption, p->scatter_last_n, p->scatter_collision);
}

static void print_stage(enum oracle_kind kind, const struct oracle_params *p)
{
    printf("  %s:", kind < COUNT(kind_names) ? kind_names[kind] : "mirostat");
    if (kind == ORACLE_PENALTIES)
        printf(" last_n=%d repeat=%.9g frequency=%.9g presence=%.9g", p->repeat_last_n, p->repeat_penalty,
               p->frequency_penalty, p->presence_penalty);
    if (kind == ORACLE_DRY) {
        printf(" multiplier=%.9g base=%.9g allowed_length=%d last_n=%d", p->dry_multiplier, p->dry_base,
               p->dry_allowed_length, p->dry_last_n);
        print_breakers(p);
    }
    for (size_t i = 0; kind == ORACLE_LOGIT_BIAS && i < p->n_biases; i++)
        printf(" %" PRIu32 "%+.9g", p->bias[i].id, p->bias[i].bias);
    if (kind == ORACLE_SCATTER)
        print_scatter(p);
    if (kind == ORACLE_TEMPERATURE)
        printf(" temp=%.9g range=%.9g exp=%.9g", p->temp, p->dynatemp_range, p->dynatemp_exp);
    if (kind == ORACLE_XTC)
        printf(" probability=%.9g threshold=%.9g", p->xtc_probability, p->xtc_threshold);
    if (kind == ORACLE_ADAPTIVE_P)
        printf(" target=%.9g decay=%.9g", p->adaptive_target, p->adaptive_decay);
    if (kind >= ORACLE_MIROSTAT_1)
        printf(" %d lr=%.9g ent=%.9g", p->mirostat, p->mirostat_lr, p->mirostat_ent);
    for (size_t i = 0; i < COUNT(foreign); i++)
        if (foreign[i].kind == kind)
            printf(" %s=%.9g", foreign[i].flag, foreign_value(i, p));
    const struct {
        enum oracle_kind kind;
        float value;
    } simple[] = {{ORACLE_TOP_K, (float)p->top_k},
                  {ORACLE_TOP_P, p->top_p},
                  {ORACLE_MIN_P, p->min_p},
                  {ORACLE_TYP_P, p->typical},
                  {ORACLE_TOP_N_SIGMA, p->top_nsigma}};
    for (size_t i = 0; i < COUNT(simple); i++)
        if (simple[i].kind == kind)
            printf(" %.9g", simple[i].value);
    printf(" min_keep=%d\n", p->min_keep);
}

static void print_list(const char *whose, const struct oracle *o, const struct lane *lane, size_t from, size_t n)
{
    printf("%s:", whose);
    for (size_t i = from; i < from + 4 && i < n; i++) {
        const uint32_t id = lane ? lane->cand.id[i] : o->c[i].id;
        const float logit = lane ? lane->cand.logit[i] : o->c[i].logit, p = lane ? lane->cand.p[i] : o->c[i].p;
        printf(" %" PRIu32 " (%a, %a)", id, logit, p);
    }
    putchar('\n');
}

// Prints where and how the lists differ. Returns false.
static bool differ(const struct test *t, const struct lane *lane, const char *what, double expected, double got)
{
    printf("MISMATCH: parity 1 %" PRIu64
           "\nrow %zu of %zu, vocabulary %zu, prompt %zu, tier %s, type %d, want_p %d, chain:\n",
           t->number, t->row, t->n_rows, t->n_vocab, t->n_prompt, lane->kern->name, (int)lane->type, lane->cand.want_p);
    for (size_t i = 0; i < t->oracle.n_stages; i++)
        print_stage(t->oracle.stage[i].kind, &t->oracle.stage[i].p);
    printf("%s: expected %.17g, got %.17g\n", what, expected, got);
    return false;
}

static bool differ_at(const struct test *t, const struct lane *lane, size_t i)
{
    const struct oracle_cand *const want = &t->oracle.c[i];
    const struct cand *const c = &lane->cand;
    printf("first difference at index %zu of %zu\n", i, c->n);
    print_list("expected", &t->oracle, NULL, i, c->n);
    print_list("got", NULL, lane, i, c->n);
    if (want->id != c->id[i])
        return differ(t, lane, "id", want->id, c->id[i]);
    if (bits(want->logit) != bits(c->logit[i]))
        return differ(t, lane, "logit", want->logit, c->logit[i]);
    return differ(t, lane, "p", want->p, c->p[i]);
}

// ---- the comparison

static enum oracle_error error_of(struct fault fault)
{
    static const enum oracle_error same[] = {
        [FAULT_NAN] = ORACLE_NAN,
        [FAULT_INFINITE] = ORACLE_INFINITE,
        [FAULT_ALL_MASKED] = ORACLE_ALL_MASKED,
        [FAULT_NOTHING_LEFT] = ORACLE_NOTHING_LEFT,
        [FAULT_OVERFLOW] = ORACLE_OVERFLOW,
    };
    return fault.code < COUNT(same) ? same[fault.code] : ORACLE_OK;
}

// After a fault: compares the fault, and its place if the input determines the place.
static bool same_fault(const struct test *t, const struct lane *lane, struct fault fault)
{
    const struct oracle *const o = &t->oracle;
    if (error_of(fault) != o->error)
        return differ(t, lane, "fault (oracle's numbers)", o->error, error_of(fault));
    if ((o->error == ORACLE_NAN || o->error == ORACLE_INFINITE) && fault.at != o->at)
        return differ(t, lane, "place of the fault", (double)o->at, (double)fault.at);
    compared_faults += o->error != ORACLE_OK;
    return true;
}

static bool same_list(const struct test *t, const struct lane *lane)
{
    const struct oracle *const o = &t->oracle;
    const struct cand *const c = &lane->cand;
    if (c->n != o->n)
        return differ(t, lane, "number of candidates", (double)o->n, (double)c->n);
    for (size_t i = 0; i < o->n; i++)
        if (o->c[i].id != c->id[i] || (c->want_logits && bits(o->c[i].logit) != bits(c->logit[i])) ||
            (c->want_p && bits(o->c[i].p) != bits(c->p[i])))
            return differ_at(t, lane, i);
    if (c->chosen != o->c[o->chosen].id)
        return differ(t, lane, "chosen", o->c[o->chosen].id, c->chosen);
    if (c->want == WANT_TOKEN_AND_P && bits(c->chosen_p) != bits(o->c[o->chosen].p))
        return differ(t, lane, "chosen_p", o->c[o->chosen].p, c->chosen_p);
    compared_candidates += o->n;
    return true;
}

static bool run_lane(const struct test *t, struct lane *lane, const float *x, const struct row *shape)
{
    void *base;
    struct row row = *shape;
    row.type = lane->type;
    row.data = encode(x, row.n, lane->type, &base);
    struct fault fault = cand_load(&lane->cand, &row);
    if (!fault.code)
        fault = chain_apply(lane->chain, &lane->cand, NULL, NULL);
    if (lane->cand.pending_sort)
        cand_sort(&lane->cand);
    cand_list(&lane->cand);
    const bool same = same_fault(t, lane, fault) && (fault.code || same_list(t, lane));
    free(base);
    compared_rows++;
    return same;
}

// Fills ids[0..n_vocab) with some or all tokens, rising; sometimes with ids that are too large for an array. Returns their number.
static size_t random_ids(uint32_t *ids, size_t n_vocab)
{
    const size_t rarity = PICK(size_t, 1, 2, 3, 10);
    size_t n = 0;
    for (size_t i = 0; i < n_vocab; i++)
        if (ONE_IN(rarity))
            ids[n++] = (uint32_t)i;
    if (!n)
        ids[n++] = (uint32_t)random_below(n_vocab);
    for (size_t i = n, top = INT32_MAX; i-- && ONE_IN(8); top = ids[i] - 1)
        ids[i] = (uint32_t)(top - random_below(2));
    return n;
}

// Makes a row's ids and width: dense or sparse, with or without a known vocabulary.
static struct row random_shape(const struct test *t, uint32_t *ids)
{
    struct row row = {.n = t->n_vocab};
    if (ONE_IN(4)) {
        row.n = random_ids(ids, t->n_vocab);
        row.ids = ids;
        row.n_vocab = ONE_IN(2) ? 0 : ids[row.n - 1] < t->n_vocab ? t->n_vocab : (size_t)INT32_MAX + 1;
    } else if (ONE_IN(30)) {
        row.n = 1 + random_below(2 * t->n_vocab); // JSON rows may differ in width
    }
    compared_sparse += row.ids != NULL;
    return row;
}

// Runs one row on the oracle and on all lanes. Sets *alive to false after a fault, which ends a sequence.
static bool run_row(struct test *t, bool *alive)
{
    struct oracle *const o = &t->oracle;
    uint32_t *const ids = malloc(t->n_vocab * sizeof *ids);
    const struct row row = random_shape(t, ids);
    float *const x = malloc(row.n * sizeof *x);
    random_row(x, row.n, t->narrow);
    oracle_row(o, x, row.n, row.ids, row_vocab(&row));
    bool same = true;
    for (size_t i = 0; same && i < t->n_lanes; i++)
        same = run_lane(t, &t->lane[i], x, &row);
    free(x);
    free(ids);
    *alive = o->error == ORACLE_OK;
    if (same && *alive)
        accept_all(t, ONE_IN(3) ? random_token(t) : o->c[o->chosen].id);
    return same;
}

static bool run_test(struct test *t)
{
    begin(t);
    accept_prompt(t);
    bool same = true, alive = true;
    for (t->row = 0; same && alive && t->row < t->n_rows; t->row++) {
        if (ONE_IN(30))
            reset_all(t, (uint32_t)random_bits());
        same = run_row(t, &alive);
    }
    end(t);
    return same;
}

int main(int argc, char **argv)
{
    const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 3000,
                   seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    static struct test t;
    for (uint64_t i = 0; i < count; i++) {
        random_test(&t, seed + i);
        if (!run_test(&t)) {
            printf("%" PRIu64 " passed, 1 failed\n", i);
            return 1;
        }
    }
    printf("%" PRIu64 " chains, %" PRIu64 " rows (%" PRIu64 " of them ended in a fault; %" PRIu64
           " sparse ones) and %" PRIu64 " candidates compared\n",
           count, compared_rows, compared_faults, compared_sparse, compared_candidates);
    printf("%" PRIu64 " passed, 0 failed\n", count);
    return 0;
}
