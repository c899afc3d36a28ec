// SPDX-License-Identifier: MIT
#include "settings/chain_words.h"

#include "base/names.h"

#include <assert.h>
#include <float.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// ---- the options that are no sampler's parameter; tests/lib.bats compares the table with the command line

enum word_form {
    WORD_SEED,
    WORD_ENGINE,
    WORD_NEUTRAL,
    WORD_NAMES,
    WORD_LETTERS,
    WORD_LIST, // an entry of a list
    WORD_GRAMMAR,
    WORD_SCHEMA,
    WORD_FLAG, // sets a bool
    WORD_BUDGET,
};

// Words while they are read, and their meaning.
struct typed {
    const struct catalog *catalog;
    const char *const *word; // [n]
    size_t n, at;            // at: the next word

    double value[CATALOG_MOST];
    bool given[CATALOG_MOST];
    bool neutral; // samplers whose options were not given are off
    int64_t seed;
    const struct engine *engine;
    const char *samplers; // names, or if by_letter letters; NULL: the default chain
    bool by_letter;
    struct settings settings;
    struct grammar_text grammar; // option NULL: there is none
    bool grammar_first;
};

static const struct chain_word {
    const char *name, *also;
    const char *brief; // without the dash; NULL: none
    enum word_form form;
    enum list_kind list; // of WORD_LIST
    size_t at;           // of WORD_FLAG: offset in struct typed of the bool
    bool opposite;       // the flag resets the bool
} chain_words[] = {
    {"seed", .brief = "s", .form = WORD_SEED},
    {"engine", .form = WORD_ENGINE},
    {"neutral", .form = WORD_NEUTRAL},
    {"samplers", .form = WORD_NAMES},
    {"sampler-seq", "sampling-seq", .form = WORD_LETTERS},
    {"logit-bias", .brief = "l", .form = WORD_LIST, .list = LIST_BIASES},
    {"dry-sequence-breaker", .form = WORD_LIST, .list = LIST_BREAKERS},
    {"dry-breaker-tokens", .form = WORD_LIST, .list = LIST_BREAKER_IDS},
    {"bad-word-tokens", .form = WORD_LIST, .list = LIST_BANS},
    {"eog-tokens", .form = WORD_LIST, .list = LIST_ENDS},
    {"grammar", .form = WORD_GRAMMAR},
    {"json-schema", .brief = "j", .form = WORD_SCHEMA},
    {"grammar-first", .form = WORD_FLAG, .at = offsetof(struct typed, grammar_first)},
    {"ignore-eos", .form = WORD_FLAG, .at = offsetof(struct typed, settings.ignore_eos)},
    {"escape", .brief = "e", .form = WORD_FLAG, .at = offsetof(struct typed, settings.no_escape), .opposite = true},
    {"no-escape", .form = WORD_FLAG, .at = offsetof(struct typed, settings.no_escape)},
    {"reasoning-budget", .form = WORD_BUDGET},
    {"reasoning-budget-message", .form = WORD_LIST, .list = LIST_MESSAGE},
    {"reasoning-start", .form = WORD_LIST, .list = LIST_START},
    {"reasoning-end", .form = WORD_LIST, .list = LIST_END_TAGS},
};

// May the option stand without a value?
static bool is_switch(enum word_form form) { return form == WORD_NEUTRAL || form == WORD_FLAG; }

// ---- reading

// An option as typed: a row of the table, or a parameter.
struct typed_option {
    const struct chain_word *row; // NULL: a sampler's parameter
    size_t number;                // of the parameter
    const char *name;
    const char *value; // NULL: none
};

// Finds the option of name[0..len), which stands behind two dashes, or behind one if it is brief. False: there is none.
static bool find_option(const struct catalog *c, const char *name, size_t len, bool brief, struct typed_option *o)
{
    for (size_t i = 0; i < sizeof chain_words / sizeof *chain_words; i++) {
        const struct chain_word *const row = &chain_words[i];
        if (brief ? name_of_option(row->brief, name, len)
                  : name_of_option(row->name, name, len) || name_of_option(row->also, name, len)) {
            *o = (struct typed_option){.row = row, .name = row->name};
            return true;
        }
    }
    for (size_t i = 0; !brief && i < c->n; i++)
        if (name_of_option(c->param[i]->flag, name, len) || name_of_option(c->param[i]->also, name, len)) {
            *o = (struct typed_option){.number = i, .name = c->param[i]->flag};
            return true;
        }
    return false;
}

// Reads the next option with its value, in one word or two. False with *e.
static bool next_option(struct typed *t, struct typed_option *o, struct err *e)
{
    static const char files[] = "preset,grammar-file,json-schema-file,jf,scatter-embeddings,vocab";
    const char *const word = t->word[t->at++];
    const bool brief = word[0] == '-' && word[1] != '-';
    const char *const name = word + (brief ? 1 : 2);
    const size_t len = brief ? word[1] != '\0' : strlen(word) > 2 ? strcspn(name, "=") : 0;
    if (*word != '-' || !len)
        return err_set(e, STATUS_USAGE, "'%s' is not an option", word);
    if (name_find(files, NAME_EXACT, name, brief ? strlen(name) : len) >= 0)
        return err_set(e, STATUS_USAGE, "'%s': a chain opens no file and no preset", word);
    if (!find_option(t->catalog, name, len, brief, o))
        return err_set(e, STATUS_USAGE, "'%.*s' is not an option of a chain", err_clip_part(word, strlen(word), 40),
                       word);
    const bool flag = o->row ? is_switch(o->row->form) : t->catalog->param[o->number]->type == PARAM_FLAG;
    if (name[len])
        o->value = name + len + !brief;
    else if (!flag && t->at == t->n)
        return err_set(e, STATUS_USAGE, "--%s needs a value", o->name);
    else if (!flag)
        o->value = t->word[t->at++];
    return true;
}

