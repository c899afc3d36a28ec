// SPDX-License-Identifier: MIT
#include "schema/convert.h"

#include "base/err.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TEXT ((size_t)8 << 20) // of a grammar, in bytes

// Rules that do not depend on the schema, and the rules that each uses.
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

static bool builtin_rule(uint32_t rule)
{
    return rule != RULE_ROOT && rule < RULE_OWN;
}

static uint32_t schema_hash(const cJSON *schema)
{
    return hash_bytes(&schema, sizeof schema);
}

void schema_grammar_free(struct schema_grammar *g)
{
    builder_free(&g->gbnf);
    builder_free(&g->ignored.paths);
    builder_free(&g->loose.paths);
    *g = (struct schema_grammar){0};
}

uint32_t fail(struct convert *c, const cJSON *item, enum schema_code code, const char *word)
{
    struct builder path = {0};
    assert(code != SCHEMA_OK);
    const bool late = code == SCHEMA_PATTERN || code == SCHEMA_COUNT || code == SCHEMA_NOTHING;
    if (c->fault->code || (late && c->for_faults))
        return EXPR_NOTHING;
    *c->fault = (struct schema_fault){.code = code};
    if (code == SCHEMA_MEMORY)
        return EXPR_NOTHING;
    document_path(c, item, &path);
    const size_t most = sizeof c->fault->path - 1, dots = path.len > most ? 3 : 0;
    const char *from = path.text ? path.text + (dots ? path.len - most + dots : 0) : "";
    while (dots && (*from & 0xc0) == 0x80) // the rest of a character
        from++;
    memcpy(c->fault->path, "...", dots);
    memcpy(c->fault->path + dots, from, strlen(from));
    builder_free(&path);
    if (word)
        memcpy(c->fault->word, word, (size_t)err_clip(word, sizeof c->fault->word - 1));
    return EXPR_NOTHING;
}

void note(struct convert *c, const cJSON *item, struct schema_notes *notes)
{
    if (notes->n++ >= SCHEMA_MOST_NOTES)
        return;
    document_path(c, item, &notes->paths);
    builder_byte(&notes->paths, '\0');
    c->x.failed = c->x.failed || notes->paths.failed;
}

static const char *name_of(const struct convert *c, uint32_t rule)
{
    return c->names.text + c->rule[rule].name;
}

static bool name_taken(const struct convert *c, const char *name)
{
    const uint32_t hash = hash_bytes(name, strlen(name));
    size_t at = hash, i;
    while ((i = hash_next(&c->by_name, hash, &at)) != HASH_NONE)
        if (!strcmp(name_of(c, (uint32_t)i), name))
            return true;
    return false;
}

#define LONGEST_NAME 40 // bytes of a name that come from the schema; a parent's name that is longer is left out

// Adds letters, digits and single hyphens for what is neither.
static void add_name(struct builder *to, const char *what)
{
    const size_t start = to->len;
    bool hyphen = false;
    for (; *what && to->len - start < LONGEST_NAME; what++) {
        const bool plain =
            (*what >= 'a' && *what <= 'z') || (*what >= 'A' && *what <= 'Z') || (*what >= '0' && *what <= '9');
        if (plain && hyphen && to->len > start)
            builder_byte(to, '-');
        if (plain)
            builder_byte(to, *what);
        hyphen = !plain;
    }
    if (to->len == start)
        builder_string(to, "rule");
}

uint32_t new_rule(struct convert *c, uint32_t parent, const char *what, const cJSON *schema, uint32_t expr)
{
    struct builder *const names = &c->names;
    const uint32_t rule = (uint32_t)c->n_rules;
    const size_t start = names->len;
    if (parent != RULE_ROOT && strlen(name_of(c, parent)) <= LONGEST_NAME) {
        char prefix[LONGEST_NAME + 1]; // as the names may move
        memcpy(prefix, name_of(c, parent), strlen(name_of(c, parent)) + 1);
        builder_format(names, "%s-", prefix);
    }
    add_name(names, what);
    for (bool first = true; !names->failed && name_taken(c, names->text + start); first = false)
        builder_format(names, "%s%u", first ? "-" : "", (unsigned)rule);
    const uint32_t hash = names->failed ? 0 : hash_bytes(names->text + start, names->len - start);
    builder_byte(names, '\0');
    c->x.full = c->x.full || rule >= EXPR_MOST;
    c->x.failed = c->x.failed || names->failed || !mem_grow(&c->rule, &c->rules_cap, c->n_rules + 1, sizeof *c->rule) ||
                  !hash_add(&c->by_name, hash, rule) || (schema && !hash_add(&c->by_schema, schema_hash(schema), rule));
    if (c->x.failed || c->x.full)
        return RULE_ROOT;
    c->rule[c->n_rules++] = (struct schema_rule){.schema = schema, .name = start, .expr = expr};
    return rule;
}

