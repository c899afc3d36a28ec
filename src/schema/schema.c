// SPDX-License-Identifier: MIT
// The conversion of a schema: expressions of the simpler kinds, and the rules of the whole document, one after the
// other.
#include "base/names.h"
#include "schema/convert.h"

#include <stdlib.h>
#include <string.h>

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
        schema_fail_late(c, schema_member(c, schema, least), "%s asks for more repetitions than llama.cpp allows",
                         NULL);
    else if (*max > most)
        *max = EXPR_UNBOUNDED;
    return *min <= *max && *min <= most;
}

// Makes the expression of an item of a schema: the schema itself or a keyword's value.
typedef uint32_t make_expr_fn(struct convert *c, const cJSON *item);

static uint32_t alternative_expr(struct convert *c, const cJSON *schema)
{
    return rule_of(c, schema, c->at, "alternative");
}

// The expression that matches just the text of a value.
static uint32_t constant_expr(struct convert *c, const cJSON *value)
{
    struct builder text = {0};
    if (!constant_text(value, &text))
        schema_fail(c, value, "%s is not %s", "within the range of a double");
    return expr_text(&c->x, &text);
}

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

// How the expression of each kind is made. The type of a constant follows from its value.
static const struct {
    make_expr_fn *make;
    const char *keyword; // make gets the value of this keyword; NULL: it gets the schema
    const char *reads;   // the other keywords that the converter reads in schemas of this kind
    uint32_t rule;       // if make is NULL, a reference to this rule is the expression
    bool each;           // make gets each item of the keyword's array; the expression is the choice of the results
} kinds[] = {
    [KIND_REF] = {reference_expr, NULL, "$ref"},
    [KIND_ONE_OF] = {alternative_expr, "oneOf", "", .each = true},
    [KIND_ANY_OF] = {alternative_expr, "anyOf", "", .each = true},
    [KIND_TYPES] = {NULL, NULL, "type"},
    [KIND_CONST] = {constant_expr, "const", "type"},
    [KIND_ENUM] = {constant_expr, "enum", "type", .each = true},
    [KIND_ALL_OF] = {all_of_expr, NULL, "type allOf"},
    [KIND_OBJECT] = {object_expr, NULL, "type properties required additionalProperties"},
    [KIND_TUPLE] = {tuple_expr, NULL, "type items prefixItems"},
    [KIND_LIST] = {list_expr, NULL, "type items prefixItems minItems maxItems"},
    [KIND_PATTERN] = {pattern_expr, "pattern", "type"},
    [KIND_FORMAT] = {format_expr, "format", "type"},
    [KIND_STRING] = {string_expr, NULL, "type minLength maxLength"},
    [KIND_INTEGER] = {integer_expr, NULL, "type minimum maximum exclusiveMinimum exclusiveMaximum"},
    [KIND_NUMBER] = {NULL, NULL, "type", RULE_NUMBER},
    [KIND_BOOLEAN] = {NULL, NULL, "type", RULE_BOOLEAN},
    [KIND_NULL] = {NULL, NULL, "type", RULE_NULL},
    [KIND_ANY] = {NULL, NULL, "type", RULE_VALUE},
};

// The expression of a schema of a kind that is neither KIND_TYPES nor KIND_BAD.
static uint32_t kind_expr(struct convert *c, const cJSON *schema, enum schema_kind kind)
{
    const char *const keyword = kinds[kind].keyword;
    const cJSON *const from = keyword ? schema_member(c, schema, keyword) : schema;
    const size_t start = c->x.n_stack;
    if (!kinds[kind].make)
        return expr_rule(&c->x, kinds[kind].rule);
    if (!kinds[kind].each)
        return kinds[kind].make(c, from);
    for (const cJSON *item = from->child; item; item = item->next)
        expr_push(&c->x, kinds[kind].make(c, item));
    return expr_pop(&c->x, EXPR_CHOICE, start);
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

// Keywords that say nothing about values, so that ignoring them loses nothing.
static const char neutral[] = "title description default examples deprecated readOnly writeOnly nullable "
                              "$schema $id $comment $defs definitions";

static bool is_one_of(const char *name, const char *names)
{
    return name_find(names, NAME_EXACT, name, strlen(name)) >= 0;
}

// Returns whether the converter ignores a keyword that could matter, in a schema of these kinds.
static bool is_ignored(struct convert *c, const cJSON *schema, const cJSON *item, unsigned of_kinds)
{
    const char *const name = item->string;
    for (size_t i = 0; i < sizeof superseded / sizeof *superseded; i++)
        if (!strcmp(name, superseded[i][0]) && schema_member(c, schema, superseded[i][1]))
            return true;
    if (!strcmp(name, "additionalProperties") && cJSON_IsTrue(item)) // the default
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (of_kinds & BIT(i) &&
            (is_one_of(name, kinds[i].reads) || (kinds[i].keyword && !strcmp(name, kinds[i].keyword))))
            return false;
    return !is_one_of(name, neutral) && strncmp(name, "x-", 2) != 0;
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
    builder_free(&g->crossed.paths);
    builder_free(&g->loose.paths);
    *g = (struct schema_grammar){0};
}

void convert_free(struct convert *c)
{
    exprs_free(&c->x);
    free(c->rule);
    free(c->member);
    free(c->part);
    builder_free(&c->names);
    hash_free(&c->by_schema);
    hash_free(&c->by_name);
    hash_free(&c->by_member);
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
    convert_free(&c);
    return !c.failed;
}
