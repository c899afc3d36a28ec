// SPDX-License-Identifier: MIT
#include "cli/notation.h"

#include "base/builder.h"
#include "base/names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct reading {
    const char *p;       // up to a NUL
    const char *section; // of ini that is wanted, or NULL
    bool found;          // there is one
    bool failed;         // memory is short
};

static size_t line_len(const char *p)
{
    return strcspn(p, "\n");
}

static void next_line(struct reading *t)
{
    t->p += line_len(t->p);
    t->p += *t->p == '\n';
}

static const char *past_blanks(const char *p)
{
    return p + strspn(p, " \t");
}

// The length of p[0..len) without the white space at its end.
static size_t trimmed(const char *p, size_t len)
{
    while (len && isspace((unsigned char)p[len - 1]))
        len--;
    return len;
}

// Is p[0..len) one of the words, in either case?
static bool is_word(const char *words, const char *p, size_t len)
{
    return name_find(words, NAME_ANY_CASE, p, len) >= 0;
}

// A value that stands unquoted.
static cJSON *plain(const char *p, size_t len)
{
    char *end, *const text = strndup(p, len);
    cJSON *item = NULL;
    if (!text)
        return NULL;
    strtod(text, &end);
    if (!len || is_word("null ~", p, len))
        item = cJSON_CreateNull();
    else if (is_word("true yes on", p, len))
        item = cJSON_CreateTrue();
    else if (is_word("false no off", p, len))
        item = cJSON_CreateFalse();
    else if (!*end && strchr("+-.0123456789", *p))
        item = cJSON_CreateRaw(text);
    else
        item = cJSON_CreateString(text);
    free(text);
    return item;
}

static void put(struct reading *t, cJSON *to, const char *key, size_t len, cJSON *value)
{
    char *const name = strndup(key, len);
    if (!name || !value || !cJSON_AddItemToObject(to, name, value)) {
        cJSON_Delete(value);
        t->failed = true;
    }
    free(name);
}

static cJSON *take_string(struct reading *t, struct builder *b)
{
    cJSON *const item = b->text ? cJSON_CreateString(b->text) : cJSON_CreateString("");
    t->failed = t->failed || b->failed || !item;
    builder_free(b);
    return item;
}

// ---- YAML: one flat mapping of scalars and lists of scalars

// Within quotes a line's end is a blank, and each empty line behind it a line's end.
static void fold(struct reading *t, struct builder *b)
{
    size_t lines = 0;
    for (; isspace((unsigned char)*t->p); t->p++)
        lines += *t->p == '\n';
    b->len = trimmed(b->text ? b->text : "", b->len);
    if (lines == 1)
        builder_byte(b, ' ');
    for (size_t i = 1; i < lines; i++)
        builder_byte(b, '\n');
}

static void escape(struct reading *t, struct builder *b)
{
    static const char names[] = "ntr0e", bytes[] = "\n\t\r\0\033";
    const char c = *t->p++;
    const char *const name = strchr(names, c);
    if (c == 'x' || c == 'u') {
        const size_t digits = c == 'x' ? 2 : 4;
        char hex[5] = "";
        memcpy(hex, t->p, strnlen(t->p, digits));
        builder_character(b, (uint32_t)strtoul(hex, NULL, 16));
        t->p += strlen(hex);
    } else {
        builder_byte(b, name && c != '0' ? bytes[name - names] : c);
    }
}

static cJSON *quoted(struct reading *t)
{
    struct builder b = {0};
    const char quote = *t->p++;
    while (*t->p && (*t->p != quote || (quote == '\'' && t->p[1] == quote))) {
        if (*t->p == '\n') {
            fold(t, &b);
        } else if (*t->p == '\\' && quote == '"' && t->p[1] == '\n') {
            t->p += 2 + strspn(t->p + 2, " \t");
        } else if (*t->p == '\\' && quote == '"' && t->p[1]) {
            t->p++;
            escape(t, &b);
        } else {
            t->p += *t->p == quote;
            builder_byte(&b, *t->p++);
        }
    }
    next_line(t);
    return take_string(t, &b);
}

static cJSON *block(struct reading *t)
{
    struct builder b = {0};
    for (next_line(t); *t->p == ' ' || *t->p == '\n'; next_line(t)) {
        const char *const line = past_blanks(t->p);
        builder_bytes(&b, line, trimmed(line, line_len(line)));
        builder_byte(&b, '\n');
    }
    return take_string(t, &b);
}

static cJSON *list(struct reading *t)
{
    cJSON *const items = cJSON_CreateArray();
    for (const char *item; *(item = past_blanks(t->p)) == '-'; next_line(t)) {
        item = past_blanks(item + 1);
        cJSON *const value = plain(item, trimmed(item, line_len(item)));
        if (!cJSON_AddItemToArray(items, value)) {
            cJSON_Delete(value);
            t->failed = true;
        }
    }
    return items;
}

static size_t before_comment(const char *p)
{
    size_t len = 0;
    while (p[len] && p[len] != '\n' && !(p[len] == '#' && len && isblank((unsigned char)p[len - 1])))
        len++;
    return trimmed(p, len);
}

