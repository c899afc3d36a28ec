// SPDX-License-Identifier: MIT
#include "recipe/print_chain.h"

#include "base/number.h"
#include "sample/chain.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A parameter's value, as one would give it.
static const char *value_text(const struct param *row, double value, char text[NUMBER_TEXT])
{
    if (row->type == PARAM_FLAG)
        return value != 0.0 ? "true" : "false";
    if (row->type == PARAM_FLOAT)
        return number_text((float)value, text);
    snprintf(text, NUMBER_TEXT, "%" PRId32, (int32_t)value);
    return text;
}

static bool listens(const struct recipe *r, const char *option)
{
    return engine_has(r->parts.engine, option, strlen(option));
}

// The next of a sampler's parameters that the engine listens to, from row on; NULL at the end.
static const struct param *next_param(const struct recipe *r, const struct param *row)
{
    while (row && row->flag && !listens(r, row->flag))
        row++;
    return row && row->flag ? row : NULL;
}

static void bias_text(const struct bias *b, char text[2 * NUMBER_TEXT])
{
    char number[NUMBER_TEXT];
    number_text(b->bias, number);
    snprintf(text, 2 * NUMBER_TEXT, "%" PRIu32 "%s%s", b->id, *number == '-' ? "" : "+", number);
}

static void print_text(const struct args *a, const struct recipe *r)
{
    const struct biases *const biases = r->parts.biases;
    if (r->parts.engine->options)
        printf("engine %s\n", r->parts.engine->name);
    printf("seed %" PRIu64 "%s\n", r->parts.seed, a->seed == UINT32_MAX ? " (random)" : "");
    for (size_t i = 0; i < r->n_stages; i++) {
        const struct stage *const stage = &r->stage[i];
        char text[2 * NUMBER_TEXT];
        printf("%-12s %-4s", stage->sampler->name, stage_enabled(stage) ? "on" : "off");
        for (const struct param *row = stage->sampler->params; (row = next_param(r, row)); row++)
            printf(" %s=%s", row->flag, value_text(row, param_load(row, stage->params), text));
        for (size_t b = 0; stage->sampler == &sampler_logit_bias && b < biases->n; b++) {
            bias_text(&biases->bias[b], text);
            printf(" %s", text);
        }
        putchar('\n');
    }
}

// Adds "name":value under our name, or llama-server's, unless it is there.
static bool add_param(cJSON *to, const struct param *row, double value, bool server)
{
    char name[64], text[NUMBER_TEXT];
    snprintf(name, sizeof name, "%s", server && row->server ? row->server : row->flag);
    for (char *c = name; *c; c++)
        if (*c == '-')
            *c = '_';
    return cJSON_HasObjectItem(to, name) || cJSON_AddRawToObject(to, name, value_text(row, value, text));
}

// [[id, bias], ...], llama-server's form; false is -inf.
static bool add_bias(cJSON *to, const struct biases *biases)
{
    cJSON *const list = cJSON_AddArrayToObject(to, "logit_bias");
    bool ok = list;
    for (size_t i = 0; ok && i < biases->n; i++) {
        char text[3 * NUMBER_TEXT], bias[NUMBER_TEXT];
        number_text(biases->bias[i].bias, bias);
        snprintf(text, sizeof text, "[%" PRIu32 ",%s]", biases->bias[i].id, !strcmp(bias, "-inf") ? "false" : bias);
        cJSON *const pair = cJSON_CreateRaw(text);
        ok = pair && cJSON_AddItemToArray(list, pair);
    }
    return ok;
}

static bool add_seed(cJSON *to, const struct recipe *r)
{
    char text[NUMBER_TEXT];
    snprintf(text, sizeof text, "%" PRIu64, r->parts.seed);
    return (!r->parts.engine->options || cJSON_AddStringToObject(to, "engine", r->parts.engine->name)) &&
           cJSON_AddRawToObject(to, "seed", text);
}

