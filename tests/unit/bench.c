// SPDX-License-Identifier: MIT
// bench chains [TIER [N_VOCAB [CHAIN]]]: measures the time of a row for each chain, and the time of a vector max over the same bytes. Both
// are measured in turns, so that noise affects both. Rows come from memory: the buffer is larger than the caches.
// bench once TIER N_VOCAB CHAIN: runs two batches of one chain over f32 rows, for tests/bench-count.sh. bench names: prints the chains.
// bench rows N_VOCAB TYPE COUNT: writes rows for tests/bench.sh.
// bench max FILE: maps FILE and computes the maximum, the lower bound for a whole run.
#include "base/bits.h"
#include "stages.h"
#include "timing.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { BUFFER = 192 << 20, BATCH = 8, ROUNDS = 24, HISTORY = 1024 };

static uint64_t state = 42;

static double uniform(void) // xorshift64*
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return ((double)(state * UINT64_C(2685821657736338717) >> 11) + 0.5) * 0x1p-53;
}

// Makes a row like a model's: a normal distribution of -2 +- 2.4, and a few dozen larger logits that fall exponentially.
static float realistic(void)
{
    const double bell = sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
    return (float)(-2 + 2.4 * bell + (uniform() < 3e-4 ? 8 - 3 * log(uniform()) : 0));
}

struct rows {
    enum dtype type;
    size_t n, count, next;
    char *data;
};

static void fill(struct rows *r)
{
    static float pool[1 << 20]; // reused, as generating every number would take longer than the benchmark
    for (size_t i = 0; i < sizeof pool / sizeof *pool; i++)
        pool[i] = realistic();
    size_t at = 0;
    for (size_t i = 0; i < r->n * r->count; i++) {
        const float x = pool[at];
        at = at + 1 == sizeof pool / sizeof *pool ? (size_t)(uniform() * 1000) : at + 1;
        if (r->type == DTYPE_F32)
            ((float *)(void *)r->data)[i] = x;
        else
            ((uint16_t *)(void *)r->data)[i] = f16_of_f32(x);
    }
}

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

// Makes equal f32 rows that are unlike a model's.
static const char *const odd_kinds[] = {"constant", "flat", "ties", "sorted", "reversed"};

static void fill_odd(struct rows *r, size_t kind)
{
    float *const x = (float *)(void *)r->data;
    for (size_t i = 0; i < r->n; i++)
        x[i] = kind == 0   ? 1.5f
               : kind == 1 ? (float)(0.1 * uniform())
               : kind == 2 ? (float)(int)(7 * uniform())
                           : realistic();
    if (kind >= 3)
        qsort(x, r->n, sizeof *x, by_value); // the slowest rows have the smallest logits first
    for (size_t i = 0; kind == 3 && i < r->n / 2; i++) {
        const float t = x[i];
        x[i] = x[r->n - 1 - i];
        x[r->n - 1 - i] = t;
    }
    for (size_t i = 1; i < r->count; i++)
        memcpy(r->data + i * r->n * sizeof *x, x, r->n * sizeof *x);
}

static struct row next_row(struct rows *r)
{
    const struct row row = {r->type, r->data + r->next * r->n * dtype_size(r->type), r->n};
    r->next = (r->next + 1) % r->count;
    return row;
}

// The defaults of the option table, which is not part of the core.
static const struct params defaults = {.seed = 1,
                                       .temp = 0.8f,
                                       .top_k = 40,
                                       .top_p = 0.95f,
                                       .min_p = 0.05f,
                                       .typical = 1,
                                       .top_nsigma = -1,
                                       .xtc_threshold = 0.1f,
                                       .repeat_last_n = 64,
                                       .repeat_penalty = 1,
                                       .dry_base = 1.75f,
                                       .dry_allowed_length = 2,
                                       .dry_penalty_last_n = HISTORY,
                                       .dynatemp_exp = 1,
                                       .adaptive_target = -1,
                                       .adaptive_decay = 0.9f,
                                       .mirostat_lr = 0.1f,
                                       .mirostat_ent = 5,
                                       .scatter_k = 64,
                                       .scatter_steps = 1,
                                       .scatter_radius = 2.5f,
                                       .scatter_collision = 1};

#define SET(NAME, FIELD, VALUE) \
    static void NAME(struct params *p) { p->FIELD = VALUE; }

