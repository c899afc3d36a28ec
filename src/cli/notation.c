// SPDX-License-Identifier: MIT
#include "cli/notation.h"

#include "base/builder.h"
#include "base/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// A text that is read into an object.
struct reading {
    size_t indent; // of the lines of this mapping
    const char *p; // the rest of the text, up to a NUL
    cJSON *to;     // the object that gets the settings
    cJSON *cut;    // of an ini: the keys whose values end at a comment without a blank before it
    size_t line;   // of an ini, from 1; it is wrong if the text is not at its end
    bool failed;   // memory is short
};

static size_t line_len(const char *p) { return strcspn(p, "\n"); }

static void skip_line(struct reading *t)
{
    t->p += line_len(t->p);
    t->p += *t->p == '\n';
}

static const char *past_blanks(const char *p) { return p + strspn(p, " \t"); }

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

// The value of an unquoted text; NULL when memory is short.
static cJSON *unquoted_value(const char *p, size_t len)
{
    char *end, *const text = strndup(p, len);
    if (!text)
        return NULL;
    strtod(text, &end);
    cJSON *const item = !len || is_word("null ~", p, len)              ? cJSON_CreateNull()
                        : is_word("true yes on", p, len)               ? cJSON_CreateTrue()
                        : is_word("false no off", p, len)              ? cJSON_CreateFalse()
                        : !*end && strchr("+-.0123456789", *p) != NULL ? cJSON_CreateRaw(text)
                                                                       : cJSON_CreateString(text);
    free(text);
    return item;
}

// The string of a text, which is freed; NULL when memory is short.
static cJSON *string_value(struct builder *b)
{
    builder_string(b, "");
    cJSON *const item = b->failed ? NULL : cJSON_CreateString(b->text);
    builder_free(b);
    return item;
}

// Adds a setting. value may be NULL: memory is short.
static void add_setting(struct reading *t, const char *key, size_t len, cJSON *value)
{
    char *const name = strndup(key, len);
    if (!name || !value || !cJSON_AddItemToObject(t->to, name, value)) {
        cJSON_Delete(value);
        t->failed = true;
    }
    free(name);
}

// ---- YAML: one flat mapping of scalars and lists of scalars

// Reads the white space between two lines of a quoted text. The first line end becomes a blank, each empty line behind
// it a line end.
static void read_line_ends(struct reading *t, struct builder *b)
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

static void add_point(struct builder *b, uint32_t point)
{
    if (point)
        builder_character(b, point);
    else
        builder_string(b, JSON_NUL);
}

// Reads an escape, behind its backslash.
static void read_yaml_escape(struct reading *t, struct builder *b)
{
    static const char names[] = "ntr0e", bytes[] = "\n\t\r\0\033";
    const char c = *t->p++;
    const char *const name = strchr(names, c);
    if (c == 'x' || c == 'u') {
        const size_t digits = c == 'x' ? 2 : 4;
        char hex[5] = "";
        memcpy(hex, t->p, strnlen(t->p, digits));
        add_point(b, (uint32_t)strtoul(hex, NULL, 16));
        t->p += strlen(hex);
    } else if (name) {
        add_point(b, (uint32_t)bytes[name - names]);
    } else {
        builder_byte(b, c);
    }
}

static cJSON *quoted_value(struct reading *t)
{
    struct builder b = {0};
    const char quote = *t->p++;
    while (*t->p && (*t->p != quote || (quote == '\'' && t->p[1] == quote))) {
        if (*t->p == '\n') {
            read_line_ends(t, &b);
        } else if (*t->p == '\\' && quote == '"' && t->p[1] == '\n') {
            t->p += 2 + strspn(t->p + 2, " \t");
        } else if (*t->p == '\\' && quote == '"' && t->p[1]) {
            t->p++;
            read_yaml_escape(t, &b);
        } else {
            t->p += *t->p == quote;
            builder_byte(&b, *t->p++);
        }
    }
    skip_line(t);
    return string_value(&b);
}

// Reads the indented lines below a '|' or '>'.
static cJSON *block_value(struct reading *t)
{
    struct builder b = {0};
    for (skip_line(t); *t->p == ' ' || *t->p == '\n'; skip_line(t)) {
        const char *const line = past_blanks(t->p);
        builder_bytes(&b, line, trimmed(line, line_len(line)));
        builder_byte(&b, '\n');
    }
    return string_value(&b);
}

// The value of a text that may be a list or a mapping in brackets, if that is JSON.
static cJSON *flow_value(struct reading *t, const char *p, size_t len)
{
    struct err ignored;
    char *const text = len && (*p == '[' || *p == '{') ? strndup(p, len) : NULL;
    cJSON *const tree = text ? json_parse(text, len, JSON_EXACT, &ignored) : NULL;
    free(text);
    (void)t;
    return tree ? tree : unquoted_value(p, len);
}

