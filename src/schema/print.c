// SPDX-License-Identifier: MIT
// The rules that every grammar may use, and the grammar as text.
#include "base/mem.h"
#include "schema/convert.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// The rules that do not depend on the schema.
static const struct {
    const char *name, *gbnf;
} builtin[RULE_OWN] = {
    [RULE_ROOT] = {"root", NULL},
    [RULE_SPACE] = {"space", "\"\" | \" \" | \"\\n\"{1,2} [ \\t]{0,20}"},
    [RULE_CHAR] = {"char", "[^\"\\\\\\x7F\\x00-\\x1F] | \"\\\\\" ([\"\\\\bfnrt] | \"u\" [0-9a-fA-F]{4})"},
    [RULE_STRING] = {"string", "\"\\\"\" char* \"\\\"\""},
    [RULE_NATURAL] = {"natural", "\"0\" | [1-9] [0-9]{0,15}"},
    [RULE_INTEGER] = {"integer", "\"-\"? natural"},
    [RULE_NUMBER] = {"number", "integer (\".\" [0-9]{1,16})? ([eE] [-+]? natural)?"},
    [RULE_BOOLEAN] = {"boolean", "\"true\" | \"false\""},
    [RULE_NULL] = {"null", "\"null\""},
    [RULE_VALUE] = {"value", "object | array | string | number | boolean | null"},
    [RULE_MEMBER] = {"member", "string \":\" space value"},
    [RULE_OBJECT] = {"object", "\"{\" space (member (\",\" space member)*)? space \"}\""},
    [RULE_ARRAY] = {"array", "\"[\" space (value (\",\" space value)*)? space \"]\""},
    [RULE_UUID] = {"uuid", "[0-9a-fA-F]{8} (\"-\" [0-9a-fA-F]{4}){3} \"-\" [0-9a-fA-F]{12}"},
    [RULE_DATE] = {"date", "[0-9]{4} \"-\" (\"0\" [1-9] | \"1\" [0-2]) \"-\" (\"0\" [1-9] | [12] [0-9] | \"3\" [01])"},
    [RULE_TIME] = {"time",
                   "hour \":\" [0-5] [0-9] \":\" [0-5] [0-9] (\".\" [0-9]{3})? (\"Z\" | [-+] hour \":\" [0-5] [0-9])"},
    [RULE_HOUR] = {"hour", "[01] [0-9] | \"2\" [0-3]"},
    [RULE_DATE_TIME] = {"date-time", "date \"T\" time"},
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
struct printer {
    struct convert *c;
    struct builder *to;
    uint32_t *rule; // [n]
    size_t n, cap;
    uint32_t here; // the rule that is being printed
};

// Adds a rule to those to print, unless it is among them.
static void print_later(struct printer *p, uint32_t rule)
{
    if (!p->c->rule[rule].printed)
        p->c->x.failed = p->c->x.failed || !mem_push(&p->rule, &p->n, &p->cap, &rule, sizeof rule);
    p->c->rule[rule].printed = true;
}

// Prints the characters of a literal without its quotes, escaped for GBNF.
static void print_text(const struct printer *p, const struct expr *e)
{
    static const char names[] = "\n\r\t\\\"", letters[] = "nrt\\\"";
    for (uint32_t i = 0; i < e->n; i++) {
        const char c = p->c->x.text.text[e->first + i];
        const char *const name = strchr(names, c);
        if (name)
            builder_format(p->to, "\\%c", letters[name - names]);
        else if ((unsigned char)c < 0x20 || c == 0x7f)
            builder_format(p->to, "\\x%02X", (unsigned)c);
        else
            builder_byte(p->to, c);
    }
}

// Prints a character of a class, escaped for GBNF.
static void print_in_class(const struct printer *p, uint32_t c)
{
    static const char names[] = "\n\r\t\\[]", letters[] = "nrt\\[]";
    const char *const name = c && c < 0x80 ? strchr(names, (int)c) : NULL;
    if (name)
        builder_format(p->to, "\\%c", letters[name - names]);
    else if (c < 0x20 || c == '-' || c == '^' || (c >= 0x7f && c < 0xa0))
        builder_format(p->to, "\\x%02X", (unsigned)c);
    else if ((c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
        builder_format(p->to, "\\U%08X", (unsigned)c);
    else
        builder_character(p->to, c);
}

static void print_class(const struct printer *p, const struct expr *e)
{
    builder_string(p->to, e->min ? "[^" : e->n ? "[" : "[1-0");
    for (uint32_t i = 0; i < e->n; i++) {
        const struct range r = p->c->x.range.range[e->first + i];
        print_in_class(p, r.first);
        if (r.last > r.first + 1)
            builder_byte(p->to, '-');
        if (r.last > r.first)
            print_in_class(p, r.last);
    }
    builder_byte(p->to, ']');
}

// Prints the operator of a repetition.
static void print_count(const struct printer *p, uint32_t min, uint32_t max)
{
    if (!min && max == 1)
        builder_byte(p->to, '?');
    else if (min <= 1 && max == EXPR_UNBOUNDED)
        builder_byte(p->to, min ? '+' : '*');
    else if (min == max)
        builder_format(p->to, "{%u}", (unsigned)min);
    else if (max == EXPR_UNBOUNDED)
        builder_format(p->to, "{%u,}", (unsigned)min);
    else
        builder_format(p->to, "{%u,%u}", (unsigned)min, (unsigned)max);
}

#define MOST_RULES 2000u // llama.cpp refuses a repetition that makes more rules than that, those of its group included

// Returns at least how many names llama.cpp gives in an expression in brackets: of groups, repetitions and rules. Stops
// counting when there are more than MOST_RULES.
static uint32_t names_in(const struct exprs *x, uint32_t expr)
{
    const struct expr *const e = &x->expr[expr];
    if (e->kind == EXPR_LITERAL || e->kind == EXPR_CLASS || e->kind == EXPR_RULE)
        return e->kind == EXPR_RULE;
    uint32_t n = 1 + (e->kind != EXPR_REPEAT ? 0 : e->max != EXPR_UNBOUNDED ? e->max - e->min : 1);
    for (uint32_t i = 0; i < e->n && n <= MOST_RULES; i++)
        n += names_in(x, x->part[e->first + i]);
    return n;
}

// Gives what is repeated a rule of its own if llama.cpp would refuse it in brackets.
static void shorten_item(struct printer *p, struct expr repeat)
{
    struct exprs *const x = &p->c->x;
    const uint32_t item = x->part[repeat.first];
    const uint64_t count = repeat.max != EXPR_UNBOUNDED ? repeat.max : repeat.min ? repeat.min : 1;
    if (x->expr[item].kind >= EXPR_LITERAL || count * names_in(x, item) <= MOST_RULES)
        return;
    const uint32_t named = expr_rule(x, new_rule(p->c, p->here, "part", NULL, item));
    if (exprs_whole(x))
        x->part[repeat.first] = named;
}

// Returns whether an expression has an empty alternative. llama.cpp takes a repetition of such a group, or of such a
// rule, for a left recursion. Brackets around it hide that.
static bool is_bare(const struct convert *c, uint32_t expr)
{
    const struct expr *const e = &c->x.expr[expr];
    if (e->kind == EXPR_RULE && c->rule[e->first].expr && c->x.expr[c->rule[e->first].expr].kind == EXPR_CHOICE)
        return is_bare(c, c->rule[e->first].expr);
    for (uint32_t i = 0; e->kind == EXPR_CHOICE && i < e->n; i++) {
        const struct expr *const part = &c->x.expr[c->x.part[e->first + i]];
        if (part->kind == EXPR_LITERAL && !part->n)
            return true;
    }
    return false;
}

static void print_expr(struct printer *p, uint32_t expr, enum expr_kind place);

// Prints the literals at the start of n parts as one literal. Returns how many literals there are.
static uint32_t print_literals(const struct printer *p, const uint32_t *part, uint32_t n)
{
    uint32_t i = 0;
    builder_byte(p->to, '"');
    for (; i < n && p->c->x.expr[part[i]].kind == EXPR_LITERAL; i++)
        print_text(p, &p->c->x.expr[part[i]]);
    builder_byte(p->to, '"');
    return i;
}

static void print_list(struct printer *p, struct expr e)
{
    const struct exprs *const x = &p->c->x;
    for (uint32_t i = 0; i < e.n;) {
        const uint32_t *const part = x->part + e.first + i; // until an expression is printed
        if (i)
            builder_string(p->to, e.kind == EXPR_CHOICE ? " | " : " ");
        if (e.kind == EXPR_SEQUENCE && x->expr[*part].kind == EXPR_LITERAL)
            i += print_literals(p, part, e.n - i);
        else
            print_expr(p, x->part[e.first + i++], EXPR_SEQUENCE);
    }
}

// Prints an expression that is not EXPR_NOTHING, in brackets if its kind binds less than `place`. Recurses at most
// EXPR_DEEPEST levels. May add rules and expressions.
static void print_expr(struct printer *p, uint32_t expr, enum expr_kind place)
{
    assert(expr != EXPR_NOTHING && expr < p->c->x.n);
    const struct expr e = p->c->x.expr[expr];
    if (e.kind < place)
        builder_byte(p->to, '(');
    if (e.kind == EXPR_LITERAL) {
        print_literals(p, &expr, 1);
    } else if (e.kind == EXPR_CLASS) {
        print_class(p, &e);
    } else if (e.kind == EXPR_RULE) {
        const uint32_t rule = same_rule(p->c, e.first);
        print_later(p, rule);
        builder_string(p->to, rule_name(p->c, rule));
    } else if (e.kind == EXPR_REPEAT) {
        shorten_item(p, e);
        const bool bare = exprs_whole(&p->c->x) && e.max == EXPR_UNBOUNDED && is_bare(p->c, p->c->x.part[e.first]);
        builder_string(p->to, bare ? "(" : "");
        if (exprs_whole(&p->c->x))
            print_expr(p, p->c->x.part[e.first], EXPR_LITERAL);
        builder_string(p->to, bare ? ")" : "");
        print_count(p, e.min, e.max);
    } else {
        print_list(p, e);
    }
    if (e.kind < place)
        builder_byte(p->to, ')');
}

static void print_rule(struct printer *p, uint32_t rule)
{
    p->here = rule;
    builder_format(p->to, "%s ::= ", rule_name(p->c, rule));
    if (builtin_rule(rule))
        builder_string(p->to, builtin[rule].gbnf);
    else
        print_expr(p, p->c->rule[rule].expr, EXPR_CHOICE);
    // A name in the text is a reference: no literal holds the name of a rule that is not printed yet.
    for (uint32_t i = RULE_ROOT + 1; builtin_rule(rule) && i < RULE_OWN; i++)
        if (strstr(builtin[rule].gbnf, builtin[i].name))
            print_later(p, i);
    builder_byte(p->to, '\n');
}

static void print_in_order(struct printer *p)
{
    size_t general = 0;
    print_later(p, RULE_ROOT);
    for (size_t i = 0; i < p->n && convert_sound(p->c); i++) {
        if (builtin_rule(p->rule[i]))
            p->rule[general++] = p->rule[i];
        else
            print_rule(p, p->rule[i]);
    }
    p->n = general;
    for (size_t i = 0; i < p->n && convert_sound(p->c); i++)
        print_rule(p, p->rule[i]);
}

void print_rules(struct convert *c)
{
    struct printer p = {.c = c, .to = &c->out->gbnf};
    print_in_order(&p);
    free(p.rule);
    convert_sound(c);
}
