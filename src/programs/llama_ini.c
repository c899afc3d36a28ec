// SPDX-License-Identifier: MIT
// llama.cpp: an ini, read as release v0.5.0 reads it. A named section is a preset of --models-preset: it stands above
// [*], unknown options are errors, and its options are typed on a command line. Without a name, the file is config.ini:
// only [*] and [default], which also has what stands before the sections, are read, and unknown options are ignored.
// The tree is {"ini": {SECTION: {KEY: TEXT, ...}, ...}, "section": NAME}.
#include "programs/llama.h"

#include "base/number.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct llama_option {
    const char *names, *negative; // without dashes, separated by spaces, and the variables
    bool valued;
} options[] = {
#define OPTION(names, negative, valued) {names, negative, valued},
#include "programs/llama_options.def"
#undef OPTION
};

enum { OPTIONS = sizeof options / sizeof *options };

// The values of a file, each of the key that counts.
struct ini {
    struct file_view *v;
    bool config;
    struct {
        const char *key, *value;
        bool negated;
    } of[OPTIONS];
    size_t n; // that are set
};

static bool has_name(const char *names, const char *key) { return name_find(names, NAME_EXACT, key, strlen(key)) >= 0; }

static bool is_truthy(const char *value) { return has_name("on enabled true 1", value); }
static bool is_falsey(const char *value) { return has_name("off disabled false 0", value); }

// Takes the values of a section, above those that were taken before. Of two names of one option, the last in the
// alphabet counts.
static void take_section(struct ini *ini, const cJSON *section)
{
    bool here[OPTIONS] = {false};
    for (const cJSON *item = section ? section->child : NULL; item; item = item->next) {
        size_t i = 0;
        while (i < OPTIONS && !has_name(options[i].names, item->string) && !has_name(options[i].negative, item->string))
            i++;
        if (!strcmp(item->string, "version"))
            continue;
        if (i == OPTIONS) {
            view_name(&ini->v->unknown, item->string);
            continue;
        }
        ini->n += !ini->of[i].key;
        if (here[i] && strcmp(item->string, ini->of[i].key) < 0)
            continue;
        here[i] = true;
        ini->of[i].key = item->string;
        ini->of[i].value = item->valuestring;
        ini->of[i].negated = *options[i].negative && has_name(options[i].negative, item->string);
    }
}

// ---- values, as C++'s std::stoi, std::stof and std::stoul read them: what stands behind a number is ignored

static bool read_whole(struct file_view *v, const char *key, const char *value, double *x)
{
    char *end;
    const long whole = strtol(value, &end, 10);
    *x = (double)whole;
    return (end > value && whole >= INT32_MIN && whole <= INT32_MAX) ||
           view_refuse(v, "%s: '%.*s' is not a whole number of 32 bits", key, err_clip(value, 40), value);
}

static bool read_float(struct file_view *v, const char *key, const char *value, double *x)
{
    char *end;
    *x = strtof(value, &end);
    const double exact = strtod(value, NULL);
    const bool fits = isinf(exact) || isnan(exact) || exact == 0.0 || (fabs(*x) >= FLT_MIN && fabs(*x) <= FLT_MAX);
    return (end > value && fits) ||
           view_refuse(v, "%s: '%.*s' is not a number of 32 bits", key, err_clip(value, 40), value);
}

static void set_seed(struct file_view *v, const char *key, const char *value)
{
    char *end, text[NUMBER_TEXT];
    const uint32_t seed = (uint32_t)strtoull(value, &end, 10);
    static const char most[] = "18446744073709551615";
    const char *const digits = value + strspn(value, " \t\v\f+-0");
    const size_t n = strspn(digits, "0123456789");
    if (end == value || n > strlen(most) || (n == strlen(most) && strncmp(digits, most, n) > 0))
        view_refuse(v, "%s: '%.*s' is not a whole number of 64 bits", key, err_clip(value, 40), value);
    else
        view_set(v, "seed", seed == UINT32_MAX ? "-1" : number_text_wide(seed, text));
}

// Sets a parameter of a sampler. The release refuses some numbers, and would end at others.
static void set_param(struct file_view *v, size_t number, const char *key, const char *value)
{
    const struct param *const p = v->catalog->param[number];
    const bool whole = p->type == PARAM_INT, window = has_name("repeat-last-n dry-penalty-last-n", p->flag);
    double x;
    char text[NUMBER_TEXT];
    if (!(whole ? read_whole(v, key, value, &x) : read_float(v, key, value, &x)))
        return;
    if (window && x < 0.0)
        view_refuse(v, "%s: %s is below 0, which llama.cpp refuses", key, value);
    if (number == v->catalog->mirostat && (x < 0.0 || x > 2.0))
        view_refuse(v, "%s: %s is not 0, 1 or 2, at which llama.cpp aborts", key, value);
    if (number == v->catalog->temp)
        x = x < 0.0 ? 0.0 : x;
    if (!strcmp(p->flag, "dry-base") && x < 1.0)
        return; // it is ignored
    view_set(v, p->flag, whole ? number_text_wide(x, text) : number_text((float)x, text));
}

