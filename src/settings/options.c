// SPDX-License-Identifier: MIT
#include "settings/options.h"

#include "base/names.h"
#include "programs/program.h"

#include <assert.h>
#include <float.h>
#include <stddef.h>
#include <stdlib.h>

// ---- values of options

// Sets a sampler's parameter.
static bool set_param(const struct option_row *row, const char *value, struct typed *t, struct err *e)
{
    struct param any = *row->param;
    double v;
    any.low = row->param->ignores_low ? -FLT_MAX : any.low;
    if (!value_parse(&any, value, &v, e))
        return false;
    if (v < row->param->low)
        note_add(t->options->notes, NOTE_PLAIN, "--%s: '%s' is below %g, and has no effect", row->name, value,
                 row->param->low);
    else
        t->value[row->number] = v;
    return true;
}

static bool set_whole(const struct option_row *row, const char *value, struct typed *t, struct err *e)
{
    return value_whole(row->name, value, (int64_t)row->low, (int64_t)row->high, &OPTION_FIELD(int64_t), e);
}

// Sets the number of an option [=N], which is above 0. If the row is a flag, =true is no N, and =false makes the number
// 0.
static bool set_switch(const struct option_row *row, const char *value, struct typed *t, struct err *e)
{
    const bool off = row->flag && value && !strcmp(value, "false");
    const bool number = value && !off && !(row->flag && !strcmp(value, "true"));
    OPTION_FIELD(int64_t) = off ? 0 : NO_NUMBER;
    return !number || set_whole(row, value, t, e);
}

// The error for a text that is no number of 64 bits names the usual range.
static bool set_seed(const struct option_row *row, const char *value, struct typed *t, struct err *e)
{
    return whole_number(value, NULL, INT64_MIN, INT64_MAX, &t->seed) ||
           err_set(e, STATUS_USAGE, "--%s: '%s' is not a whole number of 64 bits", row->name, value);
}

static bool set_text(const struct option_row *row, const char *value, struct typed *t, struct err *e)
{
    OPTION_FIELD(const char *) = value;
    return *value || !option_names_file(row) || err_set(e, STATUS_USAGE, "--%s: '' is not a file name", row->name);
}

int option_choice(const struct option_row *row, const char *value, struct err *e)
{
    const int choice = name_find(row->choices, NAME_EXACT, value, strlen(value));
    if (choice < 0)
        err_set(e, STATUS_USAGE, "--%s: '%s' is not one of %s", row->name, value, row->choices);
    return choice;
}

static bool set_index(const struct option_row *row, const char *value, struct typed *t, struct err *e)
{
    const int choice = option_choice(row, value, e);
    OPTION_FIELD(unsigned) = (unsigned)choice;
    return choice >= 0;
}

// Resets the samplers and their parameters, as if their options had not been given.
static bool set_neutral(const struct option_row *row, const char *value, struct typed *t, struct err *e)
{
    const struct catalog *const c = t->options->catalog;
    if (!value_flag(row->name, value, &t->neutral, e))
        return false;
    for (row = t->options->row; row->name; row++) {
        const bool chain = row->kind == OPTION_NAMES || row->kind == OPTION_LETTERS;
        if (row->param || chain)
            t->given[row - t->options->row] = ORIGIN_NONE;
        if (chain && row->def)
            option_set(row, row->def, t, e);
    }
    (t->neutral ? catalog_neutral : catalog_defaults)(c, t->value);
    return true;
}

// Reads a value of a list. Behind an ini's section of llama.cpp the value replaces those before it.
static bool set_list(const struct option_row *row, const char *value, struct typed *t, struct err *e)
{
    struct list *const list = &t->settings.list[row->list];
    const bool replaces = list->later == LATER_REPLACES;
    if (row->list == LIST_BREAKERS && !*value)
        note_add(t->options->notes, NOTE_WARNING, "--%s: an empty breaker is left out", row->name);
    if (replaces && list->n)
        note_add(t->options->notes, NOTE_PLAIN,
                 "--%s: '%.*s' replaces what stood before, as behind an ini's section in llama-server", row->name,
                 err_clip(value, 40), value);
    if (replaces)
        list_begin(list, list->name);
    const bool ok = list_read(list, row->list, value, e);
    list->later = replaces ? LATER_REPLACES : LATER_ADDS;
    return ok;
}

