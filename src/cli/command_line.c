// SPDX-License-Identifier: MIT
#include "cli/command_line.h"

#include "base/builder.h"
#include "base/names.h"
#include "cli/batch_file.h"
#include "cli/shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Returns true if two starts have the same words and variables.
static bool are_equal(const cJSON *a, const cJSON *b)
{
    return cJSON_Compare(cJSON_GetObjectItem(a, "command"), cJSON_GetObjectItem(b, "command"), true) &&
           cJSON_Compare(cJSON_GetObjectItem(a, "env"), cJSON_GetObjectItem(b, "env"), true);
}

// Drops starts that repeat one before, and those of a program that is guessed if another is named.
static void drop_repeated(cJSON *starts)
{
    const cJSON *start, *other;
    bool named = false;
    cJSON_ArrayForEach(start, starts) { named = named || !cJSON_HasObjectItem(start, "guessed"); }
    for (int i = 0; i < cJSON_GetArraySize(starts);) {
        start = cJSON_GetArrayItem(starts, i);
        bool drops = named && cJSON_HasObjectItem(start, "guessed");
        for (other = starts->child; other != start && !drops; other = other->next)
            drops = are_equal(start, other);
        if (drops)
            cJSON_DeleteItemFromArray(starts, i);
        else
            i++;
    }
}

// Takes the start that `section` numbers, from 1, out of the list. NULL with *e: there is none.
static cJSON *choose(cJSON *starts, const char *section, struct err *e)
{
    const int n = cJSON_GetArraySize(starts);
    char *end = NULL;
    const long number = section ? strtol(section, &end, 10) : 1;
    if (end && (end == section || *end || number < 1 || number > n)) {
        err_set(e, STATUS_USAGE, "'%.*s' is none of the commands in the file, which FILE:1 to FILE:%d choose",
                err_clip(section, 40), section, n);
        return NULL;
    }
    return cJSON_DetachItemFromArray(starts, (int)number - 1);
}

// Returns a text without the lines that are comments, which the caller frees. NULL: memory is short.
static char *without_comments(const char *text)
{
    struct builder b = {0};
    builder_string(&b, "");
    for (const char *line = text; *line;) {
        const size_t len = strcspn(line, "\n"), whole = len + (line[len] == '\n');
        if (line[strspn(line, " \t")] != '#')
            builder_bytes(&b, line, whole);
        line += whole;
    }
    if (!b.failed)
        return b.text;
    builder_free(&b);
    return NULL;
}

// Returns a text in which the macros ${NAME} are replaced, also those within macros; the caller frees it. NULL: memory
// is short.
static char *replace_macros(const char *text, const cJSON *macros)
{
    enum { DEPTH_MOST = 8, LEN_MOST = 1 << 20 };
    char *all = macros ? without_comments(text) : strdup(text); // llama-swap drops them first
    for (int depth = 0; all && depth < DEPTH_MOST && strlen(all) < LEN_MOST; depth++) {
        struct builder b = {0};
        bool any = false;
        for (const char *p = all; *p;) {
            const size_t len = !strncmp(p, "${", 2) ? strcspn(p, "}") : 0;
            const cJSON *macro = len && p[len] ? macros : NULL;
            for (macro = macro ? macro->child : NULL; macro; macro = macro->next)
                if (macro->valuestring && strlen(macro->string) == len - 2 && !strncmp(macro->string, p + 2, len - 2))
                    break;
            builder_bytes(&b, macro ? macro->valuestring : p, macro ? strlen(macro->valuestring) : 1);
            p += macro ? len + 1 : 1;
            any = any || macro;
        }
        builder_string(&b, "");
        free(all);
        all = b.text;
        if (b.failed) {
            builder_free(&b);
            return NULL;
        }
        if (!any)
            break;
    }
    return all;
}

cJSON *command_line_read(const char *text, bool one_line, const char *section, const cJSON *macros, struct err *e)
{
    struct script s = {.least = DOUBT_NONE};
    cJSON *start = NULL;
    char *const whole = replace_macros(text, macros);
    if (script_begin(&s) && whole) {
        if (!one_line && batch_file_is(text))
            batch_file_read(&s, text);
        else
            shell_read(&s, whole, one_line);
        drop_repeated(s.starts);
        const int n = cJSON_GetArraySize(s.starts);
        start = n && !s.failed ? choose(s.starts, section, e) : NULL;
        if (start && !cJSON_AddNumberToObject(start, "more", section ? 0.0 : n - 1))
            s.failed = true;
    }
    free(whole);
    if (s.failed || !whole) {
        err_from_fault(e, fault_memory());
        cJSON_Delete(start);
        start = NULL;
    }
    script_end(&s);
    return start;
}

