// SPDX-License-Identifier: MIT
#include "schema/release.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static void repeat_with_commas(struct builder *to, const char *item, long min, long max)
{
    struct builder more = {0};
    if (!max)
        return;
    if (!min && max == 1) {
        release_repeat(to, item, 0, 1);
        return;
    }
    builder_format(&more, "(\",\" space %s)", item);
    builder_string(to, min ? "" : "(");
    builder_format(to, "%s ", item);
    if (!more.failed)
        release_repeat(to, more.text, min ? min - 1 : 0, max == INT32_MAX ? max : max - 1);
    builder_string(to, min ? "" : ")?");
    to->failed = to->failed || more.failed;
    builder_free(&more);
}

// ---- schemas

static uint32_t visit(struct release *r, const cJSON *schema, const cJSON *type, const char *name);

static uint32_t visit_schema(struct release *r, const cJSON *schema, const char *name)
{
    return visit(r, schema, schema_member(r->c, schema, "type"), name);
}

static uint32_t visit_alternatives(struct release *r, const cJSON *schema, const cJSON *list, const char *as,
                                   const char *name, bool types)
{
    struct builder text = {0}, role = {0};
    size_t i = 0;
    for (const cJSON *item = list->child; item && !release_stopped(r); item = item->next, i++) {
        builder_clear(&role);
        builder_format(&role, *name ? "%s-%zu" : "%salternative-%zu", name, i);
        const uint32_t rule = role.failed ? 0
                              : types     ? visit(r, schema, item, role.text)
                                          : visit_schema(r, item, role.text);
        builder_format(&text, "%s%s", i ? " | " : "", release_name(r, rule));
    }
    r->failed = r->failed || role.failed;
    builder_free(&role);
    return release_add(r, as, &text, schema, NULL);
}

static uint32_t visit_tuple(struct release *r, const cJSON *schema, const char *as, const char *name)
{
    struct builder text = {0};
    size_t i = 0;
    builder_string(&text, "\"[\" space ");
    for (const cJSON *item = schema_items(r->c, schema)->child; item && !release_stopped(r); item = item->next, i++) {
        char role[40];
        struct builder b = {0};
        builder_format(&b, "tuple-%zu", i);
        r->failed = r->failed || b.failed;
        if (!b.failed)
            memcpy(role, b.text, b.len + 1);
        builder_free(&b);
        builder_format(&text, "%s%s", i ? " \",\" space " : "",
                       r->failed ? "" : release_visit_part(r, item, name, role));
    }
    builder_string(&text, " space \"]\"");
    return release_add(r, as, &text, schema, NULL);
}

// A rule that has its own name only at the root.
static uint32_t visit_builtin(struct release *r, const cJSON *schema, const char *as, const char *builtin)
{
    const bool root = !strcmp(as, "root");
    const uint32_t rule = release_builtin(r, builtin, root ? as : builtin);
    if (root && rule < r->n_rules)
        r->rule[rule].item = schema;
    return rule;
}

static uint32_t visit_list(struct release *r, const cJSON *schema, const char *as, const char *name)
{
    const cJSON *const items = schema_items(r->c, schema);
    const uint32_t min = schema_count(r->c, schema, "minItems", 0),
                   max = schema_count(r->c, schema, "maxItems", INT32_MAX);
    const bool bare = !schema_member(r->c, schema, "maxItems");
    const bool any = !items || schema_kind_of(r->c, items, schema_member(r->c, items, "type")) == KIND_ANY;
    struct builder text = {0}, item = {0};
    if (any && !min && bare)
        return visit_builtin(r, schema, as, "array");
    if (items)
        builder_string(&item, release_visit_part(r, items, name, "item"));
    else
        builder_string(&item, "");
    if (!items && !release_stopped(r)) {
        struct builder b = {0}, value = {0};
        release_part_name(&b, name, "item");
        builder_string(&value, release_name(r, release_builtin(r, "value", "value")));
        builder_string(&item, b.failed ? "" : release_name(r, release_add(r, b.text, &value, schema, NULL)));
        r->failed = r->failed || b.failed;
        builder_free(&b);
    }
    builder_string(&text, "\"[\" space ");
    repeat_with_commas(&text, item.failed ? "" : item.text, (long)min, (long)max);
    builder_string(&text, " space \"]\"");
    r->failed = r->failed || item.failed;
    builder_free(&item);
    const cJSON *const most = schema_member(r->c, schema, "maxItems"), *const count = most ? most
                                                                                           : schema_member(r->c, schema,
                                                                                                           "minItems");
    return release_add(r, as, &text, count ? count : schema,
                       count ? "its grammar for so many items has more than 2000 rules" : NULL);
}

