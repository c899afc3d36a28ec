// SPDX-License-Identifier: MIT
// wide_check [ROWS [SEED]]: compares the filters and draws of the engines transformers, vllm, vllm-v2, sglang and mlx with plain versions of
// them, written from sampl-spec(7), over wide rows on every tier: flat, steep, tied, masked ones.
#include "kern/counter_noise.h"
#include "kern/expf.h"
#include "kern/libm.h"
#include "random.h"
#include "sample/rng.h"
#include "stages.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

enum { MOST = 128256, POSITION = 7 };

static float x[MOST], p[MOST], order_by[MOST], fast_logit[MOST];
static uint32_t order[MOST];
static bool kept[MOST];
static size_t n, n_sorted;
static double sum, max;

#define ONE_OF(...) ((const float[]){__VA_ARGS__})[random_below(sizeof((const float[]){__VA_ARGS__}) / sizeof(float))]

static float normal(void)
{
    return (float)(sqrt(-2 * log(1 - random_unit())) * cos(6.283185307179586 * random_unit()));
}

static const char *const kind_names[] = {"model", "flat", "steep", "tied", "masked", "constant", "narrow"};
enum { KINDS = sizeof kind_names / sizeof *kind_names };

static void fill_row(size_t kind)
{
    for (size_t i = 0; i < n; i++) {
        const float bell = normal();
        x[i] = kind == 1   ? 0.1f * bell
               : kind == 2 ? 12 * bell
               : kind == 3 ? roundf(2 * bell) / 2
               : kind == 4 ? (random_below(3) ? -INFINITY : 3 * bell)
               : kind == 5 ? 1.5f
               : kind == 6 ? 1 + 1e-6f * bell
                           : -2 + 2.4f * bell + (random_below(3000) ? 0 : 8 - 3 * (float)log(1 - random_unit()));
    }
    x[random_below(n)] = kind == 5 ? 1.5f : ONE_OF(1, 3, 9);
}

// ---- plain versions; a token is left if kept[id]

static void softmax(void)
{
    max = -INFINITY;
    sum = 0;
    for (size_t i = 0; i < n; i++)
        max = kept[i] && (double)x[i] > max ? (double)x[i] : max;
    for (size_t i = 0; i < n; i++)
        sum += kept[i] ? (double)kern_expf(x[i] - (float)max) : 0;
    for (size_t i = 0; i < n; i++)
        p[i] = kept[i] ? (float)((double)kern_expf(x[i] - (float)max) / sum) : 0;
}

static float log_p(size_t i) { return (float)((double)(x[i] - (float)max) - libm_log(sum)); }

static float entropy(void)
{
    double h = 0;
    for (size_t i = 0; i < n; i++)
        h += p[i] > 0 ? (double)(p[i] * log_p(i)) : 0;
    return (float)-h;
}

static int rises(const void *a, const void *b)
{
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    return order_by[i] < order_by[k] ? -1 : order_by[i] > order_by[k] ? 1 : i < k ? -1 : i > k;
}

// Sorts the tokens that are left by order_by, rising, equal ones by id. Returns how many.
static size_t sort_left(void)
{
    size_t left = 0;
    for (size_t i = 0; i < n; i++)
        if (kept[i])
            order[left++] = (uint32_t)i;
    qsort(order, left, sizeof *order, rises);
    return n_sorted = left;
}

static void keep_from(float floor)
{
    for (size_t i = 0; i < n; i++)
        kept[i] = kept[i] && (!(p[i] < floor) || (double)x[i] == max);
}

static void plain_top_k(float k)
{
    for (size_t i = 0; i < n; i++)
        order_by[i] = -x[i];
    const size_t left = sort_left();
    const float least = x[order[(size_t)k < left ? (size_t)k - 1 : left - 1]];
    for (size_t i = 0; i < n; i++)
        kept[i] = kept[i] && x[i] >= least;
}

// by[i]: the logits.
static void plain_top_p(const float *by, float tail)
{
    double c = 0;
    memcpy(order_by, by, n * sizeof *by);
    const size_t left = sort_left();
    for (size_t i = 0; i + 1 < left && (float)(c += (double)p[order[i]]) <= tail; i++)
        kept[order[i]] = false;
}

static void plain_top_p_wide(float value) { plain_top_p(x, (float)(1.0 - (double)value)); }
static void plain_top_p_f32(float value) { plain_top_p(x, 1.0f - value); }
static void plain_min_p(float value) { keep_from((float)(1.0 / sum) * value); }
static void plain_epsilon(float value) { keep_from(value); }
static void plain_eta(float value) { keep_from(fminf(value, sqrtf(value) * kern_expf(-entropy()))); }

