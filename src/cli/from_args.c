// SPDX-License-Identifier: MIT
#include "cli/from_args.h"

#include "base/names.h"
#include "chain/chain.h"
#include "chain/draft.h"
#include "in/vocab_file.h"
#include "out/message.h"
#include "vocab/spelling.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- the engine

// Returns why the engine refuses an option of the chain that was given. NULL: it does not.
static const char *refusal(const struct args *a, const struct option_row *row)
{
    const struct engine *const engine = engine_by_name(a->engine);
    const size_t len = strlen(row->name);
    if (a->grammar_source != GRAMMAR_NONE && engine_has_free(engine, row->name, len))
        return "has no stage for it under a grammar";
    if (name_find("seed,neutral,engine,backend-sampling", NAME_EXACT, row->name, len) >= 0 ||
        engine_has(engine, a->grammar_first, row->name, len))
        return NULL;
    if (engine_has(engine, true, row->name, len))
        return "has no stage for it without --grammar-first";
    return row->at == offsetof(struct args, samplers) ? "has an order of its own" : "has no stage for it";
}

// Finds the first option from *row on that the engine refuses, and returns why.
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

// Sets each value to what was typed, or to the engine's default.
static void set_values(struct draft *d, const struct args *a)
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

// Sets the values that were not given as the model's metadata recommends, for llama.cpp's engine. *samplers_text
// becomes the chain, if one is recommended and none was given.
static bool set_recommendations(struct draft *d, const struct args *a, const char **samplers_text, struct err *e)
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

static bool set_biases(struct draft *d, const struct args *a, struct err *e)
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
        note_add(&d->of->notes, NOTE_WARNING, "--ignore-eos: the vocabulary has no end-of-generation token");
    return ok;
}

// Adds the tokens of these lists to s: each list as a sequence, or all lists as one.
static bool add_lists(struct sequences *s, const char *name, const struct words *lists, bool as_one, struct err *e)
{
    struct ids ids = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < lists->n; i++) {
        ids.n = as_one ? ids.n : 0;
        const size_t before = ids.n;
        ok = value_ids(name, lists->word[i], &ids, e) &&
             (ids.n > before || err_set(e, STATUS_USAGE, "--%s: '%s' holds no token id", name, lists->word[i]));
        if (ok && !as_one)
            sequences_add(s, ids.id, ids.n);
    }
    if (ok && as_one)
        sequences_add(s, ids.id, ids.n);
    free(ids.id);
    return ok;
}

static bool set_breakers(struct draft *d, const struct args *a, struct err *e)
{
    struct sequences s = {0};
    if (!args_given(a, "dry-sequence-breaker") && !args_given(a, "dry-breaker-tokens"))
        return true; // draft_make sets the default
    bool ok = add_lists(&s, "dry-breaker-tokens", &a->breaker_ids, false, e);
    for (size_t i = 0; ok && i < a->breaker_texts.n; i++) {
        char *const text = strdup(a->breaker_texts.word[i]);
        if (text)
            sequences_add_text(&s, text, text_unescape((unsigned char *)text, text, strlen(text)), &d->of->notes);
        else
            ok = err_from_fault(e, fault_memory());
        free(text);
    }
    ok = ok && draft_breakers(d, &s, e);
    builder_free(&s.key);
    return ok;
}

static bool set_bans(struct draft *d, const struct args *a, struct err *e)
{
    struct sequences s = {0};
    const bool ok = add_lists(&s, "eog-tokens", &a->eog_tokens, true, e) &&
                    add_lists(&s, "bad-word-tokens", &a->bad_words, false, e) && draft_bans(d, &s, e);
    builder_free(&s.key);
    if (ok && args_given(a, "min-tokens") &&
        a->value[catalog_find(&d->of->catalog, "min-tokens", strlen("min-tokens"))] > 0 && !d->parts.bans->bans.n_ends)
        return err_set(e, STATUS_USAGE,
                       "--min-tokens: no token is known to end a text; --eog-tokens or --vocab says which do");
    return ok;
}

static bool read_grammar_source(struct draft *d, const struct args *a, struct err *e)
{
    static const char *const options[] = {
        [GRAMMAR_TEXT] = "grammar",
        [GRAMMAR_FILE] = "grammar-file",
        [GRAMMAR_SCHEMA] = "json-schema",
        [GRAMMAR_SCHEMA_FILE] = "json-schema-file",
    };
    const enum grammar_source source = a->grammar_source;
    struct grammar_text g = {.schema = source == GRAMMAR_SCHEMA || source == GRAMMAR_SCHEMA_FILE,
                             .option = options[source]};
    char *content = NULL;
    size_t len;
    if (source == GRAMMAR_NONE)
        return a->action != ACTION_PRINT_GRAMMAR || err_set(e, STATUS_USAGE, "--print-grammar: no grammar is given");
    if (!d->of->vocab && a->action == ACTION_RUN)
        return err_set(e, STATUS_USAGE, "a grammar needs --vocab");
    if (source == GRAMMAR_FILE || source == GRAMMAR_SCHEMA_FILE) {
        g.file = a->grammar;
        if (!file_slurp(g.file, 0, &content, &len, e))
            return err_prefix(e, "--%s", g.option);
    } else {
        len = strlen(a->grammar);
    }
    g.text = (struct piece){(const unsigned char *)(content ? content : a->grammar), len};
    const bool ok = draft_grammar(d, &g, e);
    free(content);
    return ok;
}