static uint32_t visit_string(struct release *r, const cJSON *schema, const char *as)
{
    const uint32_t min = schema_count(r->c, schema, "minLength", 0),
                   max = schema_count(r->c, schema, "maxLength", INT32_MAX);
    struct builder text = {0};
    if (!min && !schema_member(r->c, schema, "maxLength"))
        return visit_builtin(r, schema, as, "string");
    release_builtin(r, "char", "char");
    builder_string(&text, "\"\\\"\" ");
    release_repeat(&text, "char", (long)min, (long)max);
    builder_string(&text, " \"\\\"\"");
    return release_add(r, as, &text, schema, NULL);
}

static uint32_t visit_format(struct release *r, const cJSON *schema, const char *as)
{
    const char *const format = item_string(schema_member(r->c, schema, "format"));
    struct builder name = {0}, text = {0};
    if (string_format_rule(schema_member(r->c, schema, "format")) == RULE_UUID)
        return visit_builtin(r, schema, as, "uuid");
    builder_format(&name, "%s-string", format);
    r->failed = r->failed || name.failed;
    builder_string(&text, name.failed ? "" : release_name(r, release_builtin(r, name.text, name.text)));
    builder_free(&name);
    return release_add(r, as, &text, schema, NULL);
}

static uint32_t visit_integer(struct release *r, const cJSON *schema, const char *as)
{
    static const char *const bounds[] = {"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"};
    struct builder text = {0};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const cJSON *const bound = schema_member(r->c, schema, bounds[i]);
        if (bound)
            builder_format(&text, "\"%s %s\" ", bounds[i], bound->valuestring);
    }
    if (!text.len)
        return visit_builtin(r, schema, as, "integer");
    return release_add(r, as, &text, schema, NULL);
}

static uint32_t visit_values(struct release *r, const cJSON *schema, const char *as)
{
    const cJSON *const values = schema_member(r->c, schema, "enum");
    struct builder text = {0};
    for (const cJSON *item = values->child; item && !release_stopped(r); item = item->next) {
        builder_string(&text, item == values->child ? "(" : " | ");
        release_constant(r, &text, item);
    }
    builder_byte(&text, ')');
    return release_add(r, as, &text, schema, NULL);
}

// Visits what a reference leads to, unless it is being visited or a rule has the reference's name.
static uint32_t visit_reference(struct release *r, const cJSON *schema, const char *as)
{
    const cJSON *const ref = schema_member(r->c, schema, "$ref"), *const target = schema_target(r->c, schema);
    struct builder name = {0}, text = {0};
    bool open = false;
    builder_string(&name, "ref");
    release_plain(&name, strchr(item_string(ref), '#') + 1);
    r->failed = r->failed || name.failed;
    for (size_t i = 0; i < r->n_resolving; i++)
        open = open || !strcmp(item_string(r->resolving[i]), item_string(ref));
    const uint32_t known = name.failed ? 0 : release_find(r, name.text);
    if (release_stopped(r) || !target) {
        builder_free(&name);
        return 0;
    }
    if (known != UINT32_MAX && r->rule[known].item != target &&
        r->rule[known].item != schema_member(r->c, target, "pattern"))
        release_differs(r, ref, "llama.cpp takes another rule of this name for the reference");
    if (known == UINT32_MAX && !open) {
        const bool pushed = mem_push(&r->resolving, &r->n_resolving, &r->resolving_cap, &ref, sizeof ref);
        const uint32_t rule = pushed ? visit_schema(r, target, name.text) : 0;
        r->n_resolving -= pushed;
        r->failed = r->failed || !pushed;
        builder_string(&text, release_name(r, rule));
    } else {
        builder_string(&text, name.text);
    }
    builder_free(&name);
    return release_add(r, as, &text, schema, NULL);
}

