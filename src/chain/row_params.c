// SPDX-License-Identifier: MIT
// The "params" of a JSON row. Errors are set as those of options, which they mostly are; recipe_with_params makes them errors of the row.
#include "base/mem.h"
#include "base/number.h"
#include "chain/recipe.h"
#include "cli/foreign.h"
#include "out/message.h"
#include "json/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A draft, and the lists that are put together once all members are read.
struct change {
    struct draft draft;
    struct bias *bias; // [n_bias] in place of those of the draft, once new_biases
    size_t n_bias, bias_cap;
    bool new_biases, ignore_eos;
    int64_t budget;       // of reasoning, in tokens
    struct ids ids;       // of a text
    struct builder spelt; // what is to be said of texts that several tokens spell
};

static bool wrong(const cJSON *item, const char *wanted, struct err *e)
{
    return err_set(e, STATUS_USAGE, "%.60s is not %s", item->string, wanted);
}

// A number as the messages show it.
static const char *number_as_typed(double v, char text[NUMBER_TEXT])
{
    if (v != floor(v) || fabs(v) >= 1e15)
        return number_text((float)v, text);
    snprintf(text, NUMBER_TEXT, "%" PRId64, (int64_t)v);
    return text;
}

// A number as the server takes it, who lets a boolean be 0 or 1, and makes a whole number of a fraction by cutting it off.
static bool server_number(const cJSON *item, bool whole, double *v, struct err *e)
{
    *v = cJSON_IsNumber(item) ? item->valuedouble : cJSON_IsTrue(item);
    if (whole)
        *v = trunc(*v) + 0.0; // no -0
    return cJSON_IsNumber(item) || cJSON_IsBool(item) || wrong(item, "a number", e);
}

// Holds a number against the server's range.
static bool server_range(const struct param *row, const char *name, double *v, struct err *e)
{
    const double low = row->request.low, high = row->request.high;
    if (row->request.rule == SERVER_TAKES_ALL || (*v >= low && *v <= high))
        return true;
    if (row->request.rule == SERVER_CLAMPS)
        *v = fmin(fmax(*v, low), high);
    else if (row->request.rule == SERVER_TAKES_DEFAULT)
        *v = row->def;
    else if (high == INFINITY)
        return err_set(e, STATUS_USAGE, "%s must be at least %g", name, low);
    else
        return err_set(e, STATUS_USAGE, "%s must be between %g and %g", name, low, high);
    return true;
}

static bool set_number(struct change *ch, size_t number, const cJSON *item, struct err *e)
{
    const struct param *const row = ch->draft.of->catalog.param[number];
    double v, *const value = &ch->draft.parts.value[number];
    char text[NUMBER_TEXT];
    if (row->type == PARAM_FLAG) {
        *value = cJSON_IsTrue(item);
        return cJSON_IsBool(item) || wrong(item, "true or false", e);
    }
    if (!server_number(item, row->type == PARAM_INT, &v, e))
        return false;
    const bool no_int =
        row->type == PARAM_INT && (v < INT32_MIN || v > INT32_MAX); // which the server would read as another number
    if (!no_int && !server_range(row, item->string, &v, e))
        return false;
    return value_check(row, v, "", value, e) ||
           value_check(row, v, number_as_typed(v, text), value, e); // which is only worth its time for the message
}

static bool read_seed(const cJSON *item, struct change *ch, struct err *e)
{
    double v;
    ch->draft.parts.seed_named = 1;
    return server_number(item, true, &v, e) && (fabs(v) < 0x1p53 || wrong(item, "exact beyond 2^53", e)) &&
           draft_seed(&ch->draft, (int64_t)v, e);
}

static bool read_ignore_eos(const cJSON *item, struct change *ch, struct err *e)
{
    ch->ignore_eos = cJSON_IsTrue(item);
    return cJSON_IsBool(item) || wrong(item, "true or false", e);
}

// The samplers' names, or letters.
static bool read_samplers(const cJSON *item, struct change *ch, struct err *e)
{
    struct builder names = {0};
    const cJSON *name;
    bool ok = cJSON_IsArray(item);
    if (cJSON_IsString(item))
        return draft_samplers(&ch->draft, item->valuestring, true, e);
    builder_string(&names, "");
    cJSON_ArrayForEach(name, item)
    {
        ok = ok && cJSON_IsString(name) && !strchr(name->valuestring, ';');
        builder_string(&names, names.len ? ";" : "");
        builder_string(&names, ok ? name->valuestring : "");
    }
    if (!ok)
        wrong(item, "an array of names or a string of letters", e);
    else if (names.failed)
        ok = err_from_fault(e, fault_memory());
    ok = ok && draft_samplers(&ch->draft, names.text, false, e);
    builder_free(&names);
    return ok;
}

