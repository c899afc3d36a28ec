// SPDX-License-Identifier: MIT
#include "cli/yaml_private.h"

#include "base/builder.h"
#include "base/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MOST = 100,    // levels of mappings and lists
    COPIES_MOST = 50000, // values that aliases repeat
};

// ---- values

static cJSON *read_flow(struct yaml *y);
static cJSON *read_node(struct yaml *y, size_t indent);

// Adds the members of a mapping, or of each of a list, that the object does not have: the key << does so. False: the
// value is none of these.
static bool merge(struct yaml *y, cJSON *object, const cJSON *from)
{
    const cJSON *item;
    if (!cJSON_IsObject(from) && !(cJSON_IsArray(from) && from->child))
        return false;
    cJSON_ArrayForEach(item, from)
    {
        if (cJSON_IsArray(from)) {
            if (!cJSON_IsObject(item) || !merge(y, object, item))
                return false;
        } else if (!cJSON_GetObjectItemCaseSensitive(object, item->string)) {
            cJSON *const copy = yaml_checked(y, cJSON_Duplicate(item, true));
            if (copy && !cJSON_AddItemToObject(object, item->string, copy)) {
                cJSON_Delete(copy);
                yaml_checked(y, NULL);
            }
        }
    }
    return true;
}

// Puts a member into an object, in place of one of its name. The name is a string item. Both are owned from here on.
static void put(struct yaml *y, cJSON *object, cJSON *name, cJSON *value)
{
    if (!name || !value) {
        cJSON_Delete(value);
    } else if (!strcmp(name->valuestring, "<<") && merge(y, object, value)) {
        cJSON_Delete(value);
    } else {
        cJSON_DeleteItemFromObjectCaseSensitive(object, name->valuestring);
        if (!cJSON_AddItemToObject(object, name->valuestring, value)) {
            cJSON_Delete(value);
            yaml_checked(y, NULL);
        }
    }
    cJSON_Delete(name);
}

static void add(struct yaml *y, cJSON *array, cJSON *value)
{
    if (value && !cJSON_AddItemToArray(array, value)) {
        cJSON_Delete(value);
        yaml_checked(y, NULL);
    }
}

// Reads the name behind a '&' or '*', and moves behind it. The caller frees it.
static char *read_name(struct yaml *y)
{
    const size_t len = strcspn(++y->p, " \t\r\n,[]{}");
    char *const name = strndup(y->p, len);
    if (!name)
        yaml_checked(y, NULL);
    y->p += len;
    return name;
}

// Keeps a copy of a value under the name of an anchor, which is freed. name: NULL if there is none. Returns the value.
static cJSON *keep(struct yaml *y, char *name, cJSON *value)
{
    cJSON *const copy = name && value ? yaml_checked(y, cJSON_Duplicate(value, true)) : NULL;
    if (copy) {
        cJSON_DeleteItemFromObjectCaseSensitive(y->anchors, name);
        if (!cJSON_AddItemToObject(y->anchors, name, copy)) {
            cJSON_Delete(copy);
            yaml_checked(y, NULL);
        }
    }
    free(name);
    return value;
}

// Counts the values of a tree among the copies. False: there are too many, or their levels are.
static bool may_copy(struct yaml *y, const cJSON *tree, int depth)
{
    const cJSON *item;
    if (++y->copies > COPIES_MOST || depth > DEPTH_MOST)
        return false;
    cJSON_ArrayForEach(item, tree)
    {
        if (!may_copy(y, item, depth + 1))
            return false;
    }
    return true;
}

// Reads an alias: a copy of the value of its anchor.
static cJSON *read_alias(struct yaml *y)
{
    char *const name = read_name(y);
    const cJSON *const value = name ? cJSON_GetObjectItemCaseSensitive(y->anchors, name) : NULL;
    free(name);
    if (!value)
        return yaml_fail(y, "an alias without an anchor before it");
    if (!may_copy(y, value, y->depth))
        return yaml_fail(y, "aliases repeat too much");
    return yaml_checked(y, cJSON_Duplicate(value, true));
}

static void past_space(struct yaml *y)
{
    for (; isspace((unsigned char)*y->p) || (*y->p == '#' && isspace((unsigned char)y->p[-1])); y->p += *y->p == '\n')
        y->p += *y->p == '#' ? yaml_line_len(y->p) : *y->p != '\n';
}

