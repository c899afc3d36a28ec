// SPDX-License-Identifier: MIT
// The rules of the grammar that llama.cpp writes for a schema, and their texts.
#include "base/mem.h"
#include "schema/release.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TEXT ((size_t)16 << 20) // of all rules

const char *release_text(const struct release *r, size_t at) { return r->texts.text ? r->texts.text + at : ""; }

const char *release_name(const struct release *r, uint32_t rule)
{
    return rule < r->n_rules ? release_text(r, r->rule[rule].name) : "";
}

bool release_stopped(const struct release *r) { return r->failed || r->full; }

uint32_t release_find(const struct release *r, const char *name)
{
    const uint32_t hash = hash_bytes(name, strlen(name));
    size_t at = hash, i;
    while ((i = hash_next(&r->by_name, hash, &at)) != HASH_NONE)
        if (!strcmp(release_name(r, (uint32_t)i), name))
            return (uint32_t)i;
    return UINT32_MAX;
}

// Appends a name, with one hyphen for each run of bytes that names of rules cannot have.
void release_plain(struct builder *to, const char *name)
{
    bool run = false;
    for (; *name; name++) {
        const bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                           (*name >= '0' && *name <= '9') || *name == '-';
        if (plain || !run)
            builder_byte(to, plain ? *name : '-');
        run = !plain;
    }
}

uint32_t release_add(struct release *r, const char *name, struct builder *text, const cJSON *item, const char *reason)
{
    struct builder plain = {0};
    release_plain(&plain, name);
    builder_bytes(&plain, "", 0);
    builder_bytes(text, "", 0);
    const size_t len = plain.len;
    uint32_t rule = UINT32_MAX;
    for (size_t i = 0; !plain.failed && !text->failed && !release_stopped(r); i++) {
        rule = release_find(r, plain.text);
        if (rule == UINT32_MAX || !strcmp(release_text(r, r->rule[rule].text), text->text))
            break;
        plain.len = len;
        builder_format(&plain, "%zu", i);
        r->full = r->full || i > 10000;
    }
    r->failed = r->failed || plain.failed || text->failed;
    r->full = r->full || r->texts.len > MOST_TEXT;
    if (!release_stopped(r) && rule == UINT32_MAX) {
        const struct release_rule made = {r->texts.len, r->texts.len + plain.len + 1, item, reason};
        builder_bytes(&r->texts, plain.text, plain.len + 1);
        builder_bytes(&r->texts, text->text, text->len + 1);
        rule = (uint32_t)r->n_rules;
        r->failed = r->texts.failed || !mem_push(&r->rule, &r->n_rules, &r->rules_cap, &made, sizeof made) ||
                    !hash_add(&r->by_name, hash_bytes(plain.text, plain.len), rule);
    }
    builder_free(&plain);
    builder_free(text);
    return rule;
}

void release_forget(struct release *r, size_t from)
{
    for (; r->n_rules > from; r->n_rules--) {
        const char *const name = release_name(r, (uint32_t)r->n_rules - 1);
        hash_remove(&r->by_name, hash_bytes(name, strlen(name)), (uint32_t)r->n_rules - 1);
    }
}

// Notes that llama.cpp's grammar differs from sampl's because of its rules' names.
void release_differs(struct release *r, const cJSON *item, const char *reason)
{
    struct builder *const to = &r->out->differences;
    if (item == r->c->document)
        builder_string(to, "the schema");
    document_path(r->c, item, to);
    builder_format(to, ": %s", reason);
    builder_byte(to, '\0');
    r->failed = r->failed || to->failed;
}

// Adds a rule of this text.
uint32_t release_add_text(struct release *r, const char *name, const char *text, const cJSON *item)
{
    struct builder b = {0};
    builder_string(&b, text);
    return release_add(r, name, &b, item, NULL);
}

