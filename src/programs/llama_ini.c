// SPDX-License-Identifier: MIT
// llama.cpp: an ini, read as release v0.5.0 reads it. A named section is a preset of --models-preset: it stands above
// [*], unknown options are errors, and its options are typed on a command line. Without a name, the file is config.ini:
// only [*] and [default], which also has what stands before the sections, are read, and unknown options are ignored.
// The tree is {"ini": {SECTION: {KEY: TEXT, ...}, ...}, "section": NAME}.
#include "programs/llama.h"

#include <ctype.h>
#include <string.h>

// The values of a file, each of the key that counts.
struct ini {
    struct file_view *v;
    bool config;
    struct {
        const char *key, *value;
        bool negated;
    } of[LLAMA_OPTIONS];
    size_t n; // that are set
};

static bool is_truthy(const char *value) { return llama_has_name("on enabled true 1", value); }
static bool is_falsey(const char *value) { return llama_has_name("off disabled false 0", value); }

// Takes the values of a section, above those that were taken before. Of two names of one option, the last in the
// alphabet counts.
static void take_section(struct ini *ini, const cJSON *section)
{
    const char *name[LLAMA_OPTIONS] = {NULL}; // in this section
    for (const cJSON *item = section ? section->child : NULL; item; item = item->next) {
        const size_t i = llama_option(item->string);
        if (!strcmp(item->string, "version"))
            continue;
        if (i == LLAMA_OPTIONS) {
            view_name(&ini->v->unknown, item->string);
            continue;
        }
        ini->n += !ini->of[i].key;
        if (name[i] && strcmp(item->string, name[i]) < 0)
            continue;
        name[i] = ini->of[i].key = item->string;
        ini->of[i].value = item->valuestring;
        ini->of[i].negated = *llama_options[i].negative && llama_has_name(llama_options[i].negative, item->string);
    }
}

// Applies option i. A flag of a preset is on unless its value says that it is off; config.ini switches it on with any
// value, unless it has a negative name.
static void apply(const struct ini *ini, size_t i)
{
    struct file_view *const v = ini->v;
    const char *const value = ini->of[i].value, *const option = llama_own_option(v, llama_options[i].names);
    const bool two = *llama_options[i].negative;
    bool on = ini->config && !two ? true : ini->config ? is_truthy(value) : !is_falsey(value);
    if (ini->of[i].negated)
        on = !is_truthy(value);
    const cJSON item = {
        .type = cJSON_String, .string = (char *)(uintptr_t)ini->of[i].key, .valuestring = (char *)(uintptr_t)value};
    if (!option)
        llama_check_value(v, i, ini->of[i].key, value);
    else if (!*option)
        view_unsupported(v, &item);
    else if (llama_options[i].value != LLAMA_NONE)
        llama_apply_value(v, option, ini->of[i].key, value);
    else if (on)
        view_set(v, option, NULL);
    else if (two && llama_own_option(v, llama_options[i].negative))
        view_set(v, llama_own_option(v, llama_options[i].negative), NULL);
}

// Notes values that end at a comment which may be meant as text.
static void note_cut_values(const struct ini *ini)
{
    const cJSON *key;
    struct builder note = {0};
    cJSON_ArrayForEach(key, json_array(ini->v->root, "cut"))
    {
        bool counts = false;
        for (size_t i = 0; i < LLAMA_OPTIONS; i++)
            counts = counts || (ini->of[i].key && !strcmp(ini->of[i].key, key->valuestring) &&
                                llama_own_option(ini->v, llama_options[i].names));
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
    for (size_t i = 0; i < LLAMA_OPTIONS && !ini->v->failed; i++)
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
    if (name) // llama-server's own options are those of the section, once each: the last counts
        v->replaceable = "logit-bias dry-sequence-breaker";
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
    .unset = UNSET_DEFAULTS,
    .names = LLAMA_SAMPLERS,
    .order_text = "samplers, or sampler-seq",
    .key = read_key,
    .finish = finish,
};
