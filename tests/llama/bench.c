// SPDX-License-Identifier: MIT
// bench FILE N SCRATCH [CHAIN]: measures the time of a row in llama.cpp and in sampl, in turns in this process. FILE has rows of N f32
// logits. The time is processor time from the logits to the chosen token. CHAIN: only chains whose name contains this text.
#include "bench.h"

#include "../unit/timing.h"
#include "chain/chain.h"
#include "cli/from_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 15, BATCH = 4, MOST_WORDS = 24, HISTORY = 200 };

static const struct {
    const char *name, *flags[12];
} chains[] = {
    {"default", {NULL}},
    {"default + repeat 1.1", {"--repeat-penalty", "1.1"}},
    {"default + repeat 1.1 + DRY", {"--repeat-penalty", "1.1", "--dry-multiplier", "0.8"}},
    {"default, temp 0", {"--temp", "0"}},
    {"top-k 40 only", {"--samplers", "top_k"}},
    {"min-p 0.05 only", {"--samplers", "min_p"}},
    {"top-p 0.95 only", {"--samplers", "top_p"}},
    {"pure dist, temp 1", {"--samplers", "temperature", "--temp", "1"}},
    {"top-nsigma 1", {"--samplers", "top_n_sigma;temperature", "--top-nsigma", "1"}},
    {"dynatemp 0.5 only", {"--samplers", "temperature", "--dynatemp-range", "0.5"}},
    {"adaptive_p 0.4 only", {"--samplers", "adaptive_p", "--adaptive-target", "0.4"}},
    {"xtc, whole vocabulary", {"--samplers", "xtc", "--xtc-probability", "1"}},
    {"mirostat 1", {"--mirostat", "1"}},
    {"mirostat 2", {"--mirostat", "2"}},
    {"typical 0.9 only", {"--samplers", "typ_p", "--typical", "0.9"}},
    {"top-k 1000", {"--samplers", "top_k", "--top-k", "1000"}},
    {"top-k 16000", {"--samplers", "top_k", "--top-k", "16000"}},
    {"top-k 64000", {"--samplers", "top_k", "--top-k", "64000"}},
    {"top-k 128000", {"--samplers", "top_k", "--top-k", "128000"}},
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "bench-llama: %s\n", what);
    exit(1);
}

// ---- sampl's side

struct own {
    struct recipes recipes;
    struct options options;
    struct args args;
    const struct recipe *recipe;
    struct chain *chain;
    struct cand cand;
};

static void own_open(struct own *o, int argc, char **argv)
{
    struct err e;
    recipes_init(&o->recipes);
    options_make(&o->options, &o->recipes);
    if (!args_parse(&o->args, &o->options, argc, argv, &e))
        die(e.text);
    o->recipe = recipe_from_args(&o->recipes, &o->args, &e);
    if (!o->recipe)
        die(e.text);
    o->chain = chain_new(o->recipe->stage, o->recipe->n_stages, (uint64_t)o->args.typed.seed);
    if (!o->chain)
        die("cannot build a chain");
    cand_init(&o->cand, kern_select(NULL));
    o->cand.want_p = o->cand.want_logits = false;
    o->cand.want = WANT_TOKEN;
}

static void own_close(struct own *o)
{
    cand_free(&o->cand);
    chain_free(o->chain);
    recipe_drop(o->recipe);
    args_free(&o->args);
    recipes_free(&o->recipes);
}

static int32_t own_row(struct own *o, const float *logits, size_t n)
{
    const struct row row = {DTYPE_F32, logits, n};
    if (cand_load(&o->cand, &row).code || chain_apply(o->chain, &o->cand, NULL, NULL).code)
        die("a row failed");
    return (int32_t)o->cand.chosen;
}

static void own_accept(struct own *o, int32_t token)
{
    if (!chain_accept(o->chain, (uint32_t)token))
        die("cannot accept a token");
}

// ---- both

struct dump {
    const float *data;
    size_t n, count, next;
};

static const float *next_row(struct dump *r)
{
    const float *const row = r->data + r->next * r->n;
    r->next = (r->next + 1) % r->count;
    return row;
}