// Of a text each of the tokens that spell it is biased.
static bool add_bias(const cJSON *item, const cJSON *token, const cJSON *amount, struct change *ch, struct err *e)
{
    const char *const text = cJSON_GetStringValue(token);
    const bool ban = cJSON_IsFalse(amount);
    const float bias = ban ? -INFINITY : (float)cJSON_GetNumberValue(amount);
    const uint32_t id = (uint32_t)json_id(token);
    if ((!ban && !cJSON_IsNumber(amount)) || (!text && json_id(token) < 0))
        return wrong(item, "a list of pairs of a token and a bias", e);
    if (bias == INFINITY && text)
        return err_set(e, STATUS_USAGE, "--logit-bias: '\"%.100s\"+inf': only -inf is an infinite bias", text);
    if (bias == INFINITY)
        return err_set(e, STATUS_USAGE, "--logit-bias: '%.0f+inf': only -inf is an infinite bias", token->valuedouble);
    if (text && !recipes_split_text(ch->draft.of, "--logit-bias", text, true, &ch->ids, e))
        return false;
    const size_t n = text ? ch->ids.n : 1;
    if (!mem_grow(&ch->bias, &ch->bias_cap, ch->n_bias + n, sizeof *ch->bias))
        return err_from_fault(e, fault_memory());
    for (size_t i = 0; i < n; i++)
        ch->bias[ch->n_bias++] = (struct bias){text ? ch->ids.id[i] : id, bias};
    if (text)
        note_spelling(&ch->spelt, "logit_bias", text, &ch->ids);
    return true;
}

// Forms: [[token, bias], ...], {"token": bias, ...}, and the echo [{"token": id, "bias": b}, ...]. Replaces what there was.
static bool read_biases(const cJSON *item, struct change *ch, struct err *e)
{
    const cJSON *entry;
    if (!cJSON_IsArray(item) && !cJSON_IsObject(item))
        return wrong(item, "a list of pairs of a token and a bias", e);
    ch->n_bias = 0;
    ch->new_biases = true;
    builder_clear(&ch->spelt);
    cJSON_ArrayForEach(entry, item)
    {
        cJSON key = {.type = cJSON_String, .valuestring = entry->string};
        const cJSON *token = &key, *amount = entry;
        if (cJSON_IsArray(item)) {
            token =
                cJSON_IsArray(entry) ? cJSON_GetArrayItem(entry, 0) : cJSON_GetObjectItemCaseSensitive(entry, "token");
            amount =
                cJSON_IsArray(entry) ? cJSON_GetArrayItem(entry, 1) : cJSON_GetObjectItemCaseSensitive(entry, "bias");
        } else if (*entry->string && strspn(entry->string, "0123456789") == strlen(entry->string)) {
            key = (cJSON){.type = cJSON_Number, .valuedouble = strtod(entry->string, NULL)};
        }
        if (!add_bias(item, token, amount, ch, e))
            return false;
    }
    return true;
}

// Texts as they are: the server knows no escapes but those of JSON.
static bool read_breakers(const cJSON *item, struct change *ch, struct err *e)
{
    struct given g = {0};
    bool ok = (cJSON_IsArray(item) && item->child) || wrong(item, "a list of texts", e);
    for (const cJSON *text = item->child; ok && text; text = text->next) {
        const char *const s = cJSON_GetStringValue(text);
        if (!s) {
            ok = wrong(item, "a list of texts", e);
        } else if (!strcmp(s, "none")) {
            builder_clear(&g.key);
            g.n_texts = 0;
        } else if (!*s) {
            message_warn("--%s: an empty breaker is left out", "dry-sequence-breaker");
        } else {
            give_breaker(&g, s, strlen(s));
        }
    }
    ok = ok && draft_breakers(&ch->draft, &g, e);
    builder_free(&g.key);
    return ok;
}

