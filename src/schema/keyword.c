// SPDX-License-Identifier: MIT
// The keywords that we know, and what is common to reading them.
#include "schema/conv.h"
#include "schema/decimal.h"

#include <stdlib.h>
#include <string.h>

enum kind { K_RULE, K_COMBINES, K_UNION, K_ABOUT };

static const struct known {
    const char *name;
    enum kind kind; // restricts values; brings other schemas along; chooses between some; says nothing about values
    unsigned types; // what it is about; 0: any value
} known[] = {
    {"type", K_RULE},
    {"enum", K_RULE},
    {"const", K_RULE},
    {"properties", K_RULE, T_OBJECT},
    {"required", K_RULE, T_OBJECT},
    {"additionalProperties", K_RULE, T_OBJECT},
    {"items", K_RULE, T_ARRAY},
    {"prefixItems", K_RULE, T_ARRAY},
    {"additionalItems", K_RULE, T_ARRAY},
    {"minItems", K_RULE, T_ARRAY},
    {"maxItems", K_RULE, T_ARRAY},
    {"minLength", K_RULE, T_STRING},
    {"maxLength", K_RULE, T_STRING},
    {"pattern", K_RULE, T_STRING},
    {"format", K_RULE, T_STRING},
    {"minimum", K_RULE, T_NUMBER},
    {"maximum", K_RULE, T_NUMBER},
    {"exclusiveMinimum", K_RULE, T_NUMBER},
    {"exclusiveMaximum", K_RULE, T_NUMBER},
    {"anyOf", K_UNION},
    {"oneOf", K_UNION},
    {"allOf", K_COMBINES},
    {"$ref", K_COMBINES},
    {"$defs", K_ABOUT},
    {"definitions", K_ABOUT},
    {"title", K_ABOUT},
    {"description", K_ABOUT},
    {"default", K_ABOUT},
    {"examples", K_ABOUT},
    {"$schema", K_ABOUT},
    {"$id", K_ABOUT},
    {"$comment", K_ABOUT},
    {"deprecated", K_ABOUT},
    {"readOnly", K_ABOUT},
    {"writeOnly", K_ABOUT},
    {"contentEncoding", K_ABOUT}, // JSON Schema 2020-12 makes these three annotations
    {"contentMediaType", K_ABOUT},
    {"contentSchema", K_ABOUT},
    {"example", K_ABOUT},       // OpenAPI's
    {"discriminator", K_ABOUT}, // OpenAPI's, and Pydantic's: says by which property to tell the schemas of a oneOf apart
};

static const struct known *find(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strcmp(known[i].name, name))
            return &known[i];
    return NULL;
}

unsigned keyword_types(const char *name)
{
    const struct known *const k = find(name);
    return k ? k->types : 0;
}

const cJSON *keyword(const cJSON *node, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(node, name);
}

// Is it one of the keywords that we do not know, with a value that lets everything pass?
static bool says_nothing(const cJSON *item)
{
    if (!strcmp(item->string, "uniqueItems") || !strcmp(item->string, "nullable"))
        return cJSON_IsFalse(item);
    if (!strcmp(item->string, "minProperties"))
        return cJSON_IsRaw(item) && !strcmp(item->valuestring, "0");
    if (strcmp(item->string, "propertyNames") != 0)
        return false;
    if (!cJSON_IsObject(item) || !item->child) // names are strings anyway
        return cJSON_IsObject(item) || cJSON_IsTrue(item);
    const char *const type = cJSON_GetStringValue(item->child);
    return !item->child->next && !strcmp(item->child->string, "type") && type && !strcmp(type, "string");
}

bool keywords_check(struct conv *c, const cJSON *node, const struct place *at, unsigned done, bool *says)
{
    unsigned long long seen = 0;
    *says = false;
    for (const cJSON *item = node->child; item; item = item->next) {
        const struct known *const k = find(item->string);
        if (!k && says_nothing(item))
            continue;
        // an $id within the document would change what the references below it mean
        if (!k || (at->up && !strcmp(item->string, "$id")))
            return conv_fail(c, SCHEMA_UNSUPPORTED, at, item->string, item->string);
        if (seen >> (k - known) & 1)
            return conv_fail(c, SCHEMA_TWICE, at, NULL, item->string);
        seen |= 1ull << (k - known);
        const unsigned u = k->kind != K_UNION ? 0 : !strcmp(k->name, "anyOf") ? UNION_ANY : UNION_ONE;
        *says = *says || k->kind == K_RULE || (u && !(done & u));
    }
    return true;
}

static unsigned type_by_name(const char *name)
{
    static const char *const names[] = {"string", "integer", "number", "boolean", "null", "object", "array"};
    static const unsigned types[] = {T_STRING, T_INTEGER, T_NUMBER, T_BOOLEAN, T_NULL, T_OBJECT, T_ARRAY};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (!strcmp(names[i], name))
            return types[i];
    return 0;
}

static bool add_type(struct conv *c, const struct member *m, const cJSON *item, unsigned *types)
{
    const unsigned t = cJSON_IsString(item) ? type_by_name(item->valuestring) : 0;
    *types |= t;
    if (!cJSON_IsString(item))
        return conv_fail(c, SCHEMA_BAD_VALUE, m->at, "type", "a type's name or an array of some");
    return t || conv_fail(c, SCHEMA_TYPE, m->at, "type", item->valuestring);
}

bool keyword_type_set(struct conv *c, const struct member *m, unsigned *types)
{
    const cJSON *const value = keyword(m->node, "type");
    *types = 0;
    if (!cJSON_IsArray(value))
        return add_type(c, m, value, types);
    for (const cJSON *item = value->child; item; item = item->next)
        if (!add_type(c, m, item, types))
            return false;
    return *types || conv_fail(c, SCHEMA_BAD_VALUE, m->at, "type", "a type's name or an array of some");
}

bool keyword_count(struct conv *c, const struct member *m, const char *name, uint64_t *count)
{
    const cJSON *const value = keyword(m->node, name);
    struct decimal x;
    if (!cJSON_IsRaw(value) || !decimal_read(&x, value->valuestring) || x.negative || !decimal_is_integer(&x))
        return conv_fail(c, SCHEMA_BAD_VALUE, m->at, name, "a whole number from 0");
    *count = 0;
    for (int64_t i = 0; i < x.point; i++) {
        *count = *count * 10 + (uint64_t)(i < x.n ? x.d[i] - '0' : 0);
        if (*count > REPEAT_MOST)
            return conv_fail(c, SCHEMA_RANGE, m->at, name, value->valuestring);
    }
    return true;
}

unsigned type_of_value(const cJSON *value)
{
    struct decimal x;
    if (cJSON_IsRaw(value))
        return decimal_read(&x, value->valuestring) && decimal_is_integer(&x) ? T_INTEGER : T_FRACTION;
    return cJSON_IsString(value)   ? T_STRING
           : cJSON_IsBool(value)   ? T_BOOLEAN
           : cJSON_IsNull(value)   ? T_NULL
           : cJSON_IsObject(value) ? T_OBJECT
                                   : T_ARRAY;
}
