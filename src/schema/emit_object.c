// SPDX-License-Identifier: MIT
// Objects. Properties come in the order of the schema, or, as llama.cpp writes them, the required ones first; then the others.
#include "base/mem.h"
#include "schema/emit.h"

#include <stdlib.h>
#include <string.h>

struct property {
    const char *name;
    const struct place *at;
    const struct member *last; // the member that named it last
    bool required, never;      // never: no value is good enough
    struct text pair;          // the rule's name for "name": value
};

struct object {
    struct conv *c;
    const char *name; // of the rule
    const struct members *list;
    const struct place *at;
    struct property *p; // [n]
    size_t n, cap;
    struct text other; // the rule's name for any other pair; empty: none
};

// The property of that name, added if need be; NULL is a failure.
static struct property *property(struct object *o, const char *name, const struct place *at)
{
    if (!conv_work(o->c, o->n + 1, o->at))
        return NULL;
    for (size_t i = 0; i < o->n; i++)
        if (!strcmp(o->p[i].name, name))
            return &o->p[i];
    if (!mem_grow(&o->p, &o->cap, o->n + 1, sizeof *o->p)) {
        conv_memory(o->c);
        return NULL;
    }
    o->p[o->n] = (struct property){.name = name, .at = at};
    return &o->p[o->n++];
}

static bool add_declared(struct object *o, const struct member *m)
{
    const cJSON *const all = keyword(m->node, "properties");
    if (all && !cJSON_IsObject(all))
        return conv_fail(o->c, SCHEMA_BAD_VALUE, m->at, "properties", "an object of schemas");
    for (const cJSON *item = all ? all->child : NULL; item; item = item->next) {
        const struct place *const at = conv_below(o->c, m->at, "properties", item->string);
        struct property *const p = at ? property(o, item->string, at) : NULL;
        if (!p)
            return false;
        if (p->last == m)
            return conv_fail(o->c, SCHEMA_TWICE, m->at, "properties", item->string);
        p->last = m;
    }
    return true;
}

static bool add_required(struct object *o, const struct member *m)
{
    const cJSON *const all = keyword(m->node, "required");
    if (all && !cJSON_IsArray(all))
        return conv_fail(o->c, SCHEMA_BAD_VALUE, m->at, "required", "an array of names");
    for (const cJSON *item = all ? all->child : NULL; item; item = item->next) {
        if (!cJSON_IsString(item))
            return conv_fail(o->c, SCHEMA_BAD_VALUE, m->at, "required", "an array of names");
        const struct place *const at = conv_below(o->c, m->at, "properties", item->valuestring);
        struct property *const p = at ? property(o, item->valuestring, at) : NULL;
        if (!p)
            return false;
        p->required = true;
    }
    return true;
}

// Everything that holds for the value of a property, or, without a name, for those that are not declared.
static bool gather_value(struct object *o, const char *name, struct members *of)
{
    for (size_t i = 0; i < o->list->n; i++) {
        const struct member *const m = &o->list->m[i];
        const cJSON *const declared = keyword(m->node, "properties"), *const other = keyword(m->node, "additionalProperties");
        const cJSON *const own = name && declared ? keyword(declared, name) : NULL;
        const struct place *const at = own     ? conv_below(o->c, m->at, "properties", own->string)
                                       : other ? conv_below(o->c, m->at, "additionalProperties", NULL)
                                               : m->at;
        if (!at || !conv_work(o->c, name ? o->n + 1 : 1, at))
            return false;
        if ((own || other) && !members_add(o->c, of, own ? own : other, at))
            return false;
    }
    return true;
}

// Writes the name of the rule for a list of members, which is taken; *never: nothing satisfies them.
static bool value_rule(struct object *o, struct members *of, const struct place *at, struct text *to, bool *never)
{
    struct facts f;
    size_t index;
    if (!facts_gather(o->c, of, at, &f)) {
        members_free(of);
        return false;
    }
    *never = !f.types;
    if (!*never)
        return rule_for(o->c, of, at, to, &index);
    members_free(of);
    return true;
}

static bool make_pair(struct object *o, struct property *p)
{
    struct members of = {0};
    struct text body = {0}, suffix = {0};
    char plain[60];
    if (!gather_value(o, p->name, &of)) {
        members_free(&of);
        return false;
    }
    emit_json_string(&body, p->name);
    text_string(&body, " space \":\" space ");
    if (!value_rule(o, &of, p->at, &body, &p->never) || p->never) {
        text_free(&body);
        return p->never && (!p->required || conv_fail(o->c, SCHEMA_NOTHING, p->at, NULL, ""));
    }
    const struct place top = {0}, alone = {&top, p->name, 0};
    place_rule_name(&alone, plain, sizeof plain);
    text_string(&suffix, *plain ? plain : "property");
    text_string(&suffix, "-kv");
    const bool ok = !suffix.failed ? rule_add(o->c, o->name, suffix.p, p->at, &body, &p->pair) : conv_memory(o->c);
    text_free(&suffix);
    text_free(&body);
    return ok;
}

