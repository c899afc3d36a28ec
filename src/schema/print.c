// SPDX-License-Identifier: MIT
// The rules that every grammar may use, and the grammar as text.
#include "schema/convert.h"

#include <stdlib.h>

// The rules that do not depend on the schema. uses: the set of rules that each one refers to.
static const struct {
    const char *name, *gbnf;
    unsigned uses;
} builtin[RULE_OWN] = {
    [RULE_ROOT] = {"root", NULL, 0},
    [RULE_SPACE] = {"space", "\"\" | \" \" | \"\\n\"{1,2} [ \\t]{0,20}", 0},
    [RULE_CHAR] = {"char", "[^\"\\\\\\x7F\\x00-\\x1F] | \"\\\\\" ([\"\\\\bfnrt] | \"u\" [0-9a-fA-F]{4})", 0},
    [RULE_STRING] = {"string", "\"\\\"\" char* \"\\\"\"", BIT(RULE_CHAR)},
    [RULE_NATURAL] = {"natural", "\"0\" | [1-9] [0-9]{0,15}", 0},
    [RULE_INTEGER] = {"integer", "\"-\"? natural", BIT(RULE_NATURAL)},
    [RULE_NUMBER] = {"number", "integer (\".\" [0-9]{1,16})? ([eE] [-+]? natural)?",
                     BIT(RULE_INTEGER) | BIT(RULE_NATURAL)},
    [RULE_BOOLEAN] = {"boolean", "\"true\" | \"false\"", 0},
    [RULE_NULL] = {"null", "\"null\"", 0},
    [RULE_VALUE] = {"value", "object | array | string | number | boolean | null",
                    BIT(RULE_OBJECT) | BIT(RULE_ARRAY) | BIT(RULE_STRING) | BIT(RULE_NUMBER) | BIT(RULE_BOOLEAN) |
                        BIT(RULE_NULL)},
    [RULE_MEMBER] = {"member", "string \":\" space value", BIT(RULE_STRING) | BIT(RULE_SPACE) | BIT(RULE_VALUE)},
    [RULE_OBJECT] = {"object", "\"{\" space (member (\",\" space member)*)? space \"}\"",
                     BIT(RULE_SPACE) | BIT(RULE_MEMBER)},
    [RULE_ARRAY] = {"array", "\"[\" space (value (\",\" space value)*)? space \"]\"",
                    BIT(RULE_SPACE) | BIT(RULE_VALUE)},
    [RULE_UUID] = {"uuid", "[0-9a-fA-F]{8} (\"-\" [0-9a-fA-F]{4}){3} \"-\" [0-9a-fA-F]{12}", 0},
    [RULE_DATE] = {"date", "[0-9]{4} \"-\" (\"0\" [1-9] | \"1\" [0-2]) \"-\" (\"0\" [1-9] | [12] [0-9] | \"3\" [01])",
                   0},
    [RULE_TIME] = {"time",
                   "hour \":\" [0-5] [0-9] \":\" [0-5] [0-9] (\".\" [0-9]{3})? (\"Z\" | [-+] hour \":\" [0-5] [0-9])",
                   BIT(RULE_HOUR)},
    [RULE_HOUR] = {"hour", "[01] [0-9] | \"2\" [0-3]", 0},
    [RULE_DATE_TIME] = {"date-time", "date \"T\" time", BIT(RULE_DATE) | BIT(RULE_TIME)},
};

const char *builtin_name(uint32_t rule) { return builtin[rule].name; }

static bool builtin_rule(uint32_t rule) { return rule != RULE_ROOT && rule < RULE_OWN; }

// Follows rules that consist of one reference, and returns the first rule that does not. Each reference on the way is
// then made to point there. A cycle of such rules is a fault.
static uint32_t same_rule(struct convert *c, uint32_t rule)
{
    uint32_t end = rule;
    for (size_t steps = 0; c->rule[end].expr && c->x.expr[c->rule[end].expr].kind == EXPR_RULE; steps++) {
        if (steps == c->n_rules) {
            schema_fail(c, c->rule[rule].schema, "%s refers to itself without a value in between", NULL);
            return rule;
        }
        end = c->x.expr[c->rule[end].expr].first;
    }
    while (rule != end) {
        struct expr *const e = &c->x.expr[c->rule[rule].expr];
        rule = e->first;
        e->first = end;
    }
    return end;
}

// The rules to print, in the order of the first references to them.
struct print_order {
    struct convert *c;
    uint32_t *rule; // [n]
    size_t n;
};

// Adds a rule to those to print, unless it is among them.
static void print_later(struct print_order *o, uint32_t rule)
{
    if (!o->c->rule[rule].printed)
        o->rule[o->n++] = rule;
    o->c->rule[rule].printed = true;
}

static const char *print_name(void *context, uint32_t rule)
{
    struct print_order *const o = context;
    rule = same_rule(o->c, rule);
    print_later(o, rule);
    return rule_name(o->c, rule);
}

static void print_rule(struct print_order *o, uint32_t rule)
{
    struct builder *const to = &o->c->out->gbnf;
    builder_format(to, "%s ::= ", rule_name(o->c, rule));
    if (builtin_rule(rule))
        builder_string(to, builtin[rule].gbnf);
    else
        expr_print(&o->c->x, o->c->rule[rule].expr, to, print_name, o);
    for (uint32_t i = 0; builtin_rule(rule) && i < RULE_OWN; i++)
        if (builtin[rule].uses & BIT(i))
            print_later(o, i);
    builder_byte(to, '\n');
}

static void print_in_order(struct print_order *o)
{
    size_t general = 0;
    print_later(o, RULE_ROOT);
    for (size_t i = 0; i < o->n && convert_sound(o->c); i++) {
        if (builtin_rule(o->rule[i]))
            o->rule[general++] = o->rule[i];
        else
            print_rule(o, o->rule[i]);
    }
    o->n = general;
    for (size_t i = 0; i < o->n && convert_sound(o->c); i++)
        print_rule(o, o->rule[i]);
}

void print_rules(struct convert *c)
{
    struct print_order o = {.c = c, .rule = malloc(c->n_rules * sizeof *o.rule)};
    c->x.failed = !o.rule;
    if (o.rule)
        print_in_order(&o);
    free(o.rule);
    convert_sound(c);
}