SET(nothing, seed, 1)
SET(repeat, repeat_penalty, 1.1f)
SET(dry, dry_multiplier, 0.8f)
SET(scatter, scatter_strength, 0.3f)
SET(top_1000, top_k, 1000)
SET(top_16000, top_k, 16000)
SET(top_64000, top_k, 64000)
SET(top_128000, top_k, 128000)
SET(top_all, top_k, INT32_MAX)
SET(greedy, temp, 0)
SET(typical, typical, 0.9f)
SET(mirostat, mirostat, 2)
SET(xtc, xtc_probability, 1)
SET(nsigma, top_nsigma, 1)
SET(dynatemp, dynatemp_range, 0.5f)
SET(adaptive, adaptive_target, 0.5f)

static void noise(struct params *p)
{
    p->top_k = 0;
    p->top_p = 1;
    p->min_p = 0;
}

static void much_noise(struct params *p)
{
    noise(p);
    p->temp = 2;
}

// Engines that cut at the temperature: each filter alone, on the whole vocabulary.
static void whole(struct params *p)
{
    noise(p);
    p->temp = 1;
}

#define ALONE(NAME, FIELD, VALUE)      \
    static void NAME(struct params *p) \
    {                                  \
        whole(p);                      \
        p->FIELD = VALUE;              \
    }

ALONE(alone_top_k, top_k, 40)
ALONE(alone_top_p, top_p, 0.95f)
ALONE(alone_min_p, min_p, 0.05f)
ALONE(alone_typical, typical, 0.9f)
ALONE(alone_epsilon, more[p->n_more++], ((struct more){"epsilon-cutoff", 0.001f}))
ALONE(alone_eta, more[p->n_more++], ((struct more){"eta-cutoff", 0.001f}))

// Vectors of 4096 numbers, a pretence: each is a window of the rows' memory, all over which the windows lie.
static struct embeddings windows;

static void set_windows(const struct rows *r)
{
    const size_t width = 4096, bytes = width * dtype_size(r->type), all = r->n * r->count * dtype_size(r->type);
    windows = (struct embeddings){.data = (const unsigned char *)r->data,
                                  .type = r->type,
                                  .n = r->n,
                                  .width = width,
                                  .bytes = (all - bytes) / r->n / 4 * 4};
}

static void vectors(struct params *p) { p->embeddings = &windows; }

struct bench_chain {
    const char *name, *samplers; // samplers: an engine, or names separated by ';', of which the last may have =VALUE
    void (*set)(struct params *p);
    size_t history; // number of tokens accepted before the first row
};

static const struct bench_chain chains[] = {
    {"default", DEFAULT_CHAIN, nothing, 0},
    {"default, repeat 1.1, 64", DEFAULT_CHAIN, repeat, 64},
    {"default, DRY 0.8, 1024", DEFAULT_CHAIN, dry, HISTORY},
    {"default + scatter 0.3", DEFAULT_CHAIN, scatter, 0},
    {"scatter 0.3", "scatter=0.3", nothing, 0},
    {"scatter, vectors of 4096", "scatter=0.3", vectors, 0},
    {"top-k 40", "top_k", nothing, 0},
    {"top-k 1000", "top_k", top_1000, 0},
    {"top-k 16000", "top_k", top_16000, 0},
    {"top-k 64000", "top_k", top_64000, 0},
    {"top-k 128000", "top_k", top_128000, 0},
    {"full sort", "top_k", top_all, 0},
    {"greedy: temp 0", "temperature", greedy, 0},
    {"min-p 0.05", "min_p", nothing, 0},
    {"top-p 0.95", "top_p", nothing, 0},
    {"pure dist, temp 1", "", nothing, 0},
    {"typical 0.9", "typ_p", typical, 0},
    {"dynatemp 0.5", "temperature", dynatemp, 0},
    {"adaptive-p 0.5", "adaptive_p", adaptive, 0},
    {"mirostat 2, temp 0.8", "", mirostat, 0},
    {"xtc, whole vocabulary", "xtc", xtc, 0},
    {"top-nsigma 1", "top_n_sigma", nsigma, 0},
    {"top-a 0.2", "top_a=0.2", nothing, 0},
    {"tfs 0.95", "tfs=0.95", nothing, 0},
    {"smoothing 0.2", "smoothing=0.2", nothing, 0},
    {"epsilon-cutoff 0.001", "epsilon_cutoff=0.001", nothing, 0},
    {"eta-cutoff 0.001", "eta_cutoff=0.001", nothing, 0},
    {"p-less", "p_less", nothing, 0},
    {"skew 0.5", "skew=0.5", nothing, 0},
    {"p-step 0.5", "p_step=0.5", nothing, 0},
    {"top-h 0.4", "top_h=0.4", nothing, 0},
    {"min-k 3", "min_k=3", nothing, 0},
    {"ollama", "ollama", nothing, 0},
    {"akunu, temp 0.8", "akunu", nothing, 0},
    {"akunu-gpu, temp 0.8", "akunu-gpu", noise, 0},
    {"akunu-gpu, temp 2", "akunu-gpu", much_noise, 0},
    {"akunu-gpu, top-k 40", "akunu-gpu", nothing, 0},
    {"transformers", "transformers", whole, 0},
    {"transformers, top-k 40", "transformers", alone_top_k, 0},
    {"transformers, top-p 0.95", "transformers", alone_top_p, 0},
    {"transformers, min-p 0.05", "transformers", alone_min_p, 0},
    {"transformers, typical 0.9", "transformers", alone_typical, 0},
    {"transformers, eps. 0.001", "transformers", alone_epsilon, 0},
    {"transformers, eta 0.001", "transformers", alone_eta, 0},
    {"vllm, top-p 0.95", "vllm", alone_top_p, 0},
    {"vllm-v2", "vllm-v2", whole, 0},
    {"vllm-v2, top-p 0.95", "vllm-v2", alone_top_p, 0},
    {"sglang", "sglang", whole, 0},
    {"sglang, top-p 0.95", "sglang", alone_top_p, 0},
    {"mlx", "mlx", whole, 0},
    {"mlx, top-p 0.95", "mlx", alone_top_p, 0},
};