// The tokens of a list of numbers, or of numbers in a text.
static bool give_numbers(struct change *ch, struct given *g, const cJSON *list, bool each, struct err *e)
{
    if (cJSON_IsString(list)) {
        ch->ids.n = 0;
        if (!ids_read("bad-word-tokens", list->valuestring, &ch->ids, e))
            return false;
        for (size_t i = 0; i < ch->ids.n; i++)
            give_tokens(g, &ch->ids.id[i], 1);
        return true;
    }
    bool ok = cJSON_IsArray(list) &&
              mem_grow(&ch->ids.id, &ch->ids.cap, (size_t)cJSON_GetArraySize(list) + 1, sizeof *ch->ids.id);
    ch->ids.n = 0;
    for (const cJSON *item = ok ? list->child : NULL; item; item = item->next) {
        double v;
        if (!server_number(item, true, &v, e) || v < 0 || v > UINT32_MAX)
            return wrong(list, "a list of tokens", e);
        ch->ids.id[ch->ids.n++] = (uint32_t)v;
    }
    for (size_t i = 0; each && i < ch->ids.n; i++)
        give_tokens(g, &ch->ids.id[i], 1);
    if (ok && !each && ch->ids.n)
        give_tokens(g, ch->ids.id, ch->ids.n);
    return ok || wrong(list, "a list of tokens", e);
}

// Sequences of tokens, or single ones; those that the options gave are replaced.
static bool read_bans(const cJSON *item, struct change *ch, struct err *e)
{
    const struct ban_list *const old = ch->draft.parts.bans;
    struct given g = {0};
    give_tokens(&g, old->end, old->n_given);
    bool ok = true;
    if (cJSON_IsArray(item) && cJSON_IsArray(item->child))
        for (const cJSON *list = item->child; ok && list; list = list->next)
            ok = cJSON_IsArray(list) ? give_numbers(ch, &g, list, false, e)
                                     : wrong(item, "a list of lists of tokens", e);
    else
        ok = give_numbers(ch, &g, item, true, e);
    ok = ok && draft_bans(&ch->draft, &g, e);
    builder_free(&g.key);
    return ok;
}

static bool need_vocab(const struct change *ch, struct err *e)
{
    return ch->draft.of->vocab || err_set(e, STATUS_USAGE, "a grammar needs --vocab");
}

static void drop_grammar(struct change *ch)
{
    shared_drop(ch->draft.parts.rules);
    ch->draft.parts.rules = NULL;
}

// An empty grammar is none.
static bool read_grammar(const cJSON *item, struct change *ch, struct err *e)
{
    if (!cJSON_IsString(item))
        return wrong(item, "a string", e);
    if (!*item->valuestring) {
        drop_grammar(ch);
        return true;
    }
    return need_vocab(ch, e) && draft_grammar(&ch->draft, GRAMMAR_TEXT, item->valuestring, e);
}

// As in llama-server, an empty schema is any object.
static bool read_schema(const cJSON *item, struct change *ch, struct err *e)
{
    const bool empty = cJSON_IsObject(item) && !item->child;
    char *const text = empty ? strdup("{\"type\":\"object\"}") : cJSON_PrintUnformatted(item);
    const bool ok = text ? draft_grammar(&ch->draft, GRAMMAR_SCHEMA, text, e) : err_from_fault(e, fault_memory());
    free(text);
    return ok && need_vocab(ch, e);
}

static bool read_lazy(const cJSON *item, struct change *ch, struct err *e)
{
    (void)ch;
    return cJSON_IsFalse(item) || wrong(item, "false; no other is supported", e);
}

static bool read_triggers(const cJSON *item, struct change *ch, struct err *e)
{
    (void)ch;
    return (cJSON_IsArray(item) && !item->child) || wrong(item, "an empty list; no other is supported", e);
}

static bool read_budget(const cJSON *item, struct change *ch, struct err *e)
{
    char text[NUMBER_TEXT];
    double v;
    return server_number(item, true, &v, e) &&
           value_whole("reasoning-budget", number_as_typed(v, text), -1, INT32_MAX, &ch->budget, e);
}

// Looked at once the budget is known.
static bool read_text(const cJSON *item, struct change *ch, struct err *e)
{
    (void)ch;
    return cJSON_IsString(item) || wrong(item, "a string", e);
}

static bool read_texts(const cJSON *item, struct change *ch, struct err *e)
{
    bool ok = cJSON_IsString(item) || cJSON_IsArray(item);
    for (const cJSON *text = item->child; ok && text; text = text->next)
        ok = cJSON_IsString(text);
    return ok || wrong(item, "a list of texts", e);
}

