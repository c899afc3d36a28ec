// SPDX-License-Identifier: MIT
// The kind of a schema, which decides how its expression is made; and the keywords on which the kind depends.
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

const char *item_string(const cJSON *item)
{
    const char *const string = cJSON_GetStringValue(item);
    return string ? string : "";
}

uint32_t schema_count(struct convert *c, const cJSON *schema, const char *keyword, uint32_t missing)
{
    const cJSON *const item = schema_member(c, schema, keyword);
    uint64_t value;
    if (!item)
        return missing;
    if (cJSON_IsRaw(item) && json_integer(item, &value) && (uint32_t)value <= INT32_MAX)
        return (uint32_t)value;
    schema_fail(c, item, "%s is not %s", "a whole number from 0");
    return missing;
}

static enum schema_kind array_kind(struct convert *c, const cJSON *item, enum schema_kind kind, const char *what)
{
    if (cJSON_IsArray(item) && item->child)
        return kind;
    schema_fail(c, item, "%s is not %s", what);
    return KIND_BAD;
}

uint32_t string_format_rule(const cJSON *format)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(item_string(format), formats[i].name))
            return formats[i].rule;
    return RULE_STRING;
}

static enum schema_kind string_kind(struct convert *c, const cJSON *schema)
{
    const cJSON *const pattern = schema_member(c, schema, "pattern"), *const format =
                                                                          schema_member(c, schema, "format");
    if (pattern && !cJSON_IsString(pattern))
        schema_fail(c, pattern, "%s is not %s", "a string");
    if (format && !cJSON_IsString(format))
        schema_fail(c, format, "%s is not %s", "a string");
    schema_count(c, schema, "minLength", 0);
    schema_count(c, schema, "maxLength", 0);
    if (*item_string(pattern))
        return KIND_PATTERN;
    return string_format_rule(format) == RULE_STRING ? KIND_STRING : KIND_FORMAT;
}

const cJSON *schema_items(const struct convert *c, const cJSON *schema)
{
    const cJSON *const items = schema_member(c, schema, "items");
    return items ? items : schema_member(c, schema, "prefixItems");
}

// The kind of a schema without a type follows from its other keywords.
static enum schema_kind untyped_kind(struct convert *c, const cJSON *schema)
{
    const cJSON *const format = schema_member(c, schema, "format");
    if (schema_items(c, schema))
        return cJSON_IsArray(schema_items(c, schema)) ? KIND_TUPLE : KIND_LIST;
    if (schema_member(c, schema, "pattern") || schema_member(c, schema, "minLength") ||
        schema_member(c, schema, "maxLength") ||
        (format && (!cJSON_IsString(format) || string_format_rule(format) != RULE_STRING)))
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
    const cJSON *const more = schema_member(c, schema, "additionalProperties"), *const all_of =
                                                                                    schema_member(c, schema, "allOf");
    const bool object = schema_member(c, schema, "properties") || (more && !cJSON_IsTrue(more));
    size_t i = 0;
    while (i < sizeof types / sizeof *types && strcmp(item_string(type), types[i].name) != 0)
        i++;
    if (i == sizeof types / sizeof *types) {
        schema_fail(c, type, "%s: unknown type '%s'", item_string(type));
        return KIND_BAD;
    }
    const enum schema_kind kind = types[i].kind;
    if (kind == KIND_ANY && object)
        return KIND_OBJECT;
    if (all_of && (kind == KIND_ANY || kind == KIND_STRING || (kind == KIND_OBJECT && !object)))
        return array_kind(c, all_of, KIND_ALL_OF, "an array of schemas");
    if (kind == KIND_LIST && cJSON_IsArray(schema_items(c, schema)))
        return KIND_TUPLE;
    if (kind == KIND_STRING)
        return string_kind(c, schema);
    return kind == KIND_ANY ? untyped_kind(c, schema) : kind;
}

enum schema_kind schema_kind_of(struct convert *c, const cJSON *schema, const cJSON *type)
{
    const cJSON *item;
    if (!cJSON_IsObject(schema)) {
        schema_fail(c, schema, "%s is not an object", NULL);
        return KIND_BAD;
    }
    if ((item = schema_member(c, schema, "$ref"))) {
        if (!cJSON_IsString(item))
            schema_fail(c, item, "%s is not %s", "a string");
        return cJSON_IsString(item) ? KIND_REF : KIND_BAD;
    }
    if ((item = schema_member(c, schema, "oneOf")))
        return array_kind(c, item, KIND_ONE_OF, "an array of schemas");
    if ((item = schema_member(c, schema, "anyOf")))
        return array_kind(c, item, KIND_ANY_OF, "an array of schemas");
    if (cJSON_IsArray(type))
        return array_kind(c, type, KIND_TYPES, "a type's name or an array of some");
    if (schema_member(c, schema, "const"))
        return KIND_CONST;
    if ((item = schema_member(c, schema, "enum")))
        return array_kind(c, item, KIND_ENUM, "an array of values");
    if (!type || cJSON_IsNull(type) || cJSON_IsString(type))
        return typed_kind(c, schema, type);
    schema_fail(c, type, "%s is not %s", "a type's name or an array of some");
    return KIND_BAD;
}

const cJSON *schema_target(struct convert *c, const cJSON *schema)
{
    const cJSON *const ref = schema_member(c, schema, "$ref");
    const char *const text = item_string(ref);
    if (strncmp(text, "#/", 2) != 0 && strcmp(text, "#") != 0) {
        schema_fail(c, ref, "%s: '%s' is not within the schema", text);
        return NULL;
    }
    if (!text[1] && !c->out->refused)
        c->out->refused = ref;
    const cJSON *const target = document_find(c, text);
    if (!target)
        schema_fail(c, ref, "%s: there is nothing at '%s'", text);
    return target;
}
