// SPDX-License-Identifier: MIT
// oracle.h: a slow reference of the whole chain, written from the samplers' specifications only. It has one array of candidates, qsort, and
// a loop for every sum, and shares no code with src/. It is a header, as the Makefile links a unit test from one .c file and src/.
#ifndef TESTS_UNIT_ORACLE_H
#define TESTS_UNIT_ORACLE_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum oracle_kind {
    ORACLE_LOGIT_BIAS,
    ORACLE_BANS,
    ORACLE_PENALTIES,
    ORACLE_DRY,
    ORACLE_TOP_N_SIGMA,
    ORACLE_TOP_K,
    ORACLE_TYP_P,
    ORACLE_TOP_P,
    ORACLE_MIN_P,
    ORACLE_XTC,
    ORACLE_SCATTER,
    ORACLE_TEMPERATURE,
    ORACLE_TOP_A, // first sampler of other programs
    ORACLE_TFS,
    ORACLE_TFS_TG,
    ORACLE_P_STEP,
    ORACLE_TOP_H,
    ORACLE_MIN_K,
    ORACLE_SMOOTHING,
    ORACLE_EPSILON,
    ORACLE_ETA,
    ORACLE_P_LESS,
    ORACLE_P_LESS_NORM,
    ORACLE_SKEW,
    ORACLE_NGRAM,
    ORACLE_ENCODER,
    ORACLE_DIST, // first selector
    ORACLE_GREEDY,
    ORACLE_ADAPTIVE_P,
    ORACLE_MIROSTAT_1,
    ORACLE_MIROSTAT_2,
};

enum oracle_error {
    ORACLE_OK,
    ORACLE_NAN,          // at: the id
    ORACLE_INFINITE,     // at: the id
    ORACLE_ALL_MASKED,   // no finite logit in the row
    ORACLE_NOTHING_LEFT, // a softmax found every candidate masked
    ORACLE_OVERFLOW,     // a logit became NaN or +inf
};

struct oracle_bias {
    uint32_t id;
    float bias;
};

struct oracle_breaker {
    uint32_t id[3];
    size_t n;
};

struct oracle_params {
    uint32_t seed;
    int min_keep;
    float temp, dynatemp_range, dynatemp_exp;
    int top_k;
    float top_p, min_p, typical, top_nsigma, xtc_probability, xtc_threshold;
    int repeat_last_n; // -1: the whole history, as for the other windows
    float repeat_penalty, frequency_penalty, presence_penalty;
    float dry_multiplier, dry_base;
    int dry_allowed_length, dry_last_n;
    struct oracle_breaker breaker[4];
    size_t n_breakers;
    int mirostat;
    float mirostat_lr, mirostat_ent, adaptive_target, adaptive_decay;
    int scatter_k, scatter_steps;
    float scatter_strength, scatter_radius, scatter_min, scatter_max, scatter_target, scatter_absorption,
        scatter_collision;
    bool scatter_adaptive;
    int scatter_last_n;
    struct oracle_bias bias[8];
    size_t n_biases;
    float top_a, tfs, p_step, top_h, min_k, smoothing_factor, smoothing_curve, epsilon, eta, skew, ngram, encoder,
        slope, min_tokens;
    bool bans; // breakers also count as bad words, and biased tokens as end tokens
};

struct oracle_rng {
    uint32_t word[624];
    int next;
};

struct oracle_stage {
    enum oracle_kind kind;
    struct oracle_params p;
    struct oracle_rng rng;
    float mu;              // mirostat
    float weighted, total; // adaptive_p: W and T
    bool picked;           // adaptive_p: a chosen token is not yet accepted
    uint32_t token;
    float token_p;
};

struct oracle_cand {
    uint32_t id;
    float logit, p;
};

enum { ORACLE_STAGES = 16 };

struct oracle {
    struct oracle_stage stage[ORACLE_STAGES];
    size_t n_stages;
    uint32_t *history; // oldest first
    size_t n_history, history_cap;
    size_t n_prompt; // number of prompt tokens in the history

    // the row
    struct oracle_cand *c;
    size_t n;
    size_t n_vocab; // for mirostat: the width of a sparse row
    size_t end;     // the id after the last one, 0: unknown
    bool sorted;
    size_t chosen; // index in c
    enum oracle_error error;
    size_t at;
};

// ---- numbers

// Computes the specification's expf. The table is 2^(i/32), correctly rounded from 60 decimal digits.
static float oracle_expf(float x)
{
    static const double table[32] = {
        0x1.0000000000000p+0, 0x1.059b0d3158574p+0, 0x1.0b5586cf9890fp+0, 0x1.11301d0125b51p+0, 0x1.172b83c7d517bp+0,
        0x1.1d4873168b9aap+0, 0x1.2387a6e756238p+0, 0x1.29e9df51fdee1p+0, 0x1.306fe0a31b715p+0, 0x1.371a7373aa9cbp+0,
        0x1.3dea64c123422p+0, 0x1.44e086061892dp+0, 0x1.4bfdad5362a27p+0, 0x1.5342b569d4f82p+0, 0x1.5ab07dd485429p+0,
        0x1.6247eb03a5585p+0, 0x1.6a09e667f3bcdp+0, 0x1.71f75e8ec5f74p+0, 0x1.7a11473eb0187p+0, 0x1.82589994cce13p+0,
        0x1.8ace5422aa0dbp+0, 0x1.93737b0cdc5e5p+0, 0x1.9c49182a3f090p+0, 0x1.a5503b23e255dp+0, 0x1.ae89f995ad3adp+0,
        0x1.b7f76f2fb5e47p+0, 0x1.c199bdd85529cp+0, 0x1.cb720dcef9069p+0, 0x1.d5818dcfba487p+0, 0x1.dfc97337b9b5fp+0,
        0x1.ea4afa2a490dap+0, 0x1.f50765b6e4540p+0};
    const double c0 = 0x1.c6af84b912394p-5 / (32.0 * 32.0 * 32.0);
    const double c1 = 0x1.ebfce50fac4f3p-3 / (32.0 * 32.0);
    const double c2 = 0x1.62e42ff0c52d6p-1 / 32.0;
    if (!(x >= -104.0f))
        return isnan(x) ? x : 0.0f;
    const double z = (double)x * (0x1.71547652b82fep+0 * 32.0);
    const double k = (z + 0x1.8p+52) - 0x1.8p+52;
    const double r = z - k;
    const double whole = floor(k / 32.0);
    const double s = ldexp(table[(int)(k - 32.0 * whole)], (int)whole);
    const double y = (c0 * r + c1) * (r * r) + (c2 * r + 1.0);
    return (float)(y * s);
}