static uint32_t visit_kind(struct release *r, const cJSON *schema, const cJSON *type, const char *as, const char *name)
{
    struct builder text = {0};
    switch (schema_kind_of(r->c, schema, type)) {
    case KIND_REF:
        return visit_reference(r, schema, as);
    case KIND_ONE_OF:
        return visit_alternatives(r, schema, schema_member(r->c, schema, "oneOf"), as, name, false);
    case KIND_ANY_OF:
        return visit_alternatives(r, schema, schema_member(r->c, schema, "anyOf"), as, name, false);
    case KIND_TYPES:
        return visit_alternatives(r, schema, type, as, name, true);
    case KIND_CONST:
        release_constant(r, &text, schema_member(r->c, schema, "const"));
        return release_add(r, as, &text, schema, NULL);
    case KIND_ENUM:
        return visit_values(r, schema, as);
    case KIND_ALL_OF:
        return release_all_of(r, schema, as, name);
    case KIND_OBJECT:
        return release_object(r, schema, as, name);
    case KIND_TUPLE:
        return visit_tuple(r, schema, as, name);
    case KIND_LIST:
        return visit_list(r, schema, as, name);
    case KIND_PATTERN:
        return release_pattern(r, schema_member(r->c, schema, "pattern"), as);
    case KIND_FORMAT:
        return visit_format(r, schema, as);
    case KIND_STRING:
        return visit_string(r, schema, as);
    case KIND_INTEGER:
        return visit_integer(r, schema, as);
    case KIND_NUMBER:
        return visit_builtin(r, schema, as, "number");
    case KIND_BOOLEAN:
        return visit_builtin(r, schema, as, "boolean");
    case KIND_NULL:
        return visit_builtin(r, schema, as, "null");
    case KIND_ANY:
        builder_string(&text, release_name(r, release_builtin(r, "value", "value")));
        return release_add(r, as, &text, schema, NULL);
    case KIND_BAD:
        break;
    }
    return 0;
}

static uint32_t visit(struct release *r, const cJSON *schema, const cJSON *type, const char *name)
{
    struct builder as = {0};
    const bool reserved = release_reserved(name);
    builder_format(&as, "%s%s", *name ? name : "root", reserved ? "-" : "");
    r->failed = r->failed || as.failed;
    r->full = r->full || r->depth >= RELEASE_DEEPEST;
    r->depth++;
    const uint32_t rule = release_stopped(r) ? 0 : visit_kind(r, schema, type, as.text, name);
    r->depth--;
    builder_free(&as);
    return rule;
}

// ---- the grammar

static int by_part_name(const void *a, const void *b)
{
    const struct schema_part *const p = a, *const q = b;
    return strcmp(p->name, q->name);
}

// Writes the rules, sorted by name.
static void write_rules(struct release *r)
{
    struct schema_release *const out = r->out;
    out->part = calloc(r->n_rules, sizeof *out->part);
    r->failed = r->failed || !out->part;
    for (size_t i = 0; i < r->n_rules && !r->failed; i++)
        out->part[i] = (struct schema_part){release_name(r, (uint32_t)i), release_text(r, r->rule[i].text),
                                            r->rule[i].item, r->rule[i].reason, 0};
    if (r->failed)
        return;
    out->n = r->n_rules;
    qsort(out->part, out->n, sizeof *out->part, by_part_name);
    for (size_t i = 0; i < out->n; i++) {
        builder_format(&out->gbnf, "%s ::= ", out->part[i].name);
        builder_string(&out->gbnf, out->part[i].text);
        builder_byte(&out->gbnf, '\n');
        out->part[i].end = out->gbnf.len;
    }
    r->failed = r->failed || out->gbnf.failed;
}

void schema_release_free(struct schema_release *out)
{
    builder_free(&out->gbnf);
    builder_free(&out->texts);
    builder_free(&out->differences);
    free(out->part);
    *out = (struct schema_release){0};
}

const struct schema_part *schema_part_at(const struct schema_release *out, size_t at)
{
    size_t i = 0;
    while (i + 1 < out->n && out->part[i].end <= at)
        i++;
    return i < out->n ? &out->part[i] : NULL;
}

bool schema_write_release(cJSON *schema, struct schema_release *out, struct err *e)
{
    struct schema_grammar ignored = {0};
    struct err fault; // sampl found none
    struct convert c = {.document = schema, .out = &ignored, .e = &fault};
    struct release r = {.c = &c, .out = out, .visit = visit};
    r.failed = !document_read(&c);
    release_add_text(&r, "space", "| \" \" | \"\\n\"{1,2} [ \\t]{0,20}", NULL);
    const uint32_t root = visit_schema(&r, schema, "");
    if (!release_stopped(&r) && strcmp(release_name(&r, root), "root") != 0) {
        const uint32_t taken = release_find(&r, "root");
        release_differs(&r, taken < r.n_rules && r.rule[taken].item ? r.rule[taken].item : schema,
                        "llama.cpp calls this part root, so its grammar is that of this part alone");
    }
    if (!release_stopped(&r))
        write_rules(&r);
    out->texts = r.texts; // the parts refer to it
    if (r.full) {
        free(out->part);
        out->part = NULL;
        out->n = 0;
    }
    free(r.rule);
    free(r.resolving);
    hash_free(&r.by_name);
    convert_free(&c);
    schema_grammar_free(&ignored);
    return !r.failed || err_from_fault(e, fault_memory());
}
