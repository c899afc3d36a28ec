// SPDX-License-Identifier: MIT
// The conversion of a schema: expressions of the simpler kinds, and the rules of the whole document, one after the
// other.
#include "schema/convert.h"

#include <stdlib.h>
#include <string.h>

// The kinds of schemas in which the converter reads a keyword. A keyword with no kinds says nothing about values, so
// ignoring it loses nothing.
static const struct {
    const char *names; // each between blanks
    unsigned kinds;
} keywords[] = {
    {" $ref ", BIT(KIND_REF)},
    {" oneOf ", BIT(KIND_ONE_OF)},
    {" anyOf ", BIT(KIND_ANY_OF)},
    {" allOf ", BIT(KIND_ALL_OF)},
    {" type ", ~(BIT(KIND_REF) | BIT(KIND_ONE_OF) | BIT(KIND_ANY_OF))}, // a constant's type follows from its value
    {" const ", BIT(KIND_CONST)},
    {" enum ", BIT(KIND_ENUM)},
    {" properties required additionalProperties ", BIT(KIND_OBJECT)},
    {" items prefixItems ", BIT(KIND_TUPLE) | BIT(KIND_LIST)},
    {" minItems maxItems ", BIT(KIND_LIST)},
    {" pattern ", BIT(KIND_PATTERN)},
    {" format ", BIT(KIND_FORMAT)},
    {" minLength maxLength ", BIT(KIND_STRING)},
    {" minimum maximum exclusiveMinimum exclusiveMaximum ", BIT(KIND_INTEGER)},
    {" title description default examples deprecated readOnly writeOnly nullable $schema $id $comment $defs ", 0},
    {" definitions ", 0},
};

// Reads the least and greatest count of something. A greatest count above `most` means no limit. False with a fault.
static bool counts_of(struct convert *c, const cJSON *schema, const char *least, const char *greatest, uint32_t most,
                      uint32_t *min, uint32_t *max)
{
    *min = schema_count(c, schema, least, 0);
    *max = schema_count(c, schema, greatest, EXPR_UNBOUNDED);
    if (!*max)
        *min = 0;
    if (*min > *max)
        schema_fail(c, schema, SCHEMA_NOTHING, NULL);
    else if (*min > most)
        schema_fail(c, schema_member(c, schema, least), SCHEMA_COUNT, NULL);
    else if (*max > most)
        *max = EXPR_UNBOUNDED;
    return *min <= *max && *min <= most;
}

// The expression that matches exactly the text of a value.
static uint32_t constant_expr(struct convert *c, const cJSON *value)
{
    struct builder text = {0};
    if (!constant_text(value, &text))
        schema_fail(c, value, SCHEMA_BAD_VALUE, "within the range of a double");
    c->x.failed = c->x.failed || text.failed;
    const uint32_t expr = c->x.failed ? EXPR_NOTHING : expr_bytes(&c->x, text.text, text.len);
    builder_free(&text);
    return expr;
}

// The choice of the schemas in an array.
static uint32_t union_expr(struct convert *c, const cJSON *schemas)
{
    const size_t from = c->x.n_stack;
    for (const cJSON *item = schemas->child; item; item = item->next)
        expr_push(&c->x, rule_of(c, item, c->at, "alternative"));
    return expr_take(&c->x, EXPR_CHOICE, from);
}

static uint32_t enum_expr(struct convert *c, const cJSON *values)
{
    const size_t from = c->x.n_stack;
    for (const cJSON *item = values->child; item; item = item->next)
        expr_push(&c->x, constant_expr(c, item));
    return expr_take(&c->x, EXPR_CHOICE, from);
}

static uint32_t tuple_expr(struct convert *c, const cJSON *schema)
{
    const size_t from = c->x.n_stack;
    for (const cJSON *first = schema_items(c, schema)->child, *item = first; item; item = item->next) {
        if (item != first)
            expr_push(&c->x, comma_expr(c));
        expr_push(&c->x, rule_of(c, item, c->at, "item"));
    }
    return bracketed_expr(c, "[", expr_take(&c->x, EXPR_SEQUENCE, from), "]");
}

