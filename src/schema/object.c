// SPDX-License-Identifier: MIT
// The expressions of objects: declared members in their order, keys of members that are not declared, and allOf, whose
// members become one object.
#include "base/mem.h"
#include "base/utf8.h"
#include "schema/convert.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct property {
    const char *name;
    const cJSON *schema;
    bool required;
    uint32_t member, rest; // of optional_members
};

// The declared members of an object, in their order. A zeroed struct is empty.
struct properties {
    struct property *property; // [n]
    size_t n, cap;
    struct hash_table by_name; // the first property with each name
};

static void properties_free(struct properties *p)
{
    free(p->property);
    hash_free(&p->by_name);
}

// Returns the first property with a name, or NULL; valid until a property is added.
static struct property *find_property(const struct properties *p, const char *name)
{
    const uint32_t hash = hash_bytes(name, strlen(name));
    size_t at = hash, i;
    while ((i = hash_next(&p->by_name, hash, &at)) != HASH_NONE) {
        assert(p->property);
        if (!strcmp(p->property[i].name, name))
            return &p->property[i];
    }
    return NULL;
}

// Adds the property that a schema's name declares. The first property with this name gets the schema, too, and is
// required if one of them is.
static void add_property(struct convert *c, struct properties *p, const cJSON *schema, bool required)
{
    const char *const name = schema->string;
    const bool first = !find_property(p, name);
    c->x.full = c->x.full || p->n >= EXPR_MOST;
    if (!exprs_whole(&c->x))
        return;
    c->x.failed = !mem_grow(&p->property, &p->cap, p->n + 1, sizeof *p->property) ||
                  (first && !hash_add(&p->by_name, hash_bytes(name, strlen(name)), (uint32_t)p->n));
    if (c->x.failed)
        return;
    p->property[p->n++] = (struct property){.name = name, .schema = schema, .required = required};
    struct property *const merged = find_property(p, name);
    assert(merged);
    merged->schema = schema;
    merged->required |= required;
}

// The expression of a declared member: the key in quotes, then `space ":" space value`.
static uint32_t declared_member(struct convert *c, const struct property *p)
{
    struct exprs *const x = &c->x;
    const uint32_t value = rule_of(c, p->schema, c->at, p->name), space = expr_rule(x, RULE_SPACE);
    struct builder key = {0};
    string_text(p->name, &key);
    return EXPR_SEQUENCE_OF(x, expr_text(x, &key), space, expr_literal(x, ":"), space, value);
}

static uint32_t behind_comma(struct convert *c, uint32_t item, uint32_t max)
{
    return expr_repeat(&c->x, EXPR_SEQUENCE_OF(&c->x, comma_expr(c), item), 0, max);
}

// Makes a rule that is named after a property and the rule's role. Returns its number.
static uint32_t named_rule(struct convert *c, const char *property, const char *role, uint32_t expr)
{
    struct builder name = {0};
    builder_string(&name, property);
    builder_string(&name, role);
    c->x.failed = c->x.failed || name.failed;
    const uint32_t rule = new_rule(c, c->at, c->x.failed ? role : name.text, NULL, expr);
    builder_free(&name);
    return rule;
}

// The members of an object that requires none: it may begin with any of them. Each member gets a rule, and so does the
// list of members that may follow it: the grammar's size is then linear in the number of members.
static uint32_t optional_members(struct convert *c, struct properties *p, uint32_t further)
{
    struct exprs *const x = &c->x;
    const size_t from = x->n_stack;
    struct property *const q = p->property;
    for (size_t i = 0; i < p->n; i++)
        q[i].member = expr_rule(x, named_rule(c, q[i].name, "-kv", declared_member(c, &q[i])));
    uint32_t rest = further ? behind_comma(c, further, EXPR_UNBOUNDED) : EXPR_NOTHING;
    for (size_t i = p->n; i-- > 0;) {
        q[i].rest = rest;
        const uint32_t first = behind_comma(c, q[i].member, 1), all = rest ? EXPR_SEQUENCE_OF(x, first, rest) : first;
        rest = i ? expr_rule(x, named_rule(c, q[i - 1].name, "-rest", all)) : EXPR_NOTHING;
    }
    for (size_t i = 0; i < p->n; i++)
        expr_push(x, q[i].rest ? EXPR_SEQUENCE_OF(x, q[i].member, q[i].rest) : q[i].member);
    if (further)
        expr_push(x, EXPR_SEQUENCE_OF(x, further, behind_comma(c, further, EXPR_UNBOUNDED)));
    return expr_repeat(x, expr_pop(x, EXPR_CHOICE, from), 0, 1);
}

