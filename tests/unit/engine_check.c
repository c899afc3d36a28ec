// SPDX-License-Identifier: MIT
// engine_check [CASES [SEED]]: compares the engines with slow versions, written from the specification, over random rows and parameters on
// every tier. Then draws many times from one row, and compares the frequencies with the softmax by chi-square.
#include "oracle.h"
#include "random.h"
#include "stages.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST = 3000, ROWS = 4, DRAWS = 20000 };

static float normal(void)
{
    return (float)(sqrt(-2 * log(1 - random_unit())) * cos(6.283185307179586 * random_unit()));
}

#define ONE_OF(...) ((const float[]){__VA_ARGS__})[random_below(sizeof((const float[]){__VA_ARGS__}) / sizeof(float))]

// ---- slow versions

struct slow {
    struct oracle o; // candidates, history and mt19937 of the slow version
    struct oracle_rng mt;
    struct pcg pcg;
    struct params p;
    const float *x; // the row
    uint32_t position;
    uint32_t chosen;
};

static float to_f16(float x)
{
    if (x == 0 || isinf(x))
        return x;
    const int e = ilogbf(x) < -14 ? -14 : ilogbf(x);
    const double ulp = ldexp(1.0, e - 10), r = nearbyint(x / ulp) * ulp;
    return (float)(fabs(r) > 65504 ? copysign(INFINITY, r) : r);
}

// Keeps only the first of the largest candidates.
static void slow_greedy(struct slow *s)
{
    size_t best = 0;
    for (size_t i = 1; i < s->o.n; i++)
        if (s->o.c[i].logit > s->o.c[best].logit)
            best = i;
    s->o.c[0] = s->o.c[best];
    s->o.c[0].p = 1;
    s->o.n = 1;
    s->chosen = s->o.c[0].id;
}

// Draws as both CPU engines do.
static void slow_draw(struct slow *s, float r)
{
    float sum = 0;
    for (size_t i = 0; i < s->o.n; i++) {
        sum += s->o.c[i].p;
        s->chosen = s->o.c[i].id;
        if (sum >= r)
            return;
    }
}

static float sum_p(const struct slow *s)
{
    float sum = 0;
    for (size_t i = 0; i < s->o.n; i++)
        sum += s->o.c[i].p;
    return sum;
}

static void slow_min_p(struct slow *s)
{
    for (size_t i = 1; i < s->o.n && s->p.min_p > 0; i++)
        if (s->o.c[i].p < s->o.c[0].p * fminf(s->p.min_p, FLT_MAX)) {
            s->o.n = i;
            return;
        }
}

static void slow_ollama(struct slow *s)
{
    struct oracle *const o = &s->o;
    const float top_p = s->p.top_p > 1 ? 1 : s->p.top_p;
    s->p.min_p = s->p.min_p > 1 ? 1 : s->p.min_p;
    if (s->p.temp <= 0) {
        slow_greedy(s);
        return;
    }
    oracle_sort(o);
    if (s->p.top_k > 0 && (size_t)s->p.top_k < o->n)
        o->n = (size_t)s->p.top_k;
    for (size_t i = 0; i < o->n; i++)
        o->c[i].logit /= s->p.temp > 1e-7f ? s->p.temp : 1e-7f;
    for (size_t i = 0; i < o->n; i++)
        o->c[i].p = (float)exp((double)(o->c[i].logit - o->c[0].logit));
    const float sum = sum_p(s);
    for (size_t i = 0; i < o->n; i++)
        o->c[i].p /= sum;
    float running = 0;
    for (size_t i = 0; i < o->n && top_p < 1; i++) {
        running += o->c[i].p;
        if (running > top_p)
            o->n = i + 1;
    }
    slow_min_p(s);
    const float total = sum_p(s);
    slow_draw(s, (float)((uint32_t)(pcg_u64(&s->pcg) >> 32) & 0xffffff) / 16777216.0f * total);
    for (size_t i = 0; i < o->n; i++)
        o->c[i].p /= total;
}

