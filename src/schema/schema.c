// SPDX-License-Identifier: MIT
// The conversion of a schema: expressions of the simpler kinds, and the rules of the whole document, one after the
// other.
#include "base/names.h"
#include "schema/convert.h"

#include <stdlib.h>
#include <string.h>

// The kinds of schemas in which the converter reads a keyword. A keyword without kinds says nothing about values, so
// that ignoring it loses nothing.
static const struct {
    const char *names;
    unsigned kinds;
} keywords[] = {
    {"$ref", BIT(KIND_REF)},
    {"oneOf", BIT(KIND_ONE_OF)},
    {"anyOf", BIT(KIND_ANY_OF)},
    {"allOf", BIT(KIND_ALL_OF)},
    {"type", ~(BIT(KIND_REF) | BIT(KIND_ONE_OF) | BIT(KIND_ANY_OF))}, // the type of a constant follows from its value
    {"const", BIT(KIND_CONST)},
    {"enum", BIT(KIND_ENUM)},
    {"properties required additionalProperties", BIT(KIND_OBJECT)},
    {"items prefixItems", BIT(KIND_TUPLE) | BIT(KIND_LIST)},
    {"minItems maxItems", BIT(KIND_LIST)},
    {"pattern", BIT(KIND_PATTERN)},
    {"format", BIT(KIND_FORMAT)},
    {"minLength maxLength", BIT(KIND_STRING)},
    {"minimum maximum exclusiveMinimum exclusiveMaximum", BIT(KIND_INTEGER)},
    {"title description default examples deprecated readOnly writeOnly nullable $schema $id $comment $defs", 0},
    {"definitions", 0},
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
        schema_fail_late(c, schema, "%s: no value satisfies it", NULL);
    else if (*min > most)
        schema_fail_late(c, schema_member(c, schema, least), "%s asks for too many", NULL);
    else if (*max > most)
        *max = EXPR_UNBOUNDED;
    return *min <= *max && *min <= most;
}

// Makes the expression of an item of a schema: the schema itself or a keyword's value.
typedef uint32_t make_expr_fn(struct convert *c, const cJSON *item);

// The choice of the expressions of an array's items.
static uint32_t choice_of_items(struct convert *c, const cJSON *array, make_expr_fn *make)
{
    const size_t from = c->x.n_stack;
    for (const cJSON *item = array->child; item; item = item->next)
        expr_push(&c->x, make(c, item));
    return expr_pop(&c->x, EXPR_CHOICE, from);
}

static uint32_t alternative_expr(struct convert *c, const cJSON *schema)
{
    return rule_of(c, schema, c->at, "alternative");
}

static uint32_t union_expr(struct convert *c, const cJSON *schemas)
{
    return choice_of_items(c, schemas, alternative_expr);
}

// The expression that matches just the text of a value.
static uint32_t constant_expr(struct convert *c, const cJSON *value)
{
    struct builder text = {0};
    if (!constant_text(value, &text))
        schema_fail(c, value, "%s is not %s", "within the range of a double");
    return expr_text(&c->x, &text);
}

static uint32_t enum_expr(struct convert *c, const cJSON *values) { return choice_of_items(c, values, constant_expr); }

static uint32_t reference_expr(struct convert *c, const cJSON *schema)
{
    const cJSON *const target = schema_target(c, schema);
    return target ? rule_of(c, target, RULE_ROOT, item_string(schema_member(c, schema, "$ref"))) : EXPR_NOTHING;
}

