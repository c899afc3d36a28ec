// SPDX-License-Identifier: MIT
// The reader of GBNF text: a recursive descent. GRAMMAR_MOST_DEPTH limits the nesting of groups, and so the recursion.
// Groups and repetitions become rules of their own, so that alternatives consist only of elements.
#include "grammar/gbnf.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NO_RULE UINT32_MAX

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
    else if (rule == NO_RULE && (rule = add_rule(p, start, len)) != NO_RULE &&
             !hash_add(&p->names, hash_bytes(start, len), rule))
        gbnf_memory(p);
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
        define(p, rule, item);
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

// Reads an operator * + ? or {m}, {m,}, {m,n}, and applies it to the work from `item` on. As in llama.cpp, an n above
// GRAMMAR_MOST_REPEATS is no bound.
static void read_repetition(struct gbnf *p, size_t item)
{
    const char *const start = p->at;
    const char kind = *p->at++;
    uint32_t least = kind == '+', most = kind == '?' ? 1 : UINT32_MAX;
    if (item == p->n_work)
        gbnf_fail(p, start, "there is nothing to repeat before '%.*s'", GBNF_FROM(p, start));
    if (kind == '{') {
        gbnf_skip_space(p, p->depth);
        const char *const bound = p->at;
        least = most = read_bound(p);
        if (least > GRAMMAR_MOST_REPEATS)
            gbnf_fail(p, bound, "at least '%.*s' repetitions are too many, the most is %d", GBNF_FROM(p, bound),
                      GRAMMAR_MOST_REPEATS);
        gbnf_skip_space(p, p->depth);
        if (gbnf_pass(p, ',')) {
            gbnf_skip_space(p, p->depth);
            most = gbnf_byte(p) == '}' ? UINT32_MAX : read_bound(p);
            gbnf_skip_space(p, p->depth);
        }
        if (!gbnf_pass(p, '}'))
            gbnf_fail(p, p->at, "a repetition is {m}, {m,} or {m,n}");
        if (least > most)
            gbnf_fail(p, start, "the repetition '%.*s' has its bounds in the wrong order", GBNF_FROM(p, start));
    }
    if (!p->fault.status)
        repeat_item(p, item, least, most > GRAMMAR_MOST_REPEATS ? UINT32_MAX : most);
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

static void read_alternatives(struct gbnf *p);

// Reads a group; the cursor is behind its parenthesis.
static void read_group(struct gbnf *p)
{
    const char *const start = p->at - 1;
    const size_t from = p->n_work;
    const uint32_t rule = add_part_rule(p);
    if (++p->depth > GRAMMAR_MOST_DEPTH)
        gbnf_fail(p, start, "groups are nested more than %d deep", GRAMMAR_MOST_DEPTH);
    gbnf_skip_space(p, true);
    read_alternatives(p);
    if (!gbnf_byte(p))
        gbnf_fail(p, start, "this group has no closing ')'");
    else if (!gbnf_pass(p, ')'))
        unexpected(p);
    p->depth--;
    define(p, rule, from);
    gbnf_push(p, ELEMENT_RULE, rule);
}

// Reads items and operators until another character comes.
static void read_sequence(struct gbnf *p)
{
    size_t newest = p->n_work; // index of the last item's elements in the work
    for (;; gbnf_skip_space(p, p->depth)) {
        const unsigned char c = gbnf_byte(p);
        if (c && strchr("*+?{", c)) {
            read_repetition(p, newest);
            continue;
        }
        newest = p->n_work;
        if (gbnf_pass(p, '"'))
            gbnf_read_literal(p);
        else if (gbnf_pass(p, '['))
            gbnf_read_class(p);
        else if (gbnf_pass(p, '('))
            read_group(p);
        else if (gbnf_pass(p, '.'))
            gbnf_push_range(p, 1, CHAR_MAX_VALUE);
        else if (c == '<' || c == '!')
            gbnf_read_token(p);
        else if (in_name(c))
            gbnf_push(p, ELEMENT_RULE, read_name(p));
        else
            return;
    }
}

static void read_alternatives(struct gbnf *p)
{
    read_sequence(p);
    while (gbnf_pass(p, '|')) {
        gbnf_push(p, ELEMENT_END, 0);
        gbnf_skip_space(p, true);
        read_sequence(p);
    }
}

static void read_rule(struct gbnf *p)
{
    const char *const start = p->at;
    p->owner = read_name(p);
    if (p->fault.status)
        return;
    struct grammar_rule *const rule = &p->g->rule[p->owner];
    if (rule->n_alts && !p->twice.status) {
        err_set(&p->twice, STATUS_USAGE, "the rule '%.*s' is defined again; the last definition is used",
                GBNF_FROM(p, start));
        gbnf_place(p, start, &p->twice);
    }
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
        return;
    }
    p->g->start = (uint32_t)p->g->n_elements;
    gbnf_push(p, ELEMENT_RULE, root);
    define(p, add_rule(p, p->text, 0), 0);
    if (!p->fault.status && !rules_check(p->g, &rule, &p->fault) && p->fault.status == STATUS_USAGE)
        gbnf_place(p, p->g->rule[rule].name, &p->fault);
}

struct grammar *grammar_parse(const char *text, size_t len, const struct vocab *v, struct err *e)
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
    ranges_free(&p.ranges);
    hash_free(&p.names);
    *e = p.fault.status ? p.fault : p.twice;
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
