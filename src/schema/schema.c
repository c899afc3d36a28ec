// SPDX-License-Identifier: MIT
// Reading a schema: what it is, and the expressions of the simpler kinds.
#include "schema/convert.h"

#include <string.h>

static const struct {
    const char *name;
    uint32_t rule;
} formats[] = {
    {"uuid", RULE_UUID},  {"uuid1", RULE_UUID}, {"uuid2", RULE_UUID},
    {"uuid3", RULE_UUID}, {"uuid4", RULE_UUID}, {"uuid5", RULE_UUID},
    {"date", RULE_DATE},  {"time", RULE_TIME},  {"date-time", RULE_DATE_TIME},
};

// The kinds of schemas in which keywords are looked at. Without any: they say nothing about a value, and passing over them is no loss.
static const struct {
    const char *names; // each between blanks
    unsigned kinds;
} keywords[] = {
    {" $ref ", BIT(KIND_REF)},
    {" oneOf ", BIT(KIND_ONE_OF)},
    {" anyOf ", BIT(KIND_ANY_OF)},
    {" allOf ", BIT(KIND_ALL_OF)},
    {" type ", ~(BIT(KIND_REF) | BIT(KIND_ONE_OF) | BIT(KIND_ANY_OF))}, // constants have theirs already
    {" const ", BIT(KIND_CONST)},
    {" enum ", BIT(KIND_ENUM)},
    {" properties required additionalProperties ", BIT(KIND_OBJECT)},
    {" items prefixItems ", BIT(KIND_TUPLE) | BIT(KIND_LIST)},
    {" minItems maxItems ", BIT(KIND_LIST)},
    {" pattern ", BIT(KIND_PATTERN)},
    {" format ", BIT(KIND_FORMAT)},
    {" minLength maxLength ", BIT(KIND_STRING)},
    {" minimum maximum exclusiveMinimum exclusiveMaximum ", BIT(KIND_INTEGER)},
    {" title description default examples deprecated readOnly writeOnly nullable $schema $id $comment $defs definitions ",
     0},
};

static const char *string_of(const cJSON *item)
{
    const char *const string = cJSON_GetStringValue(item);
    return string ? string : "";
}

// The number of a keyword for counts, `missing` if it is not there. As llama.cpp has it, 64 bits are cut to 32.
static uint32_t count_of(struct convert *c, const cJSON *schema, const char *keyword, uint32_t missing)
{
    const cJSON *const item = member(c, schema, keyword);
    uint64_t value;
    if (!item)
        return missing;
    if (cJSON_IsRaw(item) && json_integer(item, &value) && (uint32_t)value <= INT32_MAX)
        return (uint32_t)value;
    fail(c, item, SCHEMA_BAD_VALUE, "a whole number from 0");
    return missing;
}

// Least and most of something, up to `most`: more than that is no limit. False with a fault.
static bool counts_of(struct convert *c, const cJSON *schema, const char *least, const char *greatest, uint32_t most,
                      uint32_t *min, uint32_t *max)
{
    *min = count_of(c, schema, least, 0);
    *max = count_of(c, schema, greatest, EXPR_UNBOUNDED);
    if (!*max)
        *min = 0;
    if (*min > *max)
        fail(c, schema, SCHEMA_NOTHING, NULL);
    else if (*min > most)
        fail(c, member(c, schema, least), SCHEMA_COUNT, NULL);
    else if (*max > most)
        *max = EXPR_UNBOUNDED;
    return *min <= *max && *min <= most;
}

static enum schema_kind array_kind(struct convert *c, const cJSON *item, enum schema_kind kind, const char *what)
{
    if (cJSON_IsArray(item) && item->child)
        return kind;
    fail(c, item, SCHEMA_BAD_VALUE, what);
    return KIND_BAD;
}

static uint32_t format_rule(const cJSON *format)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(string_of(format), formats[i].name))
            return formats[i].rule;
    return RULE_STRING;
}

static enum schema_kind string_kind(struct convert *c, const cJSON *schema)
{
    const cJSON *const pattern = member(c, schema, "pattern"), *const format = member(c, schema, "format");
    if (pattern && !cJSON_IsString(pattern))
        fail(c, pattern, SCHEMA_BAD_VALUE, "a string");
    if (format && !cJSON_IsString(format))
        fail(c, format, SCHEMA_BAD_VALUE, "a string");
    count_of(c, schema, "minLength", 0);
    count_of(c, schema, "maxLength", 0);
    if (*string_of(pattern))
        return KIND_PATTERN;
    return format_rule(format) == RULE_STRING ? KIND_STRING : KIND_FORMAT;
}

static const cJSON *items_of(const struct convert *c, const cJSON *schema)
{
    const cJSON *const items = member(c, schema, "items");
    return items ? items : member(c, schema, "prefixItems");
}