// Reads the lines that begin with '-'.
static cJSON *list_value(struct reading *t)
{
    cJSON *const items = cJSON_CreateArray();
    for (const char *item; *(item = past_blanks(t->p)) == '-'; skip_line(t)) {
        item = past_blanks(item + 1);
        cJSON *const value = unquoted_value(item, trimmed(item, line_len(item)));
        if (!cJSON_AddItemToArray(items, value)) {
            cJSON_Delete(value);
            t->failed = true;
        }
    }
    return items;
}

// The length of a line without a comment and the white space at its end.
static size_t len_before_comment(const char *p)
{
    size_t len = 0;
    while (p[len] && p[len] != '\n' && !(p[len] == '#' && len && isblank((unsigned char)p[len - 1])))
        len++;
    return trimmed(p, len);
}

static void read_yaml(struct reading *t);

// Reads the lines that are indented more than `indent` into an object.
static cJSON *mapping_value(struct reading *t)
{
    struct reading inner = {.p = t->p, .to = cJSON_CreateObject(), .indent = (size_t)(past_blanks(t->p) - t->p)};
    if (inner.to)
        read_yaml(&inner);
    t->p = inner.p;
    t->failed = t->failed || inner.failed;
    return inner.to;
}

// Returns the next line that is neither empty nor a comment.
static const char *yaml_line(const char *p)
{
    while (*p && strchr("\n#\r", *past_blanks(p))) {
        p += line_len(p);
        p += *p == '\n';
    }
    return p;
}

static void read_yaml(struct reading *t)
{
    while (*(t->p = yaml_line(t->p)) && !t->failed) {
        const size_t blanks = (size_t)(past_blanks(t->p) - t->p);
        const char *const key = t->p + blanks;
        const size_t len = strcspn(key, ":\n#");
        if (blanks < t->indent)
            return;
        if (key[len] != ':' || blanks > t->indent) {
            skip_line(t);
            continue;
        }
        t->p = past_blanks(key + len + 1);
        cJSON *value;
        if (*t->p == '\'' || *t->p == '"') {
            value = quoted_value(t);
        } else if (*t->p == '|' || *t->p == '>') {
            value = block_value(t);
        } else {
            const size_t n = len_before_comment(t->p);
            const char *const scalar = t->p;
            skip_line(t);
            const char *const next = yaml_line(t->p), *const text = past_blanks(next);
            if (!n && *text == '-' && isspace((unsigned char)text[1])) {
                value = list_value(t);
            } else if (!n && (size_t)(text - next) > t->indent) {
                t->p = next;
                value = mapping_value(t);
            } else {
                value = flow_value(t, scalar, n);
            }
        }
        add_setting(t, key, len, value);
    }
}

// ---- Modelfiles

#define INSTRUCTIONS "FROM PARAMETER TEMPLATE SYSTEM ADAPTER LICENSE MESSAGE RENDERER PARSER REQUIRES"

static void read_modelfile(struct reading *t)
{
    while (*t->p && !t->failed) {
        const char *const word = past_blanks(t->p), *const long_text = strstr(word, "\"\"\"");
        if (is_word("PARAMETER", word, strcspn(word, " \t\n"))) {
            const char *const name = past_blanks(word + strlen("PARAMETER"));
            const size_t len = strcspn(name, " \t\n");
            const char *value = past_blanks(name + len);
            size_t n = trimmed(value, line_len(value));
            if (*value == '"' && strncmp(value, "\"\"\"", 3) != 0) { // up to the closing quote, over lines, too
                const char *const end = strchr(++value, '"');
                n = end ? (size_t)(end - value) : strlen(value);
                t->p = value + n;
            }
            add_setting(t, name, len, unquoted_value(value, n));
        } else if (*word != '#' && long_text && long_text < word + line_len(word)) {
            const char *const end = strstr(long_text + 3, "\"\"\"");
            t->p = end ? end + 3 : word + strlen(word);
        }
        skip_line(t);
    }
}

// ---- ini, as llama.cpp's grammar has it (common/preset.cpp): an object of sections. A repeated section replaces the
// earlier one, and a repeated key the earlier value

static size_t ini_line_len(const char *p) { return strcspn(p, "\r\n"); }

// Returns whether only white space and a comment follow up to the end of the line.
static bool ini_ends(const char *p) { return strchr(";#\r\n", *past_blanks(p)) != NULL; }

// Replaces a member of an object.
static void put(struct reading *t, cJSON *object, const char *name, size_t len, cJSON *value)
{
    char *const key = strndup(name, len);
    if (key)
        cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    if (!key || !value || !cJSON_AddItemToObject(object, key, value)) {
        cJSON_Delete(value);
        t->failed = true;
    }
    free(key);
}

// Notes that the value of a key ends at a comment.
static void note_cut(struct reading *t, const char *key, size_t len)
{
    char *const name = strndup(key, len);
    if (!name || !cJSON_AddItemToArray(t->cut, cJSON_CreateString(name)))
        t->failed = true;
    free(name);
}