static void read_yaml(struct reading *t, cJSON *to)
{
    while (*t->p && !t->failed) {
        const char *const key = t->p;
        const size_t len = strcspn(key, ":\n#");
        if (key[len] != ':' || isspace((unsigned char)*key)) {
            next_line(t);
            continue;
        }
        t->p = past_blanks(key + len + 1);
        cJSON *value;
        if (*t->p == '\'' || *t->p == '"') {
            value = quoted(t);
        } else if (*t->p == '|' || *t->p == '>') {
            value = block(t);
        } else {
            const size_t n = before_comment(t->p);
            const char *const scalar = t->p;
            next_line(t);
            value = !n && *past_blanks(t->p) == '-' ? list(t) : plain(scalar, n);
        }
        put(t, to, key, len, value);
    }
}

// ---- Modelfiles

#define INSTRUCTIONS "FROM PARAMETER TEMPLATE SYSTEM ADAPTER LICENSE MESSAGE RENDERER PARSER REQUIRES"

static void read_modelfile(struct reading *t, cJSON *to)
{
    while (*t->p && !t->failed) {
        const char *const word = past_blanks(t->p), *const long_text = strstr(word, "\"\"\"");
        if (is_word("PARAMETER", word, strcspn(word, " \t\n"))) {
            const char *const name = past_blanks(word + strlen("PARAMETER"));
            const size_t len = strcspn(name, " \t\n");
            const char *value = past_blanks(name + len);
            size_t n = trimmed(value, line_len(value));
            if (n > 1 && *value == '"' && value[n - 1] == '"') {
                value++;
                n -= 2;
            }
            put(t, to, name, len, plain(value, n));
        } else if (*word != '#' && long_text && long_text < word + line_len(word)) {
            const char *const end = strstr(long_text + 3, "\"\"\"");
            t->p = end ? end + 3 : word + strlen(word);
        }
        next_line(t);
    }
}

// ---- ini: what stands in [*], and over it what stands in a section; the one without a name begins the file, and may be called [default]

static void read_section(struct reading *t, cJSON *to, const char *name, bool unnamed)
{
    bool reads = unnamed;
    for (; *t->p && !t->failed; next_line(t)) {
        const char *const line = past_blanks(t->p);
        const size_t len = strcspn(line, ";#\n"), key = strcspn(line, "=;#\n");
        if (*line == '[') {
            const size_t n = strcspn(line + 1, "]\n");
            reads = n == strlen(name) && !strncasecmp(line + 1, name, n);
            t->found = t->found || reads;
        } else if (reads && line[key] == '=') {
            const char *const value = line + key + 1 + strspn(line + key + 1, " \t");
            const size_t n = value < line + len ? trimmed(value, (size_t)(line + len - value)) : 0;
            char *const text = strndup(value, n);
            put(t, to, line, trimmed(line, key), text ? cJSON_CreateString(text) : NULL);
            free(text);
        }
    }
}

static void read_ini(struct reading *t, cJSON *to)
{
    const char *const start = t->p, *const section = t->section ? t->section : "default";
    read_section(t, to, "*", false);
    t->p = start;
    t->found = !strcasecmp(section, "default");
    read_section(t, to, section, !strcasecmp(section, "default"));
}

// ---- which it is

// Finds the first line that is neither empty nor a comment.
static const char *first_line(const char *p)
{
    for (p = past_blanks(p); *p == '\n' || *p == '\r' || *p == '#'; p = past_blanks(p))
        p += *p == '#' ? line_len(p) : 1;
    return p;
}

enum notation notation_of(const char *text)
{
    const char *const line = first_line(text);
    const size_t word = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"),
                 len = line_len(line);
    if (*line == '{')
        return NOTATION_JSON;
    if (*line == '[' && trimmed(line, len) && line[trimmed(line, len) - 1] == ']')
        return NOTATION_INI;
    if (!strncmp(line, "---", 3) && isspace((unsigned char)line[3]))
        return NOTATION_YAML;
    if (*line == '-' || !word)
        return NOTATION_NONE;
    if (line[word] == ':' && (!line[word + 1] || isspace((unsigned char)line[word + 1])))
        return NOTATION_YAML;
    if (isblank((unsigned char)line[word]) && is_word(INSTRUCTIONS, line, word))
        return NOTATION_MODELFILE;
    return *past_blanks(line + word) == '=' ? NOTATION_INI : NOTATION_NONE;
}

cJSON *notation_read(enum notation notation, const char *text, const char *section)
{
    static void (*const read[])(struct reading * t, cJSON * to) = {
        [NOTATION_YAML] = read_yaml, [NOTATION_MODELFILE] = read_modelfile, [NOTATION_INI] = read_ini};
    static const char *const within[] = {
        [NOTATION_YAML] = "yaml", [NOTATION_MODELFILE] = "options", [NOTATION_INI] = "ini"};
    struct reading t = {.p = text, .section = section};
    cJSON *const root = cJSON_CreateObject(), *const to = cJSON_AddObjectToObject(root, within[notation]);
    if (to)
        read[notation](&t, to);
    if (to && section && !t.found)
        cJSON_Delete(cJSON_DetachItemViaPointer(root, to));
    if (to && !t.failed)
        return root;
    cJSON_Delete(root);
    return NULL;
}
