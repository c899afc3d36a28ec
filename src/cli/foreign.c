// SPDX-License-Identifier: MIT
#include "cli/foreign.h"

#include "settings/setting.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- options

const struct option_row *foreign_row(const struct foreign *f, const char *name)
{
    return option_by_name(f->a->typed.options, name, strlen(name));
}

static size_t option_number(const struct foreign *f, const char *option)
{
    return (size_t)(foreign_row(f, option) - f->a->typed.options->row);
}

char *foreign_check_text(struct foreign *f, char *text)
{
    if (!text)
        f->failed = !err_from_fault(f->e, fault_memory());
    return text;
}

void foreign_set(struct foreign *f, const char *name, const char *text)
{
    const size_t number = option_number(f, name);
    const char *const own = text && !f->failed ? words_own(&f->a->texts, strdup(text), f->e) : NULL;
    name_set_add(&f->given, number);
    if (!f->failed)
        f->failed = (text && !own) || !args_set(f->a, &f->a->typed.options->row[number], own, f->path, f->e);
}

void foreign_set_json(struct foreign *f, const char *name, const cJSON *item)
{
    char *const text = foreign_check_text(f, cJSON_PrintUnformatted(item));
    const int bracket = text && cJSON_IsArray(item);
    if (bracket)
        text[strlen(text) - 1] = '\0';
    foreign_set(f, name, text ? text + bracket : "");
    cJSON_free(text);
}

struct list *foreign_list(struct foreign *f, enum list_kind kind)
{
    struct list *const list = &f->a->typed.settings.list[kind];
    const size_t number = option_number(f, list_options[kind] + strlen("--"));
    name_set_add(&f->given, number);
    args_give(f->a, &f->a->typed.options->row[number], f->path);
    list->name = list_options[kind];
    return list;
}

void foreign_unsupported(struct foreign *f, const cJSON *item)
{
    char *const value = foreign_check_text(f, cJSON_PrintUnformatted(item));
    builder_format(&f->unsupported, "%s%s", f->unsupported.len ? ", " : "", item->string);
    if (value)
        builder_format(&f->unsupported, " (%.*s%s)", err_clip(value, 40), value, strlen(value) > 40 ? "..." : "");
    cJSON_free(value);
}

void foreign_note(struct foreign *f, const char *text)
{
    builder_format(&f->note, "%s%s", f->note.len ? "; " : "", text);
}

void foreign_absent(struct foreign *f, const char *options)
{
    const char *option;
    size_t len;
    while (!f->engine->options && name_next(&options, &option, &len)) {
        const size_t name = strcspn(option, "=");
        const struct option_row *const row = option_by_name(f->a->typed.options, option, name);
        char value[NUMBER_TEXT];
        snprintf(value, sizeof value, "%.*s", (int)(len - name) - 1, option + name + 1);
        if (!name_set_has(&f->given, (size_t)(row - f->a->typed.options->row)))
            foreign_set(f, row->name, value);
    }
}

bool foreign_active(const struct foreign *f, const char *option)
{
    return name_set_has(&f->active, option_number(f, option));
}

// ---- numbers

// Reads the number of an item, which may be in a string. False if the item is no number.
static bool is_number(const cJSON *item, double *v)
{
    char *end;
    if (!item || (!cJSON_IsRaw(item) && !cJSON_IsString(item)) || !*item->valuestring)
        return false;
    *v = strtod(item->valuestring, &end);
    return !*end && !isnan(*v);
}

double foreign_number(const struct foreign *f, const char *key, double absent)
{
    double v;
    return is_number(json_member(f->settings, key), &v) ? v : absent;
}

bool foreign_is_on(const cJSON *item)
{
    double v;
    if (!item || cJSON_IsNull(item) || cJSON_IsFalse(item))
        return false;
    if (cJSON_IsArray(item) || cJSON_IsObject(item))
        return item->child;
    if (is_number(item, &v))
        return v != 0.0;
    return !cJSON_IsString(item) || *item->valuestring;
}