static int by_p(const void *a, const void *b)
{
    const struct oracle_cand *const x = a, *const y = b;
    if (x->p != y->p)
        return x->p < y->p ? 1 : -1;
    return x->id < y->id ? -1 : 1;
}

static void slow_round(struct slow *s)
{
    for (size_t i = 0; i < s->o.n; i++) {
        const float x = to_f16(s->o.c[i].logit);
        s->o.c[i].logit = x <= -65504.0f ? -INFINITY : x;
    }
}

// Applies akunu's filters to p before normalisation. all: the number of candidates that top-k 0 keeps.
static void slow_cut(struct slow *s, size_t all)
{
    struct oracle *const o = &s->o;
    const float factor = 1.0f / sum_p(s);
    for (size_t i = 0; i < o->n; i++)
        o->c[i].p *= factor;
    qsort(o->c, o->n, sizeof *o->c, by_p);
    o->n = s->p.top_k <= 0 || (size_t)s->p.top_k >= o->n ? all : (size_t)s->p.top_k;
    slow_min_p(s);
    float running = 0;
    for (size_t i = 0; i < o->n && s->p.top_p < 1; i++) {
        running += o->c[i].p;
        if (running >= s->p.top_p)
            o->n = i + 1;
    }
}

static void slow_akunu(struct slow *s)
{
    struct oracle *const o = &s->o;
    slow_round(s);
    const size_t window = s->p.repeat_last_n < 0 ? o->n_history : (size_t)s->p.repeat_last_n;
    for (size_t i = window < o->n_history ? o->n_history - window : 0; i < o->n_history; i++)
        if (s->p.repeat_penalty != 1 && o->history[i] < o->n) {
            float *const x = &o->c[o->history[i]].logit;
            *x = *x > 0 ? *x / s->p.repeat_penalty : *x * s->p.repeat_penalty;
        }
    if (s->p.temp <= 0) {
        slow_greedy(s);
        return;
    }
    for (size_t i = 0; i < o->n; i++)
        o->c[i].logit *= 1.0f / s->p.temp;
    const float max = oracle_max(o);
    for (size_t i = 0; i < o->n; i++)
        o->c[i].p = oracle_expf(o->c[i].logit - max);
    slow_cut(s, o->n < 256 ? o->n : 256);
    const float factor = 1.0f / sum_p(s);
    for (size_t i = 0; i < o->n; i++)
        o->c[i].p *= factor;
    const float u = (float)oracle_draw(&s->mt) / 4294967296.0f;
    slow_draw(s, u < 1 ? u : nextafterf(1, 0));
}

static float slow_log(float x) { return (float)log((double)x); }

static void slow_gpu(struct slow *s)
{
    struct oracle *const o = &s->o;
    slow_round(s);
    if (s->p.temp <= 0) {
        slow_greedy(s);
        return;
    }
    float max = oracle_max(o);
    if (s->p.top_k > 0 || s->p.min_p > 0 || s->p.top_p < 1) {
        const float factor = 1.0f / s->p.temp;
        for (size_t i = 0; i < o->n; i++)
            o->c[i].p = oracle_expf(o->c[i].logit * factor - max * factor);
        slow_cut(s, o->n);
        max = o->c[0].logit;
    }
    float best = -INFINITY;
    for (uint32_t id = 0; id < o->n_vocab; id++)
        for (size_t i = 0; i < o->n; i++) {
            if (o->c[i].id != id || o->c[i].logit == -INFINITY)
                continue;
            const uint32_t pcg = (uint32_t)((s->position + s->p.seed) * 2654435761u + id) * 747796405u + 2891336453u;
            uint32_t w = ((pcg >> ((pcg >> 28) + 4)) ^ pcg) * 277803737u;
            w ^= w >> 22;
            const float u = fmaxf(1e-7f, fminf((float)w / 4294967296.0f, 1 - 1e-7f));
            const float x = to_f16(o->c[i].logit + s->p.temp * -slow_log(-slow_log(u)));
            if (x > best || best == -INFINITY)
                s->chosen = id;
            best = x > best ? x : best;
        }
    const float temp = s->p.temp;
    for (size_t i = 0; i < o->n; i++) {
        o->c[i].logit /= temp;
        o->c[i].p = oracle_expf(o->c[i].logit - max / temp);
    }
    const float sum = sum_p(s);
    for (size_t i = 0; i < o->n; i++)
        o->c[i].p /= sum;
}

