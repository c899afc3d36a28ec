// SPDX-License-Identifier: MIT
// The "params" of a JSON row. Functions report errors as errors of options (STATUS_USAGE), because most parameters are
// options, too. recipe_with_params turns them into errors of the row.
#include "settings/new_recipe.h"
#include "settings/read.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A new recipe that a row's parameters change. Lists are collected, and become parts of the new recipe after the last
// parameter.
struct change {
    struct new_recipe fresh;
    const cJSON *params;
    struct settings settings;
    struct err *e;
};

// ---- options that a row sets

static bool set_row_order(struct change *ch, const char *option, const char *text)
{
    const enum order_form form = !strcmp(option, "sampler-seq") ? ORDER_LETTERS : ORDER_NAMES;
    return recipe_set_samplers(&ch->fresh, text, form, ch->e);
}

static bool set_row_seed(struct change *ch, const char *option, const char *text)
{
    const double x = strtod(text, NULL);
    int64_t seed = (int64_t)fmin(fmax(x, -0x1p53), 0x1p53);
    ch->fresh.key.seed_named = 1;
    if (ch->fresh.key.engine->wide_seed && fabs(x) >= 0x1p53)
        return err_set(ch->e, STATUS_USAGE, "seed is not exact beyond 2^53");
    if (!ch->fresh.key.engine->wide_seed && (x < -1.0 || x > UINT32_MAX) &&
        !value_whole(option, text, -1, UINT32_MAX, &seed, ch->e))
        return false;
    return recipe_set_seed(&ch->fresh, seed, ch->e);
}

static bool set_eos(struct change *ch, const char *option, const char *text)
{
    return value_flag(option, text, &ch->settings.ignore_eos, ch->e);
}

static bool set_budget(struct change *ch, const char *option, const char *text)
{
    const double x = strtod(text, NULL);
    if (x >= -1.0 && x <= INT32_MAX)
        ch->settings.reasoning_budget = (int64_t)x;
    return (x >= -1.0 && x <= INT32_MAX) ||
           value_whole(option, text, -1, INT32_MAX, &ch->settings.reasoning_budget, ch->e);
}

static bool note_breaker(struct change *ch, const char *option, const char *text)
{
    (void)text;
    note_add(&ch->fresh.of->notes, NOTE_WARNING, "--%s: an empty breaker is left out", option);
    return true;
}

static void drop_grammar(struct change *ch)
{
    shared_drop(ch->fresh.key.rules);
    ch->fresh.key.rules = NULL;
}

// Sets a grammar. An empty text removes it.
static bool set_row_grammar(struct change *ch, const char *option, const char *text)
{
    const char *const type = cJSON_GetStringValue(json_member(ch->params, "grammar_type"));
    const bool schema = !strcmp(option, "json-schema");
    const struct grammar_text g = {.text = {(const unsigned char *)text, strlen(text)},
                                   .kind = schema                                ? GRAMMAR_SCHEMA
                                           : type && !strcmp(type, "tool_calls") ? GRAMMAR_TOOL_CALLS
                                                                                 : GRAMMAR_GBNF,
                                   .option = option};
    if (!*text && !schema)
        drop_grammar(ch);
    else if (!schema && !ch->fresh.of->vocab)
        return err_set(ch->e, STATUS_USAGE, "a grammar needs --vocab");
    else if (!recipe_set_grammar(&ch->fresh, &g, ch->e))
        return false;
    return !*text || ch->fresh.of->vocab || err_set(ch->e, STATUS_USAGE, "a grammar needs --vocab");
}

static const struct row_option {
    const char *name;
    bool (*set)(struct change *ch, const char *option, const char *text);
} row_options[] = {
    {"samplers", set_row_order},  {"sampler-seq", set_row_order},   {"seed", set_row_seed},
    {"ignore-eos", set_eos},      {"reasoning-budget", set_budget}, {"dry-sequence-breaker", note_breaker},
    {"grammar", set_row_grammar}, {"json-schema", set_row_grammar},
};

// ---- the target of the reader (settings/read.h)

static bool take_option(void *to, const char *option, const char *text, struct err *e)
{
    (void)e;
    for (size_t i = 0; i < sizeof row_options / sizeof *row_options; i++)
        if (!strcmp(row_options[i].name, option))
            return row_options[i].set(to, option, text);
    assert(false); // a row has no such option
    return false;
}

