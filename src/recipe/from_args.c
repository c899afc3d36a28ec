// SPDX-License-Identifier: MIT
#include "recipe/from_args.h"

#include "base/mem.h"
#include "in/vocab_file.h"
#include "out/message.h"
#include "recipe/grammar.h"
#include "vocab/spelling.h"

#include <stdlib.h>
#include <string.h>

// ---- the engine

// Options of the chain that say nothing about its stages.
static bool always_welcome(const struct option_row *row)
{
    return !strcmp(row->name, "seed") || !strcmp(row->name, "engine") || !strcmp(row->name, "backend-sampling");
}

static bool refuse_others(const struct engine *engine, const struct args *a, struct err *e)
{
    for (const struct option_row *row = a->options->row; row->name; row++) {
        if (row->group != GROUP_CHAIN || !a->given[row - a->options->row] || always_welcome(row) ||
            engine_has(engine, row->name, strlen(row->name)))
            continue;
        if (row->at == offsetof(struct args, samplers))
            return err_set(e, STATUS_USAGE, "--%s: engine %s has an order of its own", row->name, engine->name);
        return err_set(e, STATUS_USAGE, "--%s: engine %s has no stage for it", row->name, engine->name);
    }
    return true;
}

// ---- numbers

static bool param_given(const struct args *a, size_t number)
{
    for (const struct option_row *row = a->options->row; row->name; row++)
        if (row->param && row->number == number)
            return a->given[row - a->options->row];
    return false;
}

// What was typed, or the engine's default.
static void take_values(struct draft *d, const struct args *a)
{
    const struct catalog *const c = &d->of->catalog;
    memcpy(d->parts.value, a->value, c->n * sizeof *a->value);
    for (const struct engine_default *def = d->parts.engine->defaults; def->flag; def++) {
        const size_t number = catalog_find(c, def->flag, strlen(def->flag));
        if (!param_given(a, number))
            d->parts.value[number] = param_value(c->param[number], def->value);
    }
}

static bool check_conflicts(const struct draft *d, struct err *e)
{
    for (size_t i = 0; samplers[i]; i++) {
        double params[CATALOG_PARAMS]; // room for any sampler's
        if (!samplers[i]->conflict)
            continue;
        catalog_fill(&d->of->catalog, i, d->parts.value, params);
        const char *const conflict = samplers[i]->conflict(params);
        if (conflict)
            return err_set(e, STATUS_USAGE, "%s", conflict);
    }
    return true;
}

// ---- what a model's makers recommend, in its GGUF metadata (sampl-formats(5))

// The key after general.sampling, and the parameter.
static const struct {
    const char *key, *flag;
} recommended[] = {
    {"top_k", "top-k"},
    {"top_p", "top-p"},
    {"min_p", "min-p"},
    {"xtc_probability", "xtc-probability"},
    {"xtc_threshold", "xtc-threshold"},
    {"temp", "temp"},
    {"penalty_last_n", "repeat-last-n"},
    {"penalty_repeat", "repeat-penalty"},
    {"mirostat", "mirostat"},
    {"mirostat_tau", "mirostat-ent"},
    {"mirostat_eta", "mirostat-lr"},
};

static bool take_recommended(struct draft *d, const struct args *a, const char *key, const char *value, struct err *e)
{
    const struct catalog *const c = &d->of->catalog;
    for (size_t i = 0; i < sizeof recommended / sizeof *recommended; i++) {
        if (strcmp(recommended[i].key, key) != 0)
            continue;
        const size_t number = catalog_find(c, recommended[i].flag, strlen(recommended[i].flag));
        if (param_given(a, number) || value_parse(c->param[number], value, &d->parts.value[number], e))
            return true;
        e->status = STATUS_DATA;
        return err_prefix(e, "--vocab: %s: general.sampling.%s", a->vocab, key);
    }
    return true;
}

// llama.cpp's engine takes the recommendations for what was not given. *samplers is the chain, if one is recommended.
static bool take_recommendations(struct draft *d, const struct args *a, const char **samplers_text, struct err *e)
{
    const struct vocab *const v = d->of->vocab;
    if (!v || !v->recommended || d->parts.engine->options)
        return true;
    for (const char *key = v->recommended, *value; *key; key = value + strlen(value) + 1) {
        value = key + strlen(key) + 1;
        if (!strcmp(key, "sequence") && !args_given(a, "samplers") && !args_given(a, "sampler-seq"))
            *samplers_text = value;
        if (!take_recommended(d, a, key, value, e))
            return false;
    }
    return true;
}

// ---- lists

