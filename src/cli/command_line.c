// SPDX-License-Identifier: MIT
#include "cli/command_line.h"

#include "base/builder.h"
#include "base/names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char programs_known[] = "llama-server llama-cli llama-run llama-simple-chat llamafile koboldcpp "
                                     "koboldcpp.py koboldcpp-linux-x64 vllm sglang.launch_server mlx_lm.server "
                                     "mlx_lm.generate",
                  programs_old[] = "main server"; // llama.cpp's of 2023 and 2024, with a folder

enum { DEPTH_MOST = 8 }; // variables within variables

struct script {
    const char *p;
    bool one_line;
    cJSON *variables; // texts, and arrays of texts
    cJSON *words;     // of the command that is read
    bool failed;      // memory is short
};

static void check(struct script *s, const void *made) { s->failed = s->failed || !made; }

// Appends a text to an array of words.
static void append(struct script *s, cJSON *words, const char *text)
{
    cJSON *const item = text ? cJSON_CreateString(text) : NULL;
    if (!item || !cJSON_AddItemToArray(words, item)) {
        cJSON_Delete(item);
        s->failed = true;
    }
}

// ---- variables

static void set_variable(struct script *s, const char *name, size_t len, cJSON *value)
{
    char *const key = strndup(name, len);
    check(s, key);
    check(s, value);
    if (key)
        cJSON_DeleteItemFromObjectCaseSensitive(s->variables, key);
    if (!key || !value || !cJSON_AddItemToObject(s->variables, key, value)) {
        cJSON_Delete(value);
        s->failed = true;
    }
    free(key);
}

static size_t name_len(const char *p)
{
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_')
        n++;
    return n;
}

static void expand(struct script *s, const char *text, size_t len, int depth, struct builder *b);

// Appends the value of a variable, or `absent`; false if it has none.
static bool expand_variable(struct script *s, const char *name, size_t len, const char *absent, size_t absent_len,
                            int depth, struct builder *b)
{
    char *const key = strndup(name, len);
    check(s, key);
    const cJSON *const value = key ? cJSON_GetObjectItemCaseSensitive(s->variables, key) : NULL, *word;
    free(key);
    if (cJSON_IsArray(value))
        cJSON_ArrayForEach(word, value) { builder_format(b, "%s ", word->valuestring); }
    else if (value)
        expand(s, value->valuestring, strlen(value->valuestring), depth + 1, b);
    else if (absent)
        expand(s, absent, absent_len, depth + 1, b);
    return value || absent;
}

// Appends a text in which variables are replaced: $NAME, ${NAME}, ${NAME:-TEXT}, ${NAME[@]}, %NAME%. Others stay.
static void expand(struct script *s, const char *text, size_t len, int depth, struct builder *b)
{
    const char *const end = text + len;
    while (text < end && depth < DEPTH_MOST) {
        const bool brace = *text == '$' && text + 1 < end && text[1] == '{';
        const char *const name = text + 1 + brace, *close = brace ? memchr(name, '}', (size_t)(end - name)) : NULL;
        size_t n = brace && close ? (size_t)(close - name) : *text == '$' || *text == '%' ? name_len(name) : 0;
        const char *absent = NULL, *after = brace && close ? close + 1 : name + n;
        size_t absent_len = 0;
        if (brace && close) {
            const char *const colon = memchr(name, ':', n), *const bracket = memchr(name, '[', n);
            absent = colon && colon[1] == '-' ? colon + 2 : NULL;
            absent_len = absent ? (size_t)(close - absent) : 0;
            n = absent ? (size_t)(colon - name) : bracket ? (size_t)(bracket - name) : n;
        } else if (*text == '%' && n) {
            after += name[n] == '%';
            n = name[n] == '%' ? n : 0;
        }
        if (n && after <= end && expand_variable(s, name, n, absent, absent_len, depth, b))
            text = after;
        else
            builder_byte(b, *text++);
    }
}

// ---- words

// Appends the words of a text without quotes to the command, separated at white space.
static void add_split(struct script *s, const char *text)
{
    while (*(text += strspn(text, " \t\r\n"))) {
        const size_t len = strcspn(text, " \t\r\n");
        char *const word = strndup(text, len);
        append(s, s->words, word);
        free(word);
        text += len;
    }
}

static bool is_continued(const char *p) // a line that ends with an escape: sh, cmd.exe, PowerShell
{
    return (*p == '\\' || *p == '^' || *p == '`') && (p[1] == '\n' || (p[1] == '\r' && p[2] == '\n'));
}

static bool ends_command(const struct script *s) // at s->p, outside of quotes
{
    return !*s->p || strchr(s->one_line ? ";|&" : ";|&\n", *s->p);
}

