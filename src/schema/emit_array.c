// SPDX-License-Identifier: MIT
#include "schema/emit.h"

#include <string.h>

// What the members say about the elements: those at the beginning one by one, and the rest, the tail, all alike.
struct array {
    struct conv *c;
    const char *name;
    const struct members *list;
    const struct place *at;
    size_t n;       // elements with a schema of their own
    bool tail_said; // some member says what the tail is
    uint64_t min, max;
    struct text tail; // rule name
};

// A member's list of schemas for the first elements, NULL without one, and its schema for the others.
static const cJSON *first_ones(const struct member *m, const char **word)
{
    const cJSON *const items = keyword(m->node, "items"), *const prefix = keyword(m->node, "prefixItems");
    *word = prefix ? "prefixItems" : "items";
    return prefix ? prefix : cJSON_IsArray(items) ? items : NULL; // an array of items is the older spelling
}

static const cJSON *others(const struct member *m, const char **word)
{
    const cJSON *const items = keyword(m->node, "items");
    *word = cJSON_IsArray(items) ? "additionalItems" : "items";
    return keyword(m->node, *word);
}

static bool measure(struct array *a)
{
    const char *word;
    for (size_t i = 0; i < a->list->n; i++) {
        const struct member *const m = &a->list->m[i];
        const cJSON *const items = keyword(m->node, "items"), *const first = first_ones(m, &word);
        if (first && (!cJSON_IsArray(first) || (cJSON_IsArray(items) && first != items)))
            return conv_fail(a->c, SCHEMA_BAD_VALUE, m->at, word, "an array of schemas");
        if (keyword(m->node, "additionalItems") && !cJSON_IsArray(items))
            return conv_fail(a->c, SCHEMA_UNSUPPORTED, m->at, "additionalItems", "additionalItems");
        size_t n = 0;
        for (const cJSON *item = first ? first->child : NULL; item; item = item->next)
            n++;
        a->n = n > a->n ? n : a->n;
        a->tail_said = a->tail_said || others(m, &word);
        if (!conv_work(a->c, n + 1, m->at))
            return false;
    }
    return true;
}

// The rule for element number i, a->n for the tail; *never: nothing satisfies it.
static bool element_rule(struct array *a, size_t i, struct text *to, bool *never)
{
    struct members of = {0};
    struct facts f;
    const struct place *at = NULL, *name = a->at;
    bool ok = true;
    size_t index;
    for (size_t j = 0; ok && j < a->list->n; j++) {
        const struct member *const m = &a->list->m[j];
        const char *first_word, *word;
        const cJSON *const first = first_ones(m, &first_word), *const other = others(m, &word);
        const cJSON *item = first ? first->child : NULL;
        for (size_t k = 0; item && k < i; k++)
            item = item->next;
        if (!item && !other)
            continue;
        at = item ? conv_nth(a->c, m->at, first_word, i) : conv_below(a->c, m->at, word, NULL);
        name = at;
        ok = at && conv_work(a->c, i + 1, at) && members_add(a->c, &of, item ? item : other, at);
    }
    if (!ok || !facts_gather(a->c, &of, name, &f)) {
        members_free(&of);
        return false;
    }
    *never = !f.types;
    if (!*never)
        return rule_for(a->c, &of, name, to, &index);
    members_free(&of);
    return true;
}

// Tail elements after others, from min to max of them.
static void add_tail(const struct array *a, uint64_t min, uint64_t max, struct text *to)
{
    struct text one = {0};
    if (!max)
        return;
    text_string(&one, "(\",\" space ");
    text_append(&one, &a->tail);
    text_string(&one, ")");
    text_string(to, " ");
    text_repeat(to, one.p ? one.p : "", min, max);
    to->failed = to->failed || one.failed;
    text_free(&one);
}

static uint64_t less(uint64_t n, uint64_t by)
{
    return n == UINT64_MAX ? n : n > by ? n - by : 0;
}

// All elements from the beginning: the ones of their own backwards, each with what may follow it.
static bool add_elements(struct array *a, size_t n, struct text *to)
{
    struct text rest = {0};
    bool ok = true, never;
    if (a->max > n) {
        if (n)
            add_tail(a, less(a->min, n), less(a->max, n), &rest);
        else
            text_append(&rest, &a->tail), add_tail(a, less(a->min, 1), less(a->max, 1), &rest);
    }
    for (size_t i = n; ok && i-- > 0;) {
        struct text more = {0};
        const bool optional = i >= a->min && i > 0;
        text_string(&more, optional ? " (" : i ? " " : "");
        text_string(&more, i ? "\",\" space " : "");
        ok = element_rule(a, i, &more, &never);
        text_append(&more, &rest);
        text_string(&more, optional ? ")?" : "");
        text_free(&rest);
        rest = more;
        if (ok && i && rest.len > 400) { // no deeper brackets, no longer lines
            struct text name = {0};
            text_string(&name, " ");
            ok = rule_add(a->c, a->name, "rest", a->at, &rest, &name);
            rest = name;
        }
    }
    text_string(to, rest.len && !a->min ? "(" : "");
    text_append(to, &rest);
    text_string(to, !rest.len ? "" : a->min ? " " : ")? ");
    text_free(&rest);
    return ok;
}

bool emit_array(struct conv *c, const char *name, const struct members *list, const struct facts *f, const struct place *at,
                struct text *to)
{
    struct array a = {.c = c, .name = name, .list = list, .at = at, .min = f->min_items, .max = f->max_items};
    struct text space = {0};
    bool never, ok = measure(&a);
    // as with properties: elements beyond those described come only where the schema speaks of them
    if (ok && a.n && !a.tail_said && a.min <= a.n && (a.max <= a.n || a.max == UINT64_MAX))
        a.max = a.max < a.n ? a.max : a.n;
    for (size_t i = 0; ok && i < a.n && i < a.max; i++) {
        struct text unused = {0};
        ok = element_rule(&a, i, &unused, &never);
        text_free(&unused);
        a.max = ok && never ? i : a.max;
    }
    if (ok && a.max > a.n) {
        ok = element_rule(&a, a.n, &a.tail, &never);
        a.max = ok && never ? a.n : a.max;
    }
    if (ok && a.min > a.max)
        ok = conv_fail(c, SCHEMA_NOTHING, at, NULL, "");
    rule_primitive(c, &space, P_SPACE);
    text_free(&space);
    text_string(to, "\"[\" space ");
    ok = ok && add_elements(&a, a.n < a.max ? a.n : (size_t)a.max, to);
    text_string(to, "\"]\" space");
    text_free(&a.tail);
    return ok;
}
