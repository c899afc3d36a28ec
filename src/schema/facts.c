// SPDX-License-Identifier: MIT
#include "schema/facts.h"

#include <string.h>

static bool read_limit(struct conv *c, const struct member *m, const char *word, struct limit *l)
{
    const cJSON *const value = keyword(m->node, word);
    if (!cJSON_IsRaw(value) || !decimal_read(&l->x, value->valuestring))
        return conv_fail(c, SCHEMA_BAD_VALUE, m->at, word, "a number");
    l->given = true;
    l->exclusive = word[0] == 'e';
    return true;
}

// The stricter of two limits stays; sign is 1 for limits from below, -1 from above.
static bool add_limit(struct conv *c, const struct member *m, const char *word, struct facts *f)
{
    const bool low = !strcmp(word, "minimum") || !strcmp(word, "exclusiveMinimum");
    struct limit *const have = low ? &f->lo : &f->hi, l = {0};
    if (!keyword(m->node, word))
        return true;
    if (!read_limit(c, m, word, &l))
        return false;
    const int order = have->given ? decimal_compare(&l.x, &have->x) * (low ? 1 : -1) : 1;
    if (order < 0 || (!order && !l.exclusive))
        return true;
    *have = l;
    *(low ? &f->lo_from : &f->hi_from) = m;
    *(low ? &f->lo_word : &f->hi_word) = word;
    return true;
}

static bool add_count(struct conv *c, const struct member *m, const char *word, uint64_t *have, struct facts *f)
{
    uint64_t n;
    if (!keyword(m->node, word))
        return true;
    if (!keyword_count(c, m, word, &n))
        return false;
    const bool stricter = word[1] == 'i' ? n > *have : n < *have;
    if (stricter)
        *have = n;
    if (stricter && !strcmp(word + 3, "Length")) {
        f->length_from = m;
        f->length_word = word;
    }
    return true;
}

// A keyword with a string that cannot be two things at once.
static bool add_string(struct conv *c, const struct member *m, const char *word, const struct member **have)
{
    const cJSON *const value = keyword(m->node, word);
    if (!value)
        return true;
    if (!cJSON_IsString(value))
        return conv_fail(c, SCHEMA_BAD_VALUE, m->at, word, "a string");
    if (*have && strcmp(keyword((*have)->node, word)->valuestring, value->valuestring) != 0)
        return conv_fail(c, SCHEMA_TOGETHER, m->at, word, word);
    *have = m;
    return true;
}

static void add_union(const struct member *m, const char *word, unsigned bit, struct facts *f)
{
    if (!f->union_of && !(m->done & bit) && keyword(m->node, word)) {
        f->union_of = m;
        f->union_word = word;
    }
}

static bool add_member(struct conv *c, const struct member *m, struct facts *f, bool *typed)
{
    unsigned types = T_ALL;
    if (cJSON_IsFalse(m->node)) {
        f->types = 0;
        return true;
    }
    if (keyword(m->node, "type")) {
        *typed = true;
        if (!keyword_type_set(c, m, &types))
            return false;
    }
    f->types &= types;
    for (const cJSON *item = m->node->child; item; item = item->next)
        f->about |= keyword_types(item->string);
    const cJSON *const values = keyword(m->node, "enum");
    if (values && (!cJSON_IsArray(values) || !values->child))
        return conv_fail(c, SCHEMA_BAD_VALUE, m->at, "enum", "an array of values");
    if (values || keyword(m->node, "const"))
        f->choice = m;
    add_union(m, "anyOf", UNION_ANY, f);
    add_union(m, "oneOf", UNION_ONE, f);
    return add_limit(c, m, "minimum", f) && add_limit(c, m, "exclusiveMinimum", f) && add_limit(c, m, "maximum", f) &&
           add_limit(c, m, "exclusiveMaximum", f) && add_count(c, m, "minLength", &f->min_length, f) &&
           add_count(c, m, "maxLength", &f->max_length, f) && add_count(c, m, "minItems", &f->min_items, f) &&
           add_count(c, m, "maxItems", &f->max_items, f) && add_string(c, m, "pattern", &f->pattern) &&
           add_string(c, m, "format", &f->format);
}

const cJSON *facts_choices(const struct member *m, bool *only)
{
    const cJSON *const constant = keyword(m->node, "const");
    *only = constant != NULL;
    return constant ? constant : keyword(m->node, "enum")->child;
}

static bool equal(const cJSON *a, const cJSON *b)
{
    struct decimal x, y;
    if (cJSON_IsRaw(a) && cJSON_IsRaw(b))
        return decimal_read(&x, a->valuestring) && decimal_read(&y, b->valuestring) && !decimal_compare(&x, &y);
    return cJSON_Compare(a, b, true);
}

