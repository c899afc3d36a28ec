// SPDX-License-Identifier: MIT
// The keys that several programs share: which options they become.
#include "base/number.h"
#include "cli/dialect.h"
#include "cli/foreign.h"
#include "out/message.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// When a setting is off: OFF_WITH_SAMPLER, when the sampler whose first parameter it is does not run; one that is no sampler's first parameter
// is never what switches something on. OFF_AT, at the value `off`. OFF_UP_TO, at that or below.
enum off_rule { OFF_WITH_SAMPLER, OFF_AT, OFF_UP_TO };

static void take_seed(struct foreign *f, const cJSON *item);
static void take_biases(struct foreign *f, const cJSON *item);
static void take_bans(struct foreign *f, const cJSON *item);
static void take_bad_words(struct foreign *f, const cJSON *item);
static void take_breakers(struct foreign *f, const cJSON *item);
static void take_grammar(struct foreign *f, const cJSON *item);
static void take_schema(struct foreign *f, const cJSON *item);
static void take_ignore_eos(struct foreign *f, const cJSON *item);

// Keys that llama-server does not know, or for which no option gives what they set. (Those that it knows are found by the samplers' parameters.)
static const struct setting {
    const char *keys; // separated by spaces
    const char *flag; // NULL: no option gives it
    enum off_rule rule;
    double off;
    void (*take)(struct foreign *f, const cJSON *item); // in place of flag
} settings[] = {
    {"temp temperature", "temp", OFF_AT, 1},
    {"top_k topKSampling", "top-k"},
    {"top_p topPSampling", "top-p"},
    {"min_p minPSampling", "min-p"},
    {"typical_p typical typ_p locallyTypicalSampling", "typical"},
    {"rep_pen repetition_penalty repeat_penalty repeatPenalty penalty_repeat", "repeat-penalty", OFF_AT, 1},
    {"rep_pen_range repetition_penalty_range repeat_last_n penalty_last_n", "repeat-last-n"},
    {"freq_pen frequency_penalty frequencyPenalty", "frequency-penalty", OFF_AT, 0},
    {"presence_pen presence_penalty presencePenalty", "presence-penalty", OFF_AT, 0},
    {"nsigma top_n_sigma", "top-nsigma"},
    {"xtcProbability", "xtc-probability", OFF_UP_TO, 0},
    {"xtcThreshold", "xtc-threshold"},
    {"mirostat mirostat_mode", "mirostat", OFF_AT, 0},
    {"mirostat_tau", "mirostat-ent"},
    {"mirostat_eta", "mirostat-lr"},
    {"dynatemp_exponent", "dynatemp-exp"},
    {"adaptive_target", "adaptive-target", OFF_UP_TO, 0},
    {"tfs tfs_z tailFreeSampling", "tfs"},
    {"smoothing_curve", "smoothing-curve"},
    {"no_repeat_ngram_size", "no-repeat-ngram"},
    {"encoder_rep_pen encoder_repetition_penalty", "encoder-repeat-penalty"},
    {"rep_pen_slope", "repeat-penalty-slope", OFF_AT, 1},
    {"reasoning_budget_tokens", "reasoning-budget", OFF_AT, -1},
    {"min_tokens min_new_tokens", "min-tokens", OFF_UP_TO, 0},
    {"penalty_alpha rep_pen_decay min_length diversity_penalty", NULL, OFF_AT, 0},
    {"guidance_scale num_beams num_beam_groups", NULL, OFF_AT, 1},
    {"seed sampler_seed", .take = take_seed},
    {"logit_bias logitBias", .take = take_biases},
    {"suppress_tokens custom_token_bans", .take = take_bans},
    {"bad_words_ids", .take = take_bad_words},
    {"dry_sequence_breakers", .take = take_breakers},
    {"grammar grammar_string", .take = take_grammar},
    {"json_schema", .take = take_schema},
    {"ban_eos_token ignore_eos ignore_eos_token", .take = take_ignore_eos},
};

// ---- saying

void foreign_fail(struct foreign *f, const char *format, ...)
{
    char text[sizeof f->e->text];
    va_list args;
    if (f->failed)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    f->failed = true;
    err_set(f->e, STATUS_USAGE, "%s", text);
}

