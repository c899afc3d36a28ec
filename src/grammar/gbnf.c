// SPDX-License-Identifier: MIT
// The reader of GBNF text. Groups and repetitions become rules of their own, so that alternatives consist only of
// elements.
#include "grammar/gbnf.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NO_RULE  UINT32_MAX
#define NO_PLACE SIZE_MAX // the fault has no place in the text

// ---- rules

// Adds a rule without alternatives. Returns its number, or NO_RULE on a fault.
static uint32_t add_rule(struct gbnf *p, const char *name, size_t len)
{
    struct grammar *const g = p->g;
    const struct grammar_rule rule = {.name = name, .len = len};
    if (mem_push(&g->rule, &g->n_rules, &g->rule_cap, &rule, sizeof rule))
        return (uint32_t)g->n_rules - 1;
    gbnf_memory(p);
    return NO_RULE;
}

// Adds a rule for a group or repetition in the rule that is being defined.
static uint32_t add_part_rule(struct gbnf *p)
{
    const struct grammar_rule owner = p->g->rule[p->owner];
    p->n_names++;
    return add_rule(p, owner.name, owner.len);
}

// Defines a rule by the elements of the work from `from` on, and removes these from the work.
static void define(struct gbnf *p, uint32_t rule, size_t from)
{
    struct grammar *const g = p->g;
    gbnf_push(p, ELEMENT_END, 0);
    assert(from <= p->n_work);
    const size_t n = p->n_work - from;
    if (!mem_grow(&g->element, &g->element_cap, g->n_elements + n, sizeof *g->element) ||
        !mem_grow(&g->alt, &g->alt_cap, g->n_alts + n, sizeof *g->alt))
        gbnf_memory(p);
    if (p->fault.status)
        return;
    g->rule[rule].first_alt = g->n_alts;
    for (size_t i = from; i < p->n_work; i++) {
        if (i == from || p->work[i - 1].type == ELEMENT_END)
            g->alt[g->n_alts++] = (uint32_t)g->n_elements;
        g->element[g->n_elements++] = p->work[i];
    }
    g->rule[rule].n_alts = g->n_alts - g->rule[rule].first_alt;
    p->n_work = from;
}

// Returns the rule with a name, or NO_RULE.
static uint32_t find_rule(const struct gbnf *p, const char *name, size_t len)
{
    const uint32_t hash = hash_bytes(name, len);
    size_t at = hash, i;
    while ((i = hash_next(&p->names, hash, &at)) != HASH_NONE)
        if (p->g->rule[i].len == len && !memcmp(p->g->rule[i].name, name, len))
            return (uint32_t)i;
    return NO_RULE;
}

