// SPDX-License-Identifier: MIT
// The "params" of a JSON row. Functions report errors as errors of options (STATUS_USAGE), because most parameters are
// options, too. recipe_with_params turns them into errors of the row.
#include "base/mem.h"
#include "base/names.h"
#include "base/number.h"
#include "settings/draft.h"
#include "settings/setting.h"
#include "json/json.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A draft that a row's parameters change. Lists are collected, and become parts of the draft after the last parameter.
struct change {
    struct draft draft;
    const cJSON *params;
    struct settings settings;
    struct err *e;
};

static bool wrong(const struct change *ch, const cJSON *item, const char *wanted)
{
    return err_set(ch->e, STATUS_USAGE, "%.60s is not %s", item->string, wanted);
}

// Writes the number v of an item as messages show it: as the item spells it, unless the server uses another number.
static const char *number_as_written(const cJSON *item, double v, char text[NUMBER_TEXT])
{
    if (cJSON_IsNumber(item) && item->valuestring && (v == item->valuedouble || v == trunc(item->valuedouble)))
        return item->valuestring;
    if (v != floor(v) || fabs(v) >= 1e15)
        return fabs(v) > FLT_MAX ? number_text_wide(v, text) : number_text((float)v, text);
    snprintf(text, NUMBER_TEXT, "%" PRId64, (int64_t)v);
    return text;
}

// Begins a list, which replaces that of the draft.
static struct list *begin(struct change *ch, enum list_kind kind, const cJSON *item)
{
    list_begin(&ch->settings.list[kind], item->string);
    return &ch->settings.list[kind];
}

// Reads a number as the server does: a boolean is 0 or 1, and where a whole number is wanted, a fraction is cut off.
static bool server_number(const struct change *ch, const cJSON *item, bool whole, double *v)
{
    *v = cJSON_IsNumber(item) ? item->valuedouble : cJSON_IsTrue(item);
    if (whole)
        *v = trunc(*v) + 0.0; // no -0
    return cJSON_IsNumber(item) || cJSON_IsBool(item) || wrong(ch, item, "a number");
}

// Reads a whole number from low to high of an option that is no sampler's.
static bool server_whole(const struct change *ch, const cJSON *item, const char *flag, int64_t low, int64_t high,
                         int64_t *whole)
{
    char text[NUMBER_TEXT];
    double v;
    if (!server_number(ch, item, true, &v))
        return false;
    *whole = v >= (double)low && v <= (double)high ? (int64_t)v : low;
    return (double)*whole == v || value_whole(flag, number_as_written(item, v, text), low, high, whole, ch->e);
}

// Brings a number into the server's range. False if the server refuses the number.
static bool server_range(const struct param *row, const char *name, double *v, struct err *e)
{
    const double low = row->request.low, high = row->request.high;
    if (row->request.rule == SERVER_TAKES_ALL || (*v >= low && *v <= high))
        return true;
    if (row->request.rule == SERVER_REFUSES)
        return high == INFINITY ? err_set(e, STATUS_USAGE, "%s is out of range, from %g up", name, low)
                                : err_set(e, STATUS_USAGE, "%s is out of range, from %g to %g", name, low, high);
    *v = row->request.rule == SERVER_CLAMPS ? fmin(fmax(*v, low), high) : row->def;
    return true;
}

// Reads a sampler's parameter. Refuses a whole number beyond 32 bits, which the server would read as another number.
static bool read_param(struct change *ch, size_t number, const cJSON *item)
{
    const struct param *const row = ch->draft.of->catalog.param[number];
    double v, *const value = &ch->draft.parts.value[number];
    char text[NUMBER_TEXT];
    if (row->type == PARAM_FLAG) {
        *value = cJSON_IsTrue(item);
        return cJSON_IsBool(item) || wrong(ch, item, "true or false");
    }
    if (!server_number(ch, item, row->type == PARAM_INT, &v))
        return false;
    const bool no_int = row->type == PARAM_INT && (v < INT32_MIN || v > INT32_MAX);
    // An engine's own range holds in place of the server's.
    if (!no_int && !engine_has_range(ch->draft.parts.engine, row->flag) && !server_range(row, item->string, &v, ch->e))
        return false;
    return value_check(row, v, "", value, ch->e) || value_check(row, v, number_as_written(item, v, text), value,
                                                                ch->e); // again, as only a message needs the text
}

