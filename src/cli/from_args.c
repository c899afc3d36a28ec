// SPDX-License-Identifier: MIT
#include "chain/recipe.h"
#include "in/vocab_file.h"
#include "out/message.h"
#include "sample/chain.h"
#include "vocab/spelling.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- the engine

// Options of the chain that say nothing about its stages.
static bool always_welcome(const struct option_row *row)
{
    return !strcmp(row->name, "seed") || !strcmp(row->name, "neutral") || !strcmp(row->name, "engine") ||
           !strcmp(row->name, "backend-sampling");
}

// Why the engine has no use for an option, which is of the chain and given; NULL: it has.
static const char *refusal(const struct args *a, const struct option_row *row)
{
    const struct engine *const engine = engine_by_name(a->engine);
    const size_t len = strlen(row->name);
    if (a->grammar_source != GRAMMAR_NONE && engine_has_free(engine, row->name, len))
        return "has no stage for it under a grammar";
    if (always_welcome(row) || engine_has(engine, a->grammar_first, row->name, len))
        return NULL;
    if (engine_has(engine, true, row->name, len))
        return "has no stage for it without --grammar-first";
    return row->at == offsetof(struct args, samplers) ? "has an order of its own" : "has no stage for it";
}

// The first option from *row on that the engine has no use for, and why.
static const char *next_refusal(const struct args *a, const struct option_row **row)
{
    for (; (*row)->name; ++*row) {
        const bool given = (*row)->group == GROUP_CHAIN && a->given[*row - a->options->row];
        const char *const why = given ? refusal(a, *row) : NULL;
        if (why)
            return why;
    }
    return NULL;
}

bool args_leave_out(struct args *a, struct builder *names, struct err *e)
{
    const struct option_row *row = a->options->row;
    for (; next_refusal(a, &row); row++) {
        builder_format(names, "%s--%s", names->len ? ", " : "", row->name);
        if (!args_forget(a, row, e))
            return false;
    }
    return true;
}

// ---- numbers