static void oracle_seed(struct oracle_rng *g, uint32_t seed)
{
    g->word[0] = seed;
    for (int i = 1; i < 624; i++)
        g->word[i] = 1812433253u * (g->word[i - 1] ^ (g->word[i - 1] >> 30)) + (uint32_t)i;
    g->next = 624;
}

static uint32_t oracle_draw(struct oracle_rng *g)
{
    if (g->next == 624) {
        for (int i = 0; i < 624; i++) {
            const uint32_t y = (g->word[i] & 0x80000000u) + (g->word[(i + 1) % 624] & 0x7fffffffu);
            g->word[i] = g->word[(i + 397) % 624] ^ (y >> 1) ^ (y % 2 == 1 ? 0x9908b0dfu : 0u);
        }
        g->next = 0;
    }
    uint32_t y = g->word[g->next++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    y ^= y >> 18;
    return y;
}

static double oracle_uniform64(struct oracle_rng *g)
{
    const double g0 = oracle_draw(g);
    const double g1 = oracle_draw(g);
    const double u = (g0 + g1 * 4294967296.0) / 18446744073709551616.0;
    return u >= 1.0 ? nextafter(1.0, 0.0) : u;
}

static float oracle_uniform32(struct oracle_rng *g)
{
    const float u = (float)oracle_draw(g) / 4294967296.0f;
    return u >= 1.0f ? nextafterf(1.0f, 0.0f) : u;
}

static float oracle_clamp(float x, float low, float high) { return x < low ? low : x > high ? high : x; }

// ---- the candidate list

static void oracle_fail(struct oracle *o, enum oracle_error error, size_t at)
{
    if (o->error == ORACLE_OK) {
        o->error = error;
        o->at = at;
    }
}

static int oracle_by_rank(const void *a, const void *b)
{
    const struct oracle_cand *const x = a, *const y = b;
    if (x->logit != y->logit)
        return x->logit > y->logit ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static void oracle_sort(struct oracle *o)
{
    if (!o->sorted)
        qsort(o->c, o->n, sizeof *o->c, oracle_by_rank);
    o->sorted = true;
}

// Sorts indexes of a list by rising key; equal keys keep their order.
struct oracle_place {
    double key;
    size_t at;
};

static int oracle_by_key(const void *a, const void *b)
{
    const struct oracle_place *const x = a, *const y = b;
    if (x->key < y->key || x->key > y->key)
        return x->key < y->key ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

// Sorts the list by its keys.
static void oracle_arrange(struct oracle *o, struct oracle_place *place)
{
    struct oracle_cand *const old = malloc(o->n * sizeof *old);
    memcpy(old, o->c, o->n * sizeof *old);
    qsort(place, o->n, sizeof *place, oracle_by_key);
    for (size_t i = 0; i < o->n; i++)
        o->c[i] = old[place[i].at];
    free(old);
}

static float oracle_max(const struct oracle *o)
{
    float max = o->c[0].logit;
    if (!o->sorted)
        for (size_t i = 1; i < o->n; i++)
            if (o->c[i].logit > max)
                max = o->c[i].logit;
    return max;
}

// Sets p = expf(logit - max). Returns false after a fault: every candidate is masked, or a logit is not finite.
static bool oracle_exp(struct oracle *o)
{
    const float max = oracle_max(o);
    if (max == -INFINITY)
        oracle_fail(o, ORACLE_NOTHING_LEFT, 0);
    else if (!(max < INFINITY))
        oracle_fail(o, ORACLE_OVERFLOW, 0);
    for (size_t i = 0; o->error == ORACLE_OK && i < o->n; i++)
        o->c[i].p = oracle_expf(o->c[i].logit - max);
    return o->error == ORACLE_OK;
}

static bool oracle_softmax(struct oracle *o, bool sort)
{
    if (sort)
        oracle_sort(o);
    if (!oracle_exp(o))
        return false;
    float sum = 0.0f;
    for (size_t i = 0; i < o->n; i++)
        sum += o->c[i].p;
    for (size_t i = 0; i < o->n; i++)
        o->c[i].p /= sum;
    return true;
}

static void oracle_sample_dist(struct oracle *o, struct oracle_rng *g)
{
    o->chosen = 0;
    if (o->n < 2)
        return;
    double sum = 0.0, prefix = 0.0;
    for (size_t i = 0; i < o->n; i++)
        sum += o->c[i].p;
    const double u = oracle_uniform64(g);
    for (size_t i = 0; i < o->n; i++) {
        prefix = i == o->n - 1 ? 1.0 : prefix + (double)o->c[i].p / sum;
        if (prefix >= u) {
            o->chosen = i;
            return;
        }
    }
}

// ---- the history

// Returns the number of tokens in a window.
static size_t oracle_window(const struct oracle *o, int last_n)
{
    return last_n < 0 || (size_t)last_n > o->n_history ? o->n_history : (size_t)last_n;
}

// Returns the i-th newest token.
static uint32_t oracle_newest(const struct oracle *o, size_t i) { return o->history[o->n_history - 1 - i]; }

static size_t oracle_count(const struct oracle *o, uint32_t id, int last_n)
{
    size_t count = 0;
    for (size_t i = 0; i < oracle_window(o, last_n); i++)
        count += oracle_newest(o, i) == id;
    return count;
}

// ---- samplers

// Reports a logit that a sampler changed to NaN or +inf.
static void oracle_check(struct oracle *o, size_t i)
{
    if (!(o->c[i].logit < INFINITY))
        oracle_fail(o, ORACLE_OVERFLOW, o->c[i].id);
}

static void oracle_logit_bias(struct oracle *o, struct oracle_stage *s)
{
    const struct oracle_params *const p = &s->p;
    for (size_t b = 0; o->error == ORACLE_OK && b < p->n_biases; b++)
        for (size_t i = 0; i < o->n; i++)
            if (o->c[i].id == p->bias[b].id)
                o->c[i].logit += p->bias[b].bias;
    for (size_t i = 0; i < o->n; i++)
        oracle_check(o, i);
}

static void oracle_penalties(struct oracle *o, struct oracle_stage *s)
{
    const struct oracle_params *const p = &s->p;
    if (p->repeat_last_n == 0 ||
        (p->repeat_penalty == 1.0f && p->frequency_penalty == 0.0f && p->presence_penalty == 0.0f))
        return;
    for (size_t i = 0; i < o->n; i++) {
        const size_t count = oracle_count(o, o->c[i].id, p->repeat_last_n);
        if (count == 0)
            continue;
        const float reduced =
            p->repeat_penalty > 1.0f ? 1.0f + (p->repeat_penalty - 1.0f) * p->slope : p->repeat_penalty;
        const size_t w = p->repeat_last_n < 0 ? o->n_history : (size_t)p->repeat_last_n;
        const float by = oracle_count(o, o->c[i].id, (int)(w - w / 2)) ? p->repeat_penalty : reduced;
        if (o->c[i].logit <= 0.0f)
            o->c[i].logit *= by;
        else
            o->c[i].logit /= by;
        o->c[i].logit -= (float)count * p->frequency_penalty + 1.0f * p->presence_penalty;
        oracle_check(o, i);
    }
    o->sorted = false;
}

// Step 1: the rep_limit.
static size_t oracle_dry_limit(const struct oracle *o, const struct oracle_params *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t found = 0;
        for (size_t b = 0; b < p->n_breakers; b++) {
            const struct oracle_breaker *const breaker = &p->breaker[b];
            size_t same = 0;
            while (same < breaker->n && same <= i && breaker->id[same] == oracle_newest(o, i - same))
                same++;
            if (same == breaker->n && same > found)
                found = same;
        }
        if (found)
            return i - (found - 1);
    }
    return n;
}

// Steps 2 and 3 for one token: returns the longest repetition before it, or -1.
static long oracle_dry_length(const struct oracle *o, uint32_t id, size_t n, size_t limit, int allowed)
{
    long longest = -1;
    for (size_t k = 1; k < n; k++) {
        if (oracle_newest(o, k - 1) != id)
            continue;
        size_t len = 0;
        while (k + len < n && oracle_newest(o, len) == oracle_newest(o, k + len))
            len++;
        if (len > limit)
            len = limit;
        if ((long)len >= allowed && (long)len > longest)
            longest = (long)len;
    }
    return longest;
}

static float oracle_dry_penalty(const struct oracle_params *p, long length)
{
    long e = length - p->dry_allowed_length;
    if (p->dry_base > 1.000001f) {
        const int most = (int)(88.7228391f / logf(p->dry_base));
        if (e > most)
            e = most;
    }
    return (float)((double)p->dry_multiplier * pow((double)p->dry_base, (double)e));
}

static void oracle_dry(struct oracle *o, struct oracle_stage *s)
{
    const struct oracle_params *const p = &s->p;
    if (p->dry_multiplier == 0.0f || p->dry_base < 1.0f || p->dry_last_n == 0)
        return;
    const size_t n = oracle_window(o, p->dry_last_n);
    if ((long)n <= p->dry_allowed_length)
        return;
    const size_t limit = oracle_dry_limit(o, p, n);
    if ((long)limit < p->dry_allowed_length)
        return;
    for (size_t i = 0; i < o->n; i++) {
        const long length = oracle_dry_length(o, o->c[i].id, n, limit, p->dry_allowed_length);
        bool breaker = false;
        for (size_t b = 0; b < p->n_breakers; b++)
            breaker = breaker || (p->breaker[b].n == 1 && p->breaker[b].id[0] == o->c[i].id);
        if (length < 0 || breaker)
            continue;
        o->c[i].logit -= oracle_dry_penalty(p, length);
        oracle_check(o, i);
    }
    o->sorted = false;
}

static void oracle_top_n_sigma(struct oracle *o, struct oracle_stage *s)
{
    const struct oracle_params *const p = &s->p;
    if (p->top_nsigma <= 0.0f || o->n < 2)
        return;
    float max = -INFINITY, sum = 0.0f, acc = 0.0f;
    size_t count = 0;
    for (size_t i = 0; i < o->n; i++) {
        if (o->c[i].logit == -INFINITY)
            continue;
        if (o->c[i].logit > max)
            max = o->c[i].logit;
        sum += o->c[i].logit;
        count++;
    }
    if (count == 0)
        return;
    const float mean = sum / (float)count;
    for (size_t i = 0; i < o->n; i++)
        if (o->c[i].logit != -INFINITY)
            acc = (float)((double)acc + pow((double)(o->c[i].logit - mean), 2.0));
    const float std = sqrtf(acc / (float)count);
    for (size_t i = 0; i < o->n; i++)
        if (o->c[i].logit < max - p->top_nsigma * std)
            o->c[i].logit = -INFINITY;
}

static void oracle_keep_top(struct oracle *o, int k)
{
    if (k <= 0)
        return;
    oracle_sort(o);
    if ((size_t)k < o->n)
        o->n = (size_t)k;
}

static void oracle_top_k(struct oracle *o, struct oracle_stage *s) { oracle_keep_top(o, s->p.top_k); }

static void oracle_typ_p(struct oracle *o, struct oracle_stage *s)
{
    const struct oracle_params *const p = &s->p;
    if (p->typical >= 1.0f || !oracle_softmax(o, true))
        return;
    float entropy = 0.0f;
    for (size_t i = 0; i < o->n; i++)
        if (o->c[i].p > 0.0f)
            entropy += -o->c[i].p * logf(o->c[i].p);
    struct oracle_place *const place = malloc(o->n * sizeof *place);
    for (size_t i = 0; i < o->n; i++) {
        const float score = fabsf(-logf(o->c[i].p) - entropy);
        place[i] = (struct oracle_place){(double)score, i};
    }
    oracle_arrange(o, place);
    free(place);
    float sum = 0.0f;
    for (size_t i = 0; i < o->n; i++) {
        sum += o->c[i].p;
        if (sum > p->typical && (p->min_keep == 0 || (long)i >= p->min_keep - 1)) {
            o->n = i + 1;
            break;
        }
    }
    o->sorted = false;
}

static void oracle_top_p(struct oracle *o, struct oracle_stage *s)
{
    const struct oracle_params *const p = &s->p;
    if (p->top_p >= 1.0f || !oracle_softmax(o, false))
        return;
    oracle_sort(o);
    float sum = 0.0f;
    for (size_t i = 0; i < o->n; i++) {
        sum += o->c[i].p;
        if (sum >= p->top_p && (long)i + 1 >= p->min_keep) {
            o->n = i + 1;
            break;
        }
    }
}

static void oracle_min_p(struct oracle *o, struct oracle_stage *s)
{
    const struct oracle_params *const p = &s->p;
    if (p->min_p <= 0.0f)
        return;
    const float threshold = oracle_max(o) + logf(p->min_p);
    size_t passing = 0;
    for (size_t i = 0; i < o->n; i++)
        passing += o->c[i].logit >= threshold;
    if (!o->sorted && passing > 0 && (long)passing >= p->min_keep) {
        size_t kept = 0;
        for (size_t i = 0; i < o->n; i++)
            if (o->c[i].logit >= threshold)
                o->c[kept++] = o->c[i];
        o->n = kept;
        return;
    }
    oracle_sort(o);
    size_t i = 1;
    while (i < o->n && !(o->c[i].logit < threshold && (long)i >= p->min_keep))
        i++;
    o->n = i;
}

static void oracle_xtc(struct oracle *o, struct oracle_stage *s)
{
    const struct oracle_params *const p = &s->p;
    if (p->xtc_probability <= 0.0f || p->xtc_threshold > 0.5f || o->n < 2)
        return;
    if (oracle_uniform32(&s->rng) > p->xtc_probability || !oracle_softmax(o, true))
        return;
    size_t run = 0;
    while (run < o->n && o->c[run].p >= p->xtc_threshold)
        run++;
    const size_t last = run ? run - 1 : 0;
    if (last == 0 || (long)(o->n - last) < p->min_keep)
        return;
    o->n -= last;
    memmove(o->c, o->c + last, o->n * sizeof *o->c);
}

// Scales p to the sum 1.
static void oracle_normalise(double *p, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += p[i];
    for (size_t i = 0; i < n; i++)
        p[i] /= sum;
}

// Step 3.
static double oracle_scatter_strength(const struct oracle_params *p, const double *prob, size_t n)
{
    const double given = p->scatter_strength < 0.0f ? 0.0 : p->scatter_strength;
    if (!p->scatter_adaptive)
        return given;
    double entropy = 0.0;
    for (size_t i = 0; i < n; i++)
        if (prob[i] > 0.0)
            entropy -= prob[i] * log(prob[i]);
    entropy /= log((double)n);
    const double low = p->scatter_min, high = p->scatter_max;
    const double s = given + ((double)p->scatter_target - entropy) * (high - low);
    return s < low ? low : s > high ? high : s;
}

// Returns w(d); 0 if it is 0 in f32.
static double oracle_scatter_weight(size_t d, double radius)
{
    const double w = exp(-(double)(d * d) / (2.0 * radius * radius));
    return (float)w == 0.0f ? 0.0 : w;
}

// Returns q_i of step 4. Both sums add terms outwards from i. w: weights by distance below n.
static double oracle_scatter_blur(const double *prob, size_t n, const double *w, size_t i)
{
    double sum = prob[i], left = 0.0, right = 0.0;
    for (size_t d = 1; d < n && w[d] > 0.0; d++) {
        const double before = d <= i ? prob[i - d] : 0.0;
        const double after = i + d < n ? prob[i + d] : 0.0;
        sum += w[d] * (before + after);
        left += d <= i ? w[d] : 0.0;
        right += i + d < n ? w[d] : 0.0;
    }
    return sum / (1.0 + left + right);
}

static void oracle_scatter_steps(const struct oracle_params *p, double *prob, size_t n)
{
    const double s = oracle_scatter_strength(p, prob, n);
    double *const q = malloc(n * sizeof *q), *const w = malloc(n * sizeof *w);
    for (size_t d = 0; d < n; d++)
        w[d] = oracle_scatter_weight(d, p->scatter_radius);
    for (int step = 0; step < p->scatter_steps; step++) {
        for (size_t i = 0; i < n; i++)
            q[i] = oracle_scatter_blur(prob, n, w, i);
        for (size_t i = 0; i < n; i++)
            prob[i] = (1.0 - s) * prob[i] + s * q[i];
        oracle_normalise(prob, n);
    }
    for (size_t i = 1; i < n; i++)
        if (prob[i] > prob[i - 1])
            prob[i] = prob[i - 1];
    free(q);
    free(w);
}

// Step 5.
static void oracle_scatter_absorb(struct oracle *o, const struct oracle_params *p, double *prob)
{
    for (size_t i = 0; i < o->n; i++)
        prob[i] *= exp(-(double)p->scatter_absorption * (double)oracle_count(o, o->c[i].id, p->scatter_last_n));
    oracle_normalise(prob, o->n);
    struct oracle_place *const place = malloc(o->n * sizeof *place);
    for (size_t i = 0; i < o->n; i++)
        place[i] = (struct oracle_place){-prob[i], i};
    oracle_arrange(o, place);
    for (size_t i = 0; i < o->n; i++)
        prob[i] = -place[i].key;
    free(place);
}

static void oracle_scatter(struct oracle *o, struct oracle_stage *s)
{
    const struct oracle_params *const p = &s->p;
    const bool wanted = p->scatter_strength > 0.0f || p->scatter_adaptive || p->scatter_absorption > 0.0f;
    if (!wanted || p->scatter_k <= 1 || p->scatter_radius <= 0.0f || p->scatter_steps <= 0 ||
        p->scatter_collision <= 0.0f)
        return;
    if (o->n < 2 || (p->scatter_collision < 1.0f && oracle_uniform32(&s->rng) > p->scatter_collision))
        return;
    int k = 0;
    for (size_t i = 0; i < o->n && k < p->scatter_k; i++)
        k += o->c[i].logit > -INFINITY;
    if (k < 2)
        return;
    oracle_keep_top(o, k);
    if (!oracle_softmax(o, true))
        return;
    double *const prob = malloc(o->n * sizeof *prob);
    for (size_t i = 0; i < o->n; i++)
        prob[i] = o->c[i].p;
    oracle_scatter_steps(p, prob, o->n);
    if (p->scatter_absorption > 0.0f)
        oracle_scatter_absorb(o, p, prob);
    for (size_t i = 0; i < o->n; i++) {
        o->c[i].p = (float)prob[i];
        o->c[i].logit = logf((float)(prob[i] > (double)FLT_MIN ? prob[i] : (double)FLT_MIN));
    }
    free(prob);
}

static void oracle_scale(struct oracle *o, float temp)
{
    size_t best = 0;
    for (size_t i = 1; i < o->n; i++)
        if (o->c[i].logit > o->c[best].logit)
            best = i;
    for (size_t i = 0; i < o->n; i++)
        if (o->c[i].logit == -INFINITY)
            continue; // also if dynatemp makes temp infinite
        else if (temp > 0.0f)
            o->c[i].logit /= temp;
        else if (i != best)
            o->c[i].logit = -INFINITY;
}

static void oracle_dynatemp(struct oracle *o, const struct oracle_params *p)
{
    if (o->n < 2 || !oracle_softmax(o, true))
        return;
    const float temp = p->temp < 0.0f ? 0.0f : p->temp;
    const float min = temp - p->dynatemp_range > 0.0f ? temp - p->dynatemp_range : 0.0f;
    const float max = temp + p->dynatemp_range;
    const float max_entropy = -logf(1.0f / (float)o->n);
    float entropy = 0.0f;
    for (size_t i = 0; i < o->n; i++)
        if (o->c[i].p > 0.0f)
            entropy -= o->c[i].p * logf(o->c[i].p);
    oracle_scale(o, min + (max - min) * powf(entropy / max_entropy, p->dynatemp_exp));
    // The specification computes probabilities here, which no later sampler reads.
}

static void oracle_temperature(struct oracle *o, struct oracle_stage *s)
{
    const struct oracle_params *const p = &s->p;
    if (p->dynatemp_range > 0.0f)
        oracle_dynatemp(o, p);
    else
        oracle_scale(o, p->temp);
}

// ---- samplers of other programs

static size_t oracle_least(const struct oracle *o, const struct oracle_params *p)
{
    const size_t least = p->min_keep > 1 ? (size_t)p->min_keep : 1;
    return least < o->n ? least : o->n;
}

static void oracle_cut(struct oracle *o, const struct oracle_params *p, size_t m)
{
    oracle_sort(o);
    o->n = m > oracle_least(o, p) ? m : oracle_least(o, p);
}

static void oracle_top_a(struct oracle *o, struct oracle_stage *s)
{
    const struct oracle_params *const p = &s->p;
    if (p->top_a == 0.0f || o->n < 2 || !oracle_softmax(o, true))
        return;
    const float t = p->top_a * o->c[0].p * o->c[0].p;
    size_t i = 0;
    while (i < o->n && !(o->c[i].p < t))
        i++;
    oracle_cut(o, p, i);
}

static void oracle_tfs(struct oracle *o, struct oracle_stage *s)
{
    const struct oracle_params *const p = &s->p;
    if (p->tfs >= 1.0f || o->n <= 2 || !oracle_softmax(o, true))
        return;
    const size_t m = o->n - 2;
    float *const d = malloc(m * sizeof *d);
    float total = 0.0f, sum = 0.0f;
    for (size_t i = 0; i < m; i++) {
        d[i] = fabsf((o->c[i].p - o->c[i + 1].p) - (o->c[i + 1].p - o->c[i + 2].p));
        total += d[i];
    }
    for (size_t i = 0; i < m; i++)
        d[i] = total > 1e-6f ? d[i] / total : 1.0f / (float)m;
    size_t first = 0, cut = o->n; // first: the first above Z; cut: tfs's cut-off
    for (bool found = false; first < m && !found; first += !found) {
        sum += d[first];
        found = sum > p->tfs;
    }
    if (s->kind == ORACLE_TFS_TG) {
        oracle_cut(o, p, first + 1);
    } else {
        sum = 0.0f;
        for (size_t i = 0; i < m && cut == o->n; i++) {
            sum += d[i];
            if (i >= oracle_least(o, p) && sum > p->tfs)
                cut = i;
        }
        oracle_cut(o, p, cut);
    }
    free(d);
}

static void oracle_p_step(struct oracle *o, struct oracle_stage *s)
{
    const struct oracle_params *const p = &s->p;
    if (p->p_step == 0.0f || o->n < 2 || !oracle_softmax(o, true))
        return;
    size_t i = 1;
    while (i < o->n && !(o->c[i].p < p->p_step * o->c[i - 1].p))
        i++;
    oracle_cut(o, p, i);
}

static void oracle_top_h(struct oracle *o, struct oracle_stage *s)
{
    const struct oracle_params *const p = &s->p;
    if (p->top_h == 0.0f || o->n < 2)
        return;
    oracle_keep_top(o, 100);
    if (!oracle_softmax(o, true))
        return;
    float t[100], sum = 0.0f, running = 0.0f;
    for (size_t i = 0; i < o->n; i++) {
        t[i] = o->c[i].p == 0.0f ? 0.0f : -o->c[i].p * logf(o->c[i].p);
        sum += t[i];
    }
    size_t m = 0;
    for (; m < o->n && o->c[m].p > 0.0f; m++) {
        running += t[m];
        if (running > p->top_h * sum)
            break;
    }
    oracle_cut(o, p, m);
}

static void oracle_min_k(struct oracle *o, struct oracle_stage *s)
{
    const struct oracle_params *const p = &s->p;
    if (p->min_k < 0.0f || o->n < 2)
        return;
    size_t m = 0, a = 1;
    for (size_t i = 0; i < o->n; i++)
        m += o->c[i].logit > -INFINITY;
    oracle_sort(o);
    if (m < 2) {
        oracle_cut(o, p, 1);
        return;
    }
    const float range = (o->c[0].logit - o->c[m - 1].logit) + 1e-8f;
    float largest = -1.0f;
    for (size_t i = 0; i + 1 < m; i++) {
        const float w = (o->c[i].logit - o->c[i + 1].logit) / range / (float)(i + 1);
        if (w > largest) {
            largest = w;
            a = i + 1;
        }
    }
    const float b = floorf(p->min_k / range);
    oracle_cut(o, p, b >= (float)m ? m : b > (float)a ? (size_t)b : a);
}

static void oracle_smoothing(struct oracle *o, struct oracle_stage *s)
{
    const float f = s->p.smoothing_factor, curve = s->p.smoothing_curve, k = (3.0f - curve) / 2.0f,
                t = (curve - 1.0f) / 2.0f;
    if (f == 0.0f || o->n < 2)
        return;
    const float h = oracle_max(o);
    for (size_t i = 0; i < o->n; i++) {
        if (o->c[i].logit == -INFINITY)
            continue;
        const float d = o->c[i].logit - h;
        o->c[i].logit = -(k * f * d * d) + (t * f * d * d * d) + h;
        if (isnan(o->c[i].logit))
            o->c[i].logit = -INFINITY;
    }
    o->sorted = false;
}

// Removes candidates with p < t.
static void oracle_drop(struct oracle *o, const struct oracle_params *p, float t)
{
    size_t passing = 0, kept = 0;
    for (size_t i = 0; i < o->n; i++)
        passing += o->c[i].p >= t;
    if (passing < oracle_least(o, p)) {
        oracle_cut(o, p, 1);
        return;
    }
    for (size_t i = 0; i < o->n; i++)
        if (o->c[i].p >= t)
            o->c[kept++] = o->c[i];
    o->n = kept;
}

static void oracle_epsilon(struct oracle *o, struct oracle_stage *s)
{
    if (s->p.epsilon == 0.0f || o->n < 2 || !oracle_softmax(o, false))
        return;
    oracle_drop(o, &s->p, s->p.epsilon);
}

static void oracle_eta(struct oracle *o, struct oracle_stage *s)
{
    const float e = s->p.eta;
    if (e == 0.0f || o->n < 2 || !oracle_softmax(o, false))
        return;
    float entropy = 0.0f;
    for (size_t i = 0; i < o->n; i++)
        if (o->c[i].p > 0.0f)
            entropy += -o->c[i].p * logf(o->c[i].p);
    const float t = sqrtf(e) * oracle_expf(-entropy);
    oracle_drop(o, &s->p, e < t ? e : t);
}

static void oracle_p_less(struct oracle *o, struct oracle_stage *s)
{
    const bool norm = s->kind == ORACLE_P_LESS_NORM;
    double a = 0.0, b = 0.0, v = 0.0;
    for (size_t i = 0; i < o->n; i++)
        v += o->c[i].logit > -INFINITY;
    if (o->n < 2 || (norm && v < 2.0) || !oracle_softmax(o, false))
        return;
    for (size_t i = 0; i < o->n; i++) {
        a += (double)o->c[i].p;
        b += (double)o->c[i].p * (double)o->c[i].p;
    }
    const double q = b / (a * a);
    oracle_drop(o, &s->p, (float)(norm ? (v * q - 1.0) / (v - 1.0) * a : q * a));
}

static void oracle_skew(struct oracle *o, struct oracle_stage *s)
{
    if (s->p.skew == 0.0f || o->n < 2 || !oracle_softmax(o, true))
        return;
    double total = 0.0, sum = 0.0, before = 0.0;
    for (size_t i = 0; i < o->n; i++)
        total += (double)o->c[i].p;
    for (size_t i = 0; i < o->n; i++) {
        sum += (double)o->c[i].p;
        const double g = pow(i == o->n - 1 ? 1.0 : sum / total, exp((double)s->p.skew));
        o->c[i].p = (float)(g - before);
        o->c[i].logit = o->c[i].p <= 0.0f ? -INFINITY : logf(o->c[i].p);
        before = g;
    }
    o->sorted = false;
}

static void oracle_ngram(struct oracle *o, struct oracle_stage *s)
{
    const size_t n = (size_t)s->p.ngram, m = o->n_history;
    if (n == 0 || o->n < 2 || m < n)
        return;
    for (size_t i = 0; i + n <= m; i++) {
        size_t same = 0;
        while (same < n - 1 && o->history[i + same] == o->history[m - (n - 1) + same])
            same++;
        for (size_t k = 0; same == n - 1 && k < o->n; k++)
            if (o->c[k].id == o->history[i + n - 1])
                o->c[k].logit = -INFINITY;
    }
    o->sorted = false;
}

static void oracle_encoder(struct oracle *o, struct oracle_stage *s)
{
    const float r = 1.0f / s->p.encoder;
    if (s->p.encoder == 1.0f || o->n < 2)
        return;
    for (size_t i = 0; i < o->n; i++) {
        bool prompt = false;
        for (size_t k = 0; k < o->n_prompt; k++)
            prompt = prompt || o->history[k] == o->c[i].id;
        if (!prompt)
            continue;
        o->c[i].logit = o->c[i].logit < 0.0f ? o->c[i].logit * r : o->c[i].logit / r;
        oracle_check(o, i);
    }
    o->sorted = false;
}

// Breakers count as bad words: the last token is banned if the tokens before it were accepted last.
static void oracle_bans(struct oracle *o, struct oracle_stage *s)
{
    const struct oracle_params *const p = &s->p;
    for (size_t k = 0; k < o->n; k++) {
        bool banned = false;
        for (size_t b = 0; b < p->n_breakers; b++) {
            const size_t n = p->breaker[b].n;
            size_t same = 0;
            while (same + 1 < n && n - 1 <= o->n_history &&
                   o->history[o->n_history - (n - 1) + same] == p->breaker[b].id[same])
                same++;
            banned = banned || (same == n - 1 && p->breaker[b].id[n - 1] == o->c[k].id);
        }
        for (size_t b = 0; b < p->n_biases && (float)(o->n_history - o->n_prompt) < p->min_tokens; b++)
            banned = banned || p->bias[b].id == o->c[k].id;
        if (banned)
            o->c[k].logit = -INFINITY;
    }
    o->sorted = false;
}

// ---- selectors

static void oracle_dist(struct oracle *o, struct oracle_stage *s)
{
    const double u = oracle_uniform64(&s->rng);
    if (!oracle_exp(o))
        return;
    double sum = 0.0, running = 0.0;
    for (size_t i = 0; i < o->n; i++)
        sum += o->c[i].p;
    const double target = sum * u;
    for (o->chosen = 0; o->chosen < o->n - 1; o->chosen++) {
        running += o->c[o->chosen].p;
        if (running >= target)
            break;
    }
    for (size_t i = 0; i < o->n; i++)
        o->c[i].p = (float)(o->c[i].p / sum);
}

// The specification defines the choice. sampl also keeps only the chosen candidate, with p = 1.
static void oracle_greedy(struct oracle *o, struct oracle_stage *s)
{
    (void)s;
    size_t best = 0;
    for (size_t i = 1; i < o->n; i++)
        if (o->c[i].logit > o->c[best].logit)
            best = i;
    if (!oracle_exp(o))
        return;
    o->c[0] = o->c[best];
    o->c[0].p = 1.0f;
    o->n = 1;
    o->chosen = 0;
}

static void oracle_mirostat_draw(struct oracle *o, struct oracle_stage *s)
{
    if (!oracle_softmax(o, false))
        return;
    oracle_sample_dist(o, &s->rng);
    s->mu -= s->p.mirostat_lr * (-log2f(o->c[o->chosen].p) - s->p.mirostat_ent);
}

static void oracle_mirostat_1(struct oracle *o, struct oracle_stage *s)
{
    if (!oracle_softmax(o, true))
        return;
    o->chosen = 0;
    if (o->n == 1)
        return;
    float tb = 0.0f, tt = 0.0f;
    for (size_t i = 0; i + 1 < (o->n < 100 ? o->n : 100); i++) {
        const float t = logf((float)(i + 2) / (float)(i + 1));
        const float b = logf(o->c[i].p / o->c[i + 1].p);
        tb += t * b;
        tt += t * t;
    }
    const float zipf = tb / tt;
    const float eps = zipf - 1.0f;
    const float k = powf((eps * powf(2.0f, s->mu)) / (1.0f - powf((float)o->n_vocab, -eps)), 1.0f / zipf);
    const bool fits = k >= -0x1p31f && k < 0x1p31f; // x86 converts NaN and numbers out of range to INT_MIN
    const int whole = fits ? (int)k : INT32_MIN;
    oracle_keep_top(o, whole > 1 ? whole : 1);
    oracle_mirostat_draw(o, s);
}

static void oracle_mirostat_2(struct oracle *o, struct oracle_stage *s)
{
    if (!oracle_softmax(o, true))
        return;
    for (size_t i = 1; i < o->n; i++)
        if (-log2f(o->c[i].p) > s->mu)
            o->n = i;
    oracle_mirostat_draw(o, s);
}

static void oracle_adaptive_p(struct oracle *o, struct oracle_stage *s)
{
    if (!oracle_softmax(o, false))
        return;
    if (s->p.adaptive_target < 0.0f) {
        oracle_sample_dist(o, &s->rng);
        return;
    }
    float *const original = malloc(o->n * sizeof *original);
    const float target = oracle_clamp(s->p.adaptive_target, 0.0f, 1.0f);
    const float a = oracle_clamp(s->total == 0.0f ? target : 2.0f * target - s->weighted / s->total, 0.0f, 1.0f);
    for (size_t i = 0; i < o->n; i++) {
        original[i] = o->c[i].p;
        if (o->c[i].logit == -INFINITY)
            continue;
        const float d = fabsf((o->c[i].p - a) * (1.0f / 0.3f));
        o->c[i].logit = 5.0f - 10.0f * d * d / (1.0f + d);
    }
    if (oracle_softmax(o, false)) {
        oracle_sample_dist(o, &s->rng);
        s->picked = true;
        s->token = o->c[o->chosen].id;
        s->token_p = original[o->chosen];
    }
    free(original);
}

// ---- the chain

// Functions by kind of sampler.
static void (*const oracle_samplers[])(struct oracle *, struct oracle_stage *) = {
    [ORACLE_LOGIT_BIAS] = oracle_logit_bias,
    [ORACLE_PENALTIES] = oracle_penalties,
    [ORACLE_DRY] = oracle_dry,
    [ORACLE_TOP_N_SIGMA] = oracle_top_n_sigma,
    [ORACLE_TOP_K] = oracle_top_k,
    [ORACLE_TYP_P] = oracle_typ_p,
    [ORACLE_TOP_P] = oracle_top_p,
    [ORACLE_MIN_P] = oracle_min_p,
    [ORACLE_XTC] = oracle_xtc,
    [ORACLE_SCATTER] = oracle_scatter,
    [ORACLE_TEMPERATURE] = oracle_temperature,
    [ORACLE_TOP_A] = oracle_top_a,
    [ORACLE_TFS] = oracle_tfs,
    [ORACLE_TFS_TG] = oracle_tfs,
    [ORACLE_P_STEP] = oracle_p_step,
    [ORACLE_TOP_H] = oracle_top_h,
    [ORACLE_MIN_K] = oracle_min_k,
    [ORACLE_SMOOTHING] = oracle_smoothing,
    [ORACLE_EPSILON] = oracle_epsilon,
    [ORACLE_ETA] = oracle_eta,
    [ORACLE_P_LESS] = oracle_p_less,
    [ORACLE_P_LESS_NORM] = oracle_p_less,
    [ORACLE_SKEW] = oracle_skew,
    [ORACLE_NGRAM] = oracle_ngram,
    [ORACLE_ENCODER] = oracle_encoder,
    [ORACLE_BANS] = oracle_bans,
    [ORACLE_DIST] = oracle_dist,
    [ORACLE_GREEDY] = oracle_greedy,
    [ORACLE_ADAPTIVE_P] = oracle_adaptive_p,
    [ORACLE_MIROSTAT_1] = oracle_mirostat_1,
    [ORACLE_MIROSTAT_2] = oracle_mirostat_2,
};

// ids: NULL for all tokens from 0. n_vocab: 0 if unknown.
static void oracle_load(struct oracle *o, const float *row, size_t n, const uint32_t *ids, size_t n_vocab)
{
    o->c = realloc(o->c, n * sizeof *o->c);
    o->n = n;
    o->end = n_vocab;
    o->n_vocab = n_vocab ? n_vocab : n;
    o->sorted = false;
    o->error = ORACLE_OK;
    size_t finite = 0;
    for (size_t i = 0; i < n; i++) {
        o->c[i] = (struct oracle_cand){ids ? ids[i] : (uint32_t)i, row[i], 0.0f};
        finite += o->c[i].logit > -INFINITY;
        if (isnan(row[i]))
            oracle_fail(o, ORACLE_NAN, o->c[i].id);
        if (row[i] == INFINITY)
            oracle_fail(o, ORACLE_INFINITE, o->c[i].id);
    }
    if (!finite)
        oracle_fail(o, ORACLE_ALL_MASKED, 0);
}

// Runs the chain on a row. Sets o->c, o->n and o->chosen, or o->error.
static void oracle_row(struct oracle *o, const float *row, size_t n, const uint32_t *ids, size_t n_vocab)
{
    oracle_load(o, row, n, ids, n_vocab);
    for (size_t i = 0; i < o->n_stages && o->error == ORACLE_OK; i++)
        oracle_samplers[o->stage[i].kind](o, &o->stage[i]);
}

static void oracle_accept(struct oracle *o, uint32_t token)
{
    if (o->n_history == o->history_cap) {
        o->history_cap = 2 * o->history_cap + 16;
        o->history = realloc(o->history, o->history_cap * sizeof *o->history);
    }
    o->history[o->n_history++] = token;
    for (size_t i = 0; i < o->n_stages; i++) {
        struct oracle_stage *const s = &o->stage[i];
        if (s->kind == ORACLE_ADAPTIVE_P && s->picked && s->token == token) {
            const float decay = oracle_clamp(s->p.adaptive_decay, 0.0f, 0.99f);
            s->weighted = s->token_p + decay * s->weighted;
            s->total = 1.0f + decay * s->total;
        }
        s->picked = false;
    }
}

static void oracle_reset(struct oracle *o, uint32_t seed)
{
    o->n_history = o->n_prompt = 0;
    for (size_t i = 0; i < o->n_stages; i++) {
        struct oracle_stage *const s = &o->stage[i];
        const float decay = oracle_clamp(s->p.adaptive_decay, 0.0f, 0.99f);
        oracle_seed(&s->rng, seed);
        s->mu = 2.0f * s->p.mirostat_ent;
        s->weighted = s->p.adaptive_target / (1.0f - decay);
        s->total = 1.0f / (1.0f - decay);
        s->picked = false;
    }
}

static void oracle_add(struct oracle *o, enum oracle_kind kind, const struct oracle_params *p)
{
    o->stage[o->n_stages].kind = kind;
    o->stage[o->n_stages].p = *p;
    o->n_stages++;
}

// One named sampler of a chain, with its parameters.
struct oracle_choice {
    enum oracle_kind kind;
    struct oracle_params p;
};

// Makes the chain of common parameters and n samplers, at most one of them a selector. The caller zeroes o.
static void oracle_build(struct oracle *o, const struct oracle_params *common, const struct oracle_choice *choice,
                         size_t n)
{
    if (common->n_biases)
        oracle_add(o, ORACLE_LOGIT_BIAS, common);
    if (common->bans)
        oracle_add(o, ORACLE_BANS, common);
    if (common->mirostat) {
        struct oracle_params plain = *common;
        plain.dynatemp_range = 0.0f;
        oracle_add(o, ORACLE_TEMPERATURE, &plain);
        oracle_add(o, common->mirostat == 1 ? ORACLE_MIROSTAT_1 : ORACLE_MIROSTAT_2, common);
    } else {
        struct oracle_choice selector = {ORACLE_DIST, *common};
        for (size_t i = 0; i < n; i++)
            if (choice[i].kind >= ORACLE_DIST)
                selector = choice[i];
            else
                oracle_add(o, choice[i].kind, &choice[i].p);
        oracle_add(o, selector.kind, &selector.p);
    }
    oracle_reset(o, common->seed);
}

static void oracle_free(struct oracle *o)
{
    free(o->c);
    free(o->history);
}

#endif