// Appends ids, which may stand in a file, to a list. An error waits until a chain is made of the list.
static bool set_ids(const struct option_row *row, const char *value, struct typed *t, struct err *e)
{
    struct list *const list = &t->settings.list[row->list];
    struct ids ids = {0};
    struct err why;
    list->name = list_options[row->list];
    if (!t->options->read_ids(row->name, value, 0, &ids, &why) || !list_take_ids(list, row->list, &ids, value, &why))
        list_defer(list, &why);
    free(ids.id);
    return !(list->entries.failed || list->late.failed) || err_from_fault(e, fault_memory());
}

// Sets the option that has the grammar, and its value. An empty text is no grammar.
static bool set_grammar(const struct option_row *row, const char *value, struct typed *t, struct err *e)
{
    t->grammar_row = *value || strcmp(row->name, "grammar") != 0 ? row : NULL;
    return set_text(row, value, t, e);
}

bool option_set_as(const struct option_row *row, enum option_kind kind, const char *value, struct typed *t,
                   struct err *e)
{
    const struct param number = {row->name, .type = PARAM_FLOAT, .low = (float)row->low, .high = (float)row->high};
    bool on, ok;
    switch (kind) {
    case OPTION_OWN:
    case OPTION_PRESET:
        break;
    case OPTION_NO_EFFECT:
        return value_flag(row->name, value, &on, e);
    case OPTION_FLAG:
    case OPTION_INVERSE:
        ok = value_flag(row->name, value, &on, e);
        OPTION_FIELD(bool) = on == (kind == OPTION_FLAG);
        return ok;
    case OPTION_WHOLE:
        return set_whole(row, value, t, e);
    case OPTION_SWITCH:
        return set_switch(row, value, t, e);
    case OPTION_NUMBER:
        return value_parse(&number, value, &OPTION_FIELD(double), e);
    case OPTION_TEXT:
        return set_text(row, value, t, e);
    case OPTION_CHOICE:
        OPTION_FIELD(const char *) = value;
        return option_choice(row, value, e) >= 0;
    case OPTION_INDEX:
        return set_index(row, value, t, e);
    case OPTION_PARAM:
        return set_param(row, value, t, e);
    case OPTION_NAMES:
    case OPTION_LETTERS:
        t->samplers_form = kind == OPTION_LETTERS ? ORDER_LETTERS : ORDER_NAMES;
        return set_text(row, value, t, e);
    case OPTION_LIST:
        return set_list(row, value, t, e);
    case OPTION_IDS:
        return set_ids(row, value, t, e);
    case OPTION_GRAMMAR:
        return set_grammar(row, value, t, e);
    case OPTION_SEED:
        return set_seed(row, value, t, e);
    case OPTION_NEUTRAL:
        return set_neutral(row, value, t, e);
    }
    assert(false);
    return false;
}

// ---- the options of a chain

#define AT(member)   .at = offsetof(struct typed, member)
#define CHAIN        .group = GROUP_CHAIN, .recipe = true
#define CHAIN_FILE   .group = GROUP_CHAIN
#define COMMON       .common = true
#define FLAG(member) .flag = true, .kind = OPTION_FLAG, AT(member)
#define LIST(which)  .repeats = true, .kind = OPTION_LIST, .list = (which)
#define IDS(which)   .repeats = true, .kind = OPTION_IDS, .list = (which)
#define GRAMMAR      .kind = OPTION_GRAMMAR, AT(grammar)