void foreign_end(struct foreign *f, struct builder *b)
{
    f->words.failed = f->words.failed || b->failed;
    builder_free(b);
}

void foreign_say(struct foreign *f, const char *flag, const char *value)
{
    builder_format(&f->words, value ? "--%s=" : "--%s", flag);
    builder_string(&f->words, value ? value : "");
    builder_byte(&f->words, '\0');
    builder_format(&f->said, ";%s;", flag);
}

void foreign_say_number(struct foreign *f, const char *flag, double value)
{
    char text[NUMBER_TEXT];
    foreign_say(f, flag, number_text((float)value, text));
}

void foreign_lack(struct foreign *f, const cJSON *item)
{
    char *const value = cJSON_PrintUnformatted(item);
    builder_format(&f->lacking, "%s%s", f->lacking.len ? ", " : "", item->string);
    if (value)
        builder_format(&f->lacking, " (%.*s%s)", err_clip(value, 40), value, strlen(value) > 40 ? "..." : "");
    else
        f->lacking.failed = true;
    cJSON_free(value);
}

static bool listed(const struct builder *flags, const char *flag)
{
    char text[80];
    snprintf(text, sizeof text, ";%s;", flag);
    return flags->text && strstr(flags->text, text);
}

bool foreign_active(const struct foreign *f, const char *flag)
{
    return listed(&f->active, flag);
}

// ---- values

// The number that an item is, or that its string spells.
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

char *foreign_names(struct foreign *f, const cJSON *item)
{
    const bool text = cJSON_IsString(item);
    if (!text && !cJSON_IsArray(item))
        return NULL;
    char *const names = text ? strdup(item->valuestring) : cJSON_PrintUnformatted(item);
    f->words.failed = f->words.failed || !names;
    return names;
}

static const struct setting *setting_of(const char *key)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (foreign_is_among(settings[i].keys, key, strlen(key)))
            return &settings[i];
    return NULL;
}

// Does this value switch something on? s: the setting's row, or NULL; p: the parameter that it gives, or NULL.
static bool switches_on(const struct setting *s, const struct param *p, double v)
{
    if (s && s->rule != OFF_WITH_SAMPLER)
        return s->rule == OFF_AT ? v != s->off : v > s->off;
    for (size_t i = 0; p && samplers[i]; i++)
        if (samplers[i]->params == p && samplers[i]->runs.first)
            return sampler_runs_with(samplers[i], v);
    return !s && v != (p ? p->def : 0.0);
}

// A value for the option of this row: a whole number without the point that some programs write.
static void say_value(struct foreign *f, const struct option_row *row, const cJSON *item, double v)
{
    char text[32];
    const bool whole = row->param && row->param->type == PARAM_INT && v == trunc(v) && fabs(v) < 1e15;
    snprintf(text, sizeof text, "%.0f", v);
    foreign_say(f, row->name, whole ? text : item->valuestring);
}

void foreign_take(struct foreign *f, const cJSON *item)
{
    const struct catalog *const c = f->options->catalog;
    const struct setting *const s = setting_of(item->string);
    const size_t number = s ? c->n : catalog_find_server(c, item->string);
    const char *const flag = s ? s->flag : number < c->n ? c->param[number]->flag : NULL;
    const struct option_row *const row = flag ? option_by_name(f->options, flag, strlen(flag)) : NULL;
    double v;
    if (cJSON_IsNull(item))
        return;
    if (s && s->take) {
        s->take(f, item);
        return;
    }
    if (flag)
        builder_format(&f->said, ";%s;", flag);
    if (!foreign_is_on(item) && !is_number(item, &v)) // false, or empty
        return;
    if (row && row->flag)
        foreign_say(f, row->name, NULL);
    else if (!is_number(item, &v))
        row ? foreign_fail(f, "%s is not a number", item->string) : foreign_lack(f, item);
    else if (row)
        say_value(f, row, item, v);
    else if (switches_on(s, NULL, v))
        foreign_lack(f, item);
    if (row && is_number(item, &v) && switches_on(s, row->param, v))
        builder_format(&f->active, ";%s;", flag);
}

// ---- settings that are no numbers

static void take_seed(struct foreign *f, const cJSON *item)
{
    double v;
    char text[32];
    if (!is_number(item, &v) || v < 0.0 || v == UINT32_MAX) // none in particular
        return;
    snprintf(text, sizeof text, "%.0f", v);
    foreign_say(f, "seed", text);
}