// Is v the member's const, and one of its enum? `own`: it comes from there.
static bool is_chosen(const struct member *m, const cJSON *v, bool own)
{
    const cJSON *const constant = keyword(m->node, "const"), *const values = keyword(m->node, "enum");
    if (own && !(constant && values))
        return true;
    if (constant && !equal(constant, v))
        return false;
    for (const cJSON *item = values ? values->child : NULL; item; item = item->next)
        if (item == v || equal(item, v))
            return true;
    return !values;
}

static bool is_within(const struct facts *f, const cJSON *v)
{
    struct decimal x;
    if (cJSON_IsRaw(v) && decimal_read(&x, v->valuestring)) {
        const int lo = f->lo.given ? decimal_compare(&x, &f->lo.x) : 1, hi = f->hi.given ? decimal_compare(&x, &f->hi.x) : -1;
        return lo >= f->lo.exclusive && -hi >= f->hi.exclusive;
    }
    if (cJSON_IsString(v)) {
        uint64_t n = 0;
        for (const char *s = v->valuestring; *s; s++)
            n += (*s & 0xc0) != 0x80;
        return n >= f->min_length && n <= f->max_length;
    }
    return true;
}

// What an enum's value would have to be tested against, and is not.
static bool refuse_untested(struct conv *c, const struct member *m, unsigned type)
{
    for (const cJSON *item = m->node->child; item; item = item->next) {
        const unsigned about = keyword_types(item->string);
        if ((about & type & (T_OBJECT | T_ARRAY)) ||
            (about & type && (!strcmp(item->string, "pattern") || !strcmp(item->string, "format"))))
            return conv_fail(c, SCHEMA_TOGETHER, m->at, item->string, keyword(m->node, "const") ? "const" : "enum");
    }
    return true;
}

bool facts_allow(struct conv *c, const struct members *list, const struct facts *f, const cJSON *v, bool *allowed)
{
    const unsigned type = type_of_value(v);
    *allowed = type & f->types && is_within(f, v);
    for (size_t i = 0; *allowed && i < list->n; i++) {
        const struct member *const m = &list->m[i];
        const bool own = m == f->choice;
        const cJSON *const values = own ? NULL : keyword(m->node, "enum");
        if (!conv_work(c, values ? (size_t)cJSON_GetArraySize(values) + 1 : 1, m->at) || !refuse_untested(c, m, type))
            return false;
        *allowed = is_chosen(m, v, own);
    }
    return true;
}

static bool any_choice(struct conv *c, const struct members *list, const struct facts *f, bool *any)
{
    bool only;
    *any = false;
    for (const cJSON *v = facts_choices(f->choice, &only); v && !*any; v = only ? NULL : v->next)
        if (!facts_allow(c, list, f, v, any))
            return false;
    return true;
}

static bool check_range(struct conv *c, struct facts *f)
{
    const struct limit none = {0};
    const enum range whole = f->types & T_INTEGER ? range_integers(NULL, &f->lo, &f->hi) : RANGE_OK;
    const enum range any = f->types & T_FRACTION ? range_decimals(NULL, &f->lo, &f->hi) : RANGE_OK;
    if (whole == RANGE_LARGE || any == RANGE_LARGE) {
        const bool low = (whole == RANGE_LARGE && range_integers(NULL, &f->lo, &none) == RANGE_LARGE) ||
                         (any == RANGE_LARGE && range_decimals(NULL, &f->lo, &none) == RANGE_LARGE);
        const struct member *const m = low ? f->lo_from : f->hi_from;
        const char *const word = low ? f->lo_word : f->hi_word;
        return conv_fail(c, SCHEMA_RANGE, m->at, word, keyword(m->node, word)->valuestring);
    }
    if (any == RANGE_EMPTY || (whole == RANGE_EMPTY && !(f->types & T_FRACTION)))
        f->types &= ~(unsigned)T_NUMBER;
    return true;
}

bool facts_gather(struct conv *c, const struct members *list, const struct place *at, struct facts *f)
{
    bool typed = false, any = true;
    *f = (struct facts){.types = T_ALL, .max_length = UINT64_MAX, .max_items = UINT64_MAX};
    for (size_t i = 0; i < list->n; i++)
        if (!conv_work(c, 40, at) || !add_member(c, &list->m[i], f, &typed)) // so many look-ups, about
            return false;
    if (f->choice && f->types) {
        if (!any_choice(c, list, f, &any))
            return false;
        f->types = any ? f->types : 0;
        return true;
    }
    if (!typed && f->about && !f->union_of)
        f->types &= f->about;
    if (f->min_length > f->max_length)
        f->types &= ~(unsigned)T_STRING;
    if (f->min_items > f->max_items)
        f->types &= ~(unsigned)T_ARRAY;
    return !(f->types & T_NUMBER) || check_range(c, f);
}