static void die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static struct chain *build(const struct bench_chain *b, struct stages *stages)
{
    struct params params = defaults, own[16];
    b->set(&params);
    const struct engine *const engine = engine_by_name(b->samplers);
    char names[200];
    const char *name[16];
    size_t n = 0;
    strcpy(names, engine ? "" : b->samplers);
    char *const value = strchr(names, '=');
    if (value)
        *value = '\0';
    for (char *at = strtok(names, ";"); at; at = strtok(NULL, ";")) {
        name[n] = at;
        own[n++] = params;
    }
    if (value) {
        own[n - 1].more[0].flag = sampler_by_name(name[n - 1], strlen(name[n - 1]))->params->flag;
        own[n - 1].more[own[n - 1].n_more++].value = strtof(value + 1, NULL);
    }
    stages_init(stages);
    stages_fill(stages, engine ? engine : engine_by_name("llama"), &params, name, own, n);
    struct chain *const ch = stages_chain(stages, params.seed);
    if (!ch)
        die("cannot build a chain");
    for (size_t i = 0; i < b->history; i++) // 200 different tokens, with repeated runs
        chain_accept(ch, (uint32_t)(uniform() < 0.7 ? i % 190 : (size_t)(uniform() * 200)));
    return ch;
}

static volatile float sink;

// Returns the seconds of the max over BATCH rows.
static double run_floor(struct rows *r)
{
    size_t tiers = 0;
    while (kern_tier(tiers))
        tiers++;
    const struct kern *const best = kern_tier(tiers - 1);
    const double start = now();
    for (int i = 0; i < BATCH; i++) {
        const struct row row = next_row(r);
        sink = best->max(row.data, row.n * dtype_size(row.type) / sizeof(float));
    }
    return now() - start;
}

__attribute__((noinline)) static double run_chain(struct rows *r, struct chain *ch, struct cand *c)
{
    const double start = now();
    for (int i = 0; i < BATCH; i++) {
        const struct row row = next_row(r);
        if (cand_load(c, &row).code || chain_apply(ch, c, NULL, NULL).code || !chain_accept(ch, c->chosen))
            die("a row failed");
    }
    return now() - start;
}

static void measure(const struct bench_chain *b, struct rows *r, const struct kern *kern)
{
    double t = INFINITY, f = INFINITY; // the shortest times; longer times have noise
    struct stages stages;
    struct chain *const ch = build(b, &stages);
    struct cand c;
    cand_init(&c, kern);
    c.want_p = c.want_logits = false;
    c.want = WANT_TOKEN;
    run_chain(r, ch, &c); // maps the pages before the measurement
    for (int i = 0; i < ROUNDS; i++) {
        f = fmin(f, run_floor(r) / BATCH);
        t = fmin(t, run_chain(r, ch, &c) / BATCH);
    }
    printf("%-26s %10.0f %8.2f %10.0f %7.2f\n", b->name, t * 1e9, (double)(r->n * dtype_size(r->type)) / t * 1e-9,
           f * 1e9, t / f);
    fflush(stdout);
    cand_free(&c);
    chain_free(ch);
    stages_free(&stages);
}

static void print_head(const char *kind, const struct rows *r, const struct kern *kern)
{
    printf("\n%zu x %s, %s%stier %s\n%-26s %10s %8s %10s %7s\n", r->n, r->type == DTYPE_F32 ? "f32" : "f16", kind,
           *kind ? " rows, " : "", kern->name, "chain", "ns/row", "GB/s", "floor ns", "ratio");
}

