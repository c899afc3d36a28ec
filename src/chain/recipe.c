// SPDX-License-Identifier: MIT
#include "chain/recipe.h"

#include "base/platform.h"
#include "grammar/trie.h"
#include "sample/chain.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void recipes_init(struct recipes *r)
{
    *r = (struct recipes){0};
    catalog_make(&r->catalog);
    vocab_init(&r->texts);
}

void recipes_free(struct recipes *r)
{
    shared_set_free(&r->recipe);
    shared_set_free(&r->order);
    shared_set_free(&r->biases);
    shared_set_free(&r->breakers);
    shared_set_free(&r->bans);
    shared_set_free(&r->rules);
    shared_set_free(&r->reasoning);
    trie_free(r->trie);
    vocab_free(&r->texts);
}

const struct trie *recipes_trie(struct recipes *r)
{
    if (!r->trie && r->vocab)
        r->trie = trie_new(r->vocab);
    return r->trie;
}

void *draft_share(struct shared_set *set, struct builder *key, size_t size, void (*free)(void *), bool *known,
                  struct err *e)
{
    uint32_t hash;
    struct shared *thing = key->failed ? NULL : shared_find(set, key->text, key->len, &hash);
    *known = thing;
    if (!key->failed && !thing)
        thing = calloc(1, size + key->len + 1);
    if (thing && !*known) {
        *thing = (struct shared){.key = (char *)thing + size, .len = key->len, .free = free};
        memcpy((char *)thing + size, key->text, key->len);
        thing = shared_add(set, thing, hash);
    }
    builder_free(key);
    if (!thing)
        err_from_fault(e, fault_memory());
    return thing;
}

void parts_keep(struct parts *p)
{
    shared_keep(p->order);
    shared_keep(p->biases);
    shared_keep(p->breakers);
    shared_keep(p->bans);
    shared_keep(p->rules);
    shared_keep(p->reasoning);
}

void parts_drop(struct parts *p)
{
    shared_drop(p->order);
    shared_drop(p->biases);
    shared_drop(p->breakers);
    shared_drop(p->bans);
    shared_drop(p->rules);
    shared_drop(p->reasoning);
}

// ---- the recipe

// The stages that the parts come to.
static size_t plan(const struct draft *d, const double *value, struct choice **plan)
{
    const struct catalog *const c = &d->of->catalog;
    const struct engine *const engine = d->parts.engine;
    const struct order *const order = d->parts.order;
    const size_t most = engine->options ? ENGINE_STAGES : order->n + PLAN_MORE;
    *plan = calloc(most, sizeof **plan);
    if (!*plan)
        return 0;
    if (!engine->options)
        return plan_chain(order->choice, order->n, (int)value[c->mirostat], *plan);
    return plan_engine(engine, value[c->temp], d->parts.rules, *plan);
}

// How much of the parts is a recipe's key: the values that there are.
static size_t key_len(const struct catalog *c)
{
    return offsetof(struct parts, value) + c->n * sizeof(double);
}

static size_t rounded_up(size_t n)
{
    const size_t align = sizeof(double) - 1;
    return (n + align) & ~align;
}

static void recipe_free(void *thing)
{
    struct recipe *const r = thing;
    parts_drop(&r->parts);
    free(r);
}

// Fills the stages that the plan names, and their parameters.
static void fill_stages(struct recipe *r, const struct catalog *c, const struct choice *plan, const double *value)
{
    char *params = (char *)(r->stage + r->n_stages);
    for (size_t i = 0; i < r->n_stages; i++) {
        const struct sampler *const s = choice_sampler(&plan[i]);
        catalog_fill(c, plan[i].place, value, params);
        if (plan[i].own)
            param_store(&s->params[plan[i].param], params, plan[i].value);
        r->stage[i] = (struct stage){s, params, &r->context};
        params += rounded_up(s->params_size);
    }
}

// With its own copies of all but the parts, which it takes over.
static struct recipe *recipe_new(struct draft *d, const double *value)
{
    struct choice *choice;
    const size_t n = plan(d, value, &choice);
    size_t size = sizeof(struct recipe) + n * sizeof(struct stage);
    for (size_t i = 0; i < n; i++)
        size += rounded_up(choice_sampler(&choice[i])->params_size);
    struct recipe *const r = n ? calloc(1, size) : NULL;
    if (r) {
        r->of = d->of;
        r->parts = d->parts;
        r->shared = (struct shared){.key = &r->parts, .len = key_len(&d->of->catalog), .free = recipe_free};
        r->context =
            (struct context){d->of->vocab, &d->parts.biases->table, &d->parts.breakers->breakers, &d->parts.bans->bans};
        r->n_stages = n;
        fill_stages(r, &d->of->catalog, choice, value);
    }
    free(choice);
    return r;
}