// Reads a word up to white space, with its quotes removed and its variables replaced. *quoted: it had quotes.
static void read_word(struct script *s, struct builder *b, bool *quoted)
{
    while (!ends_command(s) && !isspace((unsigned char)*s->p) && !is_continued(s->p) && *s->p != ')') {
        const char quote = *s->p;
        const char *const from = quote == '"' || quote == '\'' ? ++s->p : s->p;
        if (quote == '\'') {
            s->p += strcspn(s->p, "'");
            builder_bytes(b, from, (size_t)(s->p - from));
        } else if (quote == '"') {
            struct builder inner = {0};
            for (; *s->p && *s->p != '"'; s->p++) {
                s->p += *s->p == '\\' && s->p[1] && strchr("\"\\$", s->p[1]);
                builder_byte(&inner, *s->p);
            }
            builder_string(&inner, "");
            s->failed = s->failed || inner.failed;
            expand(s, inner.text ? inner.text : "", inner.len, 0, b);
            builder_free(&inner);
        } else if (quote == '\\' && s->p[1] && strchr("\"'\\ $#", s->p[1])) {
            builder_byte(b, s->p[1]);
            s->p += 2;
            continue;
        } else {
            const bool brace = *s->p == '$' && s->p[1] == '{';
            s->p += brace ? strcspn(s->p, "}\n") + (s->p[strcspn(s->p, "}\n")] == '}') : 1;
            if (!brace && *from == '$')
                s->p += name_len(s->p);
            if (*from == '%' && s->p[name_len(s->p)] == '%')
                s->p += name_len(s->p) + 1;
            expand(s, from, (size_t)(s->p - from), 0, b);
            continue;
        }
        *quoted = true;
        s->p += *s->p != '\0';
    }
    builder_string(b, "");
    s->failed = s->failed || b->failed;
}

// Moves past blanks, continued lines and comments.
static void past_space(struct script *s)
{
    for (;;) {
        if (is_continued(s->p))
            s->p += 1 + (s->p[1] == '\r') + 1;
        else if (*s->p == '#')
            s->p += strcspn(s->p, "\n");
        else if (isspace((unsigned char)*s->p) && (*s->p != '\n' || s->one_line))
            s->p++;
        else
            return;
    }
}

// Reads NAME=VALUE or NAME=(WORD ...) at the start of a command. False: it is none.
static bool read_assignment(struct script *s)
{
    const size_t n = name_len(s->p);
    if (!n || s->p[n] != '=')
        return false;
    const char *const name = s->p;
    s->p += n + 1;
    if (*s->p == '(') {
        cJSON *const array = cJSON_CreateArray(), *const command = s->words;
        check(s, array);
        s->words = array;
        for (s->p++; *s->p && *s->p != ')' && !s->failed;) {
            struct builder b = {0};
            bool quoted = false;
            past_space(s);
            read_word(s, &b, &quoted);
            if (s->failed)
                s->p += strlen(s->p);
            else if (b.len || quoted)
                quoted ? append(s, array, b.text) : add_split(s, b.text);
            else
                s->p += *s->p != '\0' && *s->p != ')';
            builder_free(&b);
        }
        s->p += *s->p == ')';
        s->words = command;
        set_variable(s, name, n, array);
        return true;
    }
    struct builder b = {0};
    bool quoted = false;
    read_word(s, &b, &quoted);
    set_variable(s, name, n, b.text ? cJSON_CreateString(b.text) : NULL);
    builder_free(&b);
    return true;
}

// Reads "${NAME[@]}", the words of an array. False: it is none.
static bool read_array(struct script *s)
{
    const size_t n = strncmp(s->p, "\"${", 3) ? 0 : name_len(s->p + 3);
    if (!n || strncmp(s->p + 3 + n, "[@]}\"", 5) != 0)
        return false;
    char *const name = strndup(s->p + 3, n);
    check(s, name);
    const cJSON *const array = name ? cJSON_GetObjectItemCaseSensitive(s->variables, name) : NULL, *word;
    cJSON_ArrayForEach(word, array) { append(s, s->words, word->valuestring); }
    s->p += 3 + n + 5;
    free(name);
    return true;
}

// Reads a command into s->words.
static void read_command(struct script *s)
{
    bool first = true;
    for (past_space(s); !ends_command(s) && !s->failed; past_space(s)) {
        struct builder b = {0};
        bool quoted = false;
        if (first && read_assignment(s))
            continue;
        if (read_array(s))
            continue;
        const char *const from = s->p;
        read_word(s, &b, &quoted);
        if (s->failed) {
            builder_free(&b);
            break;
        }
        if (s->p == from)
            s->p++; // a bracket
        else if (!quoted && name_find("export set local readonly declare", NAME_ANY_CASE, b.text, b.len) >= 0 &&
                 first) {
            builder_free(&b);
            continue;
        } else if (quoted) {
            append(s, s->words, b.text);
        } else {
            add_split(s, b.text);
        }
        first = false;
        builder_free(&b);
    }
    s->p += *s->p != '\0';
}

// ---- programs

// Returns the name of the program that a word names, without folder and .exe: a part of the word, *len long. NULL: the
// word names none.
static const char *program_of(const char *word, size_t *len)
{
    const char *name = word;
    for (const char *at = word; *at; at++)
        name = *at == '/' || *at == '\\' ? at + 1 : name;
    const size_t n = strlen(name), cut = n > 4 && !strcmp(name + n - 4, ".exe") ? n - 4 : n;
    *len = cut;
    return name_find(programs_known, NAME_EXACT, name, cut) >= 0 ||
                   (name > word && name_find(programs_old, NAME_EXACT, name, cut) >= 0)
               ? name
               : NULL;
}

