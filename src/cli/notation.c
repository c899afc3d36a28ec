// SPDX-License-Identifier: MIT
#include "cli/notation.h"

#include "base/builder.h"
#include "base/names.h"
#include "cli/batch_file.h"
#include "cli/command_line.h"
#include "cli/container.h"
#include "cli/yaml.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// A text that is read into an object.
struct reading {
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

// Returns true if p[0..len) is one of the words, in either case.
static bool is_word(const char *words, const char *p, size_t len)
{
    return name_find(words, NAME_ANY_CASE, p, len) >= 0;
}

// The string of a text, which is freed; NULL when memory is short.
static cJSON *string_value(struct builder *b)
{
    builder_string(b, "");
    cJSON *const item = b->failed ? NULL : cJSON_CreateString(b->text);
    builder_free(b);
    return item;
}

// Sets a member of an object. value may be NULL: memory is short.
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
            put(t, t->to, name, len, yaml_scalar(value, n)); // of a repeated one, the last counts
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

static const struct notation yaml = {NULL, "yaml"}, modelfile = {read_modelfile, "options"}, ini = {read_ini, "ini"},
                             json = {NULL};

// Finds the first line that is neither empty nor a comment.
static const char *first_line(const char *p)
{
    for (p = past_blanks(p); *p == '\n' || *p == '\r' || *p == '#'; p = past_blanks(p))
        p += *p == '#' ? line_len(p) : 1;
    return p;
}

// Returns true if a text is an ini by its first line that is no comment: a section's name, or a key and '='; or if it
// has no such line, and a comment that begins with ';'.
static bool is_ini(const char *p)
{
    bool semicolon = false;
    for (p = past_blanks(p); *p && strchr("\r\n#;", *p); p = past_blanks(p)) {
        semicolon = semicolon || *p == ';';
        p += *p == '#' || *p == ';' ? ini_line_len(p) : 1;
    }
    if (!*p)
        return semicolon;
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
    if (*line == '-' && isspace((unsigned char)line[1]))
        return &yaml;
    if (*line == '-' || !word)
        return NULL;
    if (line[word] == ':' && (!line[word + 1] || isspace((unsigned char)line[word + 1])))
        return &yaml;
    if (isblank((unsigned char)line[word]) && is_word(INSTRUCTIONS, line, word))
        return &modelfile;
    return NULL;
}

// Returns true if a text may be a script. Settings that stand in one are found by the command that it has.
static bool may_be_script(const char *text)
{
    const struct notation *const known = notation_of(text);
    const char *const line = first_line(text), *const test = line + strspn(line, "[");
    if (!strncmp(text, "#!", 2)) { // of a shell, as bash and zsh are
        const char *const shell = strstr(text, "sh");
        return shell && shell < text + line_len(text);
    }
    if (test > line) // [ or [[
        return *test == ' ' && strchr("-!\"$", test[1]);
    return (!known || known == &ini) && *line != '-';
}

// Returns true if a text is a script, whatever commands it has.
static bool is_script(const char *text)
{
    return !strncmp(text, "#!", 2) || (!notation_of(text) && (batch_file_is(text) || strstr(text, "Start-Process ")));
}

bool notation_is_foreign(const char *text)
{
    struct err ignored = {.status = STATUS_OK};
    cJSON *const command = may_be_script(text) ? command_line_read(text, false, NULL, NULL, &ignored) : NULL;
    cJSON_Delete(command);
    if (container_kind(text))
        return true;
    return command || ignored.status != STATUS_OK || notation_of(text) || is_script(text);
}

bool notation_is_ini(const char *text) { return notation_of(text) == &ini; }

static cJSON *read_tree(const char *text, size_t len, const char *section, struct err *e)
{
    const struct notation *const known = notation_of(text), *const notation = known || !section ? known : &ini;
    const char *const kind = container_kind(text);
    struct builder script = {0};
    if (kind)
        container_of_text(text, &script);
    const char *const commands = kind && script.text ? script.text : text;
    cJSON *const command =
        !script.failed && (kind || may_be_script(text)) ? command_line_read(commands, false, section, NULL, e) : NULL;
    if (script.failed)
        err_from_fault(e, fault_memory());
    builder_free(&script);
    if (command || e->status != STATUS_OK)
        return command;
    if (kind || is_script(text))
        err_set(e, STATUS_USAGE,
                "%s in which no command is found that starts llama-server, llama-cli or another program whose flags "
                "sampl reads: a file of the flags alone is read, too",
                kind ? kind : "a script");
    if (e->status != STATUS_OK || !notation)
        return NULL;
    if (section && notation != &ini && notation != &json && notation != &yaml) {
        err_set(e, STATUS_USAGE, "only an ini of llama.cpp's, a list and llama-swap's models have parts such as '%.*s'",
                err_clip(section, 40), section);
        return NULL;
    }
    if (notation == &json)
        return json_parse(text, len, JSON_EXACT, e);
    cJSON *const root = cJSON_CreateObject();
    if (notation == &yaml) {
        cJSON *const tree = root ? yaml_read(text, e) : NULL;
        if (tree && cJSON_AddItemToObject(root, yaml.member, tree))
            return root;
        if (!root || tree)
            err_from_fault(e, fault_memory());
        cJSON_Delete(tree);
        cJSON_Delete(root);
        return NULL;
    }
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