static bool set_parameter(struct typed *t, const struct typed_option *o, struct err *e)
{
    const struct param *const row = t->catalog->param[o->number];
    struct param any = *row;
    double v;
    any.low = row->ignores_low ? -FLT_MAX : any.low;
    if (!value_parse(&any, o->value, &v, e))
        return false;
    t->value[o->number] = v < row->low ? t->value[o->number] : v;
    t->given[o->number] = true;
    return true;
}

static bool set_engine(struct typed *t, const char *name, struct err *e)
{
    t->engine = engine_by_name(name);
    return t->engine || err_set(e, STATUS_USAGE, "--engine: '%s' is not one of " ENGINE_NAMES, name);
}

// Resets the samplers and their parameters, as if their options had not been given.
static bool set_neutral_words(struct typed *t, const char *value, struct err *e)
{
    memset(t->given, 0, sizeof t->given);
    t->samplers = NULL;
    if (!value_flag("neutral", value, &t->neutral, e))
        return false;
    (t->neutral ? catalog_neutral : catalog_defaults)(t->catalog, t->value);
    return true;
}

// Sets the grammar. An empty text is no grammar; an empty schema is an error.
static void set_typed_grammar(struct typed *t, const struct typed_option *o)
{
    const bool schema = o->row->form == WORD_SCHEMA;
    t->grammar = (struct grammar_text){.text = {(const unsigned char *)o->value, strlen(o->value)},
                                       .schema = schema,
                                       .option = *o->value || schema ? o->name : NULL};
}

static bool set_option(struct typed *t, const struct typed_option *o, struct err *e)
{
    bool on, ok;
    if (!o->row)
        return set_parameter(t, o, e);
    assert(o->value || is_switch(o->row->form));
    switch (o->row->form) {
    case WORD_SEED:
        return whole_number(o->value, NULL, INT64_MIN, INT64_MAX, &t->seed) ||
               err_set(e, STATUS_USAGE, "--seed: '%s' is not a whole number of 64 bits", o->value);
    case WORD_ENGINE:
        return set_engine(t, o->value, e);
    case WORD_NEUTRAL:
        return set_neutral_words(t, o->value, e);
    case WORD_NAMES:
    case WORD_LETTERS:
        t->samplers = o->value;
        t->by_letter = o->row->form == WORD_LETTERS;
        return true;
    case WORD_LIST:
        return list_read(&t->settings.list[o->row->list], o->row->list, o->value, e);
    case WORD_GRAMMAR:
    case WORD_SCHEMA:
        set_typed_grammar(t, o);
        return true;
    case WORD_FLAG:
        ok = value_flag(o->name, o->value, &on, e);
        *(bool *)(void *)((char *)t + o->row->at) = on != o->row->opposite;
        return ok;
    case WORD_BUDGET:
        break;
    }
    return value_whole(o->name, o->value, -1, INT32_MAX, &t->settings.reasoning_budget, e);
}

// Refuses options that the engine has no stage for. Parameters that --neutral has reset count as not given.
static bool check_engine(struct typed *t, struct err *e)
{
    struct typed_option o = {0};
    for (t->at = 0; t->at < t->n && next_option(t, &o, e);) {
        const char *const why = engine_refusal(t->engine, t->grammar.option, t->grammar_first, o.name);
        const bool order = o.row && (o.row->form == WORD_NAMES || o.row->form == WORD_LETTERS);
        if (why && (o.row ? !order || t->samplers : t->given[o.number]))
            return err_set(e, STATUS_USAGE, "--%s: engine %s %s", o.name, t->engine->name, why);
    }
    return true;
}

// ---- the recipe

static bool fill_from_typed(struct draft *d, const struct typed *t, struct err *e)
{
    const struct catalog *const c = t->catalog;
    for (size_t i = 0; i < c->n; i++)
        d->parts.value[i] = t->neutral || t->given[i] ? t->value[i] : engine_default(t->engine, c, i);
    d->parts.grammar_first = t->grammar_first || t->engine->masks_first;
    const int64_t seed = t->engine->options ? t->seed : (uint32_t)t->seed; // llama.cpp takes the low 32 bits
    if (!draft_seed(d, seed, e) || !draft_check_values(d, e))
        return false;
    if (t->grammar.option && !d->of->vocab)
        return err_set(e, STATUS_USAGE, "--%s needs a vocabulary", t->grammar.option);
    if (t->grammar.option && !draft_grammar(d, &t->grammar, e))
        return false;
    return draft_given_lists(d, &t->settings, t->given[catalog_find(c, "min-tokens")], e) &&
           (t->engine->options || !t->samplers || draft_samplers(d, t->samplers, t->by_letter, e));
}

const struct recipe *recipe_from_words(struct recipes *r, const char *const *word, size_t n, struct err *e)
{
    struct typed t = {.catalog = &r->catalog,
                      .word = word,
                      .n = n,
                      .seed = -1,
                      .engine = engine_by_name("llama"),
                      .settings.reasoning_budget = -1};
    const struct recipe *recipe = NULL;
    struct typed_option o = {0};
    bool ok = true;
    catalog_defaults(&r->catalog, t.value);
    while (ok && t.at < n)
        ok = next_option(&t, &o, e) && set_option(&t, &o, e);
    ok = ok && check_engine(&t, e);
    struct draft d = {.of = r, .parts.engine = t.engine};
    if (ok && fill_from_typed(&d, &t, e))
        recipe = recipe_checked(draft_make(&d, e), e);
    else
        parts_drop(&d.parts);
    for (size_t i = 0; i < LISTS; i++)
        list_free(&t.settings.list[i]);
    return recipe;
}