// What was typed, or the engine's default.
static void take_values(struct draft *d, const struct args *a)
{
    const struct catalog *const c = &d->of->catalog;
    memcpy(d->parts.value, a->value, c->n * sizeof *a->value);
    for (size_t i = 0; i < c->n && !a->neutral; i++)
        if (!args_given(a, c->param[i]->flag))
            d->parts.value[i] = engine_default(d->parts.engine, c, i);
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

// llama.cpp's engine takes the recommendations for what was not given. *samplers is the chain, if one is recommended.
static bool take_recommendations(struct draft *d, const struct args *a, const char **samplers_text, struct err *e)
{
    const struct catalog *const c = &d->of->catalog;
    const struct vocab *const v = d->of->vocab;
    if (!v || !v->recommended.len || d->parts.engine->options || a->neutral)
        return true;
    for (const char *key = v->recommended.text, *value; *key; key = value + strlen(value) + 1) {
        value = key + strlen(key) + 1;
        if (!strcmp(key, "sequence") && *samplers_text != a->samplers)
            *samplers_text = value;
        for (size_t i = 0; i < sizeof recommended / sizeof *recommended; i++) {
            const char *const flag = recommended[i].flag;
            const size_t number = catalog_find(c, flag, strlen(flag));
            if (strcmp(recommended[i].key, key) != 0 || args_given(a, flag))
                continue;
            d->of->of_model[number] = value_parse(c->param[number], value, &d->parts.value[number], e);
            if (d->of->of_model[number])
                continue;
            e->status = STATUS_DATA;
            return err_prefix(e, "--vocab: %s: general.sampling.%s", a->vocab, key);
        }
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

static bool give_texts(struct given *g, const struct words *texts, struct err *e)
{
    for (size_t i = 0; i < texts->n; i++) {
        char *const plain = strdup(texts->word[i]);
        if (!plain)
            return err_from_fault(e, fault_memory());
        give_breaker(g, plain, text_unescape((unsigned char *)plain, plain, strlen(plain)));
        free(plain);
    }
    return true;
}

// Adds the tokens of these lists to g, each as a sequence, or all as one.
static bool give_lists(struct given *g, const char *name, const struct words *lists, bool as_one, struct err *e)
{
    struct ids ids = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < lists->n; i++) {
        ids.n = as_one ? ids.n : 0;
        const size_t before = ids.n;
        ok = value_ids(name, lists->word[i], &ids, e) &&
             (ids.n > before || err_set(e, STATUS_USAGE, "--%s: '%s' holds no token id", name, lists->word[i]));
        if (ok && !as_one)
            give_tokens(g, ids.id, ids.n);
    }
    if (ok && as_one)
        give_tokens(g, ids.id, ids.n);
    free(ids.id);
    return ok;
}

static bool take_breakers(struct draft *d, const struct args *a, struct err *e)
{
    struct given g = {0};
    bool ok = true;
    if (args_given(a, "dry-sequence-breaker") || args_given(a, "dry-breaker-tokens"))
        ok = give_lists(&g, "dry-breaker-tokens", &a->breaker_ids, false, e) && give_texts(&g, &a->breaker_texts, e);
    else
        for (const char *text = "\n:\"*"; *text; text++)
            give_breaker(&g, text, 1);
    ok = ok && draft_breakers(d, &g, e);
    builder_free(&g.key);
    return ok;
}

static bool take_bans(struct draft *d, const struct args *a, struct err *e)
{
    struct given g = {0};
    const bool ok = give_lists(&g, "eog-tokens", &a->eog_tokens, true, e) &&
                    give_lists(&g, "bad-word-tokens", &a->bad_words, false, e) && draft_bans(d, &g, e);
    builder_free(&g.key);
    if (ok && args_given(a, "min-tokens") &&
        a->value[catalog_find(&d->of->catalog, "min-tokens", strlen("min-tokens"))] > 0 && !d->parts.bans->bans.n_ends)
        return err_set(e, STATUS_USAGE,
                       "--min-tokens: no token is known to end a text; --eog-tokens or --vocab says which do");
    return ok;
}

static bool take_grammar(struct draft *d, const struct args *a, struct err *e)
{
    if (a->grammar_source == GRAMMAR_NONE && a->action == ACTION_PRINT_GRAMMAR)
        return err_set(e, STATUS_USAGE, "--print-grammar: no grammar is given");
    if (a->grammar_source != GRAMMAR_NONE && !d->of->vocab && a->action == ACTION_RUN)
        return err_set(e, STATUS_USAGE, "a grammar needs --vocab");
    return a->grammar_source == GRAMMAR_NONE || draft_grammar(d, a->grammar_source, a->grammar, e);
}

// ids: scratch.
static bool give_text(const struct draft *d, struct given *g, const char *name, const char *text, struct ids *ids,
                      struct err *e)
{
    struct builder notes = {0};
    bool ok = recipes_split_text(d->of, name, text, false, ids, e);
    note_spelling(&notes, name, text, ids);
    ok = ok && say_spellings(&notes, e);
    builder_free(&notes);
    give_tokens(g, ids->id, ids->n);
    return ok;
}

// A tag is ids if it is digits and commas only, else a text.
static bool give_tag(const struct draft *d, struct given *g, const char *name, const char *text, struct ids *ids,
                     struct err *e)
{
    const struct vocab *const v = d->of->vocab;
    if (strspn(text, "0123456789,") != strlen(text))
        return give_text(d, g, name, text, ids, e);
    ids->n = 0;
    if (!value_ids(name + strlen("--"), text, ids, e))
        return false;
    for (size_t i = 0; v && i < ids->n; i++)
        if (ids->id[i] >= v->n)
            return err_set(e, STATUS_USAGE, "%s: the vocabulary has no token %" PRIu32, name, ids->id[i]);
    give_tokens(g, ids->id, ids->n);
    return ids->n || err_set(e, STATUS_USAGE, "%s: '%s' holds no token", name, text);
}

static bool take_reasoning(struct draft *d, const struct args *a, struct err *e)
{
    struct given g = {0};
    struct ids ids = {0};
    if (a->reasoning_budget < 0 && !a->reasoning_start && !a->reasoning_ends.n && !a->reasoning_message)
        return true;
    bool ok = true;
    if (a->reasoning_start)
        ok = give_tag(d, &g, "--reasoning-start", a->reasoning_start, &ids, e);
    else
        give_tokens(&g, NULL, 0);
    ok =
        ok && give_text(d, &g, "--reasoning-budget-message", a->reasoning_message ? a->reasoning_message : "", &ids, e);
    give_tokens(&g, NULL, 0); // what precedes a text is told by rows
    for (size_t i = 0; ok && i < a->reasoning_ends.n; i++)
        ok = give_tag(d, &g, "--reasoning-end", a->reasoning_ends.word[i], &ids, e);
    ok = ok && draft_reasoning(d, a->reasoning_budget, &g, e);
    builder_free(&g.key);
    free(ids.id);
    return ok;
}

// ---- all of it

static bool fill(struct draft *d, const struct args *a, struct err *e)
{
    struct recipes *const r = d->of;
    const bool named = args_given(a, "samplers") || args_given(a, "sampler-seq");
    const char *text = named ? a->samplers : NULL;
    take_values(d, a);
    d->parts.grammar_first = a->grammar_first || d->parts.engine->masks_first;
    if (!draft_seed(d, a->seed, e) || !check_conflicts(d, e))
        return false;
    if (a->vocab && !r->vocab) {
        if (!vocab_load(&r->texts, a->vocab, e))
            return err_prefix(e, "--vocab");
        r->vocab = &r->texts;
    }
    return take_recommendations(d, a, &text, e) && take_biases(d, a, e) && take_breakers(d, a, e) &&
           take_bans(d, a, e) && take_grammar(d, a, e) && take_reasoning(d, a, e) &&
           (d->parts.engine->options || draft_samplers(d, text, text == a->samplers && a->by_letter, e));
}

// Can typ_p meet candidates of probability 0, of which llama.cpp computes NaN? A grammar leaves them, when the first choice does not fit;
// a token that the reasoning budget forces; top_n_sigma. A ban leaves one at the end of the order, where top_k cuts it off.
static bool typ_p_meets_masked(const struct recipe *r)
{
    bool masked = r->parts.rules || recipe_budget(r), banned = false;
    for (size_t i = 0; i < r->parts.biases->n; i++)
        banned = banned || r->parts.biases->bias[i].bias == -INFINITY;
    for (size_t i = 0; i < r->n_stages; i++) {
        const struct sampler *const s = r->stage[i].sampler;
        if (!stage_enabled(&r->stage[i]))
            continue;
        if (s == &sampler_typ_p)
            return masked || banned;
        masked = (masked || s == &sampler_top_n_sigma) && s != &sampler_top_p && s != &sampler_min_p;
        banned = (banned || s == &sampler_bans) && s != &sampler_top_k && s != &sampler_top_p && s != &sampler_min_p;
    }
    return false;
}

const struct recipe *recipe_from_args(struct recipes *r, const struct args *a, struct err *e)
{
    struct draft d = {.of = r, .parts.engine = engine_by_name(a->engine)};
    const struct option_row *row = a->options->row;
    const char *const why = next_refusal(a, &row);
    if (why ? !err_set(e, STATUS_USAGE, "--%s: engine %s %s", row->name, a->engine, why) : !fill(&d, a, e)) {
        parts_drop(&d.parts);
        return NULL;
    }
    const struct recipe *const recipe = draft_make(&d, e);
    if (!recipe)
        return NULL;
    if (!r->vocab && recipe->parts.breakers->breakers.n_texts && recipe_runs(recipe, &sampler_dry) &&
        !r->warned_breakers) {
        message_warn("without a vocabulary dry's text breakers match nothing; --dry-breaker-tokens gives them as ids");
        r->warned_breakers = true;
    }
    if (!recipe->parts.engine->options && typ_p_meets_masked(recipe) && !r->warned_typ_p) {
        message_warn("typ_p can meet masked candidates here; llama.cpp computes NaN then, and may choose other tokens");
        r->warned_typ_p = true;
    }
    return recipe;
}
