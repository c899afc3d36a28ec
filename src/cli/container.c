// SPDX-License-Identifier: MIT
#include "cli/container.h"

#include "base/names.h"
#include "cli/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *past_blanks(const char *p) { return p + strspn(p, " \t"); }

static const char *next_line(const char *p)
{
    p += strcspn(p, "\n");
    return p + (*p == '\n');
}

// Returns true if a line begins with one of the words, in either case, and a blank, '=' or the line's end.
static bool begins(const char *line, const char *words, const char *ends)
{
    const size_t len = strcspn(line, " \t=\r\n");
    return len && name_find(words, NAME_ANY_CASE, line, len) >= 0 && (!line[len] || strchr(ends, line[len]));
}

static bool any_line(const char *text, const char *words, const char *ends)
{
    for (const char *line = text; *line; line = next_line(line))
        if (begins(past_blanks(line), words, ends))
            return true;
    return false;
}

// Returns true if each line is a comment or sets a variable, and one exports a variable of llama.cpp's.
static bool is_environment(const char *text)
{
    bool any = false;
    for (const char *line = text; *line; line = next_line(line)) {
        const char *at = past_blanks(line);
        const bool exports = begins(at, "export", " \t");
        at = exports ? past_blanks(at + strlen("export")) : at;
        if (!strchr("#\r\n", *at) && at[strcspn(at, "= \t\r\n")] != '=')
            return false;
        any = any || (exports && !strncmp(at, "LLAMA_ARG_", strlen("LLAMA_ARG_")));
    }
    return any;
}

static bool has_section(const char *text, const char *name)
{
    for (const char *line = text; *line; line = next_line(line))
        if (!strncmp(past_blanks(line), name, strlen(name)))
            return true;
    return false;
}

const char *container_kind(const char *text)
{
    const char *line = text;
    while (*line && strchr("#\r\n", *past_blanks(line)) && *past_blanks(line))
        line = next_line(line);
    if (begins(line, "FROM ARG", " \t"))
        return any_line(text, "CMD ENTRYPOINT RUN COPY WORKDIR EXPOSE ENV", " \t[") &&
                       !any_line(text, "PARAMETER TEMPLATE SYSTEM ADAPTER MESSAGE", " \t")
                   ? "a Dockerfile"
                   : NULL;
    if (is_environment(text))
        return "a file of variables";
    if (*past_blanks(line) != '[' && *past_blanks(line) != ';')
        return NULL;
    return (has_section(text, "[Service]") || has_section(text, "[Container]") || has_section(text, "[Unit]")) &&
                   any_line(text, "ExecStart Exec Image", " \t=")
               ? "a unit of systemd"
           : has_section(text, "[program:") && any_line(text, "command", " \t=") ? "a configuration of supervisord"
                                                                                 : NULL;
}

// ---- lines

// Appends a text up to its end, with the lines that a backslash continues, as one line. Returns what is behind it.
static const char *add_line(struct builder *b, const char *p)
{
    for (;;) {
        const size_t len = strcspn(p, "\r\n");
        const char *const next = next_line(p);
        const bool comment = *past_blanks(p) == '#'; // within a continued line
        if (!comment)
            builder_bytes(b, p, len && p[len - 1] == '\\' ? len - 1 : len);
        if ((!len || p[len - 1] != '\\') && !comment)
            return next;
        if (!*next)
            return next;
        builder_byte(b, ' ');
        p = next;
    }
}

// Appends assignments as words of `export`: "NAME=VALUE" in quotes becomes NAME="VALUE". names: gets "-e NAME "
// for each.
static void add_export(struct builder *script, const char *text, struct builder *names)
{
    builder_string(script, "export ");
    for (const char *p = text; *p;) {
        const char quote = *p == '"' || *p == '\'' ? *p : '\0';
        const size_t name = strcspn(p + (quote != 0), "= \t\"'");
        builder_format(names, "-e %.*s ", (int)name, p + (quote != 0));
        if (quote && p[1 + name] == '=') {
            const char *const value = p + 1 + name + 1;
            const size_t len = strcspn(value, quote == '"' ? "\"" : "'");
            builder_format(script, "%.*s=%c%.*s%c ", (int)name, p + 1, quote, (int)len, value, quote);
            p = value + len + (value[len] != '\0');
            continue;
        }
        while (*p && !isblank((unsigned char)*p)) {
            const char *const end = *p == '"' || *p == '\'' ? strchr(p + 1, *p) : NULL;
            const size_t len = end ? (size_t)(end + 1 - p) : 1;
            if (*p == ',') // of supervisord
                builder_byte(script, ' ');
            else
                builder_bytes(script, p, len);
            p += len;
        }
        builder_byte(script, ' ');
        p = past_blanks(p);
    }
    builder_byte(script, '\n');
}

// ---- units