// The texts of breakers cost a pass over the vocabulary, which only a chain with dry is to pay.
static bool prepare_breakers(const struct recipe *r, struct breaker_list *list)
{
    if (list->ready || !recipe_runs(r, &sampler_dry))
        return true;
    list->ready = true;
    return breakers_find_heads(&list->breakers, r->of->vocab);
}

bool draft_seed(struct draft *d, int64_t seed, struct err *e)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, seed);
    if (!d->parts.engine->wide_seed && !value_whole("seed", text, -1, UINT32_MAX, &seed, e))
        return false;
    d->parts.seed = d->parts.engine->wide_seed ? (uint64_t)seed : (uint32_t)seed;
    d->random = engine_draws_seed(d->parts.engine, seed);
    return true;
}

const struct recipe *draft_make(struct draft *d, struct err *e)
{
    const struct catalog *const c = &d->of->catalog;
    uint32_t hash, seed;
    if (d->random) {
        if (!platform_random(&seed, sizeof seed)) {
            parts_drop(&d->parts);
            err_set(e, STATUS_IO, "no random seed to be had from the system");
            return NULL;
        }
        d->parts.seed = seed;
    }
    struct recipe *r = shared_find(&d->of->recipe, &d->parts, key_len(c), &hash);
    if (r) {
        parts_drop(&d->parts);
        return r;
    }
    double value[CATALOG_MOST];
    memcpy(value, d->parts.value, c->n * sizeof *value);
    if (d->parts.engine->adjust)
        d->parts.engine->adjust(c, value);
    r = recipe_new(d, value);
    if (!r)
        parts_drop(&d->parts);
    else if (!prepare_breakers(r, r->parts.breakers))
        recipe_free(r);
    else if ((r = shared_add(&d->of->recipe, &r->shared, hash)))
        return r;
    err_from_fault(e, fault_memory());
    return NULL;
}

void recipe_drop(const struct recipe *recipe)
{
    shared_drop((void *)(uintptr_t)recipe);
}

const struct budget_rules *recipe_budget(const struct recipe *recipe)
{
    const struct reasoning *const r = recipe->parts.reasoning;
    return r && r->tokens >= 0 ? &r->rules : NULL;
}

bool recipe_runs(const struct recipe *recipe, const struct sampler *sampler)
{
    for (size_t i = 0; i < recipe->n_stages; i++)
        if (recipe->stage[i].sampler == sampler && stage_enabled(&recipe->stage[i]))
            return true;
    return false;
}

bool recipe_find_stage(const struct recipe *recipe, const char *text, size_t *at, struct err *e)
{
    const size_t len = strcspn(text, "#");
    const struct sampler *const sampler = sampler_by_name(text, len);
    int64_t wanted = 0;
    size_t found = 0;
    if (text[len] && !whole_number(text + len + 1, NULL, 1, (int64_t)recipe->n_stages, &wanted))
        return err_set(e, STATUS_USAGE, "--after: '%s' is not NAME#N with N from 1 to %zu", text, recipe->n_stages);
    for (size_t i = 0; i < recipe->n_stages; i++) {
        const struct sampler *const s = recipe->stage[i].sampler;
        if (s != sampler && (strlen(s->name) != len || strncmp(s->name, text, len) != 0))
            continue;
        found++;
        if (!wanted || found == (size_t)wanted)
            *at = i;
    }
    if (found > 1 && !wanted)
        return err_set(e, STATUS_USAGE, "--after: the chain has '%.*s' %zu times, say %.*s#1 to %.*s#%zu", (int)len,
                       text, found, (int)len, text, (int)len, text, found);
    if (found > (wanted ? (size_t)wanted - 1 : 0))
        return true;
    return err_set(e, STATUS_USAGE, "--after: the chain has no stage '%s'; --print-chain shows those that it has",
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

bool recipe_listens(const struct recipe *recipe, const char *option)
{
    const struct engine *const engine = recipe->parts.engine;
    const size_t len = strlen(option);
    return engine_has(engine, recipe->parts.grammar_first, option, len) &&
           !(recipe->parts.rules && engine_has_free(engine, option, len));
}