// Does this value switch something on? s: the setting's row, or NULL; p: the parameter that it gives, or NULL.
static bool switches_on(const struct setting *s, const struct param *p, double v)
{
    if (s && s->off != OFF_WITH_SAMPLER)
        return s->off == OFF_AT ? v != s->off_value : v > s->off_value;
    for (size_t i = 0; p && samplers[i]; i++)
        if (samplers[i]->params == p && samplers[i]->runs.first)
            return sampler_runs_with(samplers[i], v);
    return !s && (p ? param_rounded(p, v) != param_rounded(p, p->def) : v != 0.0);
}

// Reads a setting that is a number, a flag, or unknown. s: its row, or NULL. A whole number loses the point that some
// programs write.
static void read_number_setting(struct foreign *f, const struct setting *s, const cJSON *item)
{
    const struct catalog *const c = f->a->typed.options->catalog;
    const size_t number = s ? c->n : catalog_find_server(c, item->string);
    const char *const option = s ? s->option : number < c->n ? c->param[number]->flag : NULL;
    const struct option_row *const row = option ? &f->a->typed.options->row[option_number(f, option)] : NULL;
    double v;
    const bool is = is_number(item, &v);
    if (row)
        name_set_add(&f->given, (size_t)(row - f->a->typed.options->row));
    if ((!is || (row && row->flag)) && !foreign_is_on(item))
        return;
    char text[NUMBER_TEXT];
    if (row && row->flag)
        foreign_set(f, row->name, NULL);
    else if (row && !is)
        f->failed = !err_set(f->e, STATUS_USAGE, "%s is not a number", item->string);
    else if (row && row->param && row->param->type == PARAM_INT && v == trunc(v) && fabs(v) < 1e15)
        foreign_set(f, row->name, value_text(row->param, v, text));
    else if (row)
        foreign_set(f, row->name, item->valuestring);
    else if (!is || switches_on(s, NULL, v))
        foreign_unsupported(f, item);
    if (row && is && switches_on(s, row->param, v))
        name_set_add(&f->active, (size_t)(row - f->a->typed.options->row));
}

// Reads a seed. A negative one, or the greatest, is none in particular. 1e3 loses its exponent; large numbers are set
// as they are spelt, since doubles lack digits.
static void read_seed(struct foreign *f, const cJSON *item)
{
    char text[NUMBER_TEXT];
    double v;
    if (!is_number(item, &v)) {
        if (foreign_is_on(item))
            f->failed = !err_set(f->e, STATUS_USAGE, "%s is not a number", item->string);
    } else if (v >= 0.0 && v != UINT32_MAX) {
        const bool exact = v == trunc(v) && v < 0x1p53;
        foreign_set(f, "seed", exact ? (snprintf(text, sizeof text, "%.0f", v), text) : item->valuestring);
    }
}

// ---- settings that are no numbers

// Adds the bias of a token, ID+BIAS or "TEXT"+BIAS. Without an amount, or with one that is false or null, the token is
// banned.
static void add_bias_option(struct foreign *f, const cJSON *item, const cJSON *token, const cJSON *amount)
{
    double id, v;
    const bool number = is_number(token, &id);
    const char *const text = amount && amount->valuestring ? amount->valuestring : "-inf";
    if ((number ? id != trunc(id) || id < 0.0 || id > INT32_MAX : !cJSON_IsString(token) || !*token->valuestring) ||
        (foreign_is_on(amount) && !is_number(amount, &v))) {
        f->failed = !err_set(f->e, STATUS_USAGE, "%s is not a list of token ids and biases", item->string);
        return;
    }
    struct builder typed = {0};
    if (number) {
        builder_format(&typed, "%.0f", id);
    } else {
        builder_byte(&typed, '"');
        for (const char *at = token->valuestring; *at; at++) // the option resolves escapes
            builder_format(&typed, *at == '\\' ? "\\%c" : "%c", *at);
        builder_byte(&typed, '"');
    }
    builder_format(&typed, "%s%s", *text == '-' || *text == '+' ? "" : "+", text);
    if (foreign_check_text(f, typed.failed ? NULL : typed.text))
        foreign_set(f, "logit-bias", typed.text);
    builder_free(&typed);
}