static uint32_t list_expr(struct convert *c, const cJSON *schema)
{
    struct exprs *const x = &c->x;
    const cJSON *const items = schema_items(c, schema);
    const uint32_t item = items ? rule_of(c, items, c->at, "item") : expr_rule(x, RULE_VALUE);
    uint32_t min, max;
    if (!counts_of(c, schema, "minItems", "maxItems", 2001, &min, &max))
        return EXPR_NOTHING;
    const uint32_t further = max == EXPR_UNBOUNDED ? max : max - (max > 0);
    const uint32_t some =
        EXPR_SEQUENCE_OF(x, item, expr_repeat(x, EXPR_SEQUENCE_OF(x, comma_expr(c), item), min - (min > 0), further));
    return bracketed_expr(c, "[", expr_repeat(x, some, min > 0, max > 0), "]");
}

static uint32_t string_expr(struct convert *c, const cJSON *schema)
{
    struct exprs *const x = &c->x;
    const uint32_t quote = expr_literal(x, "\"");
    uint32_t min, max;
    if (!counts_of(c, schema, "minLength", "maxLength", 2000, &min, &max))
        return EXPR_NOTHING;
    if (!min && max == EXPR_UNBOUNDED)
        return expr_rule(x, RULE_STRING);
    return EXPR_SEQUENCE_OF(x, quote, expr_repeat(x, expr_rule(x, RULE_CHAR), min, max), quote);
}

static uint32_t format_expr(struct convert *c, const cJSON *format)
{
    const uint32_t quote = expr_literal(&c->x, "\"");
    return EXPR_SEQUENCE_OF(&c->x, quote, expr_rule(&c->x, string_format_rule(format)), quote);
}

static uint32_t kind_expr(struct convert *c, const cJSON *schema, enum schema_kind kind)
{
    switch (kind) {
    case KIND_REF: {
        const cJSON *const target = schema_target(c, schema);
        const char *const text = item_string(schema_member(c, schema, "$ref"));
        return target ? rule_of(c, target, RULE_ROOT, text) : EXPR_NOTHING;
    }
    case KIND_ONE_OF:
        return union_expr(c, schema_member(c, schema, "oneOf"));
    case KIND_ANY_OF:
        return union_expr(c, schema_member(c, schema, "anyOf"));
    case KIND_CONST:
        return constant_expr(c, schema_member(c, schema, "const"));
    case KIND_ENUM:
        return enum_expr(c, schema_member(c, schema, "enum"));
    case KIND_ALL_OF:
        return all_of_expr(c, schema);
    case KIND_OBJECT:
        return object_expr(c, schema);
    case KIND_TUPLE:
        return tuple_expr(c, schema);
    case KIND_LIST:
        return list_expr(c, schema);
    case KIND_PATTERN:
        return pattern_expr(c, schema_member(c, schema, "pattern"));
    case KIND_FORMAT:
        return format_expr(c, schema_member(c, schema, "format"));
    case KIND_STRING:
        return string_expr(c, schema);
    case KIND_INTEGER:
        return integer_expr(c, schema);
    case KIND_NUMBER:
        return expr_rule(&c->x, RULE_NUMBER);
    case KIND_BOOLEAN:
        return expr_rule(&c->x, RULE_BOOLEAN);
    case KIND_NULL:
        return expr_rule(&c->x, RULE_NULL);
    case KIND_ANY:
        return expr_rule(&c->x, RULE_VALUE);
    case KIND_TYPES:
    case KIND_BAD:
        break;
    }
    return EXPR_NOTHING;
}

// The expression of a schema for one value of "type", or for an array of types. Two types of the same kind are one
// alternative; *kinds is the set of kinds so far. Recurses as deep as the document is nested.
static uint32_t expr_of_type(struct convert *c, const cJSON *schema, const cJSON *type, unsigned *kinds)
{
    const enum schema_kind kind = schema_kind_of(c, schema, type);
    const size_t from = c->x.n_stack;
    const bool known = *kinds & BIT(kind);
    *kinds |= BIT(kind);
    if (kind != KIND_TYPES)
        return known || c->fault->code ? EXPR_NOTHING : kind_expr(c, schema, kind);
    for (const cJSON *item = type->child; item; item = item->next)
        expr_push(&c->x, expr_of_type(c, schema, item, kinds));
    return expr_take(&c->x, EXPR_CHOICE, from);
}