// Appends the commands of a unit, or before them their variables.
static void of_unit_part(const char *text, bool commands, struct builder *script)
{
    struct builder image = {0}, names = {0};
    const char *const files = any_line(text, "EnvironmentFile", " \t=") ? "--env-file EnvironmentFile " : "";
    for (const char *line = text; *line;) {
        const char *const at = past_blanks(line);
        const char *const equals = at + strcspn(at, "=\r\n");
        struct builder value = {0};
        const bool has = *equals == '=' && *at != '#' && *at != ';';
        const char *const next = has ? add_line(&value, equals + 1) : next_line(line);
        const char *const words = past_blanks(value.text ? value.text : "");
        const bool starts = begins(at, "ExecStart command", " \t=");
        if (begins(at, "Environment", " \t="))
            add_export(commands ? &value : script, words, &names);
        else if (begins(at, "Image", " \t="))
            builder_format(&image, "%s", words);
        else if (commands && starts)
            builder_format(script, "env %s%s\n", files, words + strspn(words, "-@:+!"));
        else if (commands && begins(at, "Exec", " \t=") && image.text)
            builder_format(script, "docker run %s%s%s %s\n", names.text ? names.text : "", files, image.text, words);
        script->failed = script->failed || value.failed || image.failed || names.failed;
        builder_free(&value);
        line = next;
    }
    builder_free(&image);
    builder_free(&names);
}

// ---- Dockerfiles

// Appends the words of an array in JSON, or a text as it is.
static void add_exec(struct builder *b, const char *text)
{
    struct err ignored = {.status = STATUS_OK};
    cJSON *const list = *text == '[' ? json_parse(text, strlen(text), JSON_UTF8, &ignored) : NULL;
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        word_quote(b, item->valuestring ? item->valuestring : "", false);
        builder_byte(b, ' ');
    }
    if (!list)
        builder_string(b, text);
    b->failed = b->failed || ignored.status == STATUS_IO;
    builder_byte(b, ' ');
    cJSON_Delete(list);
}

static void of_dockerfile(const char *text, struct builder *script)
{
    struct builder image = {0}, entry = {0}, command = {0}, names = {0};
    for (const char *line = text; *line;) {
        const char *const at = past_blanks(line);
        struct builder value = {0};
        const char *const next = *at != '#' ? add_line(&value, at) : next_line(line);
        const char *words = value.text ? value.text : "";
        words = past_blanks(words + strcspn(words, " \t"));
        const size_t name = strcspn(words, " \t=");
        struct builder *const part = begins(at, "ENTRYPOINT", " \t[") ? &entry
                                     : begins(at, "CMD", " \t[")      ? &command
                                                                      : NULL;
        if (begins(at, "FROM", " \t")) {
            builder_clear(&image);
            builder_clear(&entry);
            builder_clear(&command);
            builder_format(&image, "%.*s ", (int)strcspn(words, " \t"), words);
        } else if (begins(at, "ENV", " \t") && words[name] != '=') {
            builder_format(script, "export %.*s=\"%s\"\n", (int)name, words, past_blanks(words + name));
            builder_format(&names, "-e %.*s ", (int)name, words);
        } else if (begins(at, "ENV", " \t")) {
            add_export(script, words, &names);
        } else if (begins(at, "ARG", " \t") && words[name] == '=') {
            builder_format(script, "%.*s=${%.*s:-%s}\n", (int)name, words, (int)name, words, words + name + 1);
        } else if (part) {
            builder_clear(part);
            add_exec(part, words);
        }
        script->failed = script->failed || value.failed;
        builder_free(&value);
        line = next;
    }
    if (entry.len || command.len)
        builder_format(script, "docker run %s%s%s%s\n", names.len ? names.text : "", image.len ? image.text : "none ",
                       entry.len ? entry.text : "", command.len ? command.text : "");
    script->failed = script->failed || image.failed || entry.failed || command.failed || names.failed;
    builder_free(&names);
    builder_free(&image);
    builder_free(&entry);
    builder_free(&command);
}

void container_of_text(const char *text, struct builder *script)
{
    if (!strcmp(container_kind(text), "a Dockerfile")) {
        of_dockerfile(text, script);
        return;
    }
    if (!strcmp(container_kind(text), "a file of variables")) {
        builder_format(script, "set -a\n%s\nenv FILE=1 llama-server\n", text);
        return;
    }
    of_unit_part(text, false, script);
    of_unit_part(text, true, script);
}

// ---- trees

static const char *text_of(const cJSON *item)
{
    return cJSON_IsTrue(item) ? "true" : cJSON_IsFalse(item) ? "false" : item->valuestring ? item->valuestring : "";
}

// Appends a text in double quotes, in which variables stay: ${NAME}, and $(NAME) of Kubernetes. $$ is a dollar sign.
static void add_quoted(struct builder *b, const char *text)
{
    builder_byte(b, '"');
    for (const char *p = text; *p; p++) {
        const size_t name = !strncmp(p, "$(", 2) ? strcspn(p + 2, ") \t\n") : 0;
        if (name && p[2 + name] == ')') {
            builder_format(b, "${%.*s}", (int)name, p + 2);
            p += 2 + name;
        } else if (!strncmp(p, "$$", 2)) {
            builder_string(b, "\\$");
            p++;
        } else {
            if (strchr("\"\\`", *p))
                builder_byte(b, '\\');
            builder_byte(b, *p);
        }
    }
    builder_string(b, "\" ");
}