// Adds a bias of a list. Texts are tokens only where there is a vocabulary.
static bool read_bias(void *to, const struct setting_bias *b)
{
    struct foreign *const f = to;
    double id;
    const bool known = b->token && b->token->valuestring && (args_name_vocab(f->a) || is_number(b->token, &id));
    if (known)
        add_bias_option(f, b->item, b->token, b->amount);
    else
        foreign_unsupported(f, b->item);
    return known;
}

// The array that an item is, or that its text is, with or without brackets; NULL: none. *parsed is to be deleted.
static const cJSON *array_of(struct foreign *f, const cJSON *item, cJSON **parsed)
{
    const char *const text = cJSON_GetStringValue(item);
    struct builder b = {0};
    *parsed = NULL;
    if (text) {
        builder_format(&b, text[strspn(text, " \n")] == '[' ? "%s" : "[%s]", text);
        item = *parsed = b.failed ? NULL : json_parse(b.text, b.len, JSON_EXACT, f->e);
        builder_free(&b);
    }
    return cJSON_IsArray(item) && json_refuse_nul(item, STATUS_USAGE, f->e) ? item : NULL;
}

static void read_ban_list(struct foreign *f, const cJSON *item)
{
    cJSON *parsed;
    const cJSON *const list = array_of(f, item, &parsed), *entry;
    if (!list)
        f->failed = !err_set(f->e, STATUS_USAGE, "%s is not a list of token ids and biases", item->string);
    cJSON_ArrayForEach(entry, list) { add_bias_option(f, item, entry, NULL); }
    cJSON_Delete(parsed);
}

static void read_ban_sequences(struct foreign *f, const cJSON *item)
{
    const cJSON *entry;
    bool lists = cJSON_IsArray(item);
    cJSON_ArrayForEach(entry, item)
    {
        if (cJSON_IsString(entry) && *entry->valuestring)
            foreign_set(f, "bad-word-tokens", entry->valuestring);
        else if (cJSON_IsArray(entry) && entry->child)
            foreign_set_json(f, "bad-word-tokens", entry);
        lists = lists && (cJSON_IsArray(entry) || cJSON_IsString(entry));
    }
    if (!lists && foreign_is_on(item))
        f->failed = !err_set(f->e, STATUS_USAGE, "%s is not a list of lists of token ids", item->string);
}

// Reads texts, which replace those that stood before.
static void read_breaker_list(struct foreign *f, const cJSON *item)
{
    const char *const text = cJSON_GetStringValue(item);
    cJSON *parsed;
    if (text && !text[strspn(text, " \n")])
        return;
    struct list *const breakers = foreign_list(f, LIST_BREAKERS);
    const cJSON *const list = array_of(f, item, &parsed);
    list_begin(breakers, breakers->name);
    if (!list || !setting_texts(list, breakers))
        f->failed = !err_set(f->e, STATUS_USAGE, "dry_sequence_breakers is not a list of texts");
    cJSON_Delete(parsed);
}

static void read_schema_setting(struct foreign *f, const cJSON *item)
{
    if (cJSON_IsString(item))
        foreign_set(f, "json-schema", item->valuestring);
    else
        foreign_set_json(f, "json-schema", item);
}

bool foreign_knows(const struct foreign *f, const char *key)
{
    const struct catalog *const c = f->a->typed.options->catalog;
    return setting_of_preset(key) || catalog_find_server(c, key) < c->n;
}

void foreign_setting(struct foreign *f, const cJSON *item)
{
    const struct setting *const s = setting_of_preset(item->string);
    const bool on = foreign_is_on(item);
    if (cJSON_IsNull(item))
        return;
    switch (s ? s->form : SETTING_NUMBER) {
    case SETTING_SEED:
        read_seed(f, item);
        break;
    case SETTING_BIASES:
        setting_biases(item, read_bias, f);
        break;
    case SETTING_EOS:
        if (on)
            foreign_set(f, "ignore-eos", NULL);
        break;
    case SETTING_BREAKERS:
        read_breaker_list(f, item);
        break;
    case SETTING_SEQUENCES:
        read_ban_sequences(f, item);
        break;
    case SETTING_BANS:
        read_ban_list(f, item);
        break;
    case SETTING_GRAMMAR:
        if (cJSON_IsString(item) && *item->valuestring)
            foreign_set(f, "grammar", item->valuestring);
        else if (on && !cJSON_IsString(item))
            foreign_unsupported(f, item);
        break;
    case SETTING_SCHEMA:
        if (on)
            read_schema_setting(f, item);
        break;
    default:
        read_number_setting(f, s, item);
    }
}