static bool add_stages(cJSON *to, const struct recipe *r)
{
    cJSON *const list = cJSON_AddArrayToObject(to, "chain");
    bool ok = list;
    for (size_t i = 0; ok && i < r->n_stages; i++) {
        const struct stage *const stage = &r->stage[i];
        cJSON *const item = cJSON_CreateObject();
        ok = item && cJSON_AddItemToArray(list, item) && cJSON_AddStringToObject(item, "name", stage->sampler->name) &&
             cJSON_AddBoolToObject(item, "enabled", stage_enabled(stage));
        for (const struct param *row = stage->sampler->params; ok && (row = next_param(r, row)); row++)
            ok = add_param(item, row, param_load(row, stage->params), false);
        ok = ok && (stage->sampler != &sampler_logit_bias || add_bias(item, r->parts.biases));
    }
    return ok;
}

static bool unsayable(const char *what, const char *name, struct err *e)
{
    return err_set(e, STATUS_USAGE, "--print-chain: llama-server has no %s%s", what, name);
}

static double common_value(const struct recipe *r, const char *flag)
{
    return r->parts.value[catalog_find(&r->of->catalog, flag, strlen(flag))];
}

// The server has one value a parameter: finds that of a sampler's main one which all its stages share. Mirostat's temperature is the
// common one.
static bool shared_value(const struct recipe *r, const struct sampler *s, double *value, struct err *e)
{
    const struct order *const order = r->parts.order;
    const struct param *const main = s->params;
    bool found = false;
    if (!main)
        return true;
    *value = common_value(r, main->flag);
    for (size_t i = 0; common_value(r, "mirostat") == 0.0 && i < order->n; i++) {
        const struct choice *const c = &order->choice[i];
        const double own = c->own ? c->value : common_value(r, main->flag);
        if (choice_sampler(c) != s)
            continue;
        if (found && own != *value)
            return unsayable("second value of --", main->flag, e);
        *value = own;
        found = true;
    }
    return true;
}

// What the server would refuse, or pass over.
static bool check_request(const struct recipe *r, struct err *e)
{
    static const char *const not_all[] = {"repeat-last-n", "dry-penalty-last-n"};
    const struct breakers *const breakers = &r->parts.breakers->breakers;
    double value;
    for (size_t i = 0; samplers[i]; i++)
        if (!shared_value(r, samplers[i], &value, e))
            return false;
    if (recipe_runs(r, &sampler_greedy))
        return unsayable("sampler ", "greedy", e);
    for (size_t i = 0; i < sizeof not_all / sizeof *not_all; i++)
        if (common_value(r, not_all[i]) < 0.0)
            return unsayable("-1 for --", not_all[i], e);
    if (!recipe_runs(r, &sampler_dry))
        return true;
    if (breakers->n_sequences)
        return unsayable("--", "dry-breaker-tokens", e);
    return breakers->n_texts || unsayable("empty list for --", "dry-sequence-breaker", e);
}

// Escapes resolved: the server knows none but those of JSON.
static bool add_breakers(cJSON *to, const struct breakers *b)
{
    cJSON *const list = cJSON_AddArrayToObject(to, "dry_sequence_breakers");
    bool ok = list;
    for (size_t i = 0; ok && i < b->n_texts; i++) {
        char *const text = strndup((const char *)b->text[i].p, b->text[i].len);
        cJSON *const item = text ? cJSON_CreateString(text) : NULL;
        ok = item && cJSON_AddItemToArray(list, item);
        free(text);
    }
    return ok;
}

// llama-server's request body.
static bool add_request(cJSON *to, const struct args *a, const struct recipe *r)
{
    const struct parts *const p = &r->parts;
    struct err e;
    cJSON *const names = cJSON_AddArrayToObject(to, "samplers");
    bool ok = names && add_seed(to, r);
    for (size_t i = 0; ok && i < p->order->n; i++) {
        cJSON *const name = cJSON_CreateString(choice_sampler(&p->order->choice[i])->name);
        ok = name && cJSON_AddItemToArray(names, name);
    }
    const struct catalog *const c = &r->of->catalog;
    for (size_t i = 0; ok && samplers[i]; i++) {
        double value;
        ok = shared_value(r, samplers[i], &value, &e);
        for (size_t k = 0; ok && samplers[i]->params && samplers[i]->params[k].flag; k++)
            ok = add_param(to, c->param[c->number[i][k]], k ? p->value[c->number[i][k]] : value, true);
    }
    return ok && add_param(to, c->param[c->mirostat], p->value[c->mirostat], true) &&
           (!args_given(a, "dry-sequence-breaker") || !p->breakers->breakers.n_texts ||
            add_breakers(to, &p->breakers->breakers)) &&
           (!p->rules || cJSON_AddStringToObject(to, "grammar", p->rules->text)) && (!p->biases->n || add_bias(to, p->biases));
}