static bool in_name(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

// Reads a name and returns the rule with this name, which is added if it is new. NO_RULE on a fault.
static uint32_t read_name(struct gbnf *p)
{
    const char *const start = p->at;
    while (in_name(gbnf_byte(p)))
        p->at++;
    const size_t len = (size_t)(p->at - start);
    uint32_t rule = len ? find_rule(p, start, len) : NO_RULE;
    if (!len)
        gbnf_fail(p, start, "the name of a rule is expected here");
    else if (rule == NO_RULE) {
        rule = add_rule(p, start, len);
        p->n_names++;
        if (rule != NO_RULE && !hash_add(&p->names, hash_bytes(start, len), rule))
            gbnf_memory(p);
    }
    return rule;
}

// ---- repetitions

// Replaces the item, the work from `item` on, by its repetition: `least` times the item, then a rule for the rest. For
// each further item, that rule is "item rest | ", where `rest` is the rule of one item less. If `most` is UINT32_MAX,
// `rest` is the rule itself. An item of several elements gets a rule of its own.
static void repeat_item(struct gbnf *p, size_t item, uint32_t least, uint32_t most)
{
    const bool loop = most == UINT32_MAX;
    uint32_t rest = NO_RULE;
    assert(item < p->n_work && least <= most);
    if (p->n_work - item != 1) {
        const uint32_t rule = add_part_rule(p);
        p->n_names--; // llama.cpp repeats the elements themselves
        define(p, rule, item);
        if (!p->fault.status)
            p->g->rule[rule].inlined = true;
        gbnf_push(p, ELEMENT_RULE, rule);
    }
    const struct element one = p->work[item];
    p->n_work = item;
    for (uint32_t i = 0; i < least; i++)
        gbnf_push(p, one.type, one.value);
    for (uint32_t n = loop ? 1 : most - least; n--;) {
        const uint32_t rule = add_part_rule(p);
        const size_t from = p->n_work;
        gbnf_push(p, one.type, one.value);
        if (loop || rest != NO_RULE)
            gbnf_push(p, ELEMENT_RULE, loop ? rule : rest);
        gbnf_push(p, ELEMENT_END, 0);
        define(p, rule, from);
        rest = rule;
    }
    if (rest != NO_RULE)
        gbnf_push(p, ELEMENT_RULE, rest);
}

static uint32_t read_bound(struct gbnf *p)
{
    const char *const start = p->at;
    const uint32_t bound = gbnf_read_count(p);
    if (p->at == start)
        gbnf_fail(p, start, "a repetition is {m}, {m,} or {m,n}");
    return bound;
}

// Records that llama.cpp refuses the grammar for what stands at `from` in a rule, unless there was another cause.
__attribute__((format(printf, 4, 5))) static void refuse(struct gbnf *p, const char *from, uint32_t rule,
                                                         const char *format, ...)
{
    struct grammar_refusal *const r = &p->refusal;
    const struct grammar_rule *const in = &p->g->rule[rule];
    struct err where;
    va_list args;
    if (r->err.status)
        return;
    r->at = (size_t)(from - p->text);
    r->err.status = STATUS_USAGE;
    va_start(args, format);
    err_text(r->err.text, sizeof r->err.text, format, args);
    va_end(args);
    const struct gbnf_place at = gbnf_place(p, r->at);
    err_set(&where, STATUS_USAGE, "line %zu, column %zu, in the rule %.*s", at.line, at.column,
            err_clip_part(in->name, in->len, RULE_SHOWN), in->name);
    memcpy(r->place, where.text, strlen(where.text) + 1);
}

// Reads an operator * + ? or {m}, {m,}, {m,n}, and applies it to the item. As in llama.cpp, an n above
// GRAMMAR_MOST_REPEATS is no bound.
static void read_repetition(struct gbnf *p, struct gbnf_item *item)
{
    const char *const start = p->at;
    const char kind = *p->at++;
    uint32_t least = kind == '+', most = kind == '?' ? 1 : UINT32_MAX;
    if (item->from == p->n_work)
        gbnf_fail(p, start, "there is nothing to repeat before '%.*s'", GBNF_FROM(p, start));
    if (kind == '{') {
        gbnf_skip_space(p, p->n_groups);
        const char *const bound = p->at;
        least = most = read_bound(p);
        if (least > GRAMMAR_MOST_REPEATS)
            gbnf_fail(p, bound, "at least '%.*s' repetitions are too many, the most is %d", GBNF_FROM(p, bound),
                      GRAMMAR_MOST_REPEATS);
        gbnf_skip_space(p, p->n_groups);
        if (gbnf_pass(p, ',')) {
            gbnf_skip_space(p, p->n_groups);
            most = gbnf_byte(p) == '}' ? UINT32_MAX : read_bound(p);
            gbnf_skip_space(p, p->n_groups);
        }
        if (!gbnf_pass(p, '}'))
            gbnf_fail(p, p->at, "a repetition is {m}, {m,} or {m,n}");
        if (least > most)
            gbnf_fail(p, start, "the repetition '%.*s' has its bounds in the wrong order", GBNF_FROM(p, start));
    }
    if (most > GRAMMAR_MOST_REPEATS)
        most = UINT32_MAX;
    const uint32_t count = most != UINT32_MAX && most ? most : least ? least : 1;
    if (p->fault.status)
        return;
    if (item->rules * count > GRAMMAR_MOST_REPEATS)
        refuse(p, start, p->owner, "%" PRIu32 " repetition%s of a group of %" PRIu64 " rules %s more than %d", count,
               count > 1 ? "s" : "", item->rules, count > 1 ? "are" : "is", GRAMMAR_MOST_REPEATS);
    else
        item->rules *= count;
    repeat_item(p, item->from, least, most);
}

// ---- the grammar

// Reports the character at the cursor, with all its bytes, as unexpected.
static void unexpected(struct gbnf *p)
{
    const char *const start = p->at;
    p->at += p->at < p->end;
    while (p->at > start && p->at < p->end && (*p->at & 0xc0) == 0x80)
        p->at++;
    gbnf_fail(p, start, "'%.*s' is not expected here", GBNF_FROM(p, start));
}

// Opens a group; the cursor is behind its parenthesis.
static void open_group(struct gbnf *p)
{
    const struct gbnf_group group = {
        .open = p->at - 1, .from = p->n_work, .names_before = p->n_names, .rule = add_part_rule(p)};
    if (!mem_push(&p->group, &p->n_groups, &p->group_cap, &group, sizeof group))
        gbnf_memory(p);
    gbnf_skip_space(p, true);
}

// Closes the newest group and makes it an item of the group around it.
static void close_group(struct gbnf *p, struct gbnf_item *item)
{
    const struct gbnf_group group = p->group[--p->n_groups];
    define(p, group.rule, group.from);
    *item = (struct gbnf_item){.from = p->n_work, .rules = p->n_names - group.names_before};
    gbnf_push(p, ELEMENT_RULE, group.rule);
}

// Reads one item that is no group. False: another character comes.
static bool read_single(struct gbnf *p)
{
    const unsigned char c = gbnf_byte(p);
    if (gbnf_pass(p, '"'))
        gbnf_read_literal(p);
    else if (gbnf_pass(p, '['))
        gbnf_read_class(p);
    else if (gbnf_pass(p, '.'))
        gbnf_push_range(p, 1, CHAR_MAX_VALUE);
    else if (c == '<' || c == '!')
        gbnf_read_token(p);
    else if (in_name(c))
        gbnf_push(p, ELEMENT_RULE, read_name(p));
    else
        return false;
    return true;
}

// Reads the alternatives of a rule.
static void read_alternatives(struct gbnf *p)
{
    struct gbnf_item item = {.from = p->n_work};
    for (;;) {
        const unsigned char c = gbnf_byte(p);
        const size_t from = p->n_work;
        bool newlines = p->n_groups;
        if (c && strchr("*+?{", c)) {
            read_repetition(p, &item);
        } else if (gbnf_pass(p, '(')) {
            open_group(p);
            item.from = p->n_work;
        } else if (p->n_groups && gbnf_pass(p, ')')) {
            close_group(p, &item);
            newlines = p->n_groups;
        } else if (gbnf_pass(p, '|')) {
            gbnf_push(p, ELEMENT_END, 0);
            item.from = p->n_work;
            newlines = true;
        } else if (read_single(p)) {
            item = (struct gbnf_item){.from = from, .rules = 1};
        } else {
            break;
        }
        gbnf_skip_space(p, newlines);
    }
    if (p->n_groups && !gbnf_byte(p))
        gbnf_fail(p, p->group[p->n_groups - 1].open, "this group has no closing ')'");
    else if (p->n_groups)
        unexpected(p);
}

static void read_rule(struct gbnf *p)
{
    const char *const start = p->at;
    p->owner = read_name(p);
    if (p->fault.status)
        return;
    struct grammar_rule *const rule = &p->g->rule[p->owner];
    if (rule->n_alts)
        gbnf_warn(p, start, "the rule '%.*s' is defined again; the last definition is used", GBNF_FROM(p, start));
    rule->name = start;
    gbnf_skip_space(p, false);
    if (p->end - p->at >= 3 && !memcmp(p->at, "::=", 3))
        p->at += 3;
    else
        gbnf_fail(p, p->at, "'::=' is expected here");
    gbnf_skip_space(p, true);
    read_alternatives(p);
    define(p, p->owner, 0);
    if (gbnf_byte(p) && gbnf_byte(p) != '\n' && gbnf_byte(p) != '\r')
        unexpected(p);
    gbnf_skip_space(p, true);
}

// Adds the rule that refers to root, and checks all rules.
static void finish(struct gbnf *p)
{
    const uint32_t root = find_rule(p, "root", 4);
    size_t rule = 0;
    if (root == NO_RULE) {
        err_set(&p->fault, STATUS_USAGE, "no rule is named root");
        p->fault_at = NO_PLACE;
        return;
    }
    p->g->start = (uint32_t)p->g->n_elements;
    gbnf_push(p, ELEMENT_RULE, root);
    define(p, add_rule(p, p->text, 0), 0);
    if (p->fault.status)
        return;
    if (!rules_check(p->g, &rule, &p->fault))
        p->fault_at = (size_t)(p->g->rule[rule].name - p->text);
    else if (p->g->loops < p->g->n_rules)
        refuse(p, p->g->rule[p->g->loops].name, (uint32_t)p->g->loops,
               "a repetition or rule that can come back to itself before it reads anything counts as left recursion");
}

struct grammar *grammar_parse(const char *text, size_t len, const struct vocab *v, struct grammar_refusal *refusal,
                              struct err *e)
{
    struct gbnf p = {.v = v, .text = text, .at = text, .end = text + len};
    const char *const nul = len ? memchr(text, 0, len) : NULL;
    p.g = calloc(1, sizeof *p.g);
    if (!p.g)
        gbnf_memory(&p);
    if (nul) {
        p.at = nul;
        gbnf_fail(&p, nul, "a NUL byte");
    }
    for (gbnf_skip_space(&p, true); p.at < p.end;)
        read_rule(&p);
    if (!p.fault.status)
        finish(&p);
    free(p.work);
    free(p.group);
    ranges_free(&p.ranges);
    hash_free(&p.names);
    *refusal = p.refusal;
    if (p.fault.status)
        *refusal = (struct grammar_refusal){.err = p.fault, .at = p.fault_at};
    if (p.fault.status == STATUS_USAGE && p.fault_at != NO_PLACE)
        gbnf_prefix(&p, p.fault_at, &p.fault);
    *e = p.fault.status ? p.fault : p.warning;
    if (!p.fault.status)
        return p.g;
    grammar_free(p.g);
    return NULL;
}

void grammar_show(struct builder *to, const char *text, size_t len, const struct vocab *v)
{
    char last = 0; // the byte that ends the present literal, class, comment or token; 0: outside of all
    for (size_t i = 0, n; i < len; i += n) {
        const char *const p = text + i;
        const bool escapes = last == '"' || last == ']';
        uint32_t c = 0;
        n = utf8_decode((const unsigned char *)p, len - i, &c);
        const char *const token = !last && c == '<' ? memchr(p, '>', len - i) : NULL;
        const size_t token_len = token ? (size_t)(token - p) + 1 : 0;
        if (v && !text_is_safe(p, token_len)) {
            builder_format(to, "<[%" PRIu32 "]>", vocab_find(v, p, token_len, 0));
            n = token_len;
        } else if (c == '\r' && !escapes && last != '>') {
            n += len - i > 1 && p[1] == '\n';
            builder_byte(to, '\n');
            last = 0;
        } else if (!n || (utf8_hidden(c) && c != '\n' && c != '\t')) {
            if (escapes)
                builder_format(to, c < 0x100 ? "\\x%02X" : c < 0x10000 ? "\\u%04X" : "\\U%08X", c);
            else
                builder_byte(to, '?');
            n += !n;
        } else {
            n += escapes && c == '\\';
            builder_bytes(to, p, n);
            if (!last)
                last = c == '"' ? '"' : c == '[' ? ']' : c == '#' ? '\n' : token ? '>' : 0;
            else if (c == (unsigned char)last)
                last = 0;
        }
    }
}

void grammar_free(struct grammar *g)
{
    if (!g)
        return;
    free(g->element);
    free(g->alt);
    free(g->rule);
    intern_free(&g->class);
    free(g);
}
