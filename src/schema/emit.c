// SPDX-License-Identifier: MIT
#include "schema/emit.h"

#include "schema/pattern.h"

#include <string.h>

void emit_json_string(struct text *to, const char *s)
{
    struct text json = {0};
    text_json(&json, s);
    text_literal(to, json.p ? json.p : "");
    to->failed = to->failed || json.failed;
    text_free(&json);
}

// The alternatives of a union, each with everything else that holds.
static bool emit_union(struct conv *c, size_t rule, const struct members *list, const struct facts *f, struct text *to)
{
    const struct member *const m = f->union_of;
    const cJSON *const all = keyword(m->node, f->union_word);
    const unsigned bit = !strcmp(f->union_word, "anyOf") ? UNION_ANY : UNION_ONE;
    size_t i = 0;
    if (!cJSON_IsArray(all) || !all->child)
        return conv_fail(c, SCHEMA_BAD_VALUE, m->at, f->union_word, "an array of schemas");
    for (const cJSON *item = all->child; item; item = item->next, i++) {
        struct members one = {0};
        struct facts facts;
        size_t index;
        bool says, ok = true;
        const struct place *const at = conv_nth(c, m->at, f->union_word, i);
        for (size_t j = 0; at && ok && j < list->n; j++) {
            struct member other = list->m[j];
            other.done |= &list->m[j] == m ? bit : 0;
            ok = conv_work(c, 40, at) && keywords_check(c, other.node, other.at, other.done, &says) &&
                 (!says || members_push(c, &one, other));
        }
        if (!at || !ok || !members_add(c, &one, item, at) || !facts_gather(c, &one, at, &facts)) {
            members_free(&one);
            return false;
        }
        if (!facts.types) { // an alternative that nothing satisfies
            members_free(&one);
            continue;
        }
        text_string(to, to->len ? " | " : "");
        if (!rule_for(c, &one, at, to, &index) || (index != NO_RULE && !rule_link(c, rule, index)))
            return false;
    }
    return to->len || to->failed || conv_fail(c, SCHEMA_NOTHING, m->at, f->union_word, "");
}

static bool emit_numbers(struct conv *c, const struct facts *f, struct text *to)
{
    const bool fractions = f->types & T_FRACTION;
    if (!f->lo.given && !f->hi.given) {
        rule_primitive(c, to, fractions ? P_NUMBER : P_INTEGER);
        return true;
    }
    text_string(to, "(");
    if (fractions)
        range_decimals(to, &f->lo, &f->hi);
    else
        range_integers(to, &f->lo, &f->hi);
    text_string(to, ") ");
    rule_primitive(c, to, P_SPACE);
    return true;
}

static bool emit_type(struct conv *c, const char *name, const struct members *list, const struct facts *f, unsigned type,
                      const struct place *at, struct text *to)
{
    switch (type) {
    case T_STRING:
        return emit_string(c, f, at, to);
    case T_BOOLEAN:
        rule_primitive(c, to, P_BOOLEAN);
        return true;
    case T_NULL:
        rule_primitive(c, to, P_NULL);
        return true;
    case T_OBJECT:
        return emit_object(c, name, list, at, to);
    case T_ARRAY:
        return emit_array(c, name, list, f, at, to);
    default:
        return emit_numbers(c, f, to);
    }
}

bool emit_rule(struct conv *c, size_t rule, struct text *to)
{
    const struct members list = c->rule[rule].of; // the array of rules may move
    const struct place *const at = c->rule[rule].at;
    const char *const name = c->rule[rule].name;
    struct facts f;
    if (!facts_gather(c, &list, at, &f))
        return false;
    if (!f.types)
        return conv_fail(c, SCHEMA_NOTHING, at, NULL, "");
    if (f.union_of)
        return emit_union(c, rule, &list, &f, to);
    if (f.choice)
        return emit_choice(c, &list, &f, to);
    if (!list.n || (f.types == T_ALL && !f.about)) {
        rule_primitive(c, to, P_VALUE);
        return true;
    }
    for (unsigned type = T_STRING; type <= T_ARRAY; type <<= 1) {
        if (!(f.types & type) || (type == T_FRACTION && f.types & T_INTEGER)) // one grammar for numbers
            continue;
        text_string(to, to->len ? " | " : "");
        if (!emit_type(c, name, &list, &f, type, at, to))
            return false;
    }
    return true;
}

static void add_scalar(struct text *to, const cJSON *v)
{
    if (cJSON_IsString(v))
        emit_json_string(to, v->valuestring);
    else
        text_literal(to, cJSON_IsRaw(v) ? v->valuestring : cJSON_IsTrue(v) ? "true" : cJSON_IsFalse(v) ? "false" : "null");
}

// A value with white space where JSON may have it, after it too.
static void add_value(struct conv *c, struct text *to, const cJSON *v)
{
    const bool object = cJSON_IsObject(v);
    if (!object && !cJSON_IsArray(v)) {
        add_scalar(to, v);
        text_string(to, " space");
        return;
    }
    text_string(to, object ? "\"{\" space " : "\"[\" space ");
    for (const cJSON *item = v->child; item && !to->full; item = item->next) {
        if (object) {
            emit_json_string(to, item->string);
            text_string(to, " space \":\" space ");
        }
        add_value(c, to, item);
        text_string(to, item->next ? " \",\" space " : " ");
    }
    text_string(to, object ? "\"}\" space" : "\"]\" space");
}

bool emit_choice(struct conv *c, const struct members *list, const struct facts *f, struct text *to)
{
    bool only, allowed;
    size_t n = 0;
    struct text scalars = {0};
    rule_primitive(c, &scalars, P_SPACE);
    scalars.len = 0;
    for (const cJSON *v = facts_choices(f->choice, &only); v; v = only ? NULL : v->next) {
        const bool scalar = !cJSON_IsObject(v) && !cJSON_IsArray(v);
        if (!facts_allow(c, list, f, v, &allowed)) {
            text_free(&scalars);
            return false;
        }
        struct text *const t = scalar ? &scalars : to;
        if (!allowed)
            continue;
        text_string(t, t->len ? " | " : "");
        if (scalar)
            add_scalar(t, v);
        else
            add_value(c, t, v);
        n += scalar;
    }
    if (n) {
        text_string(to, to->len ? " | " : "");
        text_string(to, n > 1 ? "(" : "");
        text_append(to, &scalars);
        text_string(to, n > 1 ? ") space" : " space");
    }
    text_free(&scalars);
    return true;
}