static void slow_batch(struct slow *s)
{
    const struct params *const p = &s->p;
    const struct oracle_params q = {.seed = p->seed,
                                    .temp = p->temp,
                                    .top_k = p->top_k,
                                    .top_p = p->top_p < 1 ? fmaxf(nextafterf(p->top_p, 2), FLT_MIN)
                                                          : 1, // > p is >= the next
                                    .repeat_penalty = p->repeat_penalty,
                                    .repeat_last_n = p->repeat_last_n,
                                    .slope = 1};
    if (!s->o.n_stages) {
        const struct oracle_choice choice[] = {
            {ORACLE_PENALTIES, q}, {ORACLE_TEMPERATURE, q}, {ORACLE_TOP_K, q}, {ORACLE_TOP_P, q}};
        oracle_build(&s->o, &q, choice, 4);
    }
    oracle_row(&s->o, s->x, s->o.n_vocab, NULL, 0);
    s->chosen = s->o.c[s->o.chosen].id;
}

static const struct {
    const char *name;
    void (*run)(struct slow *s);
} slow_engines[] = {{"ollama", slow_ollama}, {"akunu", slow_akunu}, {"akunu-gpu", slow_gpu}, {"batch", slow_batch}};

enum { ENGINES = sizeof slow_engines / sizeof *slow_engines };

// ---- comparison with the engines

static void random_row(float *x, size_t n)
{
    const size_t kind = random_below(5);
    for (size_t i = 0; i < n; i++) {
        x[i] = kind == 0 ? roundf(normal() * 3) : kind == 1 ? roundf(normal() * 8) / 4 : normal() * 3;
        if (kind == 2 && random_below(3) == 0)
            x[i] = -INFINITY;
        if (kind == 3)
            x[i] *= random_below(50) ? 0.1f : 10;
        if (kind == 4)
            x[i] = to_f16(x[i]);
    }
    x[random_below(n)] = 4;
}

static struct params random_params(size_t n)
{
    return (struct params){.seed = (uint32_t)random_bits(),
                           .temp = ONE_OF(0, 1, 1, 0.8f, 0.1f, 2.5f, 30, 1e-8f, (float)random_unit()),
                           .top_k = (int32_t)ONE_OF(0, 0, -3, 1, 5, 40, 256, 300, (float)n, (float)n + 5),
                           .top_p = ONE_OF(1, 1, 0, 0.3f, 0.9f, 0.95f, 1.5f, (float)random_unit()),
                           .min_p = ONE_OF(0, 0, 0.05f, 0.3f, 1, 2, (float)random_unit()),
                           .repeat_penalty = ONE_OF(1, 1.1f, 1.5f, 0.8f),
                           .repeat_last_n = (int32_t)ONE_OF(64, 0, 4, -1)};
}

static bool same_result(const struct slow *s, struct cand *c)
{
    size_t kept = 0;
    static float p[MOST];
    cand_list(c);
    if (c->chosen != s->chosen)
        return false;
    for (size_t i = 0; i < c->n; i++) {
        kept += c->logit[i] > -INFINITY;
        p[c->id[i]] = c->p[i];
    }
    for (size_t i = 0; i < s->o.n; i++) {
        if (s->o.c[i].logit == -INFINITY)
            continue;
        kept--;
        if (p[s->o.c[i].id] != s->o.c[i].p || (s->o.c[i].id == c->chosen && c->chosen_p != s->o.c[i].p))
            return false;
    }
    return kept == 0;
}