// The expression of an object with these members. further: the expression of a member that is not declared, of which
// there may be any number, or EXPR_NOTHING.
static uint32_t members_expr(struct convert *c, struct properties *p, uint32_t further)
{
    struct exprs *const x = &c->x;
    const size_t from = x->n_stack;
    bool any = false;
    if (!p->n && !further)
        return EXPR_SEQUENCE_OF(x, expr_literal(x, "{"), expr_rule(x, RULE_SPACE), expr_literal(x, "}"));
    for (size_t i = 0; i < p->n; i++) {
        if (!p->property[i].required)
            continue;
        if (any)
            expr_push(x, comma_expr(c));
        expr_push(x, declared_member(c, &p->property[i]));
        any = true;
    }
    for (size_t i = 0; any && i < p->n; i++)
        if (!p->property[i].required)
            expr_push(x, behind_comma(c, declared_member(c, &p->property[i]), 1));
    if (any && further)
        expr_push(x, behind_comma(c, further, EXPR_UNBOUNDED));
    if (!any)
        expr_push(x, optional_members(c, p, further));
    return bracketed_expr(c, "{", expr_pop(x, EXPR_SEQUENCE, from), "}");
}

// Sorted names whose first `at` bytes are equal: the names below one node of the trie of all names.
struct names {
    const char **name; // [n]
    size_t n, at;
};

#define KEY_DEEPEST 1000 // most characters of a declared name where other members are allowed
#define KEY_RULE    50   // after each 50 characters, the rest of a key gets a rule of its own