// ---- flags of other programs

static const struct {
    const char *programs; // that are started
    const char *flag;     // whose value is a JSON object; NULL: each flag is a setting
    const char *reads;    // the program that reads it
    const char *member;   // of its files that holds such an object; NULL: none
} others[] = {
    {"vllm vllm.entrypoints.*", "--override-generation-config", "vLLM", NULL},
    {"sglang.launch_server", "--preferred-sampling-params", "SGLang", "sampling_params"},
    {"koboldcpp koboldcpp.py koboldcpp-* koboldcpp_*", "--gendefaults", "KoboldCpp", NULL},
    {"mlx_lm.server mlx_lm.generate mlx_lm.chat", NULL, "mlx_lm", NULL},
};

// Returns the text of a word whose value is known. NULL with *e: it is not, or holds under a condition.
static const char *known_text(const cJSON *word, const char *flag, struct err *e)
{
    const char *const doubt = cJSON_GetStringValue(json_member(word, "doubt"));
    const char *const text = word->valuestring ? word->valuestring : json_member(word, "word")->valuestring;
    if (!doubt || !strcmp(doubt, "default"))
        return text;
    if (!strcmp(doubt, "unknown"))
        err_set(e, STATUS_USAGE, "%s: the value of '%.*s' is not known", flag, err_clip(text, 40), text);
    else
        err_set(e, STATUS_USAGE, "%s stands under a condition, which only a run of the script decides", flag);
    return NULL;
}

static const char *text_of(const cJSON *word)
{
    return word->valuestring ? word->valuestring : json_member(word, "word")->valuestring;
}

// Makes an object of mlx_lm's flags, which are named as in its requests but for the temperature.
static cJSON *read_flags(const cJSON *word, struct err *e)
{
    cJSON *const to = cJSON_CreateObject();
    bool whole = to;
    for (; word && word->next && e->status == STATUS_OK; word = word->next) {
        char name[40];
        const char *const flag = text_of(word);
        snprintf(name, sizeof name, "%s", flag + 2 * !strncmp(flag, "--", 2));
        for (char *at = name; *at; at++)
            *at = (char)(*at == '-' ? '_' : *at);
        if (strncmp(flag, "--", 2) != 0 ||
            name_find("temp top_p min_p top_k seed xtc_probability xtc_threshold", NAME_EXACT, name, strlen(name)) < 0)
            continue;
        const char *const value = known_text(word, flag, e) ? known_text(word->next, flag, e) : NULL;
        whole = value && cJSON_AddRawToObject(to, strcmp(name, "temp") ? name : "temperature", value) && whole;
    }
    if (whole && e->status == STATUS_OK)
        return to;
    cJSON_Delete(to);
    return NULL;
}

// Returns the value of a flag, in the next word or behind '='. NULL: there is none, or with *e it is not known.
static const char *flag_value(const cJSON *word, const char *flag, struct err *e)
{
    const size_t len = strlen(flag);
    for (; word; word = word->next) {
        const char *const text = text_of(word);
        if (strncmp(text, flag, len) != 0 || (text[len] && text[len] != '='))
            continue;
        const char *const value = !known_text(word, flag, e) ? NULL
                                  : text[len]                ? text + len + 1
                                  : word->next               ? known_text(word->next, flag, e)
                                                             : NULL;
        return value;
    }
    return NULL;
}

cJSON *command_line_settings(const cJSON *tree, const char **program, struct err *e)
{
    const cJSON *const name = json_array(tree, "command")->child;
    *program = NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (name_find(others[i].programs, NAME_PATTERN, name->valuestring, strlen(name->valuestring)) < 0)
            continue;
        *program = others[i].reads;
        const char *const json = others[i].flag ? flag_value(name->next, others[i].flag, e) : NULL;
        if (e->status != STATUS_OK)
            return NULL;
        if (others[i].flag && !json) {
            err_set(e, STATUS_USAGE, "the command line of %s has no %s, which sets samplers", name->valuestring,
                    others[i].flag);
            return NULL;
        }
        cJSON *const settings = json ? json_parse(json, strlen(json), JSON_EXACT, e) : read_flags(name->next, e);
        cJSON *const outer = settings && others[i].member ? cJSON_CreateObject() : settings;
        if (settings && outer != settings && !(outer && cJSON_AddItemToObject(outer, others[i].member, settings))) {
            cJSON_Delete(settings);
            cJSON_Delete(outer);
            err_from_fault(e, fault_memory());
            return NULL;
        }
        if (outer || e->status != STATUS_OK)
            return outer;
        err_from_fault(e, fault_memory());
    }
    return NULL;
}
