// SPDX-License-Identifier: MIT
#include "cli/yaml.h"

#include "base/builder.h"
#include "base/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 100 }; // levels of mappings and lists

struct yaml {
    const char *text, *p; // the whole, up to a NUL, and the rest
    struct err *e;
    int depth;
    bool failed; // with *e
};

static cJSON *fail(struct yaml *y, const char *what)
{
    size_t line = 1;
    for (const char *at = y->text; at < y->p; at++)
        line += *at == '\n';
    if (!y->failed)
        err_set(y->e, STATUS_USAGE, "line %zu: %s; 'yq -o json FILE | sampl --preset -' converts YAML", line, what);
    y->failed = true;
    return NULL;
}

// Returns the item; NULL: memory is short.
static cJSON *checked(struct yaml *y, cJSON *item)
{
    if (!item && !y->failed)
        y->failed = !err_from_fault(y->e, fault_memory());
    return item;
}

// ---- lines

static size_t line_len(const char *p) { return strcspn(p, "\n"); }

static const char *past_blanks(const char *p) { return p + strspn(p, " \t"); }

// The length of p[0..len) without the white space at its end.
static size_t trimmed(const char *p, size_t len)
{
    while (len && isspace((unsigned char)p[len - 1]))
        len--;
    return len;
}

// The length of a line without a comment and the white space at its end.
static size_t len_before_comment(const char *p)
{
    size_t len = 0;
    while (p[len] && p[len] != '\n' && !(p[len] == '#' && len && isblank((unsigned char)p[len - 1])))
        len++;
    return trimmed(p, len);
}

static bool ends(const char *p) { return !*p || *p == '\n' || *p == '#' || *p == '\r'; }

// Moves to the next line that is neither empty nor a comment, and returns its indentation.
static size_t next_line(struct yaml *y)
{
    while (*y->p && ends(past_blanks(y->p)))
        y->p += line_len(y->p) + (y->p[line_len(y->p)] == '\n');
    return strspn(y->p, " ");
}

// Moves behind what stands on the line, which is a comment at most.
static void end_line(struct yaml *y)
{
    y->p = past_blanks(y->p);
    if (!ends(y->p))
        fail(y, "text behind a value");
    y->p += line_len(y->p);
    y->p += *y->p == '\n';
}

static bool ends_document(const struct yaml *y) { return !strncmp(y->p, "---", 3) || !strncmp(y->p, "...", 3); }

static size_t column(const struct yaml *y, const char *p)
{
    size_t n = 0;
    while (p > y->text && p[-1] != '\n') {
        p--;
        n++;
    }
    return n;
}

// ---- scalars

cJSON *yaml_scalar(const char *p, size_t len)
{
    char *end, *const text = strndup(p, len);
    if (!text)
        return NULL;
    strtod(text, &end);
    cJSON *const item = !len || name_find("null ~", NAME_ANY_CASE, p, len) >= 0 ? cJSON_CreateNull()
                        : name_find("true yes on", NAME_ANY_CASE, p, len) >= 0  ? cJSON_CreateTrue()
                        : name_find("false no off", NAME_ANY_CASE, p, len) >= 0 ? cJSON_CreateFalse()
                        : !*end && strchr("+-.0123456789", *p) != NULL          ? cJSON_CreateRaw(text)
                                                                                : cJSON_CreateString(text);
    free(text);
    return item;
}

// The string of a text, which is freed.
static cJSON *string_value(struct yaml *y, struct builder *b)
{
    builder_string(b, "");
    cJSON *const item = checked(y, b->failed ? NULL : cJSON_CreateString(b->text));
    builder_free(b);
    return item;
}