// Without a type, other keywords tell.
static enum schema_kind untyped_kind(struct convert *c, const cJSON *schema)
{
    const cJSON *const format = member(c, schema, "format");
    if (items_of(c, schema))
        return cJSON_IsArray(items_of(c, schema)) ? KIND_TUPLE : KIND_LIST;
    if (member(c, schema, "pattern") || member(c, schema, "minLength") || member(c, schema, "maxLength") ||
        (format && (!cJSON_IsString(format) || format_rule(format) != RULE_STRING)))
        return string_kind(c, schema);
    return KIND_ANY;
}

static enum schema_kind typed_kind(struct convert *c, const cJSON *schema, const cJSON *type)
{
    static const struct {
        const char *name;
        enum schema_kind kind;
    } types[] = {{"object", KIND_OBJECT}, {"string", KIND_STRING},   {"array", KIND_LIST}, {"integer", KIND_INTEGER},
                 {"number", KIND_NUMBER}, {"boolean", KIND_BOOLEAN}, {"null", KIND_NULL},  {"", KIND_ANY}};
    const cJSON *const more = member(c, schema, "additionalProperties"), *const all_of = member(c, schema, "allOf");
    const bool object = member(c, schema, "properties") || (more && !cJSON_IsTrue(more));
    size_t i = 0;
    while (i < sizeof types / sizeof *types && strcmp(string_of(type), types[i].name) != 0)
        i++;
    if (i == sizeof types / sizeof *types) {
        fail(c, type, SCHEMA_TYPE, string_of(type));
        return KIND_BAD;
    }
    const enum schema_kind kind = types[i].kind;
    if (kind == KIND_ANY && object)
        return KIND_OBJECT;
    if (all_of && (kind == KIND_ANY || kind == KIND_STRING || (kind == KIND_OBJECT && !object)))
        return array_kind(c, all_of, KIND_ALL_OF, "an array of schemas");
    if (kind == KIND_LIST && cJSON_IsArray(items_of(c, schema)))
        return KIND_TUPLE;
    if (kind == KIND_STRING)
        return string_kind(c, schema);
    return kind == KIND_ANY ? untyped_kind(c, schema) : kind;
}

enum schema_kind kind_of(struct convert *c, const cJSON *schema, const cJSON *type)
{
    const cJSON *item;
    if (!cJSON_IsObject(schema)) {
        fail(c, schema, SCHEMA_NOT_OBJECT, NULL);
        return KIND_BAD;
    }
    if ((item = member(c, schema, "$ref"))) {
        if (!cJSON_IsString(item))
            fail(c, item, SCHEMA_BAD_VALUE, "a string");
        return cJSON_IsString(item) ? KIND_REF : KIND_BAD;
    }
    if ((item = member(c, schema, "oneOf")))
        return array_kind(c, item, KIND_ONE_OF, "an array of schemas");
    if ((item = member(c, schema, "anyOf")))
        return array_kind(c, item, KIND_ANY_OF, "an array of schemas");
    if (cJSON_IsArray(type))
        return array_kind(c, type, KIND_TYPES, "a type's name or an array of some");
    if (member(c, schema, "const"))
        return KIND_CONST;
    if ((item = member(c, schema, "enum")))
        return array_kind(c, item, KIND_ENUM, "an array of values");
    if (!type || cJSON_IsNull(type) || cJSON_IsString(type))
        return typed_kind(c, schema, type);
    fail(c, type, SCHEMA_BAD_VALUE, "a type's name or an array of some");
    return KIND_BAD;
}

const cJSON *target_of(struct convert *c, const cJSON *schema)
{
    const cJSON *const ref = member(c, schema, "$ref");
    const char *const text = string_of(ref);
    if (strncmp(text, "#/", 2) != 0 && strcmp(text, "#") != 0) {
        fail(c, ref, SCHEMA_REF_REMOTE, text);
        return NULL;
    }
    const cJSON *const target = document_find(c, text);
    if (!target)
        fail(c, ref, SCHEMA_REF_MISSING, text);
    return target;
}

// The text of a value as an expression.
static uint32_t constant_expr(struct convert *c, const cJSON *value)
{
    struct builder text = {0};
    if (!constant_text(value, &text))
        fail(c, value, SCHEMA_BAD_VALUE, "within the range of a double");
    c->x.failed = c->x.failed || text.failed;
    const uint32_t expr = c->x.failed ? EXPR_NOTHING : expr_bytes(&c->x, text.text, text.len);
    builder_free(&text);
    return expr;
}

uint32_t in_brackets(struct convert *c, const char *open, uint32_t inner, const char *close)
{
    struct exprs *const x = &c->x;
    const uint32_t space = expr_rule(x, RULE_SPACE);
    return EXPR_SEQUENCE_OF(x, expr_literal(x, open), space, inner, space, expr_literal(x, close));
}