// Reads a plain text inside of brackets.
static cJSON *read_flow_text(struct yaml *y, bool key)
{
    const char *const from = y->p;
    while (*y->p && !strchr(",[]{}\n", *y->p) && !(*y->p == ':' && (key || isspace((unsigned char)y->p[1]))))
        y->p++;
    const size_t len = yaml_trimmed(from, (size_t)(y->p - from));
    char *const text = key ? strndup(from, len) : NULL;
    cJSON *const item = yaml_checked(y, !key ? yaml_scalar(from, len) : text ? cJSON_CreateString(text) : NULL);
    free(text);
    return item;
}

// Reads the elements of a list or a mapping in brackets.
static cJSON *read_brackets(struct yaml *y)
{
    const bool list = *y->p++ == '[';
    cJSON *const to = yaml_checked(y, list ? cJSON_CreateArray() : cJSON_CreateObject());
    for (past_space(y); to && !y->failed && *y->p && *y->p != (list ? ']' : '}'); past_space(y)) {
        cJSON *const name = list ? NULL : *y->p == '"' || *y->p == '\'' ? yaml_read_quoted(y) : read_flow_text(y, true);
        past_space(y);
        const bool has = list || *y->p == ':';
        y->p += !list && has;
        past_space(y);
        cJSON *const value = has ? read_flow(y) : yaml_checked(y, cJSON_CreateNull());
        if (list)
            add(y, to, value);
        else
            put(y, to, name, value);
        past_space(y);
        if (*y->p == ',')
            y->p++;
        else if (*y->p != (list ? ']' : '}'))
            yaml_fail(y, "a list or a mapping in brackets has no end");
    }
    if (!*y->p)
        yaml_fail(y, "a list or a mapping in brackets has no end");
    y->p += *y->p != '\0';
    return to;
}

static cJSON *read_flow(struct yaml *y)
{
    if (*y->p == '*')
        return read_alias(y);
    if (*y->p == '&') {
        char *const name = read_name(y);
        past_space(y);
        return keep(y, name, *y->p == '&' ? yaml_fail(y, "an anchor of an anchor") : read_flow(y));
    }
    if (*y->p == '"' || *y->p == '\'')
        return yaml_read_quoted(y);
    if (*y->p != '[' && *y->p != '{')
        return read_flow_text(y, false);
    if (y->depth++ == DEPTH_MOST)
        return yaml_fail(y, "lists and mappings are nested too deeply");
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
        const char *const line = yaml_past_blanks(y->p);
        const size_t len = yaml_len_before_comment(line);
        builder_format(&b, "%s%.*s", lines++ ? " " : "", (int)len, line);
        y->p += yaml_line_len(y->p);
        y->p += *y->p == '\n';
    } while (*y->p && !yaml_ends(yaml_past_blanks(y->p)) && strspn(y->p, " ") > indent);
    cJSON *const item =
        lines > 1 ? yaml_string_value(y, &b) : yaml_checked(y, yaml_scalar(first, yaml_len_before_comment(first)));
    builder_free(&b);
    return item;
}

// Reads what stands behind a key or a '-', or below it. indent: of the key.
static cJSON *read_value(struct yaml *y, size_t indent, bool key)
{
    y->p = yaml_past_blanks(y->p);
    if (yaml_ends(y->p)) {
        y->p += yaml_line_len(y->p);
        const size_t blanks = yaml_next_line(y);
        const bool list = y->p[blanks] == '-' && isspace((unsigned char)y->p[blanks + 1]);
        return *y->p && (blanks > indent || (key && blanks == indent && list)) ? read_node(y, blanks)
                                                                               : yaml_checked(y, cJSON_CreateNull());
    }
    if (*y->p == '|' || *y->p == '>')
        return yaml_read_block(y, indent);
    if (*y->p == '&') {
        char *const name = read_name(y);
        y->p = yaml_past_blanks(y->p);
        return keep(y, name, *y->p == '&' ? yaml_fail(y, "an anchor of an anchor") : read_value(y, indent, key));
    }
    if (*y->p == '!')
        return yaml_fail(y, "a tag");
    if (!strchr("'\"[{*", *y->p))
        return read_plain(y, indent);
    cJSON *const item = read_flow(y);
    yaml_end_line(y);
    return item;
}

