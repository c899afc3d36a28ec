// SPDX-License-Identifier: MIT
// The rules: found by name, so that none comes twice, and by the members they are for, so that each list has one.
#include "base/mem.h"
#include "schema/emit.h"

#include <stdlib.h>
#include <string.h>

#define RULES_MOST 20000

static const struct {
    const char *name, *body;
    unsigned needs;
} primitive[P_COUNT] = {
#define SPACE    (1u << P_SPACE)
#define HEX      "[0-9a-fA-F]"
#define TWO_OR_4 "(\"0\" [48] | [2468] [048] | [13579] [26])" // 04, 08, ... 96
    [P_VALUE] = {"value", "object | array | string | number | boolean | null",
                 1u << P_OBJECT | 1u << P_ARRAY | 1u << P_STRING | 1u << P_NUMBER | 1u << P_BOOLEAN | 1u << P_NULL},
    [P_OBJECT] = {"object", "\"{\" space (string \":\" space value (\",\" space string \":\" space value)*)? \"}\" space",
                  1u << P_VALUE | 1u << P_STRING | SPACE},
    [P_ARRAY] = {"array", "\"[\" space (value (\",\" space value)*)? \"]\" space", 1u << P_VALUE | SPACE},
    [P_STRING] = {"string", "\"\\\"\" char* \"\\\"\" space", 1u << P_CHAR | SPACE},
    [P_NUMBER] = {"number", "\"-\"? (\"0\" | [1-9] [0-9]*) (\".\" [0-9]+)? ([eE] (\"+\" | \"-\")? [0-9]+)? space", SPACE},
    [P_INTEGER] = {"integer", "\"-\"? (\"0\" | [1-9] [0-9]*) space", SPACE},
    [P_BOOLEAN] = {"boolean", "(\"true\" | \"false\") space", SPACE},
    [P_NULL] = {"null", "\"null\" space", SPACE},
    [P_DATETIME] = {"date-time", "date [Tt] time", 1u << P_DATE | 1u << P_TIME},
    [P_DATE] =
        {"date",
         "[0-9]{4} \"-\" ((\"0\" [13578] | \"1\" [02]) \"-\" (\"0\" [1-9] | [12] [0-9] | \"3\" [01])"
         " | (\"0\" [469] | \"11\") \"-\" (\"0\" [1-9] | [12] [0-9] | \"30\") | \"02-\" (\"0\" [1-9] | \"1\" [0-9] | \"2\" [0-8]))"
         " | ([0-9]{2} " TWO_OR_4 " | (\"00\" | " TWO_OR_4 ") \"00\") \"-02-29\"",
         0},
    [P_TIME] = {"time",
                "((([01] [0-9] | \"2\" [0-3]) \":\" [0-5] [0-9] \":\" [0-5] [0-9] (\".\" [0-9]+)?)"
                " ([Zz] | (\"+\" | \"-\") ([01] [0-9] | \"2\" [0-3]) \":\" [0-5] [0-9])) | \"23:59:60\" (\".\" [0-9]+)? [Zz]",
                0},
    [P_UUID] = {"uuid", HEX "{8} \"-\" " HEX "{4} \"-\" " HEX "{4} \"-\" " HEX "{4} \"-\" " HEX "{12}", 0},
    // a pair of surrogates is one character; one alone is none
    [P_CHAR] = {"char",
                "[^\"\\\\\\x7F\\x00-\\x1F] | \"\\\\\" ([\"\\\\/bfnrt] | \"u\" ([0-9a-ce-fA-CE-F] " HEX "{3} | [dD] [0-7] " HEX
                "{2} | [dD] [89abAB] " HEX "{2} \"\\\\u\" [dD] [c-fC-F] " HEX "{2}))",
                0},
    [P_SPACE] = {"space", "| \" \" | \"\\n\"{1,2} [ \\t]{0,20}", 0},
};