static struct chain *build(struct stages *stages, const char *name, const struct params *p)
{
    stages_init(stages);
    stages_fill(stages, engine_by_name(name), p, NULL, NULL, 0);
    struct chain *const ch = stages_chain(stages, p->seed);
    if (!ch)
        exit(3);
    return ch;
}

static bool run_real(struct chain *ch, struct cand *c, const float *x, size_t n, uint32_t position)
{
    const struct row row = {DTYPE_F32, x, n};
    c->position = position;
    return !cand_load(c, &row).code && !chain_apply(ch, c, NULL, NULL).code;
}

static bool run_case(size_t engine, const struct kern *kern)
{
    static float x[MOST];
    const size_t n = random_below(4) ? 1 + random_below(60) : 1 + random_below(MOST);
    struct slow s = {.p = random_params(n)};
    struct stages stages, stages_again;
    struct chain *const ch = build(&stages, slow_engines[engine].name, &s.p);
    struct cand full, brief; // full: as for a dump; brief: as for ids alone. Each has a generator of its own.
    struct chain *const again = build(&stages_again, slow_engines[engine].name, &s.p);
    cand_init(&full, kern);
    cand_init(&brief, kern);
    brief.want_p = brief.want_logits = false;
    brief.want = WANT_TOKEN;
    oracle_seed(&s.mt, s.p.seed);
    pcg_seed(&s.pcg, s.p.seed, s.p.seed ^ 0x9E3779B9u);
    bool same = true;
    for (s.position = 0; s.position < ROWS && same; s.position++) {
        random_row(x, n);
        s.x = x;
        oracle_load(&s.o, x, n, NULL, 0);
        slow_engines[engine].run(&s);
        same = run_real(ch, &full, x, n, s.position) && run_real(again, &brief, x, n, s.position) &&
               same_result(&s, &full) && brief.chosen == s.chosen;
        for (size_t i = random_below(4); same && i < 4; i++) {
            const uint32_t token = i ? (uint32_t)random_below(n) : s.chosen;
            oracle_accept(&s.o, token);
            same = chain_accept(ch, token) && chain_accept(again, token);
        }
    }
    if (!same)
        printf("%s, tier %s, n %zu, row %" PRIu32 ": chosen %" PRIu32 " and %" PRIu32 ", expected %" PRIu32
               "; temp %g top-k %d top-p %g min-p %g repeat %g, %d\n",
               slow_engines[engine].name, kern->name, n, s.position - 1, full.chosen, brief.chosen, s.chosen,
               (double)s.p.temp, (int)s.p.top_k, (double)s.p.top_p, (double)s.p.min_p, (double)s.p.repeat_penalty,
               (int)s.p.repeat_last_n);
    cand_free(&full);
    cand_free(&brief);
    chain_free(ch);
    chain_free(again);
    stages_free(&stages);
    stages_free(&stages_again);
    oracle_free(&s.o);
    return same;
}

// Checks that the search of a dense row, which skips most tokens, gives the token of a full list. Coarse logits and f16 make ties.
static bool search_finds(const struct kern *kern)
{
    static float x[MOST];
    bool same = true;
    for (size_t i = 0; i < 6000 && same; i++) {
        const size_t n = 1 + random_below(MOST);
        const float step = ONE_OF(0.5f, 4, 1e-3f), wide = ONE_OF(0.3f, 1, 5), shift = ONE_OF(0, -20, 1000, 30000);
        const struct params p = {
            .seed = (uint32_t)random_bits(), .temp = ONE_OF(0.01f, 0.5f, 1, 3, 1000, 30000), .top_p = 1};
        struct stages stages;
        struct chain *const ch = build(&stages, "akunu-gpu", &p);
        struct cand c;
        cand_init(&c, kern);
        c.want_p = c.want_logits = false;
        c.want = WANT_TOKEN;
        for (size_t k = 0; k < n; k++)
            x[k] = roundf(normal() * wide / step) * step + shift;
        same = run_real(ch, &c, x, n, (uint32_t)i);
        const uint32_t found = c.chosen;
        cand_load(&c, &(struct row){DTYPE_F32, x, n});
        cand_list(&c);
        same = same && !chain_apply(ch, &c, NULL, NULL).code && found == c.chosen;
        if (!same)
            printf("search: tier %s, n %zu: %" PRIu32 ", not %" PRIu32 "\n", kern->name, n, found, c.chosen);
        cand_free(&c);
        chain_free(ch);
        stages_free(&stages);
    }
    return same;
}

