// SPDX-License-Identifier: MIT
#include "chain/recipe.h"

#include "base/names.h"
#include "grammar/trie.h"

#include <stdio.h>
#include <string.h>

void recipes_init(struct recipes *r)
{
    *r = (struct recipes){0};
    catalog_make(&r->catalog);
    vocab_init(&r->texts);
}

void recipes_free(struct recipes *r)
{
    builder_free(&r->notes);
    builder_free(&r->once);
    trie_free(r->trie);
    vocab_free(&r->texts);
}

const struct trie *recipes_trie(struct recipes *r)
{
    if (!r->trie && r->vocab)
        r->trie = trie_new(r->vocab);
    return r->trie;
}

void note_once(struct recipes *r, enum note_kind kind, const char *format, ...)
{
    char text[sizeof(struct err)];
    va_list args;
    va_start(args, format);
    err_text(text, sizeof text, format, args);
    va_end(args);
    if (r->once.text && strstr(r->once.text, text))
        return;
    builder_format(&r->once, "%s\n", text);
    note_add(&r->notes, kind, "%s", text);
}

// ---- recipes

void recipe_drop(const struct recipe *recipe) { shared_drop((void *)(uintptr_t)recipe); }

const struct budget_rules *recipe_budget(const struct recipe *recipe)
{
    const struct reasoning *const r = recipe->key.reasoning;
    return r && r->rules.n_ends ? &r->rules : NULL;
}

const struct stage *recipe_next(const struct recipe *recipe, const struct stage *s)
{
    for (s = s ? s + 1 : recipe->stage; s < recipe->stage + recipe->n_stages; s++)
        if (stage_enabled(s))
            return s;
    return NULL;
}

bool recipe_runs(const struct recipe *recipe, const struct sampler *sampler)
{
    for (const struct stage *s = NULL; (s = recipe_next(recipe, s));)
        if (s->sampler == sampler)
            return true;
    return false;
}

bool recipe_reads(const struct recipe *recipe, enum sampler_lists lists)
{
    for (const struct stage *s = NULL; (s = recipe_next(recipe, s));)
        if (s->sampler->lists == lists)
            return true;
    return false;
}

bool recipe_defies(const struct recipe *recipe, enum odds odds)
{
    for (const struct stage *s = NULL; (s = recipe_next(recipe, s));)
        if (s->sampler->odds == odds)
            return true;
    return false;
}

bool recipe_has_temperature(const struct recipe *recipe)
{
    const struct catalog *const c = &recipe->of->catalog;
    for (const struct stage *s = NULL; (s = recipe_next(recipe, s));)
        if (s->sampler->params && c->number[sampler_place(s->sampler)][0] == c->temp && stage_first(s) > 0.0)
            return true;
    return false;
}

bool recipe_has_mirostat(const struct recipe *recipe)
{
    return !recipe->key.engine->options && recipe->key.value[recipe->of->catalog.mirostat] > 0.0;
}

const char *recipe_in_llama(const struct recipe *recipe, enum in_llama in_llama)
{
    for (const struct stage *s = NULL; (s = recipe_next(recipe, s));)
        if (s->sampler->in_llama == in_llama)
            return s->sampler->name;
    return NULL;
}

bool recipe_wants_logits(const struct recipe *recipe)
{
    for (const struct stage *s = NULL; (s = recipe_next(recipe, s));)
        if (s->sampler->partial.of_logits)
            return true;
    return false;
}

bool recipe_find_stage(const struct recipe *recipe, const char *text, size_t *at, struct err *e)
{
    const int len = (int)strcspn(text, "#");
    const struct sampler *const sampler = sampler_by_name(text, (size_t)len);
    int64_t wanted = 0;
    size_t found = 0;
    if (text[len] && !whole_number(text + len + 1, NULL, 1, (int64_t)recipe->n_stages, &wanted))
        return err_set(e, STATUS_USAGE, "--after: '%s' is not NAME#N with N from 1 to %zu", text, recipe->n_stages);
    for (size_t i = 0; i < recipe->n_stages; i++) {
        const struct sampler *const s = recipe->stage[i].sampler;
        if ((s == sampler || (!strncmp(s->name, text, (size_t)len) && !s->name[len])) &&
            (++found == (size_t)wanted || !wanted))
            *at = i;
    }
    if (found > 1 && !wanted)
        return err_set(e, STATUS_USAGE, "--after: the chain has '%.*s' %zu times; name one, from %.*s#1 to %.*s#%zu",
                       len, text, found, len, text, len, text, found);
    return (found && found >= (size_t)wanted) ||
           err_set(e, STATUS_USAGE, "--after: the chain has no stage '%s'; --print-chain shows those that it has",
                   text);
}