static uint32_t tuple_expr(struct convert *c, const cJSON *schema)
{
    const size_t from = c->x.n_stack;
    for (const cJSON *first = schema_items(c, schema)->child, *item = first; item; item = item->next) {
        if (item != first)
            expr_push(&c->x, comma_expr(c));
        expr_push(&c->x, rule_of(c, item, c->at, "item"));
    }
    return bracketed_expr(c, "[", expr_pop(&c->x, EXPR_SEQUENCE, from), "]");
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

// How the expression of each kind is made.
static const struct {
    make_expr_fn *make;
    const char *keyword; // make gets the value of this keyword; NULL: it gets the schema
    uint32_t rule;       // if make is NULL, a reference to this rule is the expression
} kinds[] = {
    [KIND_REF] = {reference_expr},
    [KIND_ONE_OF] = {union_expr, "oneOf"},
    [KIND_ANY_OF] = {union_expr, "anyOf"},
    [KIND_CONST] = {constant_expr, "const"},
    [KIND_ENUM] = {enum_expr, "enum"},
    [KIND_ALL_OF] = {all_of_expr},
    [KIND_OBJECT] = {object_expr},
    [KIND_TUPLE] = {tuple_expr},
    [KIND_LIST] = {list_expr},
    [KIND_PATTERN] = {pattern_expr, "pattern"},
    [KIND_FORMAT] = {format_expr, "format"},
    [KIND_STRING] = {string_expr},
    [KIND_INTEGER] = {integer_expr},
    [KIND_NUMBER] = {.rule = RULE_NUMBER},
    [KIND_BOOLEAN] = {.rule = RULE_BOOLEAN},
    [KIND_NULL] = {.rule = RULE_NULL},
    [KIND_ANY] = {.rule = RULE_VALUE},
};

// The expression of a schema of a kind that is neither KIND_TYPES nor KIND_BAD.
static uint32_t kind_expr(struct convert *c, const cJSON *schema, enum schema_kind kind)
{
    const char *const keyword = kinds[kind].keyword;
    if (!kinds[kind].make)
        return expr_rule(&c->x, kinds[kind].rule);
    return kinds[kind].make(c, keyword ? schema_member(c, schema, keyword) : schema);
}

// The expression of a schema for one value of "type", or the choice for an array of types. Types of one kind are one
// alternative: *of_kinds is the set of kinds so far. Recurses as deep as the document is nested.
static uint32_t expr_of_type(struct convert *c, const cJSON *schema, const cJSON *type, unsigned *of_kinds)
{
    const enum schema_kind kind = schema_kind_of(c, schema, type);
    const size_t from = c->x.n_stack;
    const bool known = *of_kinds & BIT(kind);
    *of_kinds |= BIT(kind);
    if (kind != KIND_TYPES)
        return known || c->failed ? EXPR_NOTHING : kind_expr(c, schema, kind);
    for (const cJSON *item = type->child; item; item = item->next)
        expr_push(&c->x, expr_of_type(c, schema, item, of_kinds));
    return expr_pop(&c->x, EXPR_CHOICE, from);
}

// The first keyword is ignored if the second one is present.
static const char *const superseded[][2] = {
    {"prefixItems", "items"},
    {"exclusiveMinimum", "minimum"},
    {"exclusiveMaximum", "maximum"},
};

// Returns whether the converter ignores a keyword that could matter, in a schema of these kinds.
static bool is_ignored(struct convert *c, const cJSON *schema, const cJSON *item, unsigned of_kinds)
{
    const char *const name = item->string;
    for (size_t i = 0; i < sizeof superseded / sizeof *superseded; i++)
        if (!strcmp(name, superseded[i][0]) && schema_member(c, schema, superseded[i][1]))
            return true;
    if (!strcmp(name, "additionalProperties") && cJSON_IsTrue(item)) // the default
        return false;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (name_find(keywords[i].names, NAME_EXACT, name, strlen(name)) >= 0)
            return keywords[i].kinds && !(keywords[i].kinds & of_kinds);
    return strncmp(name, "x-", 2) != 0;
}

static uint32_t schema_expr(struct convert *c, const cJSON *schema)
{
    unsigned of_kinds = 0;
    const uint32_t expr = expr_of_type(c, schema, schema_member(c, schema, "type"), &of_kinds);
    for (const cJSON *item = schema->child; item && cJSON_IsObject(schema); item = item->next)
        if (is_ignored(c, schema, item, of_kinds))
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
            schema_fail_late(c, schema, "%s: no value satisfies it", NULL);
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

bool schema_to_gbnf(cJSON *schema, struct schema_grammar *g, struct err *e)
{
    struct convert c = {.document = schema, .out = g, .e = e};
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
    return !c.failed;
}