static void plain_typical(float value)
{
    const float h = entropy();
    double c = 0;
    size_t last = 0;
    for (size_t i = 0; i < n; i++)
        order_by[i] = fabsf(-log_p(i) - h);
    const size_t left = sort_left();
    while (last + 1 < left && (float)(c += (double)p[order[last]]) < value)
        last++;
    const float most = order_by[order[last]];
    for (size_t i = 0; i < n; i++)
        kept[i] = kept[i] && order_by[i] <= most;
}

// sglang: softmax_cut, with p falling.
static void cut(size_t k, float top_p, float min_p)
{
    double c = 0;
    for (size_t i = 0; i < n; i++)
        order_by[i] = -p[i];
    const size_t left = sort_left();
    for (size_t i = 0; i < left; i++) {
        c += (double)p[order[i]];
        kept[order[i]] = i < k && p[order[i]] > 0 && (top_p >= 1 || (float)c - p[order[i]] <= top_p) &&
                         !(p[order[i]] < p[order[0]] * min_p);
    }
}

static void plain_cut(float value) { cut(n, value, 0); }
static void plain_cut_min_p(float value) { cut(n, 1, value); }
static void plain_cut_top_k(float value) { cut((size_t)value, 1, 0); }

// mlx: the row becomes log-probabilities, whose exponentials are added up.
static void plain_top_p_log(float value)
{
    for (size_t i = 0; i < n; i++) {
        fast_logit[i] = kept[i] ? log_p(i) : -INFINITY;
        p[i] = kept[i] ? kern_expf(fast_logit[i]) : 0;
    }
    plain_top_p(fast_logit, (float)(1.0 - (double)value));
}

static void plain_all(float value) {}

// ---- draws

static uint32_t draw_exp(uint64_t seed)
{
    struct rng r = {0};
    float best = -1;
    uint32_t chosen = 0;
    rng_seed(&r, (uint32_t)seed);
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t high = rng_u32(&r), bits = (high << 32 | rng_u32(&r)) & ((UINT64_C(1) << 53) - 1);
        const float q = bits ? (float)-libm_log(1.0 - (double)bits * 0x1p-53) : 0x1p-149f;
        if (kept[i] && p[i] / q > best) {
            best = p[i] / q;
            chosen = i;
        }
    }
    rng_free(&r);
    return chosen;
}

static uint32_t draw_philox(uint64_t seed)
{
    const uint32_t key = philox((struct philox){{POSITION - 1}}, (uint32_t)seed, (uint32_t)(seed >> 32)).word[0];
    float best = -INFINITY;
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < n; i++) {
        const int32_t w = (int32_t)philox((struct philox){{i}}, key, 0).word[0];
        const float u = fmaxf((float)(w < 0 ? -w - 1 : w) * 4.6566127342e-10f, 4.6566127342e-10f);
        const float g = u < 1 ? -libm_logf((float)-libm_log(1.0 - (double)u)) : -INFINITY;
        if (kept[i] && x[i] + g > best) {
            best = x[i] + g;
            chosen = i;
        }
    }
    return chosen;
}

// By id of the whole row; by rank behind a cut, as plain_cut has sorted the tokens.
static uint32_t draw_murmur_of(uint64_t seed, bool by_rank)
{
    double best = -INFINITY;
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < (by_rank ? n_sorted : n); i++) {
        const uint32_t id = by_rank ? order[i] : i;
        if (!kept[id])
            continue;
        const uint32_t h = murmur((uint32_t[]){(uint32_t)seed, (uint32_t)(seed >> 32), POSITION - 1, i});
        const double v = fmin(fmax(libm_log((double)h / 4294967295.0), -DBL_MAX), -0x1p-32);
        const double log = by_rank ? libm_log((double)p[id]) : p[id] > 0 ? (double)libm_logf(p[id]) : -INFINITY;
        if (log - libm_log(-v) > best) {
            best = log - libm_log(-v);
            chosen = id;
        }
    }
    return chosen;
}

static uint32_t draw_murmur(uint64_t seed) { return draw_murmur_of(seed, false); }
static uint32_t draw_murmur_ranks(uint64_t seed) { return draw_murmur_of(seed, true); }

// ---- comparison