uint32_t rule_of(struct convert *c, const cJSON *schema, uint32_t parent, const char *what)
{
    const uint32_t hash = schema_hash(schema);
    size_t at = hash, i;
    while ((i = hash_next(&c->by_schema, hash, &at)) != HASH_NONE)
        if (c->rule[i].schema == schema)
            return expr_rule(&c->x, (uint32_t)i);
    return expr_rule(&c->x, new_rule(c, parent, what, schema, EXPR_NOTHING));
}

static bool sound(struct convert *c)
{
    const cJSON *const schema = c->at < c->n_rules ? c->rule[c->at].schema : NULL;
    if (c->x.failed || c->out->gbnf.failed)
        fail(c, NULL, SCHEMA_MEMORY, NULL);
    else if (c->x.full || c->out->gbnf.full)
        fail(c, schema, SCHEMA_TOO_BIG, NULL);
    else if (c->x.deep)
        fail(c, schema, SCHEMA_TOO_DEEP, NULL);
    return !c->fault->code;
}

// Makes the rules that were asked for, in that order.
static bool make_rules(struct convert *c)
{
    for (; c->at < c->n_rules && sound(c); c->at++) {
        const cJSON *const schema = c->rule[c->at].schema;
        const uint32_t expr = schema ? schema_expr(c, schema) : c->rule[c->at].expr;
        if (schema && !expr && exprs_whole(&c->x))
            fail(c, schema, SCHEMA_NOTHING, NULL);
        c->rule[c->at].expr = expr;
    }
    return sound(c);
}

static bool make_all_rules(struct convert *c)
{
    for (uint32_t i = 0; i < RULE_OWN; i++)
        new_rule(c, RULE_ROOT, builtin[i].name, i == RULE_ROOT ? c->document : NULL, EXPR_NOTHING);
    bool ok = make_rules(c);
    c->for_faults = true;
    for (size_t i = 0; ok && i < c->n_parts; i++) {
        rule_of(c, c->part[i], RULE_ROOT, "part");
        ok = make_rules(c);
    }
    return ok;
}

// The rule that a rule is only another name for, perhaps through others, which are then shortened.
static uint32_t same_rule(struct convert *c, uint32_t rule)
{
    uint32_t end = rule;
    for (size_t steps = 0; c->rule[end].expr && c->x.expr[c->rule[end].expr].kind == EXPR_RULE; steps++) {
        if (steps == c->n_rules) {
            fail(c, c->rule[rule].schema, SCHEMA_CYCLE, NULL);
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

// The rules that are used, the schema's own first, in the order in which they are met.
struct print_order {
    struct convert *c;
    uint32_t *rule; // [n]
    size_t n;
};

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
    return name_of(o->c, rule);
}

static void print_rule(struct print_order *o, uint32_t rule)
{
    struct builder *const to = &o->c->out->gbnf;
    builder_format(to, "%s ::= ", name_of(o->c, rule));
    if (builtin_rule(rule))
        builder_string(to, builtin[rule].gbnf);
    else
        expr_print(&o->c->x, o->c->rule[rule].expr, to, print_name, o);
    for (uint32_t i = 0; builtin_rule(rule) && i < RULE_OWN; i++)
        if (builtin[rule].uses & BIT(i))
            print_later(o, i);
    builder_byte(to, '\n');
}

static void print_rules(struct print_order *o)
{
    size_t general = 0;
    print_later(o, RULE_ROOT);
    for (size_t i = 0; i < o->n && sound(o->c); i++) {
        if (builtin_rule(o->rule[i]))
            o->rule[general++] = o->rule[i];
        else
            print_rule(o, o->rule[i]);
    }
    o->n = general;
    for (size_t i = 0; i < o->n && sound(o->c); i++)
        print_rule(o, o->rule[i]);
}

bool schema_to_gbnf(cJSON *schema, struct schema_grammar *g, struct schema_fault *fault)
{
    struct convert c = {.document = schema, .out = g, .fault = fault};
    *fault = (struct schema_fault){.code = SCHEMA_OK};
    g->gbnf.most = MOST_TEXT;
    c.x.failed = !document_read(&c);
    if (make_all_rules(&c)) {
        c.at = RULE_ROOT;
        struct print_order o = {.c = &c, .rule = malloc(c.n_rules * sizeof *o.rule)};
        c.x.failed = !o.rule;
        if (o.rule)
            print_rules(&o);
        free(o.rule);
        sound(&c);
    }
    exprs_free(&c.x);
    free(c.rule);
    free(c.member);
    free(c.part);
    builder_free(&c.names);
    hash_free(&c.by_schema);
    hash_free(&c.by_name);
    hash_free(&c.by_member);
    return !fault->code;
}