static int bench_chains(const char *tier, size_t only, const char *name, char *data)
{
    static const size_t sizes[] = {32000, 128256, 151936, 262144};
    const struct kern *const kern = kern_select(tier);
    if (!kern)
        die("no such tier here");
    if (only > BUFFER / sizeof(float))
        die("no such N");
    for (size_t s = 0; s < (only ? 1 : sizeof sizes / sizeof *sizes); s++) {
        for (enum dtype type = DTYPE_F32; type <= DTYPE_F16; type++) {
            const size_t n = only ? only : sizes[s];
            struct rows rows = {type, n, BUFFER / (n * dtype_size(type)), 0, data};
            fill(&rows);
            set_windows(&rows);
            print_head("", &rows, kern);
            for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
                if (!name || strstr(chains[i].name, name))
                    measure(&chains[i], &rows, kern);
        }
    }
    for (size_t kind = 0; (!only || only == 128256) && kind < sizeof odd_kinds / sizeof *odd_kinds; kind++) {
        static const char *const chosen =
            "default;greedy: temp 0;top-k 1000;top-k 16000;top-k 64000;full sort;top-p 0.95;"
            "typical 0.9;dynatemp 0.5;mirostat 2, temp 0.8;xtc, whole vocabulary;";
        struct rows rows = {DTYPE_F32, 128256, BUFFER / (128256 * sizeof(float)), 0, data};
        fill_odd(&rows, kind);
        print_head(odd_kinds[kind], &rows, kern);
        for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
            const char *const at = strstr(chosen, chains[i].name);
            if (at && at[strlen(chains[i].name)] == ';' && (!name || strstr(chains[i].name, name)))
                measure(&chains[i], &rows, kern);
        }
    }
    return 0;
}

static int print_names(void)
{
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
        puts(chains[i].name);
    return 0;
}

static int run_once(const char *tier, size_t n, const char *name, char *data)
{
    struct rows rows = {DTYPE_F32, n, 2 * BATCH, 0, data};
    const struct kern *const kern = kern_select(tier);
    if (!kern || !n || rows.n * rows.count * sizeof(float) > BUFFER)
        die("no such tier here, or rows too wide");
    fill(&rows);
    set_windows(&rows);
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        if (strcmp(chains[i].name, name) != 0)
            continue;
        struct stages stages;
        struct chain *const ch = build(&chains[i], &stages);
        struct cand c;
        cand_init(&c, kern);
        c.want_p = c.want_logits = false;
        c.want = WANT_TOKEN;
        run_chain(&rows, ch, &c);
        run_chain(&rows, ch, &c);
        cand_free(&c);
        chain_free(ch);
        stages_free(&stages);
        return 0;
    }
    die("no such chain");
    return 1;
}

static int write_rows(size_t n, enum dtype type, size_t count, char *data)
{
    const size_t bytes = n * dtype_size(type);
    struct rows rows = {type, n, BUFFER / bytes, 0, data};
    fill(&rows);
    for (size_t i = 0; i < count; i++)
        if (fwrite(next_row(&rows).data, bytes, 1, stdout) != 1)
            die("cannot write");
    return 0;
}

static int file_max(const char *path)
{
    struct stat st;
    const int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) < 0)
        die("cannot open the file");
    const void *const map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        die("cannot map the file");
    printf("%g\n", (double)kern_select(NULL)->max(map, (size_t)st.st_size / sizeof(float)));
    return 0;
}

static const char *argument(int argc, char **argv, int i) { return i < argc && *argv[i] ? argv[i] : NULL; }

int main(int argc, char **argv)
{
    const char *const what = argument(argc, argv, 1), *const n = argument(argc, argv, 3);
    char *const data = malloc(BUFFER);
    int status = 1;
    if (!what || !data)
        die("what? chains, rows or max");
    if (!strcmp(what, "chains"))
        status = bench_chains(argument(argc, argv, 2), n ? strtoul(n, NULL, 10) : 0, argument(argc, argv, 4), data);
    else if (!strcmp(what, "names"))
        status = print_names();
    else if (!strcmp(what, "once") && argc == 5)
        status = run_once(argument(argc, argv, 2), strtoul(n, NULL, 10), argv[4], data);
    else if (!strcmp(what, "rows") && argc == 5)
        status = write_rows(strtoul(argv[2], NULL, 10), !strcmp(argv[3], "f16") ? DTYPE_F16 : DTYPE_F32,
                            strtoul(argv[4], NULL, 10), data);
    else if (!strcmp(what, "max") && argc == 3)
        status = file_max(argv[2]);
    free(data);
    return status;
}
