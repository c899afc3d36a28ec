// SPDX-License-Identifier: MIT
#include "cli/yaml_private.h"

#include "base/builder.h"
#include "base/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

cJSON *yaml_fail(struct yaml *y, const char *what)
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
cJSON *yaml_checked(struct yaml *y, cJSON *item)
{
    if (!item && !y->failed)
        y->failed = !err_from_fault(y->e, fault_memory());
    return item;
}

// ---- lines

size_t yaml_line_len(const char *p) { return strcspn(p, "\n"); }

const char *yaml_past_blanks(const char *p) { return p + strspn(p, " \t"); }

// The length of p[0..len) without the white space at its end.
size_t yaml_trimmed(const char *p, size_t len)
{
    while (len && isspace((unsigned char)p[len - 1]))
        len--;
    return len;
}

// The length of a line without a comment and the white space at its end.
size_t yaml_len_before_comment(const char *p)
{
    size_t len = 0;
    while (p[len] && p[len] != '\n' && !(p[len] == '#' && len && isblank((unsigned char)p[len - 1])))
        len++;
    return yaml_trimmed(p, len);
}

bool yaml_ends(const char *p) { return !*p || *p == '\n' || *p == '#' || *p == '\r'; }

// Moves to the next line that is neither empty nor a comment, and returns its indentation.
size_t yaml_next_line(struct yaml *y)
{
    while (*y->p && yaml_ends(yaml_past_blanks(y->p)))
        y->p += yaml_line_len(y->p) + (y->p[yaml_line_len(y->p)] == '\n');
    return strspn(y->p, " ");
}

// Moves behind what stands on the line, which is a comment at most.
void yaml_end_line(struct yaml *y)
{
    y->p = yaml_past_blanks(y->p);
    if (!yaml_ends(y->p))
        yaml_fail(y, "text after a value");
    y->p += yaml_line_len(y->p);
    y->p += *y->p == '\n';
}

bool yaml_ends_document(const struct yaml *y) { return !strncmp(y->p, "---", 3) || !strncmp(y->p, "...", 3); }

size_t yaml_column(const struct yaml *y, const char *p)
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
cJSON *yaml_string_value(struct yaml *y, struct builder *b)
{
    builder_string(b, "");
    cJSON *const item = yaml_checked(y, b->failed ? NULL : cJSON_CreateString(b->text));
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
    b->len = yaml_trimmed(b->text ? b->text : "", b->len);
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
cJSON *yaml_read_quoted(struct yaml *y)
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
        return yaml_fail(y, "a quoted text has no end");
    }
    y->p++;
    return yaml_string_value(y, &b);
}

// Reads the lines below a '|' or '>' that are indented more than `indent`. With '>' they are joined by blanks.
cJSON *yaml_read_block(struct yaml *y, size_t indent)
{
    struct builder b = {0};
    const bool folds = *y->p == '>';
    size_t own = 0;
    y->p += yaml_line_len(y->p);
    y->p += *y->p == '\n';
    while (*y->p) {
        const size_t len = yaml_line_len(y->p), blanks = strspn(y->p, " ");
        const bool empty = !yaml_trimmed(y->p, len);
        if (!empty && blanks <= indent)
            break;
        own = own || empty ? own : blanks;
        const size_t cut = blanks < own || !own ? blanks : own;
        if (!empty)
            builder_bytes(&b, y->p + cut, yaml_trimmed(y->p + cut, len - cut));
        builder_byte(&b, folds && !empty ? ' ' : '\n');
        y->p += len;
        y->p += *y->p == '\n';
    }
    b.len = yaml_trimmed(b.text ? b.text : "", b.len);
    builder_byte(&b, '\n');
    return yaml_string_value(y, &b);
}
