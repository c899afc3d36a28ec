// SPDX-License-Identifier: MIT
#include "recipe/print_chain.h"

#include "cli/option_table.h"
#include "cli/set.h"
#include "out/output.h"
#include "sample/registry.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The value of an option's parameter in p, as one would give it.
static const char *value_text(const struct option_row *row, const struct params *p, char text[NUMBER_TEXT])
{
    const void *const at = (const char *)p + (row->at - offsetof(struct options, params));
    if (row->set == set_float)
        return number_text(*(const float *)at, text);
    if (row->set == set_flag)
        return *(const bool *)at ? "true" : "false";
    if (row->set == set_seed)
        snprintf(text, NUMBER_TEXT, "%" PRIu32, *(const uint32_t *)at);
    else
        snprintf(text, NUMBER_TEXT, "%" PRId32, *(const int32_t *)at);
    return text;
}

// Walks a comma-separated list of options: the row of the next that the engine listens to; *at moves on. NULL at the end.
static const struct option_row *next_option(const struct options *o, const char **at)
{
    while (*(*at += strspn(*at, ","))) {
        const char *const name = *at;
        const size_t len = strcspn(name, ",");
        *at += len;
        if (engine_has(o->engine, name, len))
            return option_by_name(name, len);
    }
    return NULL;
}

static void bias_text(const struct bias *b, char text[2 * NUMBER_TEXT])
{
    char number[NUMBER_TEXT];
    number_text(b->bias, number);
    snprintf(text, 2 * NUMBER_TEXT, "%" PRIu32 "%s%s", b->id, *number == '-' ? "" : "+", number);
}

static void print_text(const struct options *o)
{
    if (o->engine->options)
        printf("engine %s\n", o->engine->name);
    printf("seed %" PRIu32 "%s\n", o->params.seed, o->random_seed ? " (random)" : "");
    for (size_t i = 0; i < o->n_plan; i++) {
        const struct choice *const stage = &o->plan[i];
        const char *at = stage->row->options;
        char text[2 * NUMBER_TEXT];
        printf("%-12s %-4s", stage->row->name, chain_enabled(stage) ? "on" : "off");
        for (const struct option_row *row; (row = next_option(o, &at));)
            printf(" %s=%s", row->name, value_text(row, &stage->params, text));
        for (size_t b = 0; stage->row->sampler == &sampler_logit_bias && b < o->params.n_bias; b++) {
            bias_text(&o->params.bias[b], text);
            printf(" %s", text);
        }
        putchar('\n');
    }
}

// Adds {"name":value, ...} for a list of options, under our names or llama-server's.
static bool add_params(cJSON *to, const struct options *o, const char *options, const struct params *p, bool server)
{
    bool ok = true;
    for (const struct option_row *row; ok && (row = next_option(o, &options));) {
        char name[64], text[NUMBER_TEXT];
        snprintf(name, sizeof name, "%s", server && row->server ? row->server : row->name);
        for (char *c = name; *c; c++)
            if (*c == '-')
                *c = '_';
        ok = cJSON_HasObjectItem(to, name) || cJSON_AddRawToObject(to, name, value_text(row, p, text));
    }
    return ok;
}

// [[id, bias], ...], llama-server's form; false is -inf.
static bool add_bias(cJSON *to, const struct params *p)
{
    cJSON *const list = cJSON_AddArrayToObject(to, "logit_bias");
    bool ok = list;
    for (size_t i = 0; ok && i < p->n_bias; i++) {
        char text[3 * NUMBER_TEXT], bias[NUMBER_TEXT];
        number_text(p->bias[i].bias, bias);
        snprintf(text, sizeof text, "[%" PRIu32 ",%s]", p->bias[i].id, !strcmp(bias, "-inf") ? "false" : bias);
        cJSON *const pair = cJSON_CreateRaw(text);
        ok = pair && cJSON_AddItemToArray(list, pair);
    }
    return ok;
}

static bool add_seed(cJSON *to, const struct options *o)
{
    char text[NUMBER_TEXT];
    snprintf(text, sizeof text, "%" PRIu32, o->params.seed);
    return (!o->engine->options || cJSON_AddStringToObject(to, "engine", o->engine->name)) &&
           cJSON_AddRawToObject(to, "seed", text);
}