// A text with the escapes that options resolve.
static void add_text(struct builder *b, const char *text)
{
    for (; *text; text++) {
        builder_string(b, *text == '\\' ? "\\" : "");
        builder_byte(b, *text);
    }
}

// ID+BIAS or "TEXT"+BIAS; an amount that is false or null bans.
static void say_bias(struct foreign *f, const cJSON *item, const cJSON *token, const cJSON *amount)
{
    struct builder b = {0};
    double id, v;
    const bool number = is_number(token, &id);
    if (number ? id != trunc(id) || id < 0.0 || id > INT32_MAX : !cJSON_IsString(token) || !*token->valuestring) {
        foreign_fail(f, "%s is not a list of token ids and biases", item->string);
        return;
    }
    if (foreign_is_on(amount) && !is_number(amount, &v)) {
        foreign_fail(f, "%s is not a list of token ids and biases", item->string);
        return;
    }
    const char *const text = amount && amount->valuestring ? amount->valuestring : "-inf";
    if (number) {
        builder_format(&b, "%.0f", id);
    } else {
        builder_byte(&b, '"');
        add_text(&b, token->valuestring);
        builder_byte(&b, '"');
    }
    builder_format(&b, "%s%s", *text == '-' || *text == '+' ? "" : "+", text);
    foreign_say(f, "logit-bias", b.text ? b.text : "");
    foreign_end(f, &b);
}

// {"id": bias, ...}, [[id, bias], ...] or [{"token": id, "bias": bias}, ...]; in place of ids texts where there is a vocabulary.
static void take_biases(struct foreign *f, const cJSON *item)
{
    const cJSON *entry;
    cJSON_ArrayForEach(entry, item)
    {
        const cJSON key = {.type = cJSON_String, .valuestring = entry->string};
        const bool pair = cJSON_IsArray(entry), echo = cJSON_IsObject(entry);
        const cJSON *const token = pair ? cJSON_GetArrayItem(entry, 0) : echo ? json_member(entry, "token") : &key;
        double id;
        if (!token || !token->valuestring || (!f->vocab && !is_number(token, &id))) {
            foreign_lack(f, item);
            return;
        }
        say_bias(f, item, token, pair ? cJSON_GetArrayItem(entry, 1) : echo ? json_member(entry, "bias") : entry);
    }
}

// The array that an item is, or that its text is, with or without brackets; NULL: none. *parsed is to be deleted.
static const cJSON *list_of(struct foreign *f, const cJSON *item, cJSON **parsed)
{
    const char *const text = cJSON_GetStringValue(item);
    struct builder b = {0};
    size_t at;
    *parsed = NULL;
    if (text) {
        builder_format(&b, text[strspn(text, " \n")] == '[' ? "%s" : "[%s]", text);
        item = *parsed = b.failed ? NULL : json_parse(b.text, b.len, JSON_EXACT, &at, f->e);
        builder_free(&b);
    }
    return cJSON_IsArray(item) ? item : NULL;
}

static void take_bans(struct foreign *f, const cJSON *item)
{
    const char *const key = item->string;
    cJSON *parsed;
    const cJSON *const list = list_of(f, item, &parsed), *entry;
    if (!list)
        foreign_fail(f, "%s is not a list of token ids and biases", key);
    cJSON_ArrayForEach(entry, list)
    {
        say_bias(f, item, entry, NULL);
    }
    cJSON_Delete(parsed);
}

static void take_bad_words(struct foreign *f, const cJSON *item)
{
    const cJSON *entry;
    if (!option_by_name(f->options, "bad-word-tokens", strlen("bad-word-tokens"))) {
        if (foreign_is_on(item))
            foreign_lack(f, item);
        return;
    }
    cJSON_ArrayForEach(entry, item)
    {
        char *const list = cJSON_PrintUnformatted(entry);
        const size_t len = list ? strlen(list) : 0;
        if (len > 2) { // [1,2]
            list[len - 1] = '\0';
            foreign_say(f, "bad-word-tokens", list + 1);
        }
        cJSON_free(list);
    }
}