// Finds the ':' behind the key at p. NULL: there is none on the line.
static const char *find_colon(const char *p)
{
    const char quote = *p == '"' || *p == '\'' ? *p : '\0';
    for (p += quote != 0; *p && *p != '\n' && quote && *p != quote; p++)
        p += quote == '"' && *p == '\\' && p[1] != '\0';
    p = quote && *p == quote ? yaml_past_blanks(p + 1) : p;
    while (*p && *p != '\n' && !(*p == ':' && (isspace((unsigned char)p[1]) || !p[1])) && !quote &&
           !(*p == '#' && isblank((unsigned char)p[-1])))
        p++;
    return *p == ':' ? p : NULL;
}

// Reads the members of a mapping whose keys stand in column `indent`, from the key at y->p on.
static cJSON *read_mapping(struct yaml *y, size_t indent)
{
    cJSON *const to = yaml_checked(y, cJSON_CreateObject());
    while (to && !y->failed) {
        const char *const colon = find_colon(y->p), quote = *y->p;
        if (!colon || strchr("&*!?", quote)) {
            yaml_fail(y, colon ? "an anchor, an alias or a tag before a key, or a complex key"
                               : "neither a key nor an element of a list");
            break;
        }
        struct builder b = {0};
        builder_bytes(&b, y->p, yaml_trimmed(y->p, (size_t)(colon - y->p)));
        cJSON *const name =
            quote == '"' || quote == '\'' ? (builder_free(&b), yaml_read_quoted(y)) : yaml_string_value(y, &b);
        y->p = colon + 1;
        put(y, to, name, read_value(y, indent, true));
        const size_t blanks = yaml_next_line(y);
        if (!*y->p || blanks < indent || y->failed || yaml_ends_document(y))
            break;
        if (blanks > indent)
            yaml_fail(y, "the line is indented more than its mapping");
        y->p += blanks;
    }
    return to;
}

// Reads the elements of a list whose '-' stand in column `indent`, from the first on.
static cJSON *read_list(struct yaml *y, size_t indent)
{
    cJSON *const to = yaml_checked(y, cJSON_CreateArray());
    while (to && !y->failed && *y->p == '-' && (isspace((unsigned char)y->p[1]) || !y->p[1])) {
        y->p = yaml_past_blanks(y->p + 1);
        const size_t inner = yaml_column(y, y->p);
        const bool nested = *y->p == '-' && isspace((unsigned char)y->p[1]);
        if (!yaml_ends(y->p) && (nested || (!strchr("[{|>*", *y->p) && find_colon(y->p)))) {
            if (y->depth++ == DEPTH_MOST)
                yaml_fail(y, "lists and mappings are nested too deeply");
            else
                add(y, to, nested ? read_list(y, inner) : read_mapping(y, inner));
            y->depth--;
        } else {
            add(y, to, read_value(y, indent, false));
        }
        const size_t blanks = yaml_next_line(y);
        if (!*y->p || blanks < indent || y->failed)
            break;
        if (blanks > indent)
            yaml_fail(y, "the line is indented more than its list");
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
        return yaml_fail(y, "a tab in the indentation");
    if (y->depth == DEPTH_MOST)
        return yaml_fail(y, "lists and mappings are nested too deeply");
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
    struct yaml y = {.text = text, .p = text, .e = e, .anchors = cJSON_CreateObject()};
    yaml_checked(&y, y.anchors);
    yaml_next_line(&y);
    if (!strncmp(y.p, "---", 3) && (isspace((unsigned char)y.p[3]) || !y.p[3]))
        y.p = yaml_past_blanks(y.p + 3);
    const size_t blanks = yaml_next_line(&y);
    cJSON *const tree = y.failed ? NULL : *y.p ? read_node(&y, blanks) : yaml_checked(&y, cJSON_CreateObject());
    yaml_next_line(&y);
    if (!y.failed && !strncmp(y.p, "...", 3))
        y.p += strlen(y.p);
    if (!y.failed && *y.p)
        yaml_fail(&y, !strncmp(y.p, "---", 3) ? "a second document" : "the line belongs to no mapping");
    cJSON_Delete(y.anchors);
    if (!y.failed)
        return tree;
    cJSON_Delete(tree);
    return NULL;
}