static bool print_json(const struct args *a, const struct recipe *r, struct err *e)
{
    cJSON *const root = cJSON_CreateObject();
    const bool ok = root && (!strcmp(a->how, "server") ? add_request(root, a, r) : add_seed(root, r) && add_stages(root, r));
    char *const text = ok ? cJSON_PrintUnformatted(root) : NULL;
    cJSON_Delete(root);
    if (!text)
        return err_from_fault(e, fault_memory());
    puts(text);
    free(text);
    return true;
}

// The chain's names, with a value where a stage's differs from the common one.
static void print_names(const struct recipe *r)
{
    fputs("--samplers \"", stdout);
    for (size_t i = 0; i < r->parts.order->n; i++) {
        const struct choice *const c = &r->parts.order->choice[i];
        const struct param *const main = choice_sampler(c)->params;
        char text[NUMBER_TEXT];
        printf("%s%s", i ? ";" : "", choice_sampler(c)->name);
        if (c->own && c->value != common_value(r, main->flag))
            printf("=%s", value_text(main, c->value, text));
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

static void print_numbers(const struct args *a, const struct recipe *r)
{
    for (const struct option_row *row = a->options->row; row->name; row++) {
        char text[NUMBER_TEXT];
        if (!strcmp(row->name, "seed"))
            printf(" --seed %" PRIu64, r->parts.seed);
        else if (!row->param || !listens(r, row->name))
            continue;
        else if (row->param->type != PARAM_FLAG)
            printf(" --%s %s", row->name, value_text(row->param, r->parts.value[row->number], text));
        else if (r->parts.value[row->number] != 0.0)
            printf(" --%s", row->name);
    }
    if (a->ignore_eos)
        fputs(" --ignore-eos", stdout);
    if (a->backend_sampling && !r->parts.engine->options)
        fputs(" --backend-sampling", stdout);
}

static void print_option(const char *name, const char *value)
{
    printf(" --%s ", name);
    print_word(value);
}

// Flags that given to sampl make the same run.
static void print_flags(const struct args *a, const struct recipe *r)
{
    const struct breakers *const breakers = &r->parts.breakers->breakers;
    if (r->parts.engine->options)
        printf("--engine %s", r->parts.engine->name);
    else
        print_names(r);
    print_numbers(a, r);
    if (a->vocab)
        print_option("vocab", a->vocab);
    if (a->grammar_source == GRAMMAR_FILE)
        print_option("grammar-file", a->grammar);
    else if (r->parts.rules)
        print_option("grammar", r->parts.rules->text);
    for (size_t i = 0; i < r->parts.biases->n_given; i++) {
        char text[2 * NUMBER_TEXT];
        bias_text(&r->parts.biases->bias[i], text);
        printf(" --logit-bias %s", text);
    }
    for (size_t i = 0; i < breakers->n_sequences; i++) {
        fputs(" --dry-breaker-tokens ", stdout);
        for (size_t k = 0; k < breakers->sequence[i].n; k++)
            printf("%s%" PRIu32, k ? "," : "", breakers->sequence[i].ids[k]);
    }
    if (args_given(a, "dry-sequence-breaker") && !a->breaker_texts.n)
        fputs(" --dry-sequence-breaker none", stdout);
    for (size_t i = 0; i < a->breaker_texts.n; i++)
        print_option("dry-sequence-breaker", a->breaker_texts.word[i]);
    putchar('\n');
}

void print_grammar(const struct recipe *r)
{
    const struct rules *const rules = r->parts.rules;
    fwrite(rules->text, 1, rules->len, stdout);
    if (rules->len && rules->text[rules->len - 1] != '\n')
        putchar('\n');
}

bool print_chain(const struct args *a, const struct recipe *r, struct err *e)
{
    const bool server = !strcmp(a->how, "server");
    if (server && r->parts.engine->options)
        return unsayable("engine ", r->parts.engine->name, e);
    if (server && !check_request(r, e))
        return false;
    if (server || !strcmp(a->how, "json"))
        return print_json(a, r, e);
    if (!strcmp(a->how, "llama"))
        print_flags(a, r);
    else
        print_text(a, r);
    return true;
}