static void say_breaker(struct foreign *f, const char *text)
{
    struct builder b = {0};
    const bool none = !strcmp(text, "none"); // which means something else
    builder_string(&b, none ? "\\x6e" : "");
    add_text(&b, none ? text + 1 : text);
    if (b.len)
        foreign_say(f, "dry-sequence-breaker", b.text);
    foreign_end(f, &b);
}

static void take_breakers(struct foreign *f, const cJSON *item)
{
    const char *const text = cJSON_GetStringValue(item);
    cJSON *parsed;
    if (text && strspn(text, " \n") == strlen(text))
        return;
    const cJSON *const list = list_of(f, item, &parsed), *entry;
    bool texts = list;
    foreign_say(f, "dry-sequence-breaker", "none"); // what stood before
    cJSON_ArrayForEach(entry, list)
    {
        texts = texts && cJSON_IsString(entry);
        if (texts)
            say_breaker(f, entry->valuestring);
    }
    if (!texts)
        foreign_fail(f, "dry_sequence_breakers is not a list of texts");
    cJSON_Delete(parsed);
}

static void take_grammar(struct foreign *f, const cJSON *item)
{
    if (!cJSON_IsString(item))
        foreign_is_on(item) ? foreign_lack(f, item) : (void)0;
    else if (*item->valuestring)
        foreign_say(f, "grammar", item->valuestring);
}

static void take_schema(struct foreign *f, const cJSON *item)
{
    if (!foreign_is_on(item))
        return;
    char *const text = cJSON_IsString(item) ? strdup(item->valuestring) : cJSON_PrintUnformatted(item);
    if (text)
        foreign_say(f, "json-schema", text);
    else
        f->words.failed = true;
    free(text);
}

static void take_ignore_eos(struct foreign *f, const cJSON *item)
{
    if (foreign_is_on(item))
        foreign_say(f, "ignore-eos", NULL);
}

// ---- chains

// Other programs' names of samplers that sampl knows by another.
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

// Names in other programs' orders that have no stage here, where they are part of another one.
#define NO_STAGE \
    "presence_penalty frequency_penalty dynamic_temperature mirostat smoothing encoder_penalty no_repeat_ngram"

static void chain_name(struct foreign *f, const char *foreign_name, struct builder *chain)
{
    const char *const name = sampler_name(f, foreign_name);
    const struct sampler *const s = sampler_by_name(name, strcspn(name, "="));
    const bool when_active = s && s->params && (s->foreign || (s == &sampler_adaptive_p && !f->dialect->defaults));
    if (when_active && (!foreign_active(f, s->params->flag) || (chain->len && strstr(chain->text, name))))
        return;
    if (s) {
        builder_format(chain, "%s%s", chain->len ? ";" : "", name);
        builder_format(&f->said, ";@%s;", s->name);
    } else if (!setting_of(foreign_name) && !foreign_is_among(NO_STAGE, name, strlen(name))) {
        builder_format(&f->lacking, "%ssampler %.*s", f->lacking.len ? ", " : "", err_clip(name, 40), name);
    }
}

void foreign_say_chain(struct foreign *f, const char *names)
{
    static const char between[] = " \t\r\n,;[]\"'";
    struct builder chain = {0};
    char *const copy = strdup(names);
    char *rest = NULL;
    for (char *name = copy ? strtok_r(copy, between, &rest) : NULL; name; name = strtok_r(NULL, between, &rest))
        chain_name(f, name, &chain);
    foreign_say(f, "samplers", chain.text ? chain.text : "");
    f->words.failed = f->words.failed || !copy || chain.failed;
    free(copy);
    builder_free(&chain);
}

void foreign_note_idle(const struct foreign *f)
{
    struct builder idle = {0};
    for (size_t i = 0; samplers[i]; i++) {
        char name[60];
        bool active = false;
        for (const struct param *p = samplers[i]->params; p && p->flag && !samplers[i]->internal; p++)
            active = active || (foreign_active(f, p->flag) && strcmp(p->flag, "min-keep") != 0);
        snprintf(name, sizeof name, "@%s", samplers[i]->name);
        if (active && !listed(&f->said, name))
            builder_format(&idle, "%s%s", idle.len ? ", " : "", samplers[i]->name);
    }
    if (idle.len)
        message_note("--preset: %s: set, but not in %s's order, and so without effect", idle.text, f->dialect->name);
    builder_free(&idle);
}