// Reads an array of names, or a string of letters.
static bool read_samplers(struct change *ch, const cJSON *item)
{
    struct builder names = {0};
    const cJSON *name;
    bool ok = cJSON_IsArray(item);
    if (cJSON_IsString(item))
        return draft_samplers(&ch->draft, item->valuestring, true, ch->e);
    builder_string(&names, "");
    cJSON_ArrayForEach(name, item)
    {
        ok = ok && cJSON_IsString(name) && !strchr(name->valuestring, ';');
        builder_format(&names, "%s%s", names.len ? ";" : "", ok ? name->valuestring : "");
    }
    if (!ok)
        wrong(ch, item, "an array of names or a string of letters");
    else if (names.failed)
        ok = err_from_fault(ch->e, fault_memory());
    ok = ok && draft_samplers(&ch->draft, names.text, false, ch->e);
    builder_free(&names);
    return ok;
}

// Adds a bias of a text, or of one token. A key of digits is an id.
static bool add_request_bias(void *to, const struct setting_bias *b)
{
    struct change *const ch = to;
    const bool ban = cJSON_IsFalse(b->amount), keyed = cJSON_IsObject(b->item);
    const float bias = ban ? -INFINITY : (float)cJSON_GetNumberValue(b->amount);
    const char *const name = cJSON_GetStringValue(b->token);
    const bool digits = keyed && name && *name && !name[strspn(name, "0123456789")];
    const cJSON number = {.type = cJSON_Number, .valuedouble = digits ? strtod(name, NULL) : 0.0};
    const char *const text = digits ? NULL : name;
    const int64_t id = json_id(digits ? &number : b->token);
    if ((!ban && !cJSON_IsNumber(b->amount)) || (!text && id < 0) || (keyed && b->amount != b->entry))
        return wrong(ch, b->item, "a list of pairs of a token and a bias");
    if (bias == INFINITY && text)
        return err_set(ch->e, STATUS_USAGE, "--logit-bias: '\"%.100s\"+inf': only -inf is an infinite bias", text);
    if (bias == INFINITY)
        return err_set(ch->e, STATUS_USAGE, "--logit-bias: '%" PRId64 "+inf': only -inf is an infinite bias", id);
    struct list *const list = &ch->settings.list[LIST_BIASES];
    if (text)
        list_add_text(list, ENTRY_ESCAPED, text, strlen(text), bias);
    else
        list_add_ids(list, &(uint32_t){(uint32_t)id}, 1, bias);
    return true;
}

static bool read_biases(struct change *ch, const cJSON *item)
{
    begin(ch, LIST_BIASES, item);
    return cJSON_IsArray(item) || cJSON_IsObject(item) ? setting_biases(item, add_request_bias, ch)
                                                       : wrong(ch, item, "a list of pairs of a token and a bias");
}

// Reads the texts of breakers. They have no escapes, as in the server.
static bool read_breakers(struct change *ch, const cJSON *item)
{
    struct list *const list = begin(ch, LIST_BREAKERS, item);
    const cJSON *entry;
    if (!cJSON_IsArray(item) || !item->child)
        return wrong(ch, item, "a list of texts");
    cJSON_ArrayForEach(entry, item)
    {
        const char *const text = cJSON_GetStringValue(entry);
        if (!text)
            return wrong(ch, item, "a list of texts");
        if (!*text)
            note_add(&ch->draft.of->notes, NOTE_WARNING, "--dry-sequence-breaker: an empty breaker is left out");
        else if (strcmp(text, "none") != 0)
            list_add_text(list, ENTRY_TEXT, text, strlen(text), 0.0f);
        else
            list_begin(list, item->string);
    }
    return true;
}

// Appends the tokens of a list of numbers, or of numbers in a text. Errors name the member `of`.
static bool read_token_numbers(struct change *ch, const cJSON *of, const cJSON *list, struct ids *ids)
{
    bool ok = cJSON_IsArray(list);
    if (cJSON_IsString(list))
        return ids_read("bad-word-tokens", list->valuestring, 0, ids, ch->e);
    for (const cJSON *item = ok ? list->child : NULL; ok && item; item = item->next) {
        double v = -1.0;
        ok = (cJSON_IsNumber(item) || cJSON_IsBool(item)) && server_number(ch, item, true, &v);
        ok = ok && v >= 0 && v <= UINT32_MAX;
        const uint32_t id = ok ? (uint32_t)v : 0;
        if (ok && !mem_push(&ids->id, &ids->n, &ids->cap, &id, sizeof id))
            return err_from_fault(ch->e, fault_memory());
    }
    return ok || wrong(ch, of, list == of ? "a list of tokens" : "a list of lists of tokens");
}