static void time_rows(size_t chain, struct dump *r, const char *vocab)
{
    static const char *const common[] = {"sampl", "-s", "1", "--vocab"};
    char *argv[MOST_WORDS] = {NULL};
    int argc = 0;
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        argv[argc++] = (char *)(uintptr_t)common[i];
    argv[argc++] = (char *)(uintptr_t)vocab;
    for (size_t i = 0; chains[chain].flags[i]; i++)
        argv[argc++] = (char *)(uintptr_t)chains[chain].flags[i];
    static struct own own;
    memset(&own, 0, sizeof own);
    own_open(&own, argc, argv);
    struct release *const release = release_open(argc, argv);
    for (int i = 0; i < HISTORY; i++) { // tokens with repeated parts
        const int32_t token = 300 + (i % 7 ? i % 40 : i * 13 % 200);
        own_accept(&own, token);
        release_accept(release, token);
    }
    double theirs[ROUNDS], ours[ROUNDS];
    int same = 0;
    for (int i = -1; i < ROUNDS; i++) { // the first round warms up
        int32_t id[BATCH][2];
        const float *row[BATCH];
        double start = now();
        for (int k = 0; k < BATCH; k++) {
            row[k] = next_row(r);
            id[k][0] = release_row(release, row[k]);
        }
        const double middle = now();
        for (int k = 0; k < BATCH; k++)
            id[k][1] = own_row(&own, row[k], r->n);
        const double end = now();
        for (int k = 0; k < BATCH; k++) {
            same += i >= 0 && id[k][0] == id[k][1];
            own_accept(&own, id[k][0]);
            release_accept(release, id[k][0]);
        }
        if (i < 0)
            continue;
        theirs[i] = (middle - start) / BATCH;
        ours[i] = (end - middle) / BATCH;
    }
    const double a = median(theirs, ROUNDS) * 1e6, b = median(ours, ROUNDS) * 1e6;
    printf("%-28s %10.1f %10.1f %8.1f %7d/%d\n", chains[chain].name, a, b, a / b, same, ROUNDS * BATCH);
    fflush(stdout);
    release_close(release);
    own_close(&own);
}

static void print_machine(const struct dump *r)
{
    char line[256], *name = NULL;
    FILE *const f = fopen("/proc/cpuinfo", "r");
    while (f && !name && fgets(line, sizeof line, f))
        if (strncmp(line, "model name", 10) == 0 || strncmp(line, "CPU part", 8) == 0)
            name = strchr(line, ':');
    if (f)
        fclose(f);
    if (name)
        name[strcspn(name, "\n")] = '\0';
    printf("%s, one core, sampl's tier %s; rows of %zu f32, us a row\n", name ? name + 2 : "a processor without a name",
           kern_select(NULL)->name, r->n);
    printf("%-28s %10s %10s %8s %10s\n", "chain", "llama.cpp", "sampl", "ratio", "same ids");
}

int main(int argc, char **argv)
{
    if (argc < 4)
        die("usage: bench FILE N SCRATCH [CHAIN]");
    struct dump r = {.n = strtoul(argv[2], NULL, 10)};
    FILE *const f = fopen(argv[1], "rb");
    if (!f || !r.n || fseek(f, 0, SEEK_END) != 0)
        die("cannot read the rows");
    const long size = ftell(f);
    r.count = (size_t)size / r.n / sizeof(float);
    float *const data = malloc((size_t)size);
    rewind(f);
    if (!data || !r.count || fread(data, sizeof(float), r.n * r.count, f) != r.n * r.count)
        die("cannot read the rows");
    fclose(f);
    r.data = data;
    char vocab[4096];
    snprintf(vocab, sizeof vocab, "%s/bench.gguf", argv[3]);
    release_start();
    release_vocab(vocab, (int)r.n);
    print_machine(&r);
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
        if (argc < 5 || !*argv[4] || strstr(chains[i].name, argv[4]))
            time_rows(i, &r, vocab);
    free(data);
    return 0;
}