// The pairs that are not declared: allowed where additionalProperties says so, or when nothing is declared at all.
static bool make_other(struct object *o)
{
    bool declared = false, said = false, never;
    for (size_t i = 0; i < o->list->n; i++) {
        declared = declared || keyword(o->list->m[i].node, "properties");
        said = said || keyword(o->list->m[i].node, "additionalProperties");
    }
    if (declared && !said)
        return true;
    struct members of = {0};
    struct text body = {0}, value = {0};
    const char **const names = malloc((o->n + 1) * sizeof *names);
    if (!names)
        return conv_memory(o->c);
    bool ok = gather_value(o, NULL, &of);
    const struct place *const at = ok ? conv_below(o->c, o->at, "additionalProperties", NULL) : NULL;
    ok = at && value_rule(o, &of, at, &value, &never);
    if (ok && !never) {
        for (size_t i = 0; i < o->n; i++)
            names[i] = o->p[i].name;
        ok = emit_other_key(o->c, o->name, at, names, o->n, &body);
        text_string(&body, " \":\" space ");
        text_append(&body, &value);
        ok = ok && rule_add(o->c, o->name, "other-kv", at, &body, &o->other);
    }
    free(names);
    text_free(&body);
    text_free(&value);
    if (!ok)
        members_free(&of);
    return ok;
}

// "," before a pair, which may be left out or repeated.
static void add_next(struct text *to, const struct text *pair, const char *times)
{
    text_string(to, *times ? " (\",\" space " : " \",\" space ");
    text_append(to, pair);
    text_string(to, *times ? ")" : "");
    text_string(to, times);
}

// All pairs from number `from` on, after others. which: 1 for the required ones, 2 for the optional ones, 3 for all.
static void add_rest(const struct object *o, size_t from, unsigned which, struct text *to)
{
    for (size_t i = from; i < o->n; i++)
        if (!o->p[i].never && which & (o->p[i].required ? 1u : 2u))
            add_next(to, &o->p[i].pair, o->p[i].required ? "" : "?");
}

static void add_others(const struct object *o, struct text *to)
{
    if (o->other.len)
        add_next(to, &o->other, "*");
}

// Makes a long text that is needed twice a rule.
static bool share(struct object *o, size_t i, struct text *rest)
{
    struct text name = {0};
    if (rest->len < 60)
        return true;
    text_string(&name, " ");
    const bool ok = rule_add(o->c, o->name, "rest", o->p[i].at, rest, &name);
    *rest = name;
    return ok;
}

// In the order of the schema. `first` is the first required pair (o->n: none): before it, any optional one may come first.
static bool add_in_order(struct object *o, size_t first, struct text *to)
{
    struct text rest = {0}, out = {0};
    bool ok = true;
    if (first < o->n) { // what follows when something stands before number `first`
        text_append(&out, &o->p[first].pair);
        add_rest(o, first + 1, 3, &out);
        add_others(o, &out);
        add_next(&rest, &o->p[first].pair, "");
        add_rest(o, first + 1, 3, &rest);
    } else if (o->other.len) {
        text_append(&out, &o->other);
        add_others(o, &out);
    }
    add_others(o, &rest);
    for (size_t i = first; ok && i-- > 0;) {
        struct text alternative = {0};
        if (o->p[i].never)
            continue;
        ok = share(o, i, &rest);
        text_append(&alternative, &o->p[i].pair);
        text_append(&alternative, &rest);
        text_string(&alternative, out.len ? " | " : "");
        text_append(&alternative, &out);
        text_free(&out);
        out = alternative;
        struct text more = {0};
        add_next(&more, &o->p[i].pair, "?");
        text_append(&more, &rest);
        text_free(&rest);
        rest = more;
        ok = ok && conv_work(o->c, out.len / 16 + 1, o->at);
    }
    text_append(to, &out);
    text_free(&out);
    text_free(&rest);
    return ok;
}

static bool write_object(struct object *o, struct text *to)
{
    size_t first = 0, last = o->n; // the required ones
    bool gap = false;              // an optional one stands before a required one
    struct text pairs = {0};
    while (first < o->n && (o->p[first].never || !o->p[first].required))
        first++;
    for (size_t i = 0; i < o->n; i++)
        last = o->p[i].required && !o->p[i].never ? i : last;
    for (size_t i = 0; last < o->n && i < last; i++)
        gap = gap || (!o->p[i].required && !o->p[i].never);
    bool ok = add_in_order(o, first, &pairs);
    if (gap) {
        struct text rest = {0};
        text_string(&pairs, " | ");
        text_append(&pairs, &o->p[first].pair);
        add_rest(o, first + 1, 1, &rest);
        add_rest(o, 0, 2, &rest);
        add_others(o, &rest);
        ok = ok && share(o, first, &rest);
        text_append(&pairs, &rest);
        text_free(&rest);
    }
    text_string(to, "\"{\" space ");
    text_string(to, pairs.len ? "(" : "");
    text_append(to, &pairs);
    text_string(to, !pairs.len ? "" : first < o->n ? ") " : ")? ");
    text_string(to, "\"}\" space");
    text_free(&pairs);
    return ok;
}

bool emit_object(struct conv *c, const char *name, const struct members *list, const struct place *at, struct text *to)
{
    struct object o = {.c = c, .name = name, .list = list, .at = at};
    struct text space = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < list->n; i++)
        ok = add_declared(&o, &list->m[i]) && add_required(&o, &list->m[i]);
    for (size_t i = 0; ok && i < o.n; i++)
        ok = make_pair(&o, &o.p[i]);
    ok = ok && make_other(&o) && write_object(&o, to);
    rule_primitive(c, &space, P_SPACE);
    text_free(&space);
    for (size_t i = 0; i < o.n; i++)
        text_free(&o.p[i].pair);
    free(o.p);
    text_free(&o.other);
    return ok;
}
