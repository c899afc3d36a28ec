// SPDX-License-Identifier: MIT
// variants_check: runs several recipes on one input. Each variant must choose the ids of a separate run: with histories, generators, named
// sequences, changing parameters, common stages, bad rows and rows without candidates.
#include "cli/from_args.h"
#include "random.h"
#include "run/worker.h"
#include "views/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARIANTS = 12, ROWS = 300, WIDTH = 70 };

static _Noreturn void die(const char *what, const struct err *e)
{
    printf("%s: %s\n", what, e ? e->text : "");
    exit(1);
}

static const char *const words[VARIANTS][12] = {
    {"sampl", "--seed", "1"},
    {"sampl", "--seed", "2", "--temp", "1.4", "--repeat-penalty", "1.3", "--xtc-probability", "0.5"},
    {"sampl", "--seed", "3", "--mirostat", "2"},
    {"sampl", "--seed", "1", "--engine", "ollama", "--temp", "2"},
    // recipes with common first stages
    {"sampl", "--seed", "4"},
    {"sampl", "--seed", "1", "--top-k", "12", "--typical", "0.8"},
    {"sampl", "--seed", "1", "--top-k", "60", "--temp", "1.4"},
    {"sampl", "--seed", "1", "--min-p", "0.2", "--logit-bias", "3+4"},
    {"sampl", "--seed", "1", "--logit-bias", "3+6"},
    {"sampl", "--seed", "1", "--samplers", "top_p;temperature", "--top-p", "0.8"},
    {"sampl", "--seed", "1", "--samplers", "top_p;temperature", "--top-p", "0.99"},
    {"sampl", "--seed", "1", "--samplers", "encoder_penalty;top_k", "--encoder-repeat-penalty", "2", "--top-k", "50"},
};

struct world {
    struct options options;
    struct recipes recipes;
    struct args args[VARIANTS];
    const struct recipe *recipe[VARIANTS];
    float logits[ROWS][WIDTH];
    struct input_row row[ROWS];
    cJSON *params[3];
};

static void make_recipes(struct world *w)
{
    struct err e;
    recipes_init(&w->recipes);
    options_make(&w->options, &w->recipes);
    for (size_t i = 0; i < VARIANTS; i++) {
        int n = 0;
        while (n < 12 && words[i][n])
            n++;
        if (!args_parse(&w->args[i], &w->options, n, (char **)(uintptr_t)words[i], &e))
            die("arguments", &e);
        w->recipe[i] = recipe_from_args(&w->recipes, &w->args[i], &e);
        if (!w->recipe[i])
            die("recipe", &e);
    }
}

static void make_rows(struct world *w)
{
    static const char *const names[] = {NULL, "a", "b"};
    static const char *const params[] = {"{\"temperature\":0.3}", "{\"top_k\":5,\"seed\":9}",
                                         "{\"top_p\":0.5,\"temperature\":1.1}"};
    for (size_t i = 0; i < 3; i++)
        w->params[i] = cJSON_Parse(params[i]);
    for (size_t i = 0; i < ROWS; i++) {
        struct input_row *const r = &w->row[i];
        for (size_t k = 0; k < WIDTH; k++)
            w->logits[i][k] = i % 50 == 20 ? -INFINITY : (float)random_below(1000) / 100.0f;
        *r = (struct input_row){.logits = {.type = DTYPE_F32, .data = w->logits[i], .n = WIDTH},
                                .file = "rows",
                                .number = i,
                                .may_change = true,
                                .recorded = -1,
                                .forced = random_below(9) ? -1 : (int64_t)random_below(WIDTH),
                                .seq = names[random_below(3)],
                                .bad = i % 50 == 33,
                                .ends = !random_below(40),
                                .params = random_below(6) ? NULL : w->params[random_below(3)]};
    }
}

// Runs these variants over all rows. Sets id[row][variant], UINT32_MAX for rows without a choice.
static void run_variants(struct world *w, const struct recipe **recipe, size_t n, uint32_t (*id)[VARIANTS])
{
    const struct view *view[VIEWS_MOST];
    views_choose(&w->args[0], n > 1, view);
    const struct variants variants = {.recipe = recipe, .n = n};
    struct job job = {
        .args = &w->args[0], .recipes = &w->recipes, .variants = &variants, .kern = kern_select(NULL), .view = view[0]};
    struct worker worker;
    struct result res[VARIANTS] = {{.ok = false}};
    struct err e;
    if (!job_init(&job, &e))
        die("job", &e);
    if (!worker_init(&worker, &job, 0, n, &e))
        die("worker", &e);
    for (size_t i = 0; i < ROWS; i++) {
        const struct err bad = {STATUS_DATA, "a bad row"};
        worker_row(&worker, &w->row[i], &bad, NULL, NULL, res);
        for (size_t k = 0; k < n; k++) {
            if (!res[k].ok && !res[k].bad)
                die("row", &res[k].e);
            id[i][k] = res[k].ok ? res[k].record.chosen : UINT32_MAX;
        }
    }
    for (size_t k = 0; k < n; k++)
        result_free(&res[k]);
    worker_free(&worker);
    job_free(&job);
}

int main(void)
{
    static struct world w;
    static uint32_t together[ROWS][VARIANTS], alone[ROWS][VARIANTS];
    size_t differ = 0, bad = 0;
    make_recipes(&w);
    make_rows(&w);
    run_variants(&w, w.recipe, VARIANTS, together);
    for (size_t k = 0; k < VARIANTS; k++) {
        run_variants(&w, &w.recipe[k], 1, alone);
        for (size_t i = 0; i < ROWS; i++) {
            bad += alone[i][0] == UINT32_MAX;
            differ += k && together[i][k] != together[i][0];
            if (together[i][k] != alone[i][0])
                die("a variant's id is not that of a separate run", NULL);
        }
    }
    for (size_t k = 0; k < VARIANTS; k++) {
        recipe_drop(w.recipe[k]);
        args_free(&w.args[k]);
    }
    for (size_t i = 0; i < 3; i++)
        cJSON_Delete(w.params[i]);
    recipes_free(&w.recipes); // asserts that every recipe has been freed
    printf("%d variants, %d rows: %zu ids differ between variants, %zu rows were bad\n", VARIANTS, ROWS, differ, bad);
    return differ && bad ? 0 : 1;
}