// The rules that every grammar may use. What they need stands behind their texts, each name with a blank.
static const char *const builtins[][3] = {
    {"boolean", "(\"true\" | \"false\")", ""},
    {"decimal-part", "[0-9]{1,16}", ""},
    {"integral-part", "[0] | [1-9] [0-9]{0,15}", ""},
    {"number", "(\"-\"? integral-part) (\".\" decimal-part)? ([eE] [-+]? integral-part)?",
     "integral-part decimal-part "},
    {"integer", "(\"-\"? integral-part)", "integral-part "},
    {"value", "object | array | string | number | boolean | null", "object array string number boolean null "},
    {"object", "\"{\" space ( string \":\" space value (\",\" space string \":\" space value)* )? space \"}\"",
     "string value "},
    {"array", "\"[\" space ( value (\",\" space value)* )? space \"]\"", "value "},
    {"uuid",
     "\"\\\"\" [0-9a-fA-F]{8} \"-\" [0-9a-fA-F]{4} \"-\" [0-9a-fA-F]{4} \"-\" [0-9a-fA-F]{4} \"-\" [0-9a-fA-F]{12} "
     "\"\\\"\"",
     ""},
    {"char", "[^\"\\\\\\x7F\\x00-\\x1F] | [\\\\] ([\"\\\\bfnrt] | \"u\" [0-9a-fA-F]{4})", ""},
    {"string", "\"\\\"\" char* \"\\\"\"", "char "},
    {"null", "\"null\"", ""},
    {"date", "[0-9]{4} \"-\" ( \"0\" [1-9] | \"1\" [0-2] ) \"-\" ( \"0\" [1-9] | [1-2] [0-9] | \"3\" [0-1] )", ""},
    {"time",
     "([01] [0-9] | \"2\" [0-3]) \":\" [0-5] [0-9] \":\" [0-5] [0-9] ( \".\" [0-9]{3} )? ( \"Z\" | ( \"+\" | \"-\" ) ( "
     "[01] [0-9] | \"2\" [0-3] ) \":\" [0-5] [0-9] )",
     ""},
    {"date-time", "date \"T\" time", "date time "},
    {"date-string", "\"\\\"\" date \"\\\"\"", "date "},
    {"time-string", "\"\\\"\" time \"\\\"\"", "time "},
    {"date-time-string", "\"\\\"\" date-time \"\\\"\"", "date-time "},
};
#define N_BUILTINS (sizeof builtins / sizeof *builtins)

// Returns the index of a rule that every grammar may use, N_BUILTINS if none has the name.
static size_t builtin_index(const char *name, size_t len)
{
    size_t i = 0;
    while (i < N_BUILTINS && (strncmp(builtins[i][0], name, len) != 0 || builtins[i][0][len]))
        i++;
    return i;
}

uint32_t release_builtin(struct release *r, const char *name, const char *as)
{
    const size_t at = builtin_index(name, strlen(name));
    const uint32_t rule = release_add_text(r, as, builtins[at][1], NULL);
    for (const char *need = builtins[at][2]; *need && !release_stopped(r);) {
        const size_t len = strcspn(need, " ");
        const char *const needed = builtins[builtin_index(need, len)][0];
        const uint32_t known = release_find(r, needed);
        if (known == UINT32_MAX)
            release_builtin(r, needed, needed);
        else if (r->rule[known].item)
            release_differs(r, r->rule[known].item,
                            "llama.cpp takes this part for a rule of its own that has the same name");
        need += len + 1;
    }
    return rule;
}

// ---- texts

void release_literal(struct builder *to, const char *text)
{
    builder_byte(to, '"');
    for (; *text; text++) {
        static const char names[] = "\r\n\"\\", letters[] = "rn\"\\";
        const char *const name = strchr(names, *text);
        if (name)
            builder_byte(to, '\\');
        builder_byte(to, name ? letters[name - names] : *text);
    }
    builder_byte(to, '"');
}

void release_repeat(struct builder *to, const char *item, long min, long max)
{
    if (!max)
        return;
    builder_string(to, item);
    if (!min && max == 1)
        builder_byte(to, '?');
    else if (max == INT32_MAX && (!min || min == 1))
        builder_byte(to, min ? '+' : '*');
    else if (max == INT32_MAX)
        builder_format(to, "{%ld,}", min);
    else
        builder_format(to, "{%ld,%ld}", min, max);
}

void release_constant(struct release *r, struct builder *to, const cJSON *value)
{
    struct builder text = {0};
    r->failed = r->failed || (!constant_text(value, &text) && text.failed);
    builder_bytes(&text, "", 0);
    if (!text.failed)
        release_literal(to, text.text);
    to->failed = to->failed || text.failed;
    builder_free(&text);
}

// Makes the name of a part: the name, a hyphen unless the name is empty, and the role.
void release_part_name(struct builder *to, const char *name, const char *role)
{
    builder_format(to, "%s%s%s", name, *name ? "-" : "", role);
}

bool release_reserved(const char *name)
{
    return !strcmp(name, "root") || builtin_index(name, strlen(name)) < N_BUILTINS;
}

const char *release_visit_part(struct release *r, const cJSON *schema, const char *name, const char *role)
{
    struct builder b = {0};
    release_part_name(&b, name, role);
    r->failed = r->failed || b.failed;
    const uint32_t rule = release_stopped(r) ? 0 : r->visit(r, schema, schema_member(r->c, schema, "type"), b.text);
    builder_free(&b);
    return release_name(r, rule);
}