static bool add_stages(cJSON *to, const struct options *o)
{
    cJSON *const list = cJSON_AddArrayToObject(to, "chain");
    bool ok = list;
    for (size_t i = 0; ok && i < o->n_plan; i++) {
        const struct choice *const stage = &o->plan[i];
        cJSON *const item = cJSON_CreateObject();
        ok = item && cJSON_AddItemToArray(list, item) && cJSON_AddStringToObject(item, "name", stage->row->name) &&
             cJSON_AddBoolToObject(item, "enabled", chain_enabled(stage)) &&
             add_params(item, o, stage->row->options, &stage->params, false) &&
             (stage->row->sampler != &sampler_logit_bias || add_bias(item, &stage->params));
    }
    return ok;
}

static bool unsayable(const char *what, const char *name, struct err *e)
{
    return err_set(e, STATUS_USAGE, "--print-chain: llama-server has no %s%s", what, name);
}

// The server has one value a parameter: finds that which all stages of a sampler share. Mirostat's temperature is the common one.
static bool shared_params(const struct options *o, const struct registry_row *sampler, const struct params **params,
                          struct err *e)
{
    const char *at = sampler->options;
    const struct option_row *const main = next_option(o, &at);
    char first[NUMBER_TEXT], other[NUMBER_TEXT];
    *params = NULL;
    for (size_t i = 0; main && !o->params.mirostat && i < o->n_choices; i++) {
        if (o->choice[i].row != sampler)
            continue;
        if (*params && strcmp(value_text(main, *params, first), value_text(main, &o->choice[i].params, other)) != 0)
            return unsayable("second value of --", main->name, e);
        *params = &o->choice[i].params;
    }
    *params = *params ? *params : &o->params;
    return true;
}

static bool is_on(const struct options *o, const struct sampler *sampler)
{
    for (size_t i = 0; i < o->n_plan; i++)
        if (o->plan[i].row->sampler == sampler && chain_enabled(&o->plan[i]))
            return true;
    return false;
}

// What the server would refuse, or pass over.
static bool check_request(const struct options *o, struct err *e)
{
    const struct params *const p = &o->params;
    const struct params *shared;
    for (const struct registry_row *row = registry; row->name; row++)
        if (!shared_params(o, row, &shared, e))
            return false;
    if (is_on(o, &sampler_greedy))
        return unsayable("sampler ", "greedy", e);
    if (p->repeat_last_n < 0)
        return unsayable("-1 for --", "repeat-last-n", e);
    if (p->dry_penalty_last_n < 0)
        return unsayable("-1 for --", "dry-penalty-last-n", e);
    if (is_on(o, &sampler_dry) && p->n_dry_breakers)
        return unsayable("--", "dry-breaker-tokens", e);
    return !is_on(o, &sampler_dry) || p->n_dry_texts || unsayable("empty list for --", "dry-sequence-breaker", e);
}

// Escapes resolved: the server knows none but those of JSON.
static bool add_breakers(cJSON *to, const struct params *p)
{
    cJSON *const list = cJSON_AddArrayToObject(to, "dry_sequence_breakers");
    bool ok = list;
    for (size_t i = 0; ok && i < p->n_dry_texts; i++) {
        char *const text = strndup((const char *)p->dry_texts[i].p, p->dry_texts[i].len);
        cJSON *const item = text ? cJSON_CreateString(text) : NULL;
        ok = item && cJSON_AddItemToArray(list, item);
        free(text);
    }
    return ok;
}

// llama-server's request body.
static bool add_request(cJSON *to, const struct options *o)
{
    const struct params *shared;
    struct err e;
    cJSON *const names = cJSON_AddArrayToObject(to, "samplers");
    bool ok = names && add_seed(to, o);
    for (size_t i = 0; ok && i < o->n_choices; i++) {
        cJSON *const name = cJSON_CreateString(o->choice[i].row->name);
        ok = name && cJSON_AddItemToArray(names, name);
    }
    for (const struct registry_row *row = registry; ok && row->name; row++)
        ok = shared_params(o, row, &shared, &e) && add_params(to, o, row->options, shared, true);
    return ok && add_params(to, o, "mirostat", &o->params, true) &&
           (!o->dry_text_given || !o->params.n_dry_texts || add_breakers(to, &o->params)) &&
           (!o->gbnf || cJSON_AddStringToObject(to, "grammar", o->gbnf)) && (!o->params.n_bias || add_bias(to, &o->params));
}