// clang-format off
static const struct option_row table[] = {
    {"samplers", COMMON, .metavar = "NAMES", CHAIN, .def = DEFAULT_CHAIN, .kind = OPTION_NAMES,
     AT(samplers),
     .help = "samplers in the order in which they run; separated by ';', NAME=VALUE sets the main parameter of one"},
    {"sampler-seq", .also = "sampling-seq", .metavar = "LETTERS", CHAIN, .kind = OPTION_LETTERS, AT(samplers),
     .help = "the samplers in order, a letter each; edskypmxrt is the default chain"},
    {"neutral", CHAIN, .flag = true, .kind = OPTION_NEUTRAL, AT(neutral),
     .help = "switch every sampler off; =false: back to the defaults"},
    {"seed", COMMON, .brief = "s", .metavar = "N", CHAIN, .def = "-1", .kind = OPTION_SEED, AT(seed),
     .low = -1, .high = UINT32_MAX,
     .help = "seed of the random numbers; -1: a random seed"},
    {"engine", COMMON, .metavar = "NAME", CHAIN, .def = "llama", .kind = OPTION_CHOICE, AT(engine),
     .help = "program whose pipeline to run; each has its own defaults"},
    {"logit-bias", COMMON, .brief = "l", .metavar = "ID(+|-)BIAS", CHAIN, LIST(LIST_BIASES),
     .help = "add BIAS to the logit of a token; ID-inf bans it; \"TEXT\"(+|-)BIAS needs --vocab; may be repeated"},
    {"ignore-eos", CHAIN, FLAG(settings.ignore_eos), .help = "ban the vocabulary's end-of-generation tokens"},
    {"dry-sequence-breaker", .metavar = "TEXT", CHAIN, LIST(LIST_BREAKERS),
     .help = "text at which a repetition ends for DRY; replaces the defaults; none: no breakers; may be repeated"},
    {"escape", .brief = "e", CHAIN, .flag = true, .kind = OPTION_INVERSE, AT(settings.no_escape),
     .help = "resolve escapes in --dry-sequence-breaker; this is the default"},
    {"no-escape", CHAIN, FLAG(settings.no_escape), .help = "do not resolve escapes in --dry-sequence-breaker"},
    {"dry-breaker-tokens", .metavar = "LIST", CHAIN, IDS(LIST_BREAKER_IDS),
     .help = "ids at which a repetition ends for DRY; 1,2,3 or @FILE; replace the default texts; may be repeated"},
    {"bad-word-tokens", .metavar = "LIST", CHAIN, IDS(LIST_BANS),
     .help = "sequence of ids to ban; 1,2,3 or @FILE; its last id is masked after the others; may be repeated"},
    {"eog-tokens", .metavar = "LIST", CHAIN, IDS(LIST_ENDS),
     .help = "ids that end a text, for --min-tokens; besides the vocabulary's; may be repeated"},
    {"grammar", .metavar = "GBNF", CHAIN, GRAMMAR,
     .help = "pick only tokens that can match a grammar; in llama.cpp's notation, GBNF; needs --vocab"},
    {"grammar-file", COMMON, .metavar = "FILE", CHAIN_FILE, GRAMMAR,
     .help = "pick only tokens that can match the grammar in FILE; needs --vocab"},
    {"json-schema", COMMON, .brief = "j", .metavar = "SCHEMA", CHAIN, GRAMMAR,
     .help = "pick only tokens that can match a JSON schema; {} is any value; needs --vocab"},
    {"json-schema-file", .brief = "jf", .metavar = "FILE", CHAIN_FILE, GRAMMAR,
     .help = "pick only tokens that can match the JSON schema in FILE; needs --vocab"},
    {"grammar-first", CHAIN, FLAG(grammar_first),
     .help = "mask by the grammar before the chain; by default only if the chain's own choice does not match"},
    {"reasoning-budget", .metavar = "N", CHAIN, .def = "-1", .kind = OPTION_WHOLE,
     AT(settings.reasoning_budget), .low = -1, .high = INT32_MAX,
     .help = "most tokens between a start tag and an end tag; then the message and the first end tag are forced; -1: "
             "no limit"},
    {"reasoning-budget-message", .metavar = "TEXT", CHAIN, .kind = OPTION_LIST, .list = LIST_MESSAGE,
     .help = "text to force before the end tag; needs --vocab"},
    {"reasoning-start", .metavar = "TAG", CHAIN, .kind = OPTION_LIST, .list = LIST_START,
     .help = "tag at which the reasoning begins; ids 1,2,3, or a text with --vocab"},
    {"reasoning-end", .metavar = "TAG", CHAIN, LIST(LIST_END_TAGS),
     .help = "tag at which the reasoning ends; ids or a text; may be repeated"},
};
// clang-format on