// Adds the tokens that spell a text to s. ids: scratch.
static bool add_tag_text(const struct draft *d, struct sequences *s, const char *name, const char *text,
                         struct ids *ids, struct err *e)
{
    if (!recipes_split_text(d->of, name, text, false, ids, e))
        return false;
    note_spelling(&d->of->notes, name, text, ids);
    sequences_add(s, ids->id, ids->n);
    return true;
}

// Adds a tag to s: ids if it consists of digits and commas, else a text.
static bool add_tag(const struct draft *d, struct sequences *s, const char *name, const char *text, struct ids *ids,
                    struct err *e)
{
    const struct vocab *const v = d->of->vocab;
    if (strspn(text, "0123456789,") != strlen(text))
        return add_tag_text(d, s, name, text, ids, e);
    ids->n = 0;
    if (!value_ids(name + strlen("--"), text, ids, e))
        return false;
    for (size_t i = 0; v && i < ids->n; i++)
        if (ids->id[i] >= v->n)
            return err_set(e, STATUS_USAGE, "%s: the vocabulary has no token %" PRIu32, name, ids->id[i]);
    sequences_add(s, ids->id, ids->n);
    return ids->n || err_set(e, STATUS_USAGE, "%s: '%s' holds no token", name, text);
}

static bool set_reasoning(struct draft *d, const struct args *a, struct err *e)
{
    const char *const message = a->reasoning_message;
    struct sequences s = {0};
    struct ids ids = {0};
    bool ok = true;
    if (a->reasoning_budget < 0 && !a->reasoning_start && !a->reasoning_ends.n && !message)
        return true;
    if (a->reasoning_start)
        ok = add_tag(d, &s, "--reasoning-start", a->reasoning_start, &ids, e);
    else
        sequences_add(&s, NULL, 0);
    ok = ok && add_tag_text(d, &s, "--reasoning-budget-message", message ? message : "", &ids, e);
    sequences_add(&s, NULL, 0); // only rows give a generation prompt
    for (size_t i = 0; ok && i < a->reasoning_ends.n; i++)
        ok = add_tag(d, &s, "--reasoning-end", a->reasoning_ends.word[i], &ids, e);
    ok = ok && draft_reasoning(d, a->reasoning_budget, &s, e);
    builder_free(&s.key);
    free(ids.id);
    return ok;
}

// ---- all of it

static bool fill_draft(struct draft *d, const struct args *a, struct err *e)
{
    struct recipes *const r = d->of;
    const bool named = args_given(a, "samplers") || args_given(a, "sampler-seq");
    const char *text = named ? a->samplers : NULL;
    set_values(d, a);
    d->parts.grammar_first = a->grammar_first || d->parts.engine->masks_first;
    if (!draft_seed(d, a->seed, e) || !check_conflicts(d, e))
        return false;
    if (a->vocab && !r->vocab) {
        if (!vocab_load(&r->texts, a->vocab, e))
            return err_prefix(e, "--vocab");
        r->vocab = &r->texts;
    }
    return set_recommendations(d, a, &text, e) && set_biases(d, a, e) && set_breakers(d, a, e) && set_bans(d, a, e) &&
           read_grammar_source(d, a, e) && set_reasoning(d, a, e) &&
           (d->parts.engine->options || !text || draft_samplers(d, text, text == a->samplers && a->by_letter, e));
}

// Can typ_p meet masked candidates, for which llama.cpp computes NaN? A grammar leaves them if the first choice does
// not fit. A forced token of the reasoning budget and top_n_sigma leave them, too. A banned token has the last rank, so
// top_k removes it.
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

// Warns once a run of what several chains may share.
static void warn_of_chain(struct recipes *r, const struct recipe *recipe)
{
    if (!r->vocab && recipe->parts.breakers->breakers.n_texts && recipe_runs(recipe, &sampler_dry) &&
        !r->warned_breakers) {
        message_warn("without a vocabulary dry's text breakers match nothing; --dry-breaker-tokens gives them as ids");
        r->warned_breakers = true;
    }
    if (!recipe->parts.engine->options && typ_p_meets_masked(recipe) && !r->warned_typ_p) {
        message_warn("typ_p can meet masked candidates here; llama.cpp computes NaN then, and may choose other tokens");
        r->warned_typ_p = true;
    }
}

const struct recipe *recipe_from_args(struct recipes *r, const struct args *a, struct err *e)
{
    struct draft d = {.of = r, .parts.engine = engine_by_name(a->engine)};
    const struct option_row *row = a->options->row;
    const char *const why = next_refusal(a, &row);
    const struct recipe *recipe = NULL;
    if (why)
        err_set(e, STATUS_USAGE, "--%s: engine %s %s", row->name, a->engine, why);
    else if (fill_draft(&d, a, e))
        recipe = draft_make(&d, e);
    else
        parts_drop(&d.parts);
    message_notes(&r->notes);
    if (recipe)
        warn_of_chain(r, recipe);
    return recipe;
}