static bool take_biases(struct draft *d, const struct args *a, struct err *e)
{
    struct bias *const bias = malloc((a->biases.n + 1) * sizeof *bias);
    bool ok = true;
    if (!bias)
        return err_from_fault(e, fault_memory());
    for (size_t i = 0; ok && i < a->biases.n; i++) {
        struct bias_typed typed;
        ok = value_bias("logit-bias", a->biases.word[i], &typed, e) &&
             (!typed.text || recipes_find_token(d->of, typed.text, typed.len, &typed.bias.id, e));
        bias[i] = typed.bias;
    }
    ok = ok && draft_biases(d, bias, a->biases.n, a->ignore_eos, e);
    free(bias);
    if (ok && a->ignore_eos && !(d->of->vocab->any & VOCAB_EOG))
        message_warn("--ignore-eos: the vocabulary has no end-of-generation token");
    return ok;
}

static bool read_texts(const struct words *words, struct piece *text, struct err *e)
{
    for (size_t i = 0; i < words->n; i++) {
        unsigned char *const plain = malloc(strlen(words->word[i]) + 1);
        if (!plain)
            return err_from_fault(e, fault_memory());
        text[i] = (struct piece){plain, text_unescape(plain, words->word[i], strlen(words->word[i]))};
    }
    return true;
}

static bool read_sequences(const struct words *words, struct breaker *sequence, struct err *e)
{
    for (size_t i = 0; i < words->n; i++) {
        struct ids ids = {0};
        const bool ok = value_ids("dry-breaker-tokens", words->word[i], &ids, e);
        sequence[i] = (struct breaker){ids.id, ids.n};
        if (!ok)
            return false;
        if (!ids.n)
            return err_set(e, STATUS_USAGE, "--dry-breaker-tokens: '%s' holds no token id", words->word[i]);
    }
    return true;
}

// The lists have room for what was given.
static bool read_breakers(struct draft *d, const struct args *a, struct piece *text, struct breaker *sequence, struct err *e)
{
    const bool ok = read_texts(&a->breaker_texts, text, e) && read_sequences(&a->breaker_ids, sequence, e) &&
                    draft_breakers(d, text, a->breaker_texts.n, sequence, a->breaker_ids.n, e);
    for (size_t i = 0; i < a->breaker_texts.n; i++)
        free((void *)(uintptr_t)text[i].p);
    for (size_t i = 0; i < a->breaker_ids.n; i++)
        free((void *)(uintptr_t)sequence[i].ids);
    return ok;
}

static bool take_breakers(struct draft *d, const struct args *a, struct err *e)
{
    if (!args_given(a, "dry-sequence-breaker") && !args_given(a, "dry-breaker-tokens"))
        return draft_default_breakers(d, e);
    struct piece *const text = calloc(a->breaker_texts.n + 1, sizeof *text);
    struct breaker *const sequence = calloc(a->breaker_ids.n + 1, sizeof *sequence);
    const bool ok = text && sequence ? read_breakers(d, a, text, sequence, e) : err_from_fault(e, fault_memory());
    free(text);
    free(sequence);
    return ok;
}

static bool take_grammar(struct draft *d, const struct args *a, struct err *e)
{
    if (a->grammar_source == GRAMMAR_NONE && a->action == ACTION_PRINT_GRAMMAR)
        return err_set(e, STATUS_USAGE, "--print-grammar: no grammar is given");
    if (a->grammar_source != GRAMMAR_NONE && !d->of->vocab && a->action == ACTION_RUN)
        return err_set(e, STATUS_USAGE, "a grammar needs --vocab");
    return draft_grammar_given(d, a->grammar_source, a->grammar, e);
}

static bool load_vocab(struct recipes *r, const struct args *a, struct err *e)
{
    if (!a->vocab || r->vocab)
        return true;
    if (!vocab_load(&r->texts, a->vocab, e))
        return err_prefix(e, "--vocab");
    r->vocab = &r->texts;
    return true;
}

// ---- all of it

static bool fill(struct draft *d, const struct args *a, struct err *e)
{
    const char *text = a->samplers;
    bool by_letter = a->by_letter;
    take_values(d, a);
    d->parts.seed = (uint64_t)a->seed;
    if (!check_conflicts(d, e) || (a->seed == UINT32_MAX && !draft_random_seed(d, e)) || !load_vocab(d->of, a, e) ||
        !take_recommendations(d, a, &text, e))
        return false;
    by_letter = by_letter && text == a->samplers;
    return take_biases(d, a, e) && take_breakers(d, a, e) && take_grammar(d, a, e) &&
           (d->parts.engine->options || draft_samplers(d, text, by_letter, e));
}

const struct recipe *recipe_from_args(struct recipes *r, const struct args *a, struct err *e)
{
    struct draft d;
    const struct engine *const engine = engine_by_name(a->engine);
    if (!refuse_others(engine, a, e))
        return NULL;
    draft_begin(&d, r);
    d.parts.engine = engine;
    if (!fill(&d, a, e)) {
        draft_drop(&d);
        return NULL;
    }
    const struct recipe *const recipe = draft_make(&d, e);
    if (recipe && !r->vocab && recipe->parts.breakers->breakers.n_texts && recipe_runs(recipe, &sampler_dry))
        message_warn("without a vocabulary dry's text breakers match nothing; --dry-breaker-tokens gives them as ids");
    return recipe;
}
