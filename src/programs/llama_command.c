// SPDX-License-Identifier: MIT
// llama.cpp: a command line of llama-server or llama-cli, read as release v0.5.0 reads it, from a script, from a file
// of its options, or from llama-swap's cmd. The tree is {"command": [PROGRAM, WORD, ...], "env": {NAME: WORD},
// "setParams": {...}}: llama-swap sets these parameters in each request. A WORD is a text, or {"word": TEXT, "doubt":
// DOUBT} with what DOUBT says of it: "default", "condition" or "unknown".
#include "programs/llama.h"

static const struct field_row fields[] = {
    {"command env more condition guessed", .form = FIELD_OTHER},
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

static const char *text_of(const cJSON *word)
{
    return word->valuestring ? word->valuestring : json_member(word, "word")->valuestring;
}

static bool has_doubt(const cJSON *word, const char *doubt)
{
    const char *const has = word ? cJSON_GetStringValue(json_member(word, "doubt")) : NULL;
    return has && !strcmp(has, doubt);
}

// What is to be said of the words.
struct said_of_words {
    struct key_names changeable, unread; // options whose value is a default; words that are not known
    size_t others;                       // options that do not bear on sampling
};

// Sets an option of sampl. flag: as it is written; NULL: it is a variable of the environment. value: NULL if it has
// none.
static void apply(struct file_view *v, struct said_of_words *said, size_t i, const char *name, const cJSON *flag,
                  const cJSON *value)
{
    const char *option = llama_own_option(v, llama_options[i].names);
    const bool negated = llama_has_name(llama_options[i].negative, name);
    if (negated)
        option = llama_own_option(v, llama_options[i].negative);
    const char *const text = value ? text_of(value) : NULL, *const shown = flag ? text_of(flag) : name;
    const cJSON item = {
        .type = cJSON_String, .string = (char *)(uintptr_t)name, .valuestring = (char *)(uintptr_t)text};
    if (!option)
        return;
    if (!*option)
        view_unsupported(v, &item);
    else if (has_doubt(value, "unknown"))
        view_refuse(v, "%s: the value of '%.*s' is not known", shown, err_clip(text, 40), text);
    else if (has_doubt(flag, "condition") || has_doubt(value, "condition"))
        view_refuse(v, "%s stands under a condition, which only a run of the script decides", shown);
    else if (text)
        llama_apply_value(v, option, name, text);
    else
        view_set(v, option, NULL);
    if (has_doubt(flag, "default") || has_doubt(value, "default"))
        view_name(&said->changeable, shown);
}

// Reads the words: an option is '-' and a name, in which '_' is '-' behind "--", and its value is the next word.
static void read_words(struct file_view *v, struct said_of_words *said, const cJSON *word)
{
    for (word = word ? word->next : NULL; word && !v->failed; word = word->next) {
        const char *const text = text_of(word);
        const char *const letters = text + strspn(text, "-");
        char name[80];
        name_cut(name, sizeof name, letters, strlen(letters));
        for (char *at = name; text[0] == '-' && text[1] == '-' && *at; at++)
            *at = (char)(*at == '_' ? '-' : *at);
        const size_t i = text[0] == '-' ? llama_option(name) : LLAMA_OPTIONS;
        const cJSON *const value = i < LLAMA_OPTIONS && llama_options[i].value != LLAMA_NONE ? word->next : NULL;
        if (i == LLAMA_OPTIONS) {
            if (has_doubt(word, "unknown"))
                view_name(&said->unread, text);
            else if (text[0] == '-')
                view_name(&v->unknown, text);
            continue;
        }
        said->others += !llama_own_option(v, llama_options[i].names) && !llama_own_option(v, llama_options[i].negative);
        if (llama_options[i].value != LLAMA_NONE && !value)
            view_refuse(v, "%s has no value", text);
        else
            apply(v, said, i, name, word, value);
        word = value ? value : word;
    }
}

// Reads the variables of the environment, over which the words count.
static void read_environment(struct file_view *v, struct said_of_words *said, const cJSON *env)
{
    const cJSON *value;
    cJSON_ArrayForEach(value, env)
    {
        const size_t i =
            strncmp(value->string, "LLAMA_ARG_", strlen("LLAMA_ARG_")) ? LLAMA_OPTIONS : llama_option(value->string);
        if (i < LLAMA_OPTIONS && llama_options[i].value != LLAMA_NONE)
            apply(v, said, i, value->string, NULL, value);
        else if (*value->string == '-')
            view_name(&said->unread, value->string); // a file of variables
        else if (i == LLAMA_OPTIONS && !strncmp(value->string, "LLAMA_ARG_", strlen("LLAMA_ARG_")))
            view_name(&v->unknown, value->string);
    }
}

static void note_names(struct file_view *v, struct key_names *names, const char *format)
{
    struct builder note = {0};
    builder_string(&note, format);
    builder_string(&note, names->text.text ? names->text.text : "");
    if (names->n > KEYS_NAMED)
        builder_format(&note, " and %zu more", names->n - KEYS_NAMED);
    if (names->n)
        view_note(v, note.text ? note.text : "");
    v->note.failed = v->note.failed || note.failed || names->text.failed;
    builder_free(&note);
    builder_free(&names->text);
}

static void finish(struct file_view *v)
{
    const cJSON *param;
    struct said_of_words said = {.others = 0};
    struct builder note = {0};
    read_environment(v, &said, json_member(v->settings, "env"));
    read_words(v, &said, json_array(v->settings, "command")->child);
    cJSON_ArrayForEach(param, json_member(v->settings, "setParams"))
    {
        size_t number;
        const struct field_row *const f = program_field(v->program, v->catalog, param->string, &number);
        if (!f)
            view_name(&v->unknown, param->string);
        else if (!field_is_other(f) && !cJSON_IsNull(param))
            view_read(v, param->string, param);
    }
    if (said.others) {
        builder_format(&note, "%zu other options do not bear on sampling", said.others);
        view_note(v, note.text ? note.text : "");
    }
    v->note.failed = v->note.failed || note.failed;
    builder_free(&note);
    note_names(v, &said.changeable, "the environment or an argument of the script may change ");
    note_names(v, &said.unread, "options that only a run of the script tells are not read: ");
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