// Reads the white space between two lines of a quoted text. The first line end becomes a blank, each empty line behind
// it a line end.
static void read_line_ends(struct yaml *y, struct builder *b)
{
    size_t lines = 0;
    for (; isspace((unsigned char)*y->p); y->p++)
        lines += *y->p == '\n';
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
static void read_escape(struct yaml *y, struct builder *b)
{
    static const char names[] = "ntr0e", bytes[] = "\n\t\r\0\033";
    const char c = *y->p++;
    const char *const name = strchr(names, c);
    if (c == 'x' || c == 'u') {
        const size_t digits = c == 'x' ? 2 : 4;
        char hex[5] = "";
        memcpy(hex, y->p, strnlen(y->p, digits));
        add_point(b, (uint32_t)strtoul(hex, NULL, 16));
        y->p += strlen(hex);
    } else if (name) {
        add_point(b, (uint32_t)bytes[name - names]);
    } else {
        builder_byte(b, c);
    }
}

// Reads a text in quotes.
static cJSON *read_quoted(struct yaml *y)
{
    struct builder b = {0};
    const char quote = *y->p++;
    while (*y->p && (*y->p != quote || (quote == '\'' && y->p[1] == quote))) {
        if (*y->p == '\n') {
            read_line_ends(y, &b);
        } else if (*y->p == '\\' && quote == '"' && y->p[1] == '\n') {
            y->p += 2 + strspn(y->p + 2, " \t");
        } else if (*y->p == '\\' && quote == '"' && y->p[1]) {
            y->p++;
            read_escape(y, &b);
        } else {
            y->p += *y->p == quote;
            builder_byte(&b, *y->p++);
        }
    }
    if (!*y->p) {
        builder_free(&b);
        return fail(y, "a quoted text has no end");
    }
    y->p++;
    return string_value(y, &b);
}

// Reads the lines below a '|' or '>' that are indented more than `indent`. With '>' they are joined by blanks.
static cJSON *read_block(struct yaml *y, size_t indent)
{
    struct builder b = {0};
    const bool folds = *y->p == '>';
    size_t own = 0;
    y->p += line_len(y->p);
    y->p += *y->p == '\n';
    while (*y->p) {
        const size_t len = line_len(y->p), blanks = strspn(y->p, " ");
        const bool empty = !trimmed(y->p, len);
        if (!empty && blanks <= indent)
            break;
        own = own || empty ? own : blanks;
        const size_t cut = blanks < own || !own ? blanks : own;
        if (!empty)
            builder_bytes(&b, y->p + cut, trimmed(y->p + cut, len - cut));
        builder_byte(&b, folds && !empty ? ' ' : '\n');
        y->p += len;
        y->p += *y->p == '\n';
    }
    b.len = trimmed(b.text ? b.text : "", b.len);
    builder_byte(&b, '\n');
    return string_value(y, &b);
}

// ---- values

static cJSON *read_flow(struct yaml *y);
static cJSON *read_node(struct yaml *y, size_t indent);

// Puts a member into an object, in place of one of its name. The name is a string item. Both are owned from here on.
static void put(struct yaml *y, cJSON *object, cJSON *name, cJSON *value)
{
    if (!name || !value) {
        cJSON_Delete(value);
    } else {
        cJSON_DeleteItemFromObjectCaseSensitive(object, name->valuestring);
        if (!cJSON_AddItemToObject(object, name->valuestring, value)) {
            cJSON_Delete(value);
            checked(y, NULL);
        }
    }
    cJSON_Delete(name);
}

static void add(struct yaml *y, cJSON *array, cJSON *value)
{
    if (value && !cJSON_AddItemToArray(array, value)) {
        cJSON_Delete(value);
        checked(y, NULL);
    }
}

static void past_space(struct yaml *y)
{
    for (; isspace((unsigned char)*y->p) || (*y->p == '#' && isspace((unsigned char)y->p[-1])); y->p += *y->p == '\n')
        y->p += *y->p == '#' ? line_len(y->p) : *y->p != '\n';
}

// Reads a plain text inside of brackets.
static cJSON *read_flow_text(struct yaml *y, bool key)
{
    const char *const from = y->p;
    while (*y->p && !strchr(",[]{}\n", *y->p) && !(*y->p == ':' && (key || isspace((unsigned char)y->p[1]))))
        y->p++;
    const size_t len = trimmed(from, (size_t)(y->p - from));
    char *const text = key ? strndup(from, len) : NULL;
    cJSON *const item = checked(y, !key ? yaml_scalar(from, len) : text ? cJSON_CreateString(text) : NULL);
    free(text);
    return item;
}

// Reads the elements of a list or a mapping in brackets.
static cJSON *read_brackets(struct yaml *y)
{
    const bool list = *y->p++ == '[';
    cJSON *const to = checked(y, list ? cJSON_CreateArray() : cJSON_CreateObject());
    for (past_space(y); to && !y->failed && *y->p && *y->p != (list ? ']' : '}'); past_space(y)) {
        cJSON *const name = list ? NULL : *y->p == '"' || *y->p == '\'' ? read_quoted(y) : read_flow_text(y, true);
        past_space(y);
        const bool has = list || *y->p == ':';
        y->p += !list && has;
        past_space(y);
        cJSON *const value = has ? read_flow(y) : checked(y, cJSON_CreateNull());
        if (list)
            add(y, to, value);
        else
            put(y, to, name, value);
        past_space(y);
        if (*y->p == ',')
            y->p++;
        else if (*y->p != (list ? ']' : '}'))
            fail(y, "a list or a mapping in brackets has no end");
    }
    if (!*y->p)
        fail(y, "a list or a mapping in brackets has no end");
    y->p += *y->p != '\0';
    return to;
}

static cJSON *read_flow(struct yaml *y)
{
    if (*y->p == '"' || *y->p == '\'')
        return read_quoted(y);
    if (*y->p != '[' && *y->p != '{')
        return read_flow_text(y, false);
    if (y->depth++ == DEPTH_MOST)
        return fail(y, "lists and mappings are nested too deeply");
    cJSON *const item = read_brackets(y);
    y->depth--;
    return item;
}

// Reads a plain text, which goes on in lines that are indented more than `indent`.
static cJSON *read_plain(struct yaml *y, size_t indent)
{
    struct builder b = {0};
    size_t lines = 0;
    const char *const first = y->p;
    do {
        const char *const line = past_blanks(y->p);
        const size_t len = len_before_comment(line);
        builder_format(&b, "%s%.*s", lines++ ? " " : "", (int)len, line);
        y->p += line_len(y->p);
        y->p += *y->p == '\n';
    } while (*y->p && !ends(past_blanks(y->p)) && strspn(y->p, " ") > indent);
    cJSON *const item = lines > 1 ? string_value(y, &b) : checked(y, yaml_scalar(first, len_before_comment(first)));
    builder_free(&b);
    return item;
}

// Reads what stands behind a key or a '-', or below it. indent: of the key.
static cJSON *read_value(struct yaml *y, size_t indent, bool key)
{
    y->p = past_blanks(y->p);
    if (ends(y->p)) {
        y->p += line_len(y->p);
        const size_t blanks = next_line(y);
        const bool list = y->p[blanks] == '-' && isspace((unsigned char)y->p[blanks + 1]);
        return *y->p && (blanks > indent || (key && blanks == indent && list)) ? read_node(y, blanks)
                                                                               : checked(y, cJSON_CreateNull());
    }
    if (*y->p == '|' || *y->p == '>')
        return read_block(y, indent);
    if (strchr("&*!", *y->p))
        return fail(y, "an anchor, an alias or a tag");
    if (!strchr("'\"[{", *y->p))
        return read_plain(y, indent);
    cJSON *const item = read_flow(y);
    end_line(y);
    return item;
}

// Finds the ':' behind the key at p. NULL: there is none on the line.
static const char *find_colon(const char *p)
{
    const char quote = *p == '"' || *p == '\'' ? *p : '\0';
    for (p += quote != 0; *p && *p != '\n' && quote && *p != quote; p++)
        p += quote == '"' && *p == '\\' && p[1] != '\0';
    p = quote && *p == quote ? past_blanks(p + 1) : p;
    while (*p && *p != '\n' && !(*p == ':' && (isspace((unsigned char)p[1]) || !p[1])) && !quote &&
           !(*p == '#' && isblank((unsigned char)p[-1])))
        p++;
    return *p == ':' ? p : NULL;
}

// Reads the members of a mapping whose keys stand in column `indent`, from the key at y->p on.
static cJSON *read_mapping(struct yaml *y, size_t indent)
{
    cJSON *const to = checked(y, cJSON_CreateObject());
    while (to && !y->failed) {
        const char *const colon = find_colon(y->p), quote = *y->p;
        if (!colon || strchr("&*!?", quote)) {
            fail(y, colon ? "an anchor, an alias, a tag or a complex key" : "neither a key nor an element of a list");
            break;
        }
        struct builder b = {0};
        builder_bytes(&b, y->p, trimmed(y->p, (size_t)(colon - y->p)));
        cJSON *const name = quote == '"' || quote == '\'' ? (builder_free(&b), read_quoted(y)) : string_value(y, &b);
        y->p = colon + 1;
        put(y, to, name, read_value(y, indent, true));
        const size_t blanks = next_line(y);
        if (!*y->p || blanks < indent || y->failed || ends_document(y))
            break;
        if (blanks > indent)
            fail(y, "the line is indented more than its mapping");
        y->p += blanks;
    }
    return to;
}

// Reads the elements of a list whose '-' stand in column `indent`, from the first on.
static cJSON *read_list(struct yaml *y, size_t indent)
{
    cJSON *const to = checked(y, cJSON_CreateArray());
    while (to && !y->failed && *y->p == '-' && (isspace((unsigned char)y->p[1]) || !y->p[1])) {
        y->p = past_blanks(y->p + 1);
        const size_t inner = column(y, y->p);
        const bool nested = *y->p == '-' && isspace((unsigned char)y->p[1]);
        if (!ends(y->p) && (nested || (!strchr("[{|>", *y->p) && find_colon(y->p)))) {
            if (y->depth++ == DEPTH_MOST)
                fail(y, "lists and mappings are nested too deeply");
            else
                add(y, to, nested ? read_list(y, inner) : read_mapping(y, inner));
            y->depth--;
        } else {
            add(y, to, read_value(y, indent, false));
        }
        const size_t blanks = next_line(y);
        if (!*y->p || blanks < indent || y->failed)
            break;
        if (blanks > indent)
            fail(y, "the line is indented more than its list");
        if (y->p[blanks] != '-') // the next key of a mapping in the same column
            break;
        y->p += blanks;
    }
    return to;
}

// Reads the lines from here on that are indented by `indent` or more.
static cJSON *read_node(struct yaml *y, size_t indent)
{
    y->p += indent;
    if (*y->p == '\t')
        return fail(y, "a tab in the indentation");
    if (y->depth == DEPTH_MOST)
        return fail(y, "lists and mappings are nested too deeply");
    y->depth++;
    const bool list = *y->p == '-' && (isspace((unsigned char)y->p[1]) || !y->p[1]);
    cJSON *const item = list                                       ? read_list(y, indent)
                        : find_colon(y->p) && !strchr("[{", *y->p) ? read_mapping(y, indent)
                                                                   : read_value(y, indent ? indent - 1 : 0, false);
    y->depth--;
    return item;
}

cJSON *yaml_read(const char *text, struct err *e)
{
    struct yaml y = {.text = text, .p = text, .e = e};
    next_line(&y);
    if (!strncmp(y.p, "---", 3) && (isspace((unsigned char)y.p[3]) || !y.p[3]))
        y.p = past_blanks(y.p + 3);
    const size_t blanks = next_line(&y);
    cJSON *const tree = *y.p ? read_node(&y, blanks) : checked(&y, cJSON_CreateObject());
    next_line(&y);
    if (!y.failed && !strncmp(y.p, "...", 3))
        y.p += strlen(y.p);
    if (!y.failed && *y.p)
        fail(&y, !strncmp(y.p, "---", 3) ? "a second document" : "the line belongs to no mapping");
    if (!y.failed)
        return tree;
    cJSON_Delete(tree);
    return NULL;
}