// ---- chi-square

// Returns the critical value for these degrees of freedom at a probability of 1e-4 (Wilson and Hilferty 1931).
static double critical(double df) { return df * pow(1 - 2 / (9 * df) + 3.719 * sqrt(2 / (9 * df)), 3); }

// Returns chi-square of the draws against the softmax at a temperature, divided by its critical value. Rare tokens share one class.
static double misfit(const unsigned *count, const float *x, size_t n, double temp)
{
    double sum = 0, chi = 0, rest = 0, rest_count = 0, bins = 0;
    for (size_t i = 0; i < n; i++)
        sum += exp(x[i] / temp);
    for (size_t i = 0; i < n; i++) {
        const double expected = DRAWS * exp(x[i] / temp) / sum;
        if (expected < 10) {
            rest += expected;
            rest_count += count[i];
            continue;
        }
        chi += (count[i] - expected) * (count[i] - expected) / expected;
        bins++;
    }
    if (rest > 0)
        chi += (rest_count - rest) * (rest_count - rest) / rest;
    return chi / critical(bins - (rest > 0 ? 0 : 1));
}

// Draws many times from one row. The test must reject a temperature that is slightly wrong.
static bool draws_fit(size_t engine, float temp, size_t n)
{
    static float x[MOST];
    unsigned count[MOST] = {0};
    const struct params p = {.seed = 7, .temp = temp, .top_p = 1, .repeat_penalty = 1};
    struct stages stages;
    struct chain *const ch = build(&stages, slow_engines[engine].name, &p);
    struct cand c;
    cand_init(&c, kern_select(NULL));
    c.want_p = c.want_logits = false;
    c.want = WANT_TOKEN;
    random_state = n;
    for (size_t i = 0; i < n; i++)
        x[i] = to_f16(normal());
    bool ok = true;
    for (uint32_t row = 0; row < DRAWS && ok; row++) {
        ok = run_real(ch, &c, x, n, row);
        count[c.chosen]++;
    }
    const double right = misfit(count, x, n, temp), wrong = misfit(count, x, n, temp * 1.2);
    ok = ok && right < 1 && wrong > 1;
    printf("%-10s temp %-4g n %4zu: chi-square %.2f of critical, %.2f at 1.2 times the temperature%s\n",
           slow_engines[engine].name, (double)temp, n, right, wrong, ok ? "" : " FAILED");
    cand_free(&c);
    chain_free(ch);
    stages_free(&stages);
    return ok;
}

int main(int argc, char **argv)
{
    const unsigned long cases = argc > 1 ? strtoul(argv[1], NULL, 10) : 3000,
                        seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    unsigned long passed = 0, failed = 0;
    for (unsigned long i = 0; i < cases && !failed; i++)
        for (size_t t = 0; kern_tier(t); t++) {
            random_state = (seed + i) * 4294967291u;
            if (run_case(i % ENGINES, kern_tier(t)))
                passed++;
            else
                failed++;
        }
    for (size_t t = 0; kern_tier(t); t++) {
        const bool found = search_finds(kern_tier(t));
        passed += found;
        failed += !found;
    }
    for (size_t engine = 0; engine < ENGINES; engine++)
        for (int i = 0; i < 3; i++) {
            const bool fit = draws_fit(engine, i == 1 ? 0.6f : 1.0f, i == 2 ? 200 : 40);
            passed += fit;
            failed += !fit;
        }
    printf("%lu passed, %lu failed\n", passed, failed);
    return failed != 0;
}