// Returns the words from the program on. NULL: the command starts none that is known with an option.
static cJSON *known_command(struct script *s, const cJSON *words)
{
    const cJSON *word, *at;
    size_t len = 0;
    cJSON_ArrayForEach(word, words)
    {
        const char *const name = program_of(word->valuestring, &len);
        bool option = false;
        for (at = word->next; name && at; at = at->next)
            option = option || *at->valuestring == '-';
        if (!option)
            continue;
        cJSON *const command = cJSON_CreateArray();
        char *const program = strndup(name, len);
        append(s, command, program);
        free(program);
        for (at = word->next; at; at = at->next)
            append(s, command, at->valuestring);
        return command;
    }
    return NULL;
}

cJSON *command_line_read(const char *text, bool one_line, const cJSON *macros, struct err *e)
{
    struct script s = {.p = text, .one_line = one_line, .variables = cJSON_CreateObject()};
    cJSON *found = NULL, *root = NULL;
    const cJSON *macro;
    int more = 0;
    check(&s, s.variables);
    cJSON_ArrayForEach(macro, macros)
    {
        if (!s.failed && macro->valuestring)
            set_variable(&s, macro->string, strlen(macro->string), cJSON_CreateString(macro->valuestring));
    }
    while (*s.p && !s.failed) {
        s.words = cJSON_CreateArray();
        check(&s, s.words);
        read_command(&s);
        cJSON *const command = known_command(&s, s.words);
        more += command && found;
        if (found)
            cJSON_Delete(command);
        else
            found = command;
        cJSON_Delete(s.words);
    }
    cJSON_Delete(s.variables);
    if (found && (root = cJSON_CreateObject())) {
        if (!cJSON_AddItemToObject(root, "command", found)) {
            cJSON_Delete(found);
            s.failed = true;
        }
        if (!cJSON_AddNumberToObject(root, "more", more))
            s.failed = true;
    } else if (found) {
        s.failed = true;
        cJSON_Delete(found);
    }
    if (!s.failed)
        return root;
    err_from_fault(e, fault_memory());
    cJSON_Delete(root);
    return NULL;
}

// ---- flags of other programs

static const struct {
    const char *programs; // that are started
    const char *flag;     // whose value is a JSON object; NULL: each flag is a setting
    const char *reads;    // the program that reads it
} others[] = {
    {"vllm", "--override-generation-config", "vLLM"},
    {"sglang.launch_server", "--preferred-sampling-params", "SGLang"},
    {"koboldcpp koboldcpp.py koboldcpp-linux-x64", "--gendefaults", "KoboldCpp"},
    {"mlx_lm.server mlx_lm.generate", NULL, "mlx_lm"},
};

// Makes an object of mlx_lm's flags, which are named as in its requests but for the temperature.
static cJSON *read_flags(const cJSON *word)
{
    cJSON *const to = cJSON_CreateObject();
    bool whole = to;
    for (; word && word->next; word = word->next) {
        char name[40];
        const bool flag = !strncmp(word->valuestring, "--", 2);
        snprintf(name, sizeof name, "%s", word->valuestring + 2 * flag);
        for (char *at = name; *at; at++)
            *at = (char)(*at == '-' ? '_' : *at);
        if (flag &&
            name_find("temp top_p min_p top_k seed xtc_probability xtc_threshold", NAME_EXACT, name, strlen(name)) >= 0)
            whole =
                cJSON_AddRawToObject(to, strcmp(name, "temp") ? name : "temperature", word->next->valuestring) && whole;
    }
    if (whole)
        return to;
    cJSON_Delete(to);
    return NULL;
}

// Returns the value of a flag, in the next word or behind '='. NULL: there is none.
static const char *flag_value(const cJSON *word, const char *flag)
{
    const size_t len = strlen(flag);
    for (; word; word = word->next)
        if (!strncmp(word->valuestring, flag, len) && (word->valuestring[len] == '=' || !word->valuestring[len]))
            return word->valuestring[len] ? word->valuestring + len + 1 : cJSON_GetStringValue(word->next);
    return NULL;
}

cJSON *command_line_settings(const cJSON *tree, const char **program, struct err *e)
{
    const cJSON *const name = json_array(tree, "command")->child;
    *program = NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (name_find(others[i].programs, NAME_EXACT, name->valuestring, strlen(name->valuestring)) < 0)
            continue;
        *program = others[i].reads;
        const char *const json = others[i].flag ? flag_value(name->next, others[i].flag) : NULL;
        if (others[i].flag && !json) {
            err_set(e, STATUS_USAGE, "the command line of %s has no %s, which sets samplers", name->valuestring,
                    others[i].flag);
            return NULL;
        }
        cJSON *const settings = json ? json_parse(json, strlen(json), JSON_EXACT, e) : read_flags(name->next);
        if (settings || e->status != STATUS_OK)
            return settings;
        err_from_fault(e, fault_memory());
    }
    return NULL;
}