// Makes the row of a sampler's parameter.
static struct option_row param_row(const struct catalog *c, size_t number)
{
    static const char *const of_type[] = {[PARAM_INT] = "N", [PARAM_FLOAT] = "X", [PARAM_FLAG] = NULL};
    const struct param *const p = c->param[number];
    return (struct option_row){.name = p->flag,
                               .also = p->also,
                               .metavar = p->metavar ? p->metavar : of_type[p->type],
                               .group = GROUP_CHAIN,
                               .recipe = true,
                               .heading = c->heading[number],
                               .common = p->common,
                               .flag = p->type == PARAM_FLAG,
                               .kind = OPTION_PARAM,
                               .help = p->help,
                               .param = p,
                               .number = number};
}

void options_add(struct options *o, const struct option_row *row, size_t n)
{
    assert(o->n + n < OPTIONS_MOST);
    memcpy(o->row + o->n, row, n * sizeof *row);
    o->n += n;
    o->row[o->n].name = NULL;
}

// Writes the names of the engines that programs offer.
static void name_engines(char names[ENGINE_NAMES])
{
    *names = '\0';
    for (size_t i = 0; programs[i]; i++)
        for (const struct engine *const *engine = programs[i]->engines; *engine; engine++) {
            assert(strlen(names) + strlen((*engine)->name) + 2 < ENGINE_NAMES);
            strcat(strcat(names, *names ? "," : ""), (*engine)->name);
        }
}

void options_add_chain(struct options *o)
{
    name_engines(o->engines);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        options_add(o, &table[i], 1);
        if (!strcmp(table[i].name, "engine"))
            o->row[o->n - 1].choices = o->engines;
        for (size_t k = 0; !strcmp(table[i].name, "engine") && k < o->catalog->n; k++) {
            const struct option_row row = param_row(o->catalog, k);
            options_add(o, &row, 1);
        }
    }
}

const char *option_default(const struct option_row *row, char text[NUMBER_TEXT])
{
    const struct param *const p = row->param;
    return p && (p->def != 0.0 || p->type != PARAM_FLAG) ? value_text(p, p->def, text) : row->def;
}

const struct option_row *option_by_name(const struct options *o, const char *name, size_t len)
{
    for (const struct option_row *row = o->row; row->name; row++)
        if (name_of_option(row->name, name, len) || name_of_option(row->also, name, len))
            return row;
    return NULL;
}

// ---- a chain as typed

bool typed_defaults(struct typed *t, struct err *e)
{
    catalog_defaults(t->options->catalog, t->value);
    for (const struct option_row *row = t->options->row; row->name; row++)
        if (row->def && !option_set(row, row->def, t, e))
            return false;
    return true;
}

bool typed_forget(struct typed *t, const struct option_row *row, struct err *e)
{
    t->given[row - t->options->row] = ORIGIN_NONE;
    if (row->def)
        return option_set(row, row->def, t, e);
    switch (row->kind) {
    case OPTION_PARAM:
        t->value[row->number] = param_value(row->param, row->param->def);
        break;
    case OPTION_LIST:
    case OPTION_IDS:
        list_begin(&t->settings.list[row->list], NULL);
        break;
    case OPTION_GRAMMAR:
        t->grammar_row = NULL;
        break;
    case OPTION_TEXT:
        OPTION_FIELD(const char *) = NULL;
        break;
    case OPTION_FLAG:
    case OPTION_INVERSE:
        OPTION_FIELD(bool) = false;
        break;
    default:
        break;
    }
    return true;
}

enum origin typed_origin(const struct typed *t, const char *name)
{
    const struct option_row *const row = option_by_name(t->options, name, strlen(name));
    return t->given[row - t->options->row];
}