size_t recipe_stage_nth(const struct recipe *recipe, size_t at)
{
    size_t n = 0, nth = 0;
    for (size_t i = 0; i < recipe->n_stages; i++) {
        n += !strcmp(recipe->stage[i].sampler->name, recipe->stage[at].sampler->name);
        nth = i == at ? n : nth;
    }
    return n > 1 ? nth : 0;
}

const char *stage_name(const struct sampler *sampler, size_t nth, char text[NUMBER_TEXT])
{
    const size_t len = (size_t)(stpcpy(text, sampler->name) - text);
    if (nth)
        snprintf(text + len, NUMBER_TEXT - len, "#%zu", nth);
    return text;
}

const struct recipe *recipe_checked(const struct recipe *recipe, struct err *e)
{
    for (const struct stage *s = NULL; recipe && (s = recipe_next(recipe, s));) {
        if (!s->sampler->check || s->sampler->check(s, e))
            continue;
        recipe_drop(recipe);
        return NULL;
    }
    return recipe;
}

// Returns whether a list of the likeliest tokens, if it is long enough, tells what the chain keeps of the full row.
// Only lists of logits tell the deviation of the full row, too.
static bool ends_lists(const struct recipe *recipe, enum logit_scale scale)
{
    for (const struct stage *s = NULL; (s = recipe_next(recipe, s));) {
        if (s->sampler->partial.ends && s->sampler->partial.ends(s))
            return true;
        if (!s->sampler->partial.apply || (s->sampler->partial.of_logits && scale != SCALE_LOGITS))
            return false;
    }
    return false;
}

bool stage_runs_with(const struct stage *stage, const struct param *row, double value)
{
    double params[CATALOG_PARAMS]; // room for any sampler's
    memcpy(params, stage->params, stage->sampler->params_size);
    param_store(row, params, value);
    return stage_enabled(&(struct stage){stage->sampler, params, stage->context, stage->own});
}

bool stage_has_factor(const struct stage *stage)
{
    static const char names[] = "repeat-penalty encoder-repeat-penalty";
    const struct param *const row = stage->sampler->params;
    return row && row->flag && name_find(names, NAME_EXACT, row->flag, strlen(row->flag)) >= 0 &&
           param_load(row, stage->params) != 1.0;
}

const struct stage *recipe_reads_logits(const struct recipe *recipe)
{
    for (const struct stage *s = NULL; (s = recipe_next(recipe, s));) {
        if (s->sampler->scale == WRITES_LOGPROBS)
            return NULL;
        if (s->sampler->scale == READS_LOGITS || stage_has_factor(s))
            return s;
    }
    return NULL;
}

size_t recipe_list_wanted(const struct recipe *recipe, enum logit_scale scale)
{
    double most = 90.0;
    bool any = false;
    if (!ends_lists(recipe, scale))
        return 0;
    for (const struct stage *s = NULL; (s = recipe_next(recipe, s));) {
        if (s->sampler->limits != LIMITS_RANK)
            continue;
        const double k = param_load(s->sampler->params, s->params);
        most = !any || k > most ? k : most;
        any = true;
    }
    return (size_t)most + 10;
}

const char *recipe_by_chance(const struct recipe *recipe)
{
    for (const struct stage *s = NULL; (s = recipe_next(recipe, s));)
        if (s->sampler->by_chance && s->sampler->by_chance(s))
            return s->sampler->name;
    return recipe->key.rules && !recipe->key.grammar_first ? "the grammar" : NULL;
}

bool recipe_is_greedy(const struct recipe *recipe)
{
    for (size_t i = 0; i < recipe->n_stages; i++)
        if (stage_is_greedy(&recipe->stage[i]))
            return true;
    return false;
}

const struct row_measure *recipe_measures(const struct recipe *recipe)
{
    for (const struct stage *s = NULL; (s = recipe_next(recipe, s));)
        if (s->sampler->measures)
            return s->sampler->measures;
    return NULL;
}

bool recipe_listens(const struct recipe *recipe, const char *option)
{
    const struct engine *const engine = recipe->key.engine;
    const size_t len = strlen(option);
    return engine_has(engine, recipe->key.grammar_first, option, len) &&
           !(recipe->key.rules && engine_has_free(engine, option, len));
}