// Reads sequences of tokens, or single tokens.
static bool read_token_lists(struct change *ch, enum list_kind kind, const cJSON *item)
{
    const bool lists = cJSON_IsArray(item) && cJSON_IsArray(item->child);
    struct list *const to = begin(ch, kind, item);
    struct ids ids = {0};
    bool ok = true;
    for (const cJSON *list = lists ? item->child : item; ok && list; list = lists ? list->next : NULL) {
        ids.n = 0;
        ok = lists && cJSON_IsString(list) ? wrong(ch, item, "a list of lists of tokens")
                                           : read_token_numbers(ch, item, list, &ids);
        for (size_t i = 0, n = lists ? ids.n : 1; ok && i < ids.n; i += n)
            list_add_ids(to, ids.id + i, n, 0.0f);
    }
    free(ids.id);
    return ok;
}

static bool need_vocab(const struct change *ch)
{
    return ch->draft.of->vocab || err_set(ch->e, STATUS_USAGE, "a grammar needs --vocab");
}

static void drop_grammar(struct change *ch)
{
    shared_drop(ch->draft.parts.rules);
    ch->draft.parts.rules = NULL;
}

static bool set_row_grammar(struct change *ch, const char *text, bool schema)
{
    const char *const type = cJSON_GetStringValue(json_member(ch->params, "grammar_type"));
    const struct grammar_text g = {.text = {(const unsigned char *)text, strlen(text)},
                                   .schema = schema,
                                   .tool_calls = type && !strcmp(type, "tool_calls"),
                                   .option = schema ? "json-schema" : "grammar"};
    return draft_grammar(&ch->draft, &g, ch->e);
}

// Reads a grammar. An empty text removes the grammar.
static bool read_grammar(struct change *ch, const cJSON *item)
{
    if (!cJSON_IsString(item))
        return wrong(ch, item, "a string");
    if (*item->valuestring)
        return need_vocab(ch) && set_row_grammar(ch, item->valuestring, false);
    drop_grammar(ch);
    return true;
}

// Makes numbers print as they were spelt (json_keep_spelling), since a grammar depends on the spelling.
static void print_spelling(cJSON *item)
{
    for (; item; item = item->next) {
        if (cJSON_IsNumber(item) && item->valuestring)
            item->type = cJSON_Raw | (item->type & ~0xff);
        print_spelling(item->child);
    }
}

// Reads a schema. As in llama-server, an empty schema means any object.
static bool read_schema(struct change *ch, const cJSON *item)
{
    const bool empty = cJSON_IsObject(item) && !item->child;
    cJSON *const schema = empty ? cJSON_CreateRaw("{\"type\":\"object\"}") : cJSON_Duplicate(item, true);
    print_spelling(schema);
    char *const text = schema ? cJSON_PrintUnformatted(schema) : NULL;
    cJSON_Delete(schema);
    const bool ok = text ? set_row_grammar(ch, text, true) : err_from_fault(ch->e, fault_memory());
    free(text);
    return ok && need_vocab(ch);
}

// Reads a text of the reasoning budget, or the generation prompt.
static bool read_row_text(struct change *ch, enum list_kind kind, const cJSON *item)
{
    struct list *const list = begin(ch, kind, item);
    if (!cJSON_IsString(item))
        return wrong(ch, item, "a string");
    list_add_text(list, ENTRY_TEXT, item->valuestring, strlen(item->valuestring), 0.0f);
    return true;
}

// Reads a text or a list of texts, empty ones left out. "reasoning_budget_end_tags" counts more than
// "reasoning_budget_end_tag".
static bool read_texts(struct change *ch, const cJSON *item)
{
    const cJSON *const tags = json_member(ch->params, "reasoning_budget_end_tags");
    struct list other = {0};
    const bool ok = setting_texts(item, tags && tags != item ? &other : begin(ch, LIST_END_TAGS, item));
    list_free(&other);
    return ok || wrong(ch, item, "a list of texts");
}

