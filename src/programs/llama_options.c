// SPDX-License-Identifier: MIT
// The options of llama.cpp's release v0.5.0, and its values (common/arg.cpp): for its ini files and its command lines.
#include "programs/llama.h"

#include "base/number.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct llama_option llama_options[] = {
#define OPTION(names, negative, value) {names, negative, LLAMA_##value},
#include "programs/llama_options.def"
#undef OPTION
};

size_t llama_option(const char *name)
{
    size_t i = 0;
    while (i < LLAMA_OPTIONS && !llama_has_name(llama_options[i].names, name) &&
           !llama_has_name(llama_options[i].negative, name))
        i++;
    return i;
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
    const float f = strtof(value, &end);
    bool digits = false, other = false; // but 0, before an exponent
    for (const char *p = value; p < end && !strchr("eEpP", *p); p++) {
        digits = digits || isdigit((unsigned char)*p);
        other = other || (isxdigit((unsigned char)*p) && *p != '0');
    }
    *x = f;
    const bool fits = !digits || !other || (fabsf(f) >= FLT_MIN && fabsf(f) <= FLT_MAX);
    return (end > value && fits) ||
           view_refuse(v, "%s: '%.*s' is not a number of 32 bits", key, err_clip(value, 40), value);
}

void llama_check_value(struct file_view *v, size_t option, const char *key, const char *value)
{
    double x;
    if (llama_options[option].value == LLAMA_WHOLE)
        read_whole(v, key, value, &x);
    else if (llama_options[option].value == LLAMA_NUMBER)
        read_float(v, key, value, &x);
    else if (llama_options[option].value == LLAMA_REMOVED)
        view_refuse(v, "%s: llama.cpp has removed this option", key);
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
    const bool whole = p->type == PARAM_INT, window = llama_has_name("repeat-last-n dry-penalty-last-n", p->flag);
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
    char *sign, text[NUMBER_TEXT];
    const long id = strtol(value, &sign, 10);
    const bool found = sign > value && id >= INT32_MIN && id <= INT32_MAX;
    while (found && isspace((unsigned char)*sign))
        sign++;
    double bias = NAN;
    struct builder typed = {0};
    if (found && (*sign == '+' || *sign == '-') && !read_float(v, key, sign + 1, &bias))
        return;
    if (isnan(bias)) {
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
const char *llama_own_option(const struct file_view *v, const char *names)
{
    const char *name, *option = NULL;
    size_t len;
    while (!option && name_next(&names, &name, &len)) {
        char text[80];
        option = len > 2 ? v->find_option(v->options, name_cut(text, sizeof text, name, len)) : NULL;
    }
    return option;
}

void llama_apply_value(struct file_view *v, const char *option, const char *key, const char *value)
{
    const size_t number = catalog_find(v->catalog, option);
    double x;
    if (number < v->catalog->n)
        set_param(v, number, key, value);
    else if (!strcmp(option, "seed"))
        set_seed(v, key, value);
    else if (llama_has_name("samplers sampler-seq", option))
        set_samplers(v, value, strcmp(option, "samplers") != 0);
    else if (!strcmp(option, "logit-bias"))
        set_bias(v, key, value);
    else if (!strcmp(option, "reasoning-budget")) {
        if (read_whole(v, key, value, &x))
            view_set_number(v, option, x);
    } else
        view_set(v, option, value);
}