// The expression of the rest of a key behind the first n characters of these names. The whole key is then none of the
// names.
static uint32_t other_keys(struct convert *c, const struct names *names, unsigned n)
{
    struct exprs *const x = &c->x;
    const size_t from = x->n_stack;
    struct ranges known = {0};
    size_t i = 0;
    if (n > KEY_DEEPEST)
        x->deep = true;
    while (i < names->n && !names->name[i][names->at])
        i++;
    if (i == names->n || x->deep)
        return expr_repeat(x, expr_rule(x, RULE_CHAR), 1, EXPR_UNBOUNDED);
    x->failed = x->failed || !ranges_add(&known, '"', '"');
    for (size_t end; i < names->n; i = end) {
        const unsigned char *const here = (const unsigned char *)names->name[i] + names->at;
        uint32_t character = 0;
        const size_t len = utf8_decode(here, strlen((const char *)here), &character);
        assert(len);
        for (end = i + 1; end < names->n && !strncmp(names->name[end] + names->at, (const char *)here, len);)
            end++;
        const struct names below = {names->name + i, end - i, names->at + len};
        const uint32_t next = expr_character(x, character, character), rest = other_keys(c, &below, n + 1);
        expr_push(x, EXPR_SEQUENCE_OF(x, next, rest));
        x->failed = x->failed || !ranges_add(&known, character, character);
    }
    const uint32_t other = expr_class(x, known.range, known.n, true);
    ranges_free(&known);
    expr_push(x, EXPR_SEQUENCE_OF(x, other, expr_repeat(x, expr_rule(x, RULE_CHAR), 0, EXPR_UNBOUNDED)));
    const uint32_t all = expr_pop(x, EXPR_CHOICE, from);
    return n && n % KEY_RULE == 0 ? expr_rule(x, new_rule(c, c->at, "key", NULL, all)) : all;
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

// The expression of the key of a member that is not declared.
static uint32_t further_key(struct convert *c, const struct properties *p)
{
    struct exprs *const x = &c->x;
    const uint32_t quote = expr_literal(x, "\"");
    if (!p->n)
        return expr_rule(x, RULE_STRING);
    struct names names = {.name = malloc(p->n * sizeof *names.name), .n = p->n};
    x->failed = x->failed || !names.name;
    if (!names.name)
        return EXPR_NOTHING;
    for (size_t i = 0; i < p->n; i++)
        names.name[i] = p->property[i].name;
    qsort(names.name, names.n, sizeof *names.name, by_name);
    const bool empty_declared = !*names.name[0];
    uint32_t inner;
    if (empty_declared && names.n == 1)
        inner = expr_literal(x, "");
    else
        inner = expr_repeat(x, other_keys(c, &names, 0), empty_declared, 1);
    free(names.name);
    return EXPR_SEQUENCE_OF(x, quote, inner, quote);
}

// A reference to the rule of a member that is not declared. EXPR_NOTHING if the schema allows none.
static uint32_t further_member(struct convert *c, const cJSON *schema, const struct properties *p)
{
    struct exprs *const x = &c->x;
    const cJSON *const more = schema_member(c, schema, "additionalProperties");
    if (more && !cJSON_IsBool(more) && !cJSON_IsObject(more))
        return schema_fail(c, more, "%s is not %s", "a boolean or an object");
    if (more ? cJSON_IsFalse(more) : schema_member(c, schema, "properties") != NULL)
        return EXPR_NOTHING;
    if (!p->n && !cJSON_IsObject(more))
        return expr_rule(x, RULE_MEMBER);
    const uint32_t value = cJSON_IsObject(more) ? rule_of(c, more, c->at, "additional") : expr_rule(x, RULE_VALUE);
    const uint32_t key = further_key(c, p);
    const uint32_t kv = EXPR_SEQUENCE_OF(x, key, expr_literal(x, ":"), expr_rule(x, RULE_SPACE), value);
    return expr_rule(x, new_rule(c, c->at, "additional-kv", NULL, kv));
}

// Marks the required properties. Notes "required" as ignored if it is not an array or names a property that is not
// declared.
static void mark_required(struct convert *c, struct properties *p, const cJSON *required)
{
    bool known = cJSON_IsArray(required);
    for (const cJSON *item = known ? required->child : NULL; item; item = item->next) {
        struct property *const property = cJSON_IsString(item) ? find_property(p, item->valuestring) : NULL;
        if (property)
            property->required = true;
        known = known && property;
    }
    if (required && !known)
        schema_note(c, required, &c->out->ignored);
}

uint32_t object_expr(struct convert *c, const cJSON *schema)
{
    const cJSON *const properties = schema_member(c, schema, "properties");
    struct properties p = {0};
    if (properties && !cJSON_IsObject(properties))
        return schema_fail(c, properties, "%s is not %s", "an object of schemas");
    for (const cJSON *item = properties ? properties->child : NULL; item; item = item->next)
        add_property(c, &p, item, false);
    mark_required(c, &p, schema_member(c, schema, "required"));
    const uint32_t expr = members_expr(c, &p, further_member(c, schema, &p));
    properties_free(&p);
    return expr;
}

// The properties and values collected from the members of allOf.
struct all_of {
    struct properties p;
    struct builder texts; // the enums' values as text, each with a NUL
    size_t n_texts;
};

// Gives all properties of one name the schema and requirement of the first.
static void share_merged(struct properties *p)
{
    for (size_t i = 0; i < p->n; i++)
        p->property[i] = *find_property(p, p->property[i].name);
}

// Adds an enum's value as text.
static void add_value(struct convert *c, struct all_of *a, const cJSON *value)
{
    c->x.full = c->x.full || a->n_texts++ >= EXPR_MOST;
    constant_text(value, &a->texts); // a failure is reported where the rule of the enum itself is made
    builder_byte(&a->texts, '\0');
    c->x.failed = c->x.failed || a->texts.failed;
}

// Adds the properties of an object, or the values of an enum. Follows references. Returns whether the schema is one of
// these.
static bool add_component(struct convert *c, struct all_of *a, const cJSON *schema, const cJSON *type, bool required)
{
    enum schema_kind kind = schema_kind_of(c, schema, type);
    for (size_t links = 0; kind == KIND_REF; links++) {
        schema = links > c->n_members ? NULL : schema_target(c, schema);
        if (!schema)
            return schema_fail(c, c->rule[c->at].schema, "%s refers to itself without a value in between", NULL);
        kind = schema_kind_of(c, schema, schema_member(c, schema, "type"));
    }
    const cJSON *const properties = schema_member(c, schema, "properties");
    if (kind == KIND_OBJECT && cJSON_IsObject(properties))
        for (const cJSON *item = properties->child; item && exprs_whole(&c->x); item = item->next)
            add_property(c, &a->p, item, required);
    if (kind == KIND_ENUM)
        for (const cJSON *item = schema_member(c, schema, "enum")->child; item && exprs_whole(&c->x); item = item->next)
            add_value(c, a, item);
    return kind == KIND_OBJECT || kind == KIND_ENUM;
}

// Adds the properties or values of a schema for each of its types. A type may be an array of types.
static bool add_types(struct convert *c, struct all_of *a, const cJSON *schema, const cJSON *types)
{
    bool added = false;
    for (const cJSON *type = types->child; type; type = type->next) {
        const bool more =
            cJSON_IsArray(type) ? add_types(c, a, schema, type) : add_component(c, a, schema, type, false);
        added = added || more;
    }
    return added;
}

// Adds the properties or values of a member of allOf. Returns whether it has any.
static bool add_all_of_part(struct convert *c, struct all_of *a, const cJSON *schema)
{
    const cJSON *const type = schema_member(c, schema, "type");
    const enum schema_kind kind = schema_kind_of(c, schema, type);
    bool added = false;
    if (kind == KIND_TYPES)
        return add_types(c, a, schema, type);
    if (kind != KIND_ONE_OF && kind != KIND_ANY_OF)
        return add_component(c, a, schema, type, true);
    for (const cJSON *item = schema_member(c, schema, kind == KIND_ONE_OF ? "oneOf" : "anyOf")->child; item;
         item = item->next)
        added = add_component(c, a, item, schema_member(c, item, "type"), false) || added;
    return added;
}

// The choice of the values that every member of allOf has: their texts occur as often as there are members.
static uint32_t common_values(struct convert *c, const struct all_of *a, size_t members)
{
    const size_t from = c->x.n_stack;
    const char **const text = malloc((a->n_texts + 1) * sizeof *text), *next = a->texts.text;
    c->x.failed = c->x.failed || !text;
    for (size_t i = 0; i < a->n_texts && exprs_whole(&c->x); i++, next += strlen(next) + 1)
        text[i] = next;
    if (a->n_texts && exprs_whole(&c->x))
        qsort(text, a->n_texts, sizeof *text, by_name);
    for (size_t i = 0, end; i < a->n_texts && exprs_whole(&c->x); i = end) {
        for (end = i + 1; end < a->n_texts && !strcmp(text[i], text[end]);)
            end++;
        if (end - i == members)
            expr_push(&c->x, expr_literal(&c->x, text[i]));
    }
    free(text);
    return expr_pop(&c->x, EXPR_CHOICE, from);
}

uint32_t all_of_expr(struct convert *c, const cJSON *schema)
{
    struct all_of a = {0};
    size_t members = 0;
    for (const cJSON *item = schema_member(c, schema, "allOf")->child; item && !c->failed && exprs_whole(&c->x);
         item = item->next) {
        c->x.failed = c->x.failed || !mem_push(&c->part, &c->n_parts, &c->parts_cap, &item, sizeof item);
        if (!add_all_of_part(c, &a, item))
            schema_note(c, item, &c->out->ignored);
        members++;
    }
    share_merged(&a.p);
    uint32_t expr = common_values(c, &a, members);
    if (!expr && exprs_whole(&c->x))
        expr = members_expr(c, &a.p, EXPR_NOTHING);
    properties_free(&a.p);
    builder_free(&a.texts);
    return expr;
}
