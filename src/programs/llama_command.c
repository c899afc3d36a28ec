// SPDX-License-Identifier: MIT
// llama.cpp: a command line of llama-server or llama-cli, read as release v0.5.0 reads it, from a script, from a file
// of its options, or from llama-swap's cmd. The tree is {"command": [PROGRAM, WORD, ...], "more": N, "setParams":
// {...}}: llama-swap sets these parameters in each request.
#include "programs/llama.h"

static const struct field_row fields[] = {
    {"command more", .form = FIELD_OTHER},
    {"seed", "seed", FIELD_SEED},
    {"samplers", "samplers", FIELD_ORDER},
    {"logit_bias", "logit-bias", FIELD_BIASES},
    {"dry_sequence_breakers", "dry-sequence-breaker", FIELD_BREAKERS},
    {"json_schema", "json-schema", FIELD_SCHEMA},
    {"grammar", "grammar", FIELD_GRAMMAR},
    {LLAMA_OTHERS, .form = FIELD_OTHER},
    {"*", .form = FIELD_SAMPLER},
    {NULL},
};

static bool find_command(struct file_view *v) { return json_array(v->root, "command"); }

// Sets an option of sampl; value: NULL if it has none. A variable whose value is not known is no value.
static void apply(struct file_view *v, size_t i, const char *name, const char *value)
{
    const char *option = llama_own_option(v, llama_options[i].names);
    const bool negated = llama_has_name(llama_options[i].negative, name);
    if (negated)
        option = llama_own_option(v, llama_options[i].negative);
    const cJSON item = {
        .type = cJSON_String, .string = (char *)(uintptr_t)name, .valuestring = (char *)(uintptr_t)value};
    if (option && !*option)
        view_unsupported(v, &item);
    else if (option && value && strpbrk(value, "$%") && !strchr(value, '{') && strlen(option))
        view_refuse(v, "%s: the value of '%.*s' is not known", name, err_clip(value, 40), value);
    else if (option && value)
        llama_apply_value(v, option, name, value);
    else if (option)
        view_set(v, option, NULL);
}

// Reads the words: an option is '-' and a name, in which '_' is '-' behind "--", and its value is the next word.
static void read_words(struct file_view *v, const cJSON *word)
{
    struct builder note = {0};
    size_t others = 0;
    for (word = word ? word->next : NULL; word && !v->failed; word = word->next) {
        const char *const text = word->valuestring;
        const char *const letters = text + strspn(text, "-");
        char name[80];
        name_cut(name, sizeof name, letters, strlen(letters));
        for (char *at = name; text[0] == '-' && text[1] == '-' && *at; at++)
            *at = (char)(*at == '_' ? '-' : *at);
        const size_t i = text[0] == '-' ? llama_option(name) : LLAMA_OPTIONS;
        const cJSON *const value = i < LLAMA_OPTIONS && llama_options[i].valued ? word->next : NULL;
        if (i == LLAMA_OPTIONS) {
            if (text[0] == '-')
                view_name(&v->unknown, text);
            continue;
        }
        others += !llama_own_option(v, llama_options[i].names) && !llama_own_option(v, llama_options[i].negative);
        if (llama_options[i].valued && !value)
            view_refuse(v, "%s has no value", text);
        else
            apply(v, i, name, value ? value->valuestring : NULL);
        word = value ? value : word;
    }
    if (others) {
        builder_format(&note, "%zu other options do not bear on sampling", others);
        view_note(v, note.text ? note.text : "");
    }
    builder_free(&note);
}

static void finish(struct file_view *v)
{
    const cJSON *const more = json_member(v->settings, "more"), *param;
    read_words(v, json_array(v->settings, "command")->child);
    cJSON_ArrayForEach(param, json_member(v->settings, "setParams"))
    {
        size_t number;
        const struct field_row *const f = program_field(v->program, v->catalog, param->string, &number);
        if (!f)
            view_name(&v->unknown, param->string);
        else if (!field_is_other(f) && !cJSON_IsNull(param))
            view_read(v, param->string, param);
    }
    if (more && cJSON_GetNumberValue(more) > 0.0)
        view_note(v, "the first of several commands is read");
}

static bool read_key(struct file_view *v, const cJSON *item)
{
    (void)v;
    return is_key(item, "setParams"); // `finish` reads it
}

const struct program program_llama_command = {
    .name = "llama.cpp-command",
    .reads = "a command line of llama.cpp",
    .as_of = "v0.5.0",
    .source = "common/arg.cpp",
    .find = find_command,
    .marks_text =
        "a command of a script or of llama-swap's YAML that starts llama-server or llama-cli, or options alone",
    .fields = fields,
    .rules = READS_AS_REQUEST,
    .unset = UNSET_DEFAULTS,
    .names = LLAMA_SAMPLERS,
    .key = read_key,
    .finish = finish,
};
