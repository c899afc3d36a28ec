// SPDX-License-Identifier: MIT
#include "recipe/server_params.h"

#include "cli/set.h"
#include "out/output.h"
#include "recipe/derive.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Ranges that the server puts on numbers: values outside are clamped or, where it is hard, refused.
static const struct limit {
    const char *name;
    double low, high;
    bool hard;
} limits[] = {
    {"temperature", 0, INFINITY, false},
    {"top_k", 0, INFINITY, false},
    {"top_p", 0, 1, false},
    {"min_p", 0, 1, false},
    {"xtc_probability", 0, 1, false},
    {"xtc_threshold", 0, 1, false},
    {"mirostat", 0, 2, false},
    {"adaptive_target", -INFINITY, 1, false},
    {"adaptive_decay", 0, 0.99, true},
    {"repeat_last_n", 0, INFINITY, true},
    {"dry_allowed_length", 0, INFINITY, true},
    {"dry_penalty_last_n", 0, INFINITY, true},
    {"min_keep", 0, INFINITY, true},
};

// Members of requests, and of the settings that replies echo, that do not bear on which token is chosen from a row.
static const char *const no_bearing[] = {
    "backend_sampling",
    "cache_prompt",
    "chat_format",
    "generation_prompt",
    "grammar_triggers",
    "id_slot",
    "ignore_eos_default",
    "logprobs",
    "lora",
    "max_completion_tokens",
    "max_tokens",
    "model",
    "n_cache_reuse",
    "n_discard",
    "n_indent",
    "n_keep",
    "n_predict",
    "n_probs",
    "post_sampling_probs",
    "preserved_tokens",
    "prompt",
    "reasoning_format",
    "reasoning_in_content",
    "response_fields",
    "return_progress",
    "return_tokens",
    "stop",
    "stream",
    "stream_options",
    "t_max_predict_ms",
    "thinking_forced_open",
    "timings_per_token",
    "top_logprobs",
    "verbose",
};

static const char *int_text(int64_t v, char text[NUMBER_TEXT])
{
    snprintf(text, NUMBER_TEXT, "%" PRId64, v);
    return text;
}

static bool wrong(const cJSON *item, const char *wanted, struct err *e)
{
    return err_set(e, STATUS_DATA, "params: %.60s is not %s", item->string, wanted);
}

// The option that the server knows by this name.
static const struct option_row *row_of(const char *name)
{
    for (const struct option_row *row = option_table; row->name; row++) {
        if ((row->group != GROUP_CHAIN && row->group != GROUP_SCATTER) || !row->set)
            continue;
        if (row->server ? !strcmp(name, row->server) : !strchr(name, '-') && option_by_name(name, strlen(name)) == row)
            return row;
    }
    return NULL;
}

static bool limit(const cJSON *item, double *v, struct err *e)
{
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const struct limit *const l = &limits[i];
        if (strcmp(item->string, l->name) != 0)
            continue;
        if (l->hard && (*v < l->low || *v > l->high))
            return l->high == INFINITY
                       ? err_set(e, STATUS_DATA, "params: %s must be at least %g", l->name, l->low)
                       : err_set(e, STATUS_DATA, "params: %s must be between %g and %g", l->name, l->low, l->high);
        *v = fmin(fmax(*v, l->low), l->high);
    }
    return true;
}

// Stores a value as if it had been given as an option.
static bool set(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    if (row->set(row, value, o, e))
        return true;
    if (e->status == STATUS_USAGE)
        e->status = STATUS_DATA;
    return err_prefix(e, "params");
}

static bool set_number(const struct option_row *row, const cJSON *item, struct options *o, struct err *e)
{
    char text[NUMBER_TEXT];
    double v = item->valuedouble;
    if (!cJSON_IsNumber(item))
        return wrong(item, "a number", e);
    if (!limit(item, &v, e))
        return false;
    if (!strcmp(row->name, "dry-base") && v < 1.0) // the server takes its default
        return set(row, row->def, o, e);
    if (v == floor(v) && fabs(v) < 1e15)
        return set(row, int_text((int64_t)v, text), o, e);
    return set(row, number_text((float)v, text), o, e);
}