// The first keyword is ignored where the second one is present.
static const char *const outdone[][2] = {
    {"prefixItems", "items"},
    {"exclusiveMinimum", "minimum"},
    {"exclusiveMaximum", "maximum"},
};

// Does the converter ignore a keyword that could matter, in a schema of these kinds?
static bool passed_over(struct convert *c, const cJSON *schema, const cJSON *item, unsigned kinds)
{
    const size_t len = strcspn(item->string, " ");
    for (size_t i = 0; i < sizeof outdone / sizeof *outdone; i++)
        if (!strcmp(item->string, outdone[i][0]) && schema_member(c, schema, outdone[i][1]))
            return true;
    if (!strcmp(item->string, "additionalProperties") && cJSON_IsTrue(item)) // the same as no such keyword
        return false;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        const char *const name = strstr(keywords[i].names, item->string);
        if (len && name && name[-1] == ' ' && name[len] == ' ' && !item->string[len])
            return keywords[i].kinds && !(keywords[i].kinds & kinds);
    }
    return strncmp(item->string, "x-", 2) != 0;
}

static uint32_t schema_expr(struct convert *c, const cJSON *schema)
{
    unsigned kinds = 0;
    const uint32_t expr = expr_of_type(c, schema, schema_member(c, schema, "type"), &kinds);
    for (const cJSON *item = schema->child; item && cJSON_IsObject(schema); item = item->next)
        if (passed_over(c, schema, item, kinds))
            schema_note(c, item, &c->out->ignored);
    return expr;
}

// Makes the expressions of the rules, in the order in which references to them were met.
static bool make_rules(struct convert *c)
{
    for (; c->at < c->n_rules && convert_sound(c); c->at++) {
        const cJSON *const schema = c->rule[c->at].schema;
        const uint32_t expr = schema ? schema_expr(c, schema) : c->rule[c->at].expr;
        if (schema && !expr && exprs_whole(&c->x))
            schema_fail(c, schema, SCHEMA_NOTHING, NULL);
        c->rule[c->at].expr = expr;
    }
    return convert_sound(c);
}

static bool make_all_rules(struct convert *c)
{
    for (uint32_t i = 0; i < RULE_OWN; i++)
        new_rule(c, RULE_ROOT, builtin_name(i), i == RULE_ROOT ? c->document : NULL, EXPR_NOTHING);
    bool ok = make_rules(c);
    c->for_faults = true;
    for (size_t i = 0; ok && i < c->n_parts; i++) {
        rule_of(c, c->part[i], RULE_ROOT, "part");
        ok = make_rules(c);
    }
    return ok;
}

void schema_grammar_free(struct schema_grammar *g)
{
    builder_free(&g->gbnf);
    builder_free(&g->ignored.paths);
    builder_free(&g->loose.paths);
    *g = (struct schema_grammar){0};
}

#define MOST_TEXT ((size_t)8 << 20) // of a grammar, in bytes

bool schema_to_gbnf(cJSON *schema, struct schema_grammar *g, struct schema_fault *fault)
{
    struct convert c = {.document = schema, .out = g, .fault = fault};
    *fault = (struct schema_fault){.code = SCHEMA_OK};
    g->gbnf.most = MOST_TEXT;
    c.x.failed = !document_read(&c);
    if (make_all_rules(&c)) {
        c.at = RULE_ROOT;
        print_rules(&c);
    }
    exprs_free(&c.x);
    free(c.rule);
    free(c.member);
    free(c.part);
    builder_free(&c.names);
    hash_free(&c.by_schema);
    hash_free(&c.by_name);
    hash_free(&c.by_member);
    return !fault->code;
}