static const struct {
    const char *engine, *flag;
    void (*filter)(float value);
    uint32_t (*draw)(uint64_t seed); // NULL: the kept tokens alone are compared
    float value[5];
} cases[] = {
    {"transformers", "top-p", plain_top_p_wide, draw_exp, {0.95f, 0.5f, 0.999f, 0.05f, 0.8f}},
    {"vllm", "top-p", plain_top_p_f32, draw_exp, {0.95f, 0.5f, 0.9999f, 0.05f, 0.8f}},
    {"vllm-v2", "top-p", plain_top_p_f32, draw_philox, {0.95f, 0.9f, 0.99f, 0.3f, 0.75f}},
    {"transformers", "min-p", plain_min_p, draw_exp, {0.05f, 0.1f, 1, 1e-8f, 0.5f}},
    {"transformers", "epsilon-cutoff", plain_epsilon, draw_exp, {0.001f, 3e-4f, 1e-5f, 0.9f, 0}},
    {"transformers", "eta-cutoff", plain_eta, draw_exp, {0.001f, 3e-4f, 1e-6f, 0.9f, 0.1f}},
    {"transformers", "typical", plain_typical, draw_exp, {0.9f, 0.5f, 0.99f, 0.2f, 0.05f}},
    {"transformers", "top-k", plain_top_k, draw_exp, {40, 1, 1000, 20000, 300}},
    {"vllm-v2", "top-k", plain_top_k, draw_philox, {40, 1, 1000, 20000, 300}},
    {"sglang", "top-p", plain_cut, draw_murmur_ranks, {0.95f, 0.5f, 0.99f, 0.05f, 0.8f}},
    {"sglang", "min-p", plain_cut_min_p, draw_murmur_ranks, {0.05f, 0.1f, 1, 1e-8f, 0.5f}},
    {"sglang", "top-k", plain_cut_top_k, draw_murmur_ranks, {40, 2, 1000, 20000, 300}},
    {"mlx", "top-p", plain_top_p_log, NULL, {0.95f, 0.5f, 0.999f, 0.05f, 0.8f}},
    {"transformers", NULL, plain_all, draw_exp, {0}},
    {"vllm-v2", NULL, plain_all, draw_philox, {0}},
    {"sglang", NULL, plain_all, draw_murmur, {0}},
};

enum { CASES = sizeof cases / sizeof *cases };

// Runs the chain, with a full distribution or the token alone. Returns false if a row fails.
static bool run(const struct stages *stages, const struct kern *kern, uint32_t seed, bool full, struct cand *c)
{
    struct chain *const ch = stages_chain(stages, seed);
    const struct row row = {DTYPE_F32, x, n};
    cand_init(c, kern);
    c->want_p = c->want_logits = full;
    c->want = full ? WANT_TOKEN_AND_P : WANT_TOKEN;
    c->position = POSITION;
    const bool ran = ch && !cand_load(c, &row).code && !chain_apply(ch, c, NULL, NULL).code;
    chain_free(ch);
    return ran;
}

// Returns whether the candidates are the tokens that are left.
static bool same_tokens(const struct cand *c)
{
    cand_snapshot(c, fast_logit);
    for (size_t i = 0; i < n; i++)
        if ((fast_logit[i] > -INFINITY) != kept[i])
            return false;
    return true;
}

static bool run_case(size_t number, size_t kind, float value)
{
    const uint32_t seed = (uint32_t)random_bits();
    struct params params = {.seed = seed, .temp = 1, .top_p = 1, .typical = 1, .repeat_penalty = 1};
    struct stages stages;
    bool same = true;
    if (cases[number].flag)
        params.more[params.n_more++] = (struct more){cases[number].flag, value};
    for (size_t i = 0; i < n; i++)
        kept[i] = x[i] > -INFINITY;
    softmax();
    cases[number].filter(value);
    if (strcmp(cases[number].engine, "sglang"))
        softmax();
    const uint32_t chosen = cases[number].draw ? cases[number].draw(seed) : 0;
    stages_init(&stages);
    stages_fill(&stages, engine_by_name(cases[number].engine), &params, NULL, NULL, 0);
    for (size_t t = 0; kern_tier(t) && same; t++)
        for (int full = 0; full < 2 && same; full++) {
            struct cand c;
            same = run(&stages, kern_tier(t), seed, full, &c) && (c.chosen == chosen || !cases[number].draw) &&
                   (!full || same_tokens(&c));
            if (!same)
                printf("%s, %s %g, tier %s, %s row of %zu: chosen %" PRIu32 ", expected %" PRIu32 "\n",
                       cases[number].engine, cases[number].flag ? cases[number].flag : "no filter", (double)value,
                       kern_tier(t)->name, kind_names[kind], n, c.chosen, chosen);
            cand_free(&c);
        }
    stages_free(&stages);
    return same;
}

int main(int argc, char **argv)
{
    const unsigned long rows = argc > 1 ? strtoul(argv[1], NULL, 10) : 100,
                        seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    unsigned long passed = 0, failed = 0;
    for (unsigned long i = 0; i < rows && failed < 20; i++) {
        static const size_t widths[] = {32000, 128256, 3001};
        const size_t kind = i % KINDS;
        random_state = (seed + i) * 4294967291u;
        n = widths[i / KINDS % 3];
        fill_row(kind);
        for (size_t k = 0; k < CASES; k++) {
            const bool same = run_case(k, kind, cases[k].value[random_below(5)]);
            passed += same;
            failed += !same;
        }
    }
    printf("%lu passed, %lu failed\n", passed, failed);
    return failed != 0;
}