static bool set_boolean(const struct option_row *row, const cJSON *item, struct options *o, struct err *e)
{
    if (!cJSON_IsBool(item))
        return wrong(item, "true or false", e);
    *(bool *)(void *)((char *)o + row->at) = cJSON_IsTrue(item);
    return true;
}

// The sampler's names joined by ';', or letters as they stand.
static bool set_chain(const cJSON *item, struct options *o, struct err *e)
{
    size_t len = 1;
    const cJSON *name;
    if (cJSON_IsString(item)) {
        o->samplers_by_letter = true;
        o->samplers = derive_keep(o, strdup(item->valuestring));
        return o->samplers || err_from_fault(e, fault_memory());
    }
    if (!cJSON_IsArray(item))
        return wrong(item, "an array of names or a string of letters", e);
    cJSON_ArrayForEach(name, item)
    {
        if (!cJSON_IsString(name) || strchr(name->valuestring, ';'))
            return wrong(item, "an array of names or a string of letters", e);
        len += strlen(name->valuestring) + 1;
    }
    char *const text = malloc(len);
    if (!text)
        return err_from_fault(e, fault_memory());
    char *at = text;
    *at = '\0';
    cJSON_ArrayForEach(name, item) at = stpcpy(stpcpy(at, at == text ? "" : ";"), name->valuestring);
    o->samplers_by_letter = false;
    o->samplers = derive_keep(o, text);
    return o->samplers || err_from_fault(e, fault_memory());
}

// One entry of logit_bias as the option spells it: 5+1.5, 5-inf, "text"+1.
static bool add_bias(const cJSON *item, const cJSON *token, const cJSON *bias, struct options *o, struct err *e)
{
    const char *const text = cJSON_GetStringValue(token);
    const bool ban = cJSON_IsFalse(bias), id = cJSON_IsNumber(token);
    char number[NUMBER_TEXT], id_part[NUMBER_TEXT];
    if ((!ban && !cJSON_IsNumber(bias)) || (!id && !text))
        return wrong(item, "a list of pairs of a token and a bias", e);
    if (id && !(token->valuedouble >= 0 && token->valuedouble <= INT32_MAX && token->valuedouble == floor(token->valuedouble)))
        return wrong(item, "a list of pairs of a token and a bias", e);
    const char *const name = text ? text : int_text((int64_t)token->valuedouble, id_part);
    const char *const value = ban ? "-inf" : number_text((float)bias->valuedouble, number);
    char *const word = malloc(strlen(name) + strlen(value) + 4);
    if (!word)
        return err_from_fault(e, fault_memory());
    char *at = stpcpy(stpcpy(stpcpy(word, text ? "\"" : ""), name), text ? "\"" : "");
    stpcpy(stpcpy(at, *value == '-' ? "" : "+"), value);
    const char *const kept = derive_keep(o, word);
    return kept ? set(option_by_name("logit-bias", strlen("logit-bias")), kept, o, e) : err_from_fault(e, fault_memory());
}

// Forms: [[token, bias], ...], {"token": bias, ...}, and the echo [{"token": id, "bias": b}, ...]. Replaces what there was.
static bool set_biases(const cJSON *item, struct options *o, struct err *e)
{
    const cJSON *entry;
    if (!cJSON_IsArray(item) && !cJSON_IsObject(item))
        return wrong(item, "a list of pairs of a token and a bias", e);
    derive_forget_bias(o);
    cJSON_ArrayForEach(entry, item)
    {
        cJSON key = {.type = cJSON_String, .valuestring = entry->string};
        const cJSON *token = &key, *bias = entry;
        if (cJSON_IsArray(item)) {
            token = cJSON_IsArray(entry) ? cJSON_GetArrayItem(entry, 0) : cJSON_GetObjectItemCaseSensitive(entry, "token");
            bias = cJSON_IsArray(entry) ? cJSON_GetArrayItem(entry, 1) : cJSON_GetObjectItemCaseSensitive(entry, "bias");
        } else if (*entry->string && strspn(entry->string, "0123456789") == strlen(entry->string)) {
            key = (cJSON){.type = cJSON_Number, .valuedouble = strtod(entry->string, NULL)};
        }
        if (!add_bias(item, token, bias, o, e))
            return false;
    }
    return true;
}