void foreign_end_tokens(struct foreign *f, const char *key)
{
    const cJSON *const ids = json_member(f->settings, key);
    if (foreign_active(f, "min-tokens") && (cJSON_IsRaw(ids) || foreign_is_on(ids)))
        foreign_set_json(f, "eog-tokens", ids);
}

// ---- chains

// Returns sampl's name of a sampler that other programs call `name`.
static const char *sampler_name(const struct foreign *f, const char *name)
{
    static const char *const names[][2] = {{"repetition_penalty", "penalties"},
                                           {"rep_pen", "penalties"},
                                           {"quadratic_sampling", "smoothing"},
                                           {"smooth_sampling", "smoothing"},
                                           {"encoder_repetition_penalty", "encoder_penalty"},
                                           {"tfs_z", "tfs"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i][0], name))
            name = names[i][1];
    return f->dialect->tfs && !strcmp(name, "tfs") ? f->dialect->tfs : name;
}

// Names in other programs' orders that are no samplers of a chain here: parameters of a sampler, and mirostat, which
// runs in place of the chain.
static const char no_samplers[] = "presence_penalty frequency_penalty dynamic_temperature mirostat";

static void add_chain_name(struct foreign *f, const char *foreign_name)
{
    const char *const name = sampler_name(f, foreign_name);
    const struct sampler *const s = sampler_by_name(name, strcspn(name, "="));
    const bool when_active = s && s->params && (s->foreign || (s == &sampler_adaptive_p && !f->dialect->defaults));
    if (when_active && (!foreign_active(f, s->params->flag) || name_set_has(&f->chained, sampler_place(s))))
        return;
    if (s) {
        builder_format(&f->chain, "%s%s", f->chain.len ? ";" : "", name);
        name_set_add(&f->chained, sampler_place(s));
    } else if (!setting_of_preset(foreign_name) && name_find(no_samplers, NAME_ANY_CASE, name, strlen(name)) < 0) {
        builder_format(&f->unsupported, "%ssampler %.*s", f->unsupported.len ? ", " : "", err_clip(name, 40), name);
    }
}

void foreign_chain(struct foreign *f, const char *names)
{
    static const char between[] = " \t\r\n,;[]\"'";
    if (f->engine->options)
        return;
    char *const copy = foreign_check_text(f, strdup(names)), *rest = NULL;
    builder_string(&f->chain, "");
    for (char *name = copy ? strtok_r(copy, between, &rest) : NULL; name; name = strtok_r(NULL, between, &rest))
        add_chain_name(f, name);
    free(copy);
}

// Is the option read by a sampler of the chain? --min-keep belongs to whichever samplers there are.
static bool is_read(const struct foreign *f, const char *flag)
{
    for (size_t i = 0; samplers[i]; i++)
        if (name_set_has(&f->chained, i) && sampler_param(samplers[i], flag))
            return true;
    return !strcmp(flag, "min-keep");
}

void foreign_note_idle(struct foreign *f)
{
    struct builder idle = {0};
    for (size_t i = 0; samplers[i]; i++) {
        const bool any = samplers[i] == &sampler_penalties; // others are off without their first parameter
        bool active = false;
        for (const struct param *p = samplers[i]->params; p && p->flag && !sampler_internal(i) && !active;
             p = any ? p + 1 : NULL)
            active = foreign_active(f, p->flag) && !is_read(f, p->flag);
        if (active && !name_set_has(&f->chained, i))
            builder_format(&idle, "%s%s", idle.len ? ", " : "", samplers[i]->name);
    }
    if (idle.len && !f->engine->options) {
        builder_format(&idle, ": set, but not in %s's order, and so without effect", f->dialect->name);
        foreign_note(f, idle.text);
    }
    f->note.failed = f->note.failed || idle.failed;
    builder_free(&idle);
}