// Any one of the schemas in an array.
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
    for (const cJSON *first = items_of(c, schema)->child, *item = first; item; item = item->next) {
        if (item != first)
            expr_push(&c->x, comma(c));
        expr_push(&c->x, rule_of(c, item, c->at, "item"));
    }
    return in_brackets(c, "[", expr_take(&c->x, EXPR_SEQUENCE, from), "]");
}

static uint32_t list_expr(struct convert *c, const cJSON *schema)
{
    struct exprs *const x = &c->x;
    const cJSON *const items = items_of(c, schema);
    const uint32_t item = items ? rule_of(c, items, c->at, "item") : expr_rule(x, RULE_VALUE);
    uint32_t min, max;
    if (!counts_of(c, schema, "minItems", "maxItems", 2001, &min, &max))
        return EXPR_NOTHING;
    const uint32_t further = max == EXPR_UNBOUNDED ? max : max - (max > 0);
    const uint32_t some =
        EXPR_SEQUENCE_OF(x, item, expr_repeat(x, EXPR_SEQUENCE_OF(x, comma(c), item), min - (min > 0), further));
    return in_brackets(c, "[", expr_repeat(x, some, min > 0, max > 0), "]");
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
    return EXPR_SEQUENCE_OF(&c->x, quote, expr_rule(&c->x, format_rule(format)), quote);
}

static uint32_t kind_expr(struct convert *c, const cJSON *schema, enum schema_kind kind)
{
    switch (kind) {
    case KIND_REF: {
        const cJSON *const target = target_of(c, schema);
        const char *const text = string_of(member(c, schema, "$ref"));
        return target ? rule_of(c, target, RULE_ROOT, text) : EXPR_NOTHING;
    }
    case KIND_ONE_OF:
        return union_expr(c, member(c, schema, "oneOf"));
    case KIND_ANY_OF:
        return union_expr(c, member(c, schema, "anyOf"));
    case KIND_CONST:
        return constant_expr(c, member(c, schema, "const"));
    case KIND_ENUM:
        return enum_expr(c, member(c, schema, "enum"));
    case KIND_ALL_OF:
        return all_of_expr(c, schema);
    case KIND_OBJECT:
        return object_expr(c, schema);
    case KIND_TUPLE:
        return tuple_expr(c, schema);
    case KIND_LIST:
        return list_expr(c, schema);
    case KIND_PATTERN:
        return pattern_expr(c, member(c, schema, "pattern"));
    case KIND_FORMAT:
        return format_expr(c, member(c, schema, "format"));
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

// Types that come to the same kind twice are one alternative. *kinds: those that there were. Recursion is as deep as the document.
static uint32_t expr_of_type(struct convert *c, const cJSON *schema, const cJSON *type, unsigned *kinds)
{
    const enum schema_kind kind = kind_of(c, schema, type);
    const size_t from = c->x.n_stack;
    const bool known = *kinds & BIT(kind);
    *kinds |= BIT(kind);
    if (kind != KIND_TYPES)
        return known || c->fault->code ? EXPR_NOTHING : kind_expr(c, schema, kind);
    for (const cJSON *item = type->child; item; item = item->next)
        expr_push(&c->x, expr_of_type(c, schema, item, kinds));
    return expr_take(&c->x, EXPR_CHOICE, from);
}

static const char *const outdone[][2] = {
    // keywords that one beside them takes the place of
    {"prefixItems", "items"},
    {"exclusiveMinimum", "minimum"},
    {"exclusiveMaximum", "maximum"},
};

// Is a keyword passed over in a schema of these kinds, and might that matter?
static bool passed_over(struct convert *c, const cJSON *schema, const cJSON *item, unsigned kinds)
{
    const size_t len = strcspn(item->string, " ");
    for (size_t i = 0; i < sizeof outdone / sizeof *outdone; i++)
        if (!strcmp(item->string, outdone[i][0]) && member(c, schema, outdone[i][1]))
            return true;
    if (!strcmp(item->string, "additionalProperties") && cJSON_IsTrue(item)) // as if it were not there
        return false;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        const char *const name = strstr(keywords[i].names, item->string);
        if (len && name && name[-1] == ' ' && name[len] == ' ' && !item->string[len])
            return keywords[i].kinds && !(keywords[i].kinds & kinds);
    }
    return strncmp(item->string, "x-", 2) != 0;
}

uint32_t schema_expr(struct convert *c, const cJSON *schema)
{
    unsigned kinds = 0;
    const uint32_t expr = expr_of_type(c, schema, member(c, schema, "type"), &kinds);
    for (const cJSON *item = schema->child; item && cJSON_IsObject(schema); item = item->next)
        if (passed_over(c, schema, item, kinds))
            note(c, item, &c->out->ignored);
    return expr;
}
