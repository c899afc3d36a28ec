// SPDX-License-Identifier: MIT
// embed: uses the core without the command line. Makes a chain from the parameters of a JSON row, samples three rows of f16 logits from
// standard input, and prints the chosen ids: embed '{"top_k": 40, "seed": 7}' <rows.f16
#include "chain/chain.h"
#include "programs/program.h"
#include "settings/new_recipe.h"

#include <stdio.h>

enum { ROWS = 3, WIDTH = 4096 };

int main(int argc, char **argv)
{
    static uint16_t logits[ROWS][WIDTH];
    struct recipes recipes;
    struct cand c;
    struct err e = {0};
    recipes_init(&recipes);
    cand_init(&c, kern_select(NULL));
    struct new_recipe d = {.of = &recipes, .key.engine = engine_by_name("llama")};
    catalog_defaults(&recipes.catalog, d.key.value);
    cJSON *const params = cJSON_Parse(argc > 1 ? argv[1] : "{}");
    const struct recipe *const base = recipe_finish(&d, &e);
    const struct recipe *const recipe = base ? recipe_with_params(&recipes, base, params, &e) : NULL;
    struct chain *const chain = recipe ? chain_new(recipe->stage, recipe->n_stages, recipe->key.seed) : NULL;
    bool ok = chain && fread(logits, sizeof logits, 1, stdin) == 1;
    for (uint32_t i = 0; ok && i < ROWS; i++) {
        c.position = i;
        ok = !cand_load(&c, &(struct row){.type = DTYPE_F16, .data = logits[i], .n = WIDTH}).code &&
             !chain_apply(chain, &c, NULL, NULL).code && chain_accept(chain, c.chosen);
        printf("%u\n", ok ? c.chosen : UINT32_MAX);
    }
    chain_free(chain);
    recipe_drop(recipe);
    recipe_drop(base);
    recipes_free(&recipes);
    cand_free(&c);
    cJSON_Delete(params);
    fputs(e.text, stderr);
    return !ok;
}