// Members that are no samplers' parameters.
static const struct member {
    const char *name, *option; // that engines have or have not; NULL: all have it
    bool (*read)(const cJSON *item, struct change *ch, struct err *e);
} members[] = {
    {"seed", NULL, read_seed},
    {"samplers", "samplers", read_samplers},
    {"logit_bias", "logit-bias", read_biases},
    {"ignore_eos", "ignore-eos", read_ignore_eos},
    {"dry_sequence_breakers", "dry-sequence-breaker", read_breakers},
    {"bad_words_ids", "bad-word-tokens", read_bans},
    {"custom_token_bans", "bad-word-tokens", read_bans},
    {"grammar", "grammar", read_grammar},
    {"json_schema", "json-schema", read_schema},
    {"grammar_lazy", NULL, read_lazy},
    {"grammar_triggers", NULL, read_triggers},
    {"reasoning_budget_tokens", "reasoning-budget", read_budget},
    {"reasoning_budget_start_tag", "reasoning-start", read_text},
    {"reasoning_budget_end_tag", "reasoning-end", read_texts},
    {"reasoning_budget_end_tags", "reasoning-end", read_texts},
    {"reasoning_budget_message", "reasoning-budget-message", read_text},
    {"generation_prompt", NULL, read_text},
};

static bool engine_knows(const cJSON *item, const char *option, const struct change *ch, struct err *e)
{
    const struct engine *const engine = ch->draft.parts.engine;
    return !option || engine_has(engine, ch->draft.parts.grammar_first, option, strlen(option)) ||
           err_set(e, STATUS_USAGE, "engine %s has no stage for %s", engine->name, item->string);
}

static bool read_member(const cJSON *item, struct change *ch, struct err *e)
{
    const struct catalog *const c = &ch->draft.of->catalog;
    if (cJSON_IsNull(item))
        return true;
    const size_t number = catalog_find_server(c, item->string);
    if (number < c->n)
        return engine_knows(item, c->param[number]->flag, ch, e) && set_number(ch, number, item, e);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!strcmp(item->string, members[i].name))
            return engine_knows(item, members[i].option, ch, e) && members[i].read(item, ch, e);
    if (foreign_ignored(server_ignored, item->string))
        return true;
    return err_set(e, STATUS_USAGE, "unknown parameter '%.60s'", item->string);
}

// Beside a grammar, even an empty or absent one, the server passes over a schema.
static bool read_members(struct change *ch, const cJSON *params, struct err *e)
{
    const cJSON *const grammar = cJSON_GetObjectItemCaseSensitive(params, "grammar");
    for (const cJSON *item = params->child; item; item = item->next) {
        const bool outdone = grammar && !strcmp(item->string, "json_schema");
        if (outdone && cJSON_IsNull(grammar) && !cJSON_IsNull(item))
            drop_grammar(ch);
        if (!outdone && !read_member(item, ch, e))
            return false;
    }
    return true;
}

// Once it is known whether there is a grammar: refuses the parameters of stages that then do not run, be they of this row or of before.
static bool check_grammar(const struct change *ch, const cJSON *params, struct err *e)
{
    const struct parts *const p = &ch->draft.parts;
    const struct catalog *const c = &ch->draft.of->catalog;
    for (const cJSON *item = params->child; item && p->rules; item = item->next) {
        const size_t number = catalog_find_server(c, item->string);
        if (number < c->n && !cJSON_IsNull(item) &&
            engine_has_free(p->engine, c->param[number]->flag, strlen(c->param[number]->flag)))
            return err_set(e, STATUS_USAGE, "engine %s has no stage for %s under a grammar", p->engine->name,
                           item->string);
    }
    for (size_t i = 0; p->rules && i < c->n; i++) {
        const struct param *const row = c->param[i];
        if (engine_has_free(p->engine, row->flag, strlen(row->flag)) &&
            p->value[i] != engine_default(p->engine, c, i) && p->value[i] != param_value(row, row->def))
            return err_set(e, STATUS_USAGE, "engine %s has no stage for --%s, which was set before, under a grammar",
                           p->engine->name, row->flag);
    }
    return true;
}

// What runs in the default chain follows from the values.
static bool settle_samplers(struct change *ch, struct err *e)
{
    const struct order *const order = ch->draft.parts.order;
    return !order || *(const char *)order->shared.key != 'd' || draft_samplers(&ch->draft, NULL, false, e);
}