// Reads a member that is no sampler's parameter.
static bool read_setting(struct change *ch, const struct setting *s, const cJSON *item)
{
    int64_t seed;
    double v;
    switch (s->form) {
    case SETTING_NUMBER:
        return server_whole(ch, item, "reasoning-budget", -1, INT32_MAX, &ch->settings.reasoning_budget);
    case SETTING_SEED:
        ch->draft.parts.seed_named = 1;
        if (!ch->draft.parts.engine->wide_seed)
            return server_whole(ch, item, "seed", -1, UINT32_MAX, &seed) && draft_seed(&ch->draft, seed, ch->e);
        return server_number(ch, item, true, &v) && (fabs(v) < 0x1p53 || wrong(ch, item, "exact beyond 2^53")) &&
               draft_seed(&ch->draft, (int64_t)v, ch->e);
    case SETTING_SAMPLERS:
        return read_samplers(ch, item);
    case SETTING_BIASES:
        return read_biases(ch, item);
    case SETTING_EOS:
        ch->settings.ignore_eos = cJSON_IsTrue(item);
        return cJSON_IsBool(item) || wrong(ch, item, "true or false");
    case SETTING_BREAKERS:
        return read_breakers(ch, item);
    case SETTING_SEQUENCES:
    case SETTING_BANS:
        return read_token_lists(ch, s->list, item);
    case SETTING_GRAMMAR:
        return read_grammar(ch, item);
    case SETTING_SCHEMA:
        return read_schema(ch, item);
    case SETTING_TEXT:
        return read_row_text(ch, s->list, item);
    case SETTING_TAGS:
        return read_texts(ch, item);
    case SETTING_FALSE:
        return cJSON_IsFalse(item) || wrong(ch, item, "false; no other is supported");
    case SETTING_EMPTY:
        break;
    }
    return (cJSON_IsArray(item) && !item->child) || wrong(ch, item, "an empty list; no other is supported");
}

// Returns the number of a sampler's parameter by llama-server's name or, else, by one that presets of other programs
// have. c->n: there is none.
static size_t number_of_key(const struct catalog *c, const char *key)
{
    const size_t number = catalog_find_server(c, key);
    const struct setting *const s = number < c->n || setting_of_request(key) ? NULL : setting_of_preset(key);
    return s && s->option ? catalog_find(c, s->option) : number;
}

static bool read_request_member(struct change *ch, const cJSON *item)
{
    const struct catalog *const c = &ch->draft.of->catalog;
    const struct engine *const engine = ch->draft.parts.engine;
    const size_t number = number_of_key(c, item->string);
    const struct setting *const s = number < c->n ? NULL : setting_of_request(item->string);
    const char *const option = number < c->n ? c->param[number]->flag : s ? s->option : NULL;
    if (cJSON_IsNull(item) ||
        (number == c->n && !s && name_find(setting_server_ignores, NAME_PATTERN, item->string, 0) >= 0))
        return true;
    if (number == c->n && !s)
        return err_set(ch->e, STATUS_USAGE, "unknown parameter '%.60s'", item->string);
    if (option && !engine_has(engine, ch->draft.parts.grammar_first, option, strlen(option)))
        return err_set(ch->e, STATUS_USAGE, "engine %s has no stage for %s", engine->name, item->string);
    return s ? read_setting(ch, s, item) : read_param(ch, number, item);
}

// Reads all members. If there is a member "grammar", even an empty or null one, the server ignores the schema, and a
// null grammar with a schema means no grammar.
static bool read_request_members(struct change *ch)
{
    const cJSON *const grammar = cJSON_GetObjectItemCaseSensitive(ch->params, "grammar");
    for (const cJSON *item = ch->params->child; item; item = item->next) {
        const bool ignored = grammar && !strcmp(item->string, "json_schema");
        if (ignored && cJSON_IsNull(grammar) && !cJSON_IsNull(item))
            drop_grammar(ch);
        if (!ignored && !read_request_member(ch, item))
            return false;
    }
    return true;
}

// With a grammar, refuses parameters of stages that run only without one, whether this row or an earlier one set them.
// Must be called after the last member.
static bool check_grammar(const struct change *ch)
{
    const struct parts *const p = &ch->draft.parts;
    const struct catalog *const c = &ch->draft.of->catalog;
    for (const cJSON *item = ch->params->child; item && p->rules; item = item->next) {
        const size_t number = number_of_key(c, item->string);
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

const struct recipe *recipe_with_params(struct recipes *r, const struct recipe *from, const cJSON *params,
                                        struct err *e)
{
    struct change ch = {.draft = {r, from->parts, true},
                        .params = params,
                        .settings = {.ignore_eos = from->parts.biases->ignore_eos,
                                     .reasoning_budget = from->parts.reasoning ? from->parts.reasoning->tokens : -1},
                        .e = e};
    parts_keep(&ch.draft.parts);
    const bool ok = read_request_members(&ch) && check_grammar(&ch) && draft_lists(&ch.draft, &ch.settings, e);
    for (size_t i = 0; i < LISTS; i++)
        list_free(&ch.settings.list[i]);
    const struct recipe *const made = ok ? recipe_checked(draft_make(&ch.draft, e), e) : NULL;
    if (!ok)
        parts_drop(&ch.draft.parts);
    if (!made && e->status == STATUS_USAGE) {
        e->status = STATUS_DATA;
        err_prefix(e, "params");
    }
    return made;
}