static bool take_value(void *to, size_t number, double x, const char *spelt, struct err *e)
{
    struct change *const ch = to;
    const struct param *const p = ch->fresh.of->catalog.param[number];
    double *const value = &ch->fresh.key.value[number];
    if (p->type == PARAM_FLAG)
        *value = x;
    return p->type == PARAM_FLAG || value_check(p, x, spelt, value, e);
}

// Begins a list, which replaces that of the new recipe.
static struct list *take_list(void *to, enum list_kind kind, const char *key, struct err *e)
{
    struct change *const ch = to;
    (void)e;
    list_begin(&ch->settings.list[kind], key);
    return &ch->settings.list[kind];
}

static bool takes_option(void *to, const char *option, const char *key, struct err *e)
{
    const struct recipe_key *const p = &((struct change *)to)->fresh.key;
    return engine_has(p->engine, p->grammar_first, option, strlen(option)) ||
           err_set(e, STATUS_USAGE, "engine %s has no stage for %s", p->engine->name, key);
}

// ---- the members

// With a grammar, refuses parameters of stages that run only without one, whether this row or an earlier one set them.
// Must be called after the last member.
static bool check_grammar(const struct change *ch)
{
    const struct recipe_key *const p = &ch->fresh.key;
    const struct catalog *const c = &ch->fresh.of->catalog;
    for (const cJSON *item = ch->params->child; item && p->rules; item = item->next) {
        size_t number;
        program_field(&program_sampl, c, item->string, &number);
        if (number < c->n && !cJSON_IsNull(item) &&
            engine_has_free(p->engine, c->param[number]->flag, strlen(c->param[number]->flag)))
            return err_set(ch->e, STATUS_USAGE, "engine %s has no stage for %s under a grammar", p->engine->name,
                           item->string);
    }
    for (size_t i = 0; p->rules && i < c->n; i++) {
        const struct param *const row = c->param[i];
        if (engine_has_free(p->engine, row->flag, strlen(row->flag)) &&
            p->value[i] != engine_default(p->engine, c, i) && p->value[i] != param_value(row, row->def))
            return err_set(ch->e, STATUS_USAGE,
                           "engine %s has no stage for --%s, which was set before, under a grammar", p->engine->name,
                           row->flag);
    }
    return true;
}

// Returns true if a null grammar stands beside a schema, which then means no grammar.
static bool drops_schema(const cJSON *params)
{
    const cJSON *const grammar = cJSON_GetObjectItemCaseSensitive(params, "grammar");
    return grammar && cJSON_IsNull(grammar) && json_member(params, "json_schema");
}

const struct recipe *recipe_with_params(struct recipes *r, const struct recipe *from, const cJSON *params,
                                        struct err *e)
{
    struct change ch = {.fresh = {r, from->key, true},
                        .params = params,
                        .settings = {.ignore_eos = from->key.biases->ignore_eos,
                                     .reasoning_budget = from->key.reasoning ? from->key.reasoning->tokens : -1},
                        .e = e};
    static const struct read_target takes = {take_option, take_value, take_list, takes_option};
    struct settings_reader read = {.view = {.program = &program_sampl,
                                            .catalog = &ch.fresh.of->catalog,
                                            .engine = from->key.engine,
                                            .root = params,
                                            .settings = params,
                                            .e = e},
                                   .target = &takes,
                                   .to = &ch,
                                   .vocab = true};
    recipe_key_keep(&ch.fresh.key);
    if (drops_schema(params))
        drop_grammar(&ch);
    const bool ok = read_settings(&read) && check_grammar(&ch) && recipe_set_lists(&ch.fresh, &ch.settings, e);
    view_free(&read.view);
    for (size_t i = 0; i < LISTS; i++)
        list_free(&ch.settings.list[i]);
    const struct recipe *const made = ok ? recipe_checked(recipe_finish(&ch.fresh, e), e) : NULL;
    if (!ok)
        recipe_key_drop(&ch.fresh.key);
    if (!made && e->status == STATUS_USAGE) {
        e->status = STATUS_DATA;
        err_prefix(e, "params");
    }
    return made;
}