static bool print_json(const struct options *o, struct err *e)
{
    cJSON *const root = cJSON_CreateObject();
    const bool ok = root && (!strcmp(o->how, "server") ? add_request(root, o) : add_seed(root, o) && add_stages(root, o));
    char *const text = ok ? cJSON_PrintUnformatted(root) : NULL;
    cJSON_Delete(root);
    if (!text)
        return err_from_fault(e, fault_memory());
    puts(text);
    free(text);
    return true;
}

// The chain's names, with a value where a stage's differs from the common one.
static void print_names(const struct options *o)
{
    fputs("--samplers \"", stdout);
    for (size_t i = 0; i < o->n_choices; i++) {
        const struct choice *const c = &o->choice[i];
        const char *at = c->row->options;
        const struct option_row *const row = next_option(o, &at);
        char own[NUMBER_TEXT], common[NUMBER_TEXT];
        printf("%s%s", i ? ";" : "", c->row->name);
        if (row && strcmp(value_text(row, &c->params, own), value_text(row, &o->params, common)) != 0)
            printf("=%s", own);
    }
    putchar('"');
}

// A word for the shell and for presets: in single quotes, and a single quote in double ones.
static void print_word(const char *s)
{
    putchar('\'');
    for (; *s; s++) {
        if (*s == '\'')
            fputs("'\"'\"'", stdout);
        else
            putchar(*s);
    }
    putchar('\'');
}

static void print_flags(const struct options *o)
{
    if (o->engine->options)
        printf("--engine %s", o->engine->name);
    else
        print_names(o);
    for (const struct option_row *row = option_table; row->name; row++) {
        char text[NUMBER_TEXT];
        if ((row->group != GROUP_CHAIN && row->group != GROUP_SCATTER) ||
            (row->set != set_int && row->set != set_float && row->set != set_seed && row->set != set_flag) ||
            (row->set != set_seed && !engine_has(o->engine, row->name, strlen(row->name))))
            continue;
        const char *const value = value_text(row, &o->params, text);
        if (row->set != set_flag)
            printf(" --%s %s", row->name, value);
        else if (!strcmp(value, "true"))
            printf(" --%s", row->name);
    }
    if (o->vocab_file) {
        fputs(" --vocab ", stdout);
        print_word(o->vocab_file);
    }
    if (o->grammar_given) {
        fputs(o->grammar_is_file ? " --grammar-file " : " --grammar ", stdout);
        print_word(o->grammar_given);
    }
    for (size_t i = 0; i < o->params.n_bias - o->n_vocab_bias; i++) {
        char text[2 * NUMBER_TEXT];
        bias_text(&o->params.bias[i], text);
        printf(" --logit-bias %s", text);
    }
    for (size_t i = 0; i < o->params.n_dry_breakers; i++) {
        const struct breaker *const b = &o->params.dry_breakers[i];
        fputs(" --dry-breaker-tokens ", stdout);
        for (size_t k = 0; k < b->n; k++)
            printf("%s%" PRIu32, k ? "," : "", b->ids[k]);
    }
    if (o->dry_text_given && !o->n_dry_texts)
        fputs(" --dry-sequence-breaker none", stdout);
    for (size_t i = 0; i < o->n_dry_texts; i++) {
        fputs(" --dry-sequence-breaker ", stdout);
        print_word(o->dry_text[i]);
    }
    putchar('\n');
}

bool print_chain(const struct options *o, struct err *e)
{
    if (o->engine->options && !strcmp(o->how, "server"))
        return unsayable("engine ", o->engine->name, e);
    if (!strcmp(o->how, "server") && !check_request(o, e))
        return false;
    if (!strcmp(o->how, "json") || !strcmp(o->how, "server"))
        return print_json(o, e);
    if (!strcmp(o->how, "llama"))
        print_flags(o);
    else
        print_text(o);
    return true;
}