static void read_ini(struct reading *t)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_",
                      others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.-";
    cJSON *section = NULL;
    for (t->line = 1; *t->p && !t->failed; t->line++) {
        const char *const line = t->p;
        const size_t len = ini_line_len(line), key = strspn(line, first) ? strspn(line, others) : 0;
        const char *const equals = past_blanks(line + key);
        if (*line == '[') {
            const char *const name = past_blanks(line + 1);
            const size_t n = strcspn(name, "]\r\n");
            if (!n || name[n] != ']' || !ini_ends(name + n + 1))
                return;
            section = cJSON_CreateObject();
            put(t, t->to, name, n, section);
        } else if (key && *equals == '=') {
            const char *const value = past_blanks(equals + 1);
            size_t n = strcspn(value, ";#\r\n");
            struct builder b = {0};
            if (n && !isblank((unsigned char)value[n - 1]) && (value[n] == ';' || value[n] == '#'))
                note_cut(t, line, key); // it may be meant as text
            while (n && (value[n - 1] == ' ' || value[n - 1] == '\t'))
                n--;
            builder_bytes(&b, value, n);
            if (!section) {
                section = cJSON_CreateObject();
                put(t, t->to, "default", strlen("default"), section);
            }
            if (!t->failed)
                put(t, section, line, key, string_value(&b));
        } else if (!ini_ends(line)) {
            return;
        }
        t->p = line + len;
        t->p += t->p[0] == '\r' && t->p[1] == '\n' ? 2 : *t->p != '\0';
    }
}

// ---- which notation

// A notation other than JSON.
struct notation {
    void (*read)(struct reading *t);
    const char *member; // of the tree, for the settings
};

static const struct notation yaml = {read_yaml, "yaml"}, modelfile = {read_modelfile, "options"},
                             ini = {read_ini, "ini"}, json = {NULL};

// Finds the first line that is neither empty nor a comment.
static const char *first_line(const char *p)
{
    for (p = past_blanks(p); *p == '\n' || *p == '\r' || *p == '#'; p = past_blanks(p))
        p += *p == '#' ? line_len(p) : 1;
    return p;
}

// Returns true if a text is an ini by its first line that is no comment: a section's name, or a key and '='.
static bool is_ini(const char *p)
{
    for (p = past_blanks(p); *p && strchr("\r\n#;", *p); p = past_blanks(p))
        p += *p == '#' || *p == ';' ? ini_line_len(p) : 1;
    const size_t word = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."),
                 name = strcspn(p, "]\r\n");
    if (*p == '[')
        return !strchr("{[\"\r\n", *past_blanks(p + 1)) && p[name] == ']' && ini_ends(p + name + 1);
    return word && *p != '-' && *past_blanks(p + word) == '=';
}

// Returns the notation of a text by its first line. NULL: the text is a preset of sampl.
static const struct notation *notation_of(const char *text)
{
    const char *const line = first_line(text);
    const size_t word = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    if (*line == '{')
        return &json;
    if (is_ini(text))
        return &ini;
    if (*line == '[')
        return &json;
    if (!strncmp(line, "---", 3) && isspace((unsigned char)line[3]))
        return &yaml;
    if (*line == '-' || !word)
        return NULL;
    if (line[word] == ':' && (!line[word + 1] || isspace((unsigned char)line[word + 1])))
        return &yaml;
    if (isblank((unsigned char)line[word]) && is_word(INSTRUCTIONS, line, word))
        return &modelfile;
    return NULL;
}

bool notation_is_foreign(const char *text) { return notation_of(text); }

bool notation_is_ini(const char *text) { return notation_of(text) == &ini; }

static cJSON *read_tree(const char *text, size_t len, const char *section, struct err *e)
{
    const struct notation *const known = notation_of(text), *const notation = known || !section ? known : &ini;
    if (section && notation != &ini && notation != &json) {
        err_set(e, STATUS_USAGE, "only an ini of llama.cpp's has sections such as '%.*s'", err_clip(section, 40),
                section);
        return NULL;
    }
    if (notation == &json)
        return json_parse(text, len, JSON_EXACT, e);
    cJSON *const root = cJSON_CreateObject();
    struct reading t = {.p = text, .to = cJSON_AddObjectToObject(root, notation->member)};
    if (t.to && notation == &ini)
        t.cut = cJSON_AddArrayToObject(root, "cut");
    if (t.to)
        notation->read(&t);
    const bool named = !section || cJSON_AddStringToObject(root, "section", section);
    const bool whole = t.to && !t.failed && named;
    if (whole && (notation != &ini || !*t.p))
        return root;
    if (whole)
        err_set(e, STATUS_USAGE, "line %zu is no line of an ini: a section, a key with '=', or a comment", t.line);
    else
        err_from_fault(e, fault_memory());
    cJSON_Delete(root);
    return NULL;
}

cJSON *notation_read(const char *text, size_t len, const char *section, struct err *e)
{
    cJSON *const root = read_tree(text, len, section, e);
    if (!root || json_refuse_nul(root, STATUS_USAGE, e))
        return root;
    cJSON_Delete(root);
    return NULL;
}