const char *typed_refusal(const struct typed *t, bool of_presets, const struct option_row **row)
{
    const struct engine *const engine = engine_by_name(t->engine);
    for (; (*row)->name; ++*row) {
        const enum origin origin = t->given[*row - t->options->row];
        const bool counts = (*row)->group == GROUP_CHAIN && (of_presets ? origin == ORIGIN_PRESET : origin);
        const char *const why = counts ? engine_refusal(engine, t->grammar_row, t->grammar_first, (*row)->name) : NULL;
        if (why)
            return why;
    }
    return NULL;
}

struct grammar_text typed_grammar(const struct typed *t)
{
    const bool schema = !strncmp(t->grammar_row->name, "json-schema", strlen("json-schema"));
    return (struct grammar_text){.text = {(const unsigned char *)t->grammar, strlen(t->grammar)},
                                 .kind = schema ? GRAMMAR_SCHEMA : GRAMMAR_GBNF,
                                 .option = t->grammar_row->name};
}

// ---- the recipe

static bool set_values(struct new_recipe *d, const struct typed *t, struct err *e)
{
    const struct engine *const engine = d->key.engine;
    memcpy(d->key.value, t->value, t->options->catalog->n * sizeof *t->value);
    for (const struct option_row *row = t->options->row; row->name && !t->neutral; row++)
        if (row->param && !t->given[row - t->options->row])
            d->key.value[row->number] = engine_default(engine, t->options->catalog, row->number);
    d->key.grammar_first = t->grammar_first || engine->masks_first;
    const int64_t seed = engine->options ? t->seed : (uint32_t)t->seed; // llama.cpp takes the low 32 bits
    return recipe_set_seed(d, seed, e) && recipe_check_values(d, e);
}

// Makes the parts of the lists. If no list names the tokens that an option needs, the option is an error, or has no
// effect and a note.
static bool set_lists(struct new_recipe *d, const struct typed *t, struct err *e)
{
    const struct settings *const s = &t->settings;
    for (size_t i = 0; i < LISTS; i++)
        if (!list_check(&s->list[i], e))
            return false;
    if (!recipe_set_lists(d, s, e))
        return false;
    if (typed_origin(t, "min-tokens") && d->key.value[catalog_find(&d->of->catalog, "min-tokens")] > 0 &&
        !d->key.bans->bans.n_ends)
        return err_set(e, STATUS_USAGE, "--min-tokens: no token is known to end a text; give --eog-tokens or --vocab");
    if (s->reasoning_budget >= 0 && !d->key.reasoning->rules.n_ends)
        note_add(&d->of->notes, NOTE_PLAIN,
                 "--reasoning-budget has no effect without --reasoning-start and --reasoning-end");
    return true;
}

// Sets the samplers, if they were named and the engine has no order of its own.
static bool set_order(struct new_recipe *d, const struct typed *t, const struct builder *names, struct err *e)
{
    const bool named = typed_origin(t, "samplers") || typed_origin(t, "sampler-seq");
    if (names->failed)
        return err_from_fault(e, fault_memory());
    if (names->text)
        return recipe_set_samplers(d, names->text, ORDER_NAMES, e);
    return d->key.engine->options || !named || recipe_set_samplers(d, t->samplers, t->samplers_form, e);
}

const struct recipe *recipe_from_typed(struct recipes *r, const struct typed *t, add_more_fn *add_more, const void *arg,
                                       struct err *e)
{
    struct new_recipe d = {.of = r, .key.engine = engine_by_name(t->engine)};
    struct builder names = {0};
    const struct option_row *row = t->options->row;
    const char *const why = typed_refusal(t, false, &row);
    if (why) {
        err_set(e, STATUS_USAGE, "--%s: engine %s %s", row->name, t->engine, why);
        return NULL;
    }
    const bool ok =
        set_values(&d, t, e) && add_more(&d, arg, &names, e) && set_lists(&d, t, e) && set_order(&d, t, &names, e);
    builder_free(&names);
    if (ok)
        return recipe_finish(&d, e);
    recipe_key_drop(&d.key);
    return NULL;
}