// Appends the words of a list, or those of a text, in which a line's end is a blank. False: it is neither.
static bool add_words(struct builder *b, const cJSON *item)
{
    const cJSON *word;
    if (!item)
        return false;
    if (cJSON_IsArray(item)) {
        cJSON_ArrayForEach(word, item) { add_quoted(b, text_of(word)); }
        return item->child;
    }
    if (!cJSON_IsString(item))
        return false;
    for (const char *p = item->valuestring; *p; p++) {
        if (!strncmp(p, "$$", 2)) {
            builder_string(b, "\\$");
            p++;
        } else {
            builder_byte(b, (char)(*p == '\n' ? ' ' : *p));
        }
    }
    builder_byte(b, ' ');
    return *item->valuestring;
}

// Appends the variables of a mapping, of a list "NAME=VALUE" or of a list {"name": NAME, "value": VALUE}, each between
// two texts.
static void add_environment(struct builder *b, const char *before, const cJSON *environment, const char *after)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, environment)
    {
        const char *const equals = cJSON_IsString(item) && !item->string ? strchr(item->valuestring, '=') : NULL;
        const char *const called = cJSON_GetStringValue(json_member(item, "name"));
        const cJSON *const value = called ? json_member(item, "value") : item;
        const char *const name = item->string ? item->string : called ? called : equals ? item->valuestring : "";
        const size_t len = equals ? (size_t)(equals - name) : strlen(name);
        if (!len || !value || cJSON_IsObject(value) || cJSON_IsArray(value) || cJSON_IsNull(value))
            continue;
        builder_format(b, "%s%.*s=", before, (int)len, name);
        add_quoted(b, equals ? equals + 1 : text_of(value));
        builder_string(b, after);
    }
}

// Appends the command of a mapping. False: it has none.
static bool add_mapping(struct builder *script, const cJSON *mapping)
{
    struct builder words = {0};
    const char *const image = cJSON_GetStringValue(json_member(mapping, "image"));
    const cJSON *const run = json_member(mapping, "run"), *const lines = run ? run : json_member(mapping, "script");
    const cJSON *const args = json_member(mapping, "args"), *const flags = json_array(mapping, "runtime_flags");
    bool any = flags != NULL;
    if (flags) // of Docker's model runner
        builder_string(&words, "llama-server ");
    any = add_words(&words, flags) || any;
    any = add_words(&words, json_member(mapping, "entrypoint")) || any;
    any = add_words(&words, json_member(mapping, "command")) || any;
    any = add_words(&words, json_member(mapping, "cmd")) || any;
    any = (args && add_words(&words, lines)) || any;
    any = add_words(&words, args) || any;
    const bool is_script = !any && cJSON_IsString(lines);
    if (any || is_script) {
        builder_string(script, "(\n");
        add_environment(script, is_script ? "export " : "", json_member(mapping, "env"), "\n");
        builder_string(script, is_script ? "" : image ? "docker run " : "env ");
        if (!is_script) {
            add_environment(script, image ? "-e " : "", json_member(mapping, "environment"), "");
            add_environment(script, image ? "-e " : "", json_member(mapping, "env"), "");
        }
        if (any && image && cJSON_HasObjectItem(mapping, "env_file"))
            builder_string(script, "--env-file env_file ");
        if (any && image)
            builder_format(script, "'%s' ", image);
        builder_string(script, !any ? lines->valuestring : words.text ? words.text : "");
        builder_string(script, "\n)\n");
    }
    script->failed = script->failed || words.failed;
    builder_free(&words);
    return any || is_script;
}

// Appends the commands in a tree. chosen: all of them; else those in mappings of that name. outermost: the tree is the
// file.
static bool add_tree(struct builder *script, const cJSON *tree, const char *name, bool chosen, bool outermost)
{
    const cJSON *item;
    bool any = false, texts = outermost && cJSON_IsObject(tree);
    const char *const called = cJSON_GetStringValue(json_member(tree, "name"));
    chosen = chosen || (!outermost && tree->string && !strcmp(tree->string, name)) || (called && !strcmp(called, name));
    if (cJSON_IsObject(tree) && chosen)
        any = add_mapping(script, tree);
    cJSON_ArrayForEach(item, tree)
    {
        texts = texts && cJSON_IsString(item);
        if (cJSON_IsObject(item) || cJSON_IsArray(item))
            any = add_tree(script, item, name, chosen, false) || any;
    }
    for (item = texts && !any ? tree->child : NULL; item; item = item->next) { // a Procfile
        if (chosen || !strcmp(item->string, name))
            any = add_words(script, item) || any;
        builder_byte(script, '\n');
    }
    return any;
}

bool container_of_tree(const cJSON *tree, const char *name, struct builder *script)
{
    return add_tree(script, tree, name, !name, true) && builder_whole(script);
}