static void want(struct conv *c, enum primitive p)
{
    if (c->wanted >> p & 1)
        return;
    c->wanted |= 1u << p;
    for (unsigned i = 0; i < P_COUNT; i++)
        if (primitive[p].needs >> i & 1)
            want(c, (enum primitive)i);
}

void rule_primitive(struct conv *c, struct text *to, enum primitive p)
{
    want(c, p);
    text_string(to, primitive[p].name);
}

void emit_primitives(struct conv *c, struct text *to)
{
    want(c, P_SPACE);
    for (unsigned i = 0; i < P_COUNT; i++)
        if (c->wanted >> i & 1) {
            text_string(to, primitive[i].name);
            text_string(to, " ::= ");
            text_string(to, primitive[i].body);
            text_string(to, "\n");
        }
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static uint64_t hash_name(const char *name)
{
    uint64_t h = 1;
    for (; *name; name++)
        h = mix(h, (unsigned char)*name);
    return h;
}

static uint64_t hash_members(const struct members *of)
{
    uint64_t h = 2;
    for (size_t i = 0; i < of->n; i++)
        h = mix(mix(h, (uintptr_t)of->m[i].node), of->m[i].done);
    return h;
}

static bool same_members(const struct members *a, const struct members *b)
{
    if (a->n != b->n || !a->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->m[i].node != b->m[i].node || a->m[i].done != b->m[i].done)
            return false;
    return true;
}

// The rule of that name, NO_RULE without one; *slot is where it is or belongs. Likewise for members.
static size_t find_name(const struct conv *c, const char *name, size_t *slot)
{
    for (*slot = hash_name(name) & (c->slots - 1); c->by_name[*slot]; *slot = (*slot + 1) & (c->slots - 1))
        if (!strcmp(c->rule[c->by_name[*slot] - 1].name, name))
            return c->by_name[*slot] - 1;
    return NO_RULE;
}

static size_t find_members(const struct conv *c, const struct members *of, size_t *slot)
{
    for (*slot = hash_members(of) & (c->slots - 1); c->by_members[*slot]; *slot = (*slot + 1) & (c->slots - 1))
        if (same_members(&c->rule[c->by_members[*slot] - 1].of, of))
            return c->by_members[*slot] - 1;
    return NO_RULE;
}

static bool grow_slots(struct conv *c)
{
    if (c->n_rules * 2 + 2 <= c->slots)
        return true;
    const size_t slots = c->slots ? c->slots * 2 : 64;
    size_t *const names = calloc(slots, sizeof *names), *const members = calloc(slots, sizeof *members);
    if (!names || !members) {
        free(names);
        free(members);
        return conv_memory(c);
    }
    free(c->by_name);
    free(c->by_members);
    c->by_name = names;
    c->by_members = members;
    c->slots = slots;
    for (size_t i = 0, slot; i < c->n_rules; i++) {
        find_name(c, c->rule[i].name, &slot);
        names[slot] = i + 1;
        if (c->rule[i].of.n && find_members(c, &c->rule[i].of, &slot) == NO_RULE)
            members[slot] = i + 1;
    }
    return true;
}

static bool is_reserved(const char *name)
{
    for (size_t i = 0; i < P_COUNT; i++)
        if (!strcmp(primitive[i].name, name))
            return true;
    return false;
}

// The wanted name, or with a number behind it, in memory of its own. The rule's own number, after a few others, finds a free name soon.
static char *free_name(struct conv *c, const char *wanted)
{
    struct text name = {0};
    size_t slot;
    text_string(&name, *wanted ? wanted : "rule");
    const size_t len = name.len;
    for (uint64_t i = 2; !name.failed && (is_reserved(name.p) || find_name(c, name.p, &slot) != NO_RULE); i++) {
        name.len = len;
        text_string(&name, "-");
        text_number(&name, i < 10 ? i : c->n_rules + i);
    }
    if (!name.failed)
        return name.p;
    text_free(&name);
    conv_memory(c);
    return NULL;
}

// A new rule; takes `of` (may be NULL) and body (may be NULL).
static bool new_rule(struct conv *c, const char *name, struct members *of, struct text *body, const struct place *at)
{
    struct rule r = {.at = at, .has_body = body != NULL};
    size_t slot;
    if (of)
        r.of = *of, *of = (struct members){0};
    if (body)
        r.body = *body, *body = (struct text){0};
    bool ok = c->n_rules < RULES_MOST || conv_fail(c, SCHEMA_TOO_BIG, at, NULL, "");
    ok = ok && grow_slots(c) && (r.name = free_name(c, name)) != NULL;
    ok = ok && (mem_grow(&c->rule, &c->rules_cap, c->n_rules + 1, sizeof *c->rule) || conv_memory(c));
    if (!ok) {
        free(r.name);
        members_free(&r.of);
        text_free(&r.body);
        return false;
    }
    c->rule[c->n_rules++] = r;
    find_name(c, r.name, &slot);
    c->by_name[slot] = c->n_rules;
    if (r.of.n && find_members(c, &r.of, &slot) == NO_RULE)
        c->by_members[slot] = c->n_rules;
    return true;
}

bool rule_root(struct conv *c, struct members *of, const struct place *at)
{
    return new_rule(c, "root", of, NULL, at);
}

bool rule_root_object(struct conv *c, const struct place *at)
{
    struct text body = {0};
    rule_primitive(c, &body, P_OBJECT);
    return new_rule(c, "root", NULL, &body, at);
}

bool rule_link(struct conv *c, size_t from, size_t to)
{
    struct rule *const r = &c->rule[from];
    if (!mem_grow(&r->alternative, &r->alternatives_cap, r->n_alternatives + 1, sizeof *r->alternative))
        return conv_memory(c);
    r->alternative[r->n_alternatives++] = to;
    return true;
}

// The primitive rule that does for the list, or P_COUNT.
static enum primitive as_primitive(const struct members *of, const struct facts *f)
{
    static const struct {
        unsigned types;
        enum primitive p;
    } plain[] = {{T_STRING, P_STRING}, {T_NUMBER, P_NUMBER}, {T_INTEGER, P_INTEGER}, {T_BOOLEAN, P_BOOLEAN},
                 {T_NULL, P_NULL},     {T_OBJECT, P_OBJECT}, {T_ARRAY, P_ARRAY},     {T_ALL, P_VALUE}};
    if (!of->n)
        return P_VALUE;
    if (f->choice || f->union_of || f->about & f->types)
        return P_COUNT;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (plain[i].types == f->types)
            return plain[i].p;
    return P_COUNT;
}

bool rule_for(struct conv *c, struct members *of, const struct place *at, struct text *to, size_t *index)
{
    struct facts f;
    char name[60];
    size_t slot;
    *index = NO_RULE;
    if (!facts_gather(c, of, at, &f) || !grow_slots(c)) {
        members_free(of);
        return false;
    }
    const enum primitive p = as_primitive(of, &f);
    if (p != P_COUNT) {
        members_free(of);
        rule_primitive(c, to, p);
        return true;
    }
    *index = find_members(c, of, &slot);
    if (*index == NO_RULE) {
        const struct place *const from = of->n == 1 ? of->m[0].at : at;
        place_rule_name(from, name, sizeof name);
        if (!new_rule(c, name, of, NULL, from))
            return false;
        *index = c->n_rules - 1;
    } else {
        members_free(of);
    }
    text_string(to, c->rule[*index].name);
    return !to->failed || conv_memory(c);
}

bool rule_add(struct conv *c, const char *base, const char *suffix, const struct place *at, struct text *body, struct text *to)
{
    struct text name = {0};
    if (strcmp(base, "root") != 0) {
        text_string(&name, base);
        text_string(&name, "-");
    }
    text_string(&name, suffix);
    const bool ok = !name.failed || conv_memory(c);
    const bool made = ok && new_rule(c, name.p, NULL, body, at);
    text_free(&name);
    if (!made) {
        text_free(body);
        return false;
    }
    text_string(to, c->rule[c->n_rules - 1].name);
    return !to->failed || conv_memory(c);
}