// Sets the samplers: names separated by ';', or letters.
static void set_samplers(struct file_view *v, const char *value, bool letters)
{
    if (!v->made)
        v->made = cJSON_CreateArray();
    cJSON *const list = letters ? cJSON_CreateString(value) : cJSON_CreateArray();
    bool whole = cJSON_AddItemToArray(v->made, list);
    while (whole && !letters && *value) {
        const size_t len = strcspn(value, ";");
        char *const name = view_check_text(v, strndup(value, len));
        whole = name && cJSON_AddItemToArray(list, cJSON_CreateString(name));
        free(name);
        value += len + (value[len] == ';');
    }
    if (whole)
        view_read(v, "samplers", list);
    else
        view_check_text(v, NULL);
}

// Sets a bias, ID+BIAS with white space anywhere between the parts.
static void set_bias(struct file_view *v, const char *key, const char *value)
{
    char *sign, *end = NULL, text[NUMBER_TEXT];
    const long id = strtol(value, &sign, 10);
    const bool found = sign > value && id >= INT32_MIN && id <= INT32_MAX;
    while (found && isspace((unsigned char)*sign))
        sign++;
    const double bias = found && (*sign == '+' || *sign == '-') ? (double)strtof(sign + 1, &end) : 0.0;
    struct builder typed = {0};
    if (!end || end == sign + 1 || isnan(bias)) {
        view_refuse(v, "%s: '%.*s' is not ID+BIAS or ID-BIAS", key, err_clip(value, 40), value);
        return;
    }
    builder_format(&typed, "%ld%c%s", id, *sign,
                   isinf(bias) ? bias > 0.0 ? "inf" : "-inf" : number_text((float)bias, text));
    if (view_check_text(v, typed.failed ? NULL : typed.text))
        view_set(v, "logit-bias", typed.text);
    builder_free(&typed);
}

// ---- options

// Returns the option of sampl that one of the names stands for; "": presets have no such option. NULL: there is none.
static const char *find_option(const struct file_view *v, const char *names)
{
    const char *name, *option = NULL;
    size_t len;
    while (!option && name_next(&names, &name, &len)) {
        char text[80] = "";
        strncat(text, name, len < sizeof text ? len : sizeof text - 1);
        option = len > 2 ? v->find_option(v->options, text) : NULL;
    }
    return option;
}

static void apply_value(struct file_view *v, const char *option, const char *key, const char *value)
{
    const size_t number = catalog_find(v->catalog, option);
    double x;
    if (number < v->catalog->n)
        set_param(v, number, key, value);
    else if (!strcmp(option, "seed"))
        set_seed(v, key, value);
    else if (has_name("samplers sampler-seq", option))
        set_samplers(v, value, strcmp(option, "samplers") != 0);
    else if (!strcmp(option, "logit-bias"))
        set_bias(v, key, value);
    else if (!strcmp(option, "reasoning-budget")) {
        if (read_whole(v, key, value, &x))
            view_set_number(v, option, x);
    } else
        view_set(v, option, value);
}

// Applies option i. A flag of a preset is on unless its value says that it is off; config.ini switches it on with any
// value, unless it has a negative name.
static void apply(const struct ini *ini, size_t i)
{
    struct file_view *const v = ini->v;
    const char *const value = ini->of[i].value, *const option = find_option(v, options[i].names);
    const bool two = *options[i].negative;
    bool on = ini->config && !two ? true : ini->config ? is_truthy(value) : !is_falsey(value);
    if (ini->of[i].negated)
        on = !is_truthy(value);
    const cJSON item = {
        .type = cJSON_String, .string = (char *)(uintptr_t)ini->of[i].key, .valuestring = (char *)(uintptr_t)value};
    if (!option)
        return;
    if (!*option)
        view_unsupported(v, &item);
    else if (options[i].valued)
        apply_value(v, option, ini->of[i].key, value);
    else if (on)
        view_set(v, option, NULL);
    else if (two && find_option(v, options[i].negative))
        view_set(v, find_option(v, options[i].negative), NULL);
}

// Notes values that end at a comment which may be meant as text.
static void note_cut_values(const struct ini *ini)
{
    const cJSON *key;
    struct builder note = {0};
    cJSON_ArrayForEach(key, json_array(ini->v->root, "cut"))
    {
        bool counts = false;
        for (size_t i = 0; i < OPTIONS; i++)
            counts = counts || (ini->of[i].key && !strcmp(ini->of[i].key, key->valuestring) &&
                                find_option(ini->v, options[i].names));
        if (counts)
            builder_format(&note, "%s%s", note.len ? ", " : "", key->valuestring);
    }
    if (note.len) {
        builder_format(&note, ": the value ends before ';' or '#', which begins a comment");
        view_note(ini->v, note.text);
    }
    builder_free(&note);
}