// The text in which our own escapes mean `text` itself: the server's has none but those of JSON. To be freed.
static char *escaped(const char *text)
{
    char *const all = malloc(2 * strlen(text) + 1), *at = all;
    for (; all && *text; *at++ = *text++)
        if (*text == '\\')
            *at++ = '\\';
    if (all)
        *at = '\0';
    return all;
}

static bool set_breakers(const cJSON *item, struct options *o, struct err *e)
{
    const cJSON *text;
    if (!cJSON_IsArray(item) || !item->child)
        return wrong(item, "a list of texts", e);
    derive_forget_breakers(o);
    cJSON_ArrayForEach(text, item)
    {
        if (!cJSON_IsString(text))
            return wrong(item, "a list of texts", e);
        const char *const kept = derive_keep(o, escaped(text->valuestring));
        if (!kept)
            return err_from_fault(e, fault_memory());
        if (!set(option_by_name("dry-sequence-breaker", strlen("dry-sequence-breaker")), kept, o, e))
            return false;
    }
    return true;
}

// An empty grammar is none.
static bool set_grammar_text(const cJSON *item, struct options *o, struct err *e)
{
    if (!cJSON_IsString(item))
        return wrong(item, "a string", e);
    if (!*item->valuestring) {
        derive_forget_grammar(o);
        return true;
    }
    const char *const kept = derive_keep(o, strdup(item->valuestring));
    return kept ? set(option_by_name("grammar", strlen("grammar")), kept, o, e) : err_from_fault(e, fault_memory());
}

static bool set_json_schema(const cJSON *item, struct options *o, struct err *e)
{
    char *const text = cJSON_PrintUnformatted(item);
    if (!text)
        return err_from_fault(e, fault_memory());
    const bool ok = set(option_by_name("json-schema", strlen("json-schema")), text, o, e);
    free(text);
    return ok;
}

static bool set_lazy(const cJSON *item, struct options *o, struct err *e)
{
    (void)o;
    return cJSON_IsFalse(item) || wrong(item, "false; no other is supported", e);
}

// Members that are no numbers.
static const struct shaped {
    const char *name, *option; // that engines have or have not
    bool (*set)(const cJSON *item, struct options *o, struct err *e);
} shaped[] = {
    {"samplers", "samplers", set_chain},
    {"logit_bias", "logit-bias", set_biases},
    {"dry_sequence_breakers", "dry-sequence-breaker", set_breakers},
    {"grammar", "grammar", set_grammar_text},
    {"json_schema", "json-schema", set_json_schema},
    {"grammar_lazy", NULL, set_lazy},
};

static bool no_stage(const cJSON *item, const struct options *o, struct err *e)
{
    return err_set(e, STATUS_DATA, "params: engine %s has no stage for %s", o->engine->name, item->string);
}

static bool member(const cJSON *item, struct options *o, struct err *e)
{
    if (cJSON_IsNull(item))
        return true;
    for (size_t i = 0; i < sizeof no_bearing / sizeof *no_bearing; i++)
        if (!strcmp(item->string, no_bearing[i]))
            return true;
    for (size_t i = 0; i < sizeof shaped / sizeof *shaped; i++) {
        const struct shaped *const m = &shaped[i];
        if (!strcmp(item->string, m->name))
            return (!m->option || engine_has(o->engine, m->option, strlen(m->option)) || no_stage(item, o, e)) &&
                   m->set(item, o, e);
    }
    const struct option_row *const row = row_of(item->string);
    if (row && !engine_has(o->engine, row->name, strlen(row->name)) && row->set != set_seed)
        return no_stage(item, o, e);
    if (row && row->set == set_flag)
        return set_boolean(row, item, o, e);
    if (row && (row->set == set_int || row->set == set_float || row->set == set_seed))
        return set_number(row, item, o, e);
    return err_set(e, STATUS_DATA, "params: unknown parameter '%.60s'", item->string);
}

bool server_params_set(struct options *o, const cJSON *params, struct err *e)
{
    const char *const grammar = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(params, "grammar"));
    const cJSON *item;
    cJSON_ArrayForEach(item, params)
    {
        const bool outdone = grammar && *grammar && !strcmp(item->string, "json_schema"); // the server's order, too
        if (!outdone && !member(item, o, e))
            return false;
    }
    return true;
}