// The biases once all is known that bears on them.
static bool settle_biases(struct change *ch, struct err *e)
{
    const struct biases *const old = ch->draft.parts.biases;
    if (!ch->new_biases)
        return ch->ignore_eos == old->ignore_eos ||
               draft_biases(&ch->draft, old->bias, old->n_given, ch->ignore_eos, e);
    if (!draft_biases(&ch->draft, ch->bias, ch->n_bias, ch->ignore_eos, e))
        return false;
    return ch->draft.parts.biases->shared.users > 1 ||
           say_spellings(&ch->spelt, e); // of those that others have it was said
}

// Gives the tokens of a text, if it has any.
static bool give_text(struct change *ch, struct given *g, const char *name, const cJSON *item, struct err *e)
{
    if (!recipes_split_text(ch->draft.of, name, item->valuestring, false, &ch->ids, e))
        return false;
    note_spelling(&ch->spelt, name, item->valuestring, &ch->ids);
    give_tokens(g, ch->ids.id, ch->ids.n);
    return true;
}

// The end tags are a text or a list of texts, the empty ones not counting.
static bool give_ends(struct change *ch, struct given *g, const cJSON *item, struct err *e)
{
    bool ok = true;
    for (const cJSON *text = cJSON_IsArray(item) ? item->child : item; ok && text;
         text = cJSON_IsArray(item) ? text->next : NULL)
        ok = !*text->valuestring || give_text(ch, g, item->string, text, e);
    return ok;
}

// A member that is there and not null.
static const cJSON *member_of(const cJSON *params, const char *name)
{
    const cJSON *const item = cJSON_GetObjectItemCaseSensitive(params, name);
    return cJSON_IsNull(item) ? NULL : item;
}

// The reasoning budget once all is known that bears on it. Where there is none its texts do not count.
static bool settle_reasoning(struct change *ch, const cJSON *params, struct err *e)
{
    static const char *const names[] = {[REASONING_START] = "reasoning_budget_start_tag",
                                        [REASONING_MESSAGE] = "reasoning_budget_message",
                                        [REASONING_BEFORE] = "generation_prompt"};
    const struct reasoning *const old = ch->draft.parts.reasoning;
    const cJSON *ends = member_of(params, "reasoning_budget_end_tags");
    if (!ends)
        ends = member_of(params, "reasoning_budget_end_tag");
    struct given g = {0};
    bool ok = true;
    if (ch->budget < 0 && (!old || old->tokens < 0))
        return true;
    builder_clear(&ch->spelt);
    for (size_t i = 0; ok && i < REASONING_END; i++) {
        const cJSON *const item = ch->budget < 0 ? NULL : member_of(params, names[i]);
        if (item)
            ok = give_text(ch, &g, names[i], item, e);
        else
            give_tokens(&g, old ? old->tag[i].id : NULL, old ? old->tag[i].n : 0);
    }
    if (ok && ends && ch->budget >= 0)
        ok = give_ends(ch, &g, ends, e);
    for (size_t i = REASONING_END; !(ends && ch->budget >= 0) && old && i < old->n; i++)
        give_tokens(&g, old->tag[i].id, old->tag[i].n);
    ok = ok && draft_reasoning(&ch->draft, ch->budget, &g, e);
    builder_free(&g.key);
    return ok && (ch->draft.parts.reasoning->shared.users > 1 || say_spellings(&ch->spelt, e));
}

const struct recipe *recipe_with_params(struct recipes *r, const struct recipe *from, const cJSON *params,
                                        struct err *e)
{
    struct change ch = {.draft = {r, from->parts, true},
                        .ignore_eos = from->parts.biases->ignore_eos,
                        .budget = from->parts.reasoning ? from->parts.reasoning->tokens : -1};
    parts_keep(&ch.draft.parts);
    const bool ok = read_members(&ch, params, e) && check_grammar(&ch, params, e) && settle_samplers(&ch, e) &&
                    settle_biases(&ch, e) && settle_reasoning(&ch, params, e);
    free(ch.bias);
    free(ch.ids.id);
    builder_free(&ch.spelt);
    if (ok)
        return draft_make(&ch.draft, e);
    parts_drop(&ch.draft.parts);
    if (e->status == STATUS_USAGE) {
        e->status = STATUS_DATA;
        err_prefix(e, "params");
    }
    return NULL;
}