static void apply_all(const struct ini *ini)
{
    for (size_t i = 0; i < OPTIONS && !ini->v->failed; i++)
        if (ini->of[i].key)
            apply(ini, i);
    note_cut_values(ini);
}

// ---- sections

// Writes a section's name with the tag that llama.cpp gives it behind the last colon, in capitals: what follows the
// last '-' or '.', if that is letters, digits and '_', or the whole. False: the name has no tag.
static bool section_name(const char *name, struct builder *b)
{
    const char *const colon = strrchr(name, ':');
    const char *tag = colon ? colon + 1 : "";
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    for (const char *at = tag; *at; at++)
        if ((*at == '-' || *at == '.') && at[1] && strspn(at + 1, letters) == strlen(at + 1)) {
            tag = at + 1;
            break;
        }
    builder_bytes(b, name, colon ? (size_t)(colon + 1 - name) : strlen(name));
    for (; colon && *tag; tag++)
        builder_byte(b, (char)toupper((unsigned char)*tag));
    return colon;
}

// Finds the section of a model. NULL: there is none.
static const cJSON *find_section(const cJSON *sections, const char *name)
{
    const cJSON *found = NULL;
    for (const cJSON *s = sections->child; s; s = s->next) {
        struct builder b = {0};
        section_name(s->string, &b);
        const bool global = !strcmp(s->string, "*"), empty = !strcmp(s->string, "default") && !s->child;
        if (b.text && !global && !empty && !strcmp(b.text, name))
            found = s;
        builder_free(&b);
    }
    return found;
}

// Returns true if the file has sections of models.
static bool has_models(const cJSON *sections)
{
    for (const cJSON *s = sections->child; s; s = s->next)
        if (strcmp(s->string, "*") != 0 && strcmp(s->string, "default") != 0)
            return true;
    return false;
}

// Refuses the file with the names of its sections.
static void refuse_sections(struct file_view *v, const char *what, const char *name)
{
    struct builder names = {0};
    for (const cJSON *s = v->settings->child; s; s = s->next)
        if (strcmp(s->string, "*") != 0 && strcmp(s->string, "default") != 0)
            builder_format(&names, "%s%.*s", names.len ? ", " : "", err_clip(s->string, 60), s->string);
    view_refuse(v, "%s%.*s%s; its sections are: %s", what, err_clip(name, 40), name, *name ? "]" : "",
                names.text ? names.text : "none");
    builder_free(&names);
}

static bool read_key(struct file_view *v, const cJSON *item)
{
    (void)v;
    (void)item;
    return true; // `finish` reads the sections
}

static void finish(struct file_view *v)
{
    const char *const name = cJSON_GetStringValue(json_member(v->root, "section"));
    const cJSON *const section = name ? find_section(v->settings, name) : json_member(v->settings, "default");
    struct ini ini = {.v = v, .config = !name};
    if (name && !section) {
        refuse_sections(v, "there is no section [", name);
        return;
    }
    for (const cJSON *s = name ? v->settings->child : NULL; s; s = s->next)
        take_section(&ini, s); // a preset with an unknown option in any section is refused
    if (name && v->unknown.n) {
        view_refuse(v, "llama.cpp has no option %s", v->unknown.text.text ? v->unknown.text.text : "");
        return;
    }
    ini = (struct ini){.v = v, .config = !name};
    take_section(&ini, cJSON_GetObjectItemCaseSensitive(v->settings, "*"));
    if (!name) { // the sections of config.ini are applied one after the other
        apply_all(&ini);
        ini = (struct ini){.v = v, .config = true, .n = ini.n};
    }
    take_section(&ini, section);
    if (!name && !ini.n && has_models(v->settings))
        refuse_sections(
            v, "no option of llama.cpp is in [*], in [default] or before the sections: FILE:NAME chooses a section",
            "");
    apply_all(&ini);
}

static const struct field_row fields[] = {
    {"samplers", "samplers", FIELD_ORDER},
    {NULL},
};

const struct program program_llama_ini = {
    .name = "llama.cpp",
    .reads = "ini",
    .as_of = "v0.5.0",
    .source = "common/preset.cpp, common/arg.cpp",
    .member = "ini",
    .marks_text = "lines of NAME = VALUE",
    .fields = fields,
    .rules = READS_AS_REQUEST,
    .defaults = true,
    .names = LLAMA_SAMPLERS,
    .order_text = "samplers, or sampler-seq",
    .key = read_key,
    .finish = finish,
};
