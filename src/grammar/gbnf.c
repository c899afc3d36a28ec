// SPDX-License-Identifier: MIT
// The reader of GBNF text: a recursive descent whose recursion is bounded by the nesting of groups. Groups and repetitions become
// rules of their own, so that what is left is rules of alternatives of elements.
#include "base/mem.h"
#include "base/utf8.h"
#include "grammar/rules.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NO_RULE UINT32_MAX

struct gbnf {
    struct grammar *g;
    const struct vocab *v; // may be NULL
    struct grammar_fault *fault;
    const char *text, *at, *end;
    struct element *work; // [n_work] elements of the rules being read, those of inner groups last
    size_t n_work, work_cap;
    struct hash_table names;    // rules that have a name of their own
    struct ranges ranges;       // scratch: of a class
    uint32_t owner;             // the rule that is being defined
    unsigned depth;             // of groups
    struct grammar_fault twice; // the first rule that is defined again
};

// Fills the fault with the place `at` and the len bytes there as the name. Returns false.
static bool fail(struct gbnf *p, enum grammar_code code, const char *at, size_t len)
{
    struct grammar_fault f = {.code = code, .line = 1, .column = 1, .name = at, .len = len};
    assert(p->text <= at && at + len <= p->end);
    for (const char *c = p->text; c < at; c++) {
        if (*c == '\n') {
            f.line++;
            f.column = 1;
        } else if ((*c & 0xc0) != 0x80) {
            f.column++;
        }
    }
    *p->fault = f;
    return false;
}

// The fault being what has stood at `start` so far.
static bool fail_from(struct gbnf *p, enum grammar_code code, const char *start)
{
    return fail(p, code, start, (size_t)(p->at - start));
}

static bool no_memory(struct gbnf *p)
{
    *p->fault = (struct grammar_fault){.code = GRAMMAR_MEMORY};
    return false;
}

// The byte at the cursor; 0 at the end, as a NUL cannot stand in the text.
static unsigned char peek(const struct gbnf *p)
{
    return p->at < p->end ? (unsigned char)*p->at : 0;
}

// Passes blanks and comments, and line ends if they may stand here.
static void skip_space(struct gbnf *p, bool newlines)
{
    for (;;) {
        const unsigned char c = peek(p);
        if (c == '#')
            while (p->at < p->end && *p->at != '\n' && *p->at != '\r')
                p->at++;
        else if (c == ' ' || c == '\t' || (newlines && (c == '\n' || c == '\r')))
            p->at++;
        else
            return;
    }
}

// Reads a decimal number; one that is too large reads as UINT32_MAX. Without a digit the cursor stays.
static uint32_t read_number(struct gbnf *p)
{
    uint64_t v = 0;
    for (; peek(p) >= '0' && peek(p) <= '9'; p->at++)
        v = v < UINT32_MAX ? v * 10 + (uint64_t)(*p->at - '0') : v;
    return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

// ---- rules

static bool push(struct gbnf *p, enum element_type type, uint32_t value)
{
    if (p->n_work + p->g->n_elements >= GRAMMAR_MOST_ELEMENTS)
        return fail(p, GRAMMAR_LARGE, p->at, 0);
    if (!mem_grow(&p->work, &p->work_cap, p->n_work + 1, sizeof *p->work))
        return no_memory(p);
    p->work[p->n_work++] = (struct element){type, value};
    return true;
}

// A rule without alternatives.
static bool add_rule(struct gbnf *p, const char *name, size_t len, uint32_t *rule)
{
    struct grammar *const g = p->g;
    if (!mem_grow(&g->rule, &g->rule_cap, g->n_rules + 1, sizeof *g->rule))
        return no_memory(p);
    *rule = (uint32_t)g->n_rules++;
    g->rule[*rule] = (struct grammar_rule){.name = name, .len = len};
    return true;
}

// The same for a part of the rule that is being defined.
static bool add_part(struct gbnf *p, uint32_t *rule)
{
    const struct grammar_rule owner = p->g->rule[p->owner];
    return add_rule(p, owner.name, owner.len, rule);
}

// Defines a rule by the work from `from` on, and takes that away.
static bool define(struct gbnf *p, uint32_t rule, size_t from)
{
    struct grammar *const g = p->g;
    assert(from <= p->n_work);
    if (!push(p, ELEMENT_END, 0))
        return false;
    const size_t n = p->n_work - from;
    if (!mem_grow(&g->element, &g->element_cap, g->n_elements + n, sizeof *g->element))
        return no_memory(p);
    memcpy(g->element + g->n_elements, p->work + from, n * sizeof *g->element);
    p->n_work = from;
    g->rule[rule].first_alt = g->n_alts;
    g->rule[rule].n_alts = 0;
    bool starts = true;
    for (size_t i = 0; i < n; i++) {
        if (starts) {
            if (!mem_grow(&g->alt, &g->alt_cap, g->n_alts + 1, sizeof *g->alt))
                return no_memory(p);
            g->alt[g->n_alts++] = (uint32_t)g->n_elements;
            g->rule[rule].n_alts++;
        }
        starts = g->element[g->n_elements++].type == ELEMENT_END;
    }
    return true;
}

// The rule of this name, or NO_RULE.
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

// Reads a name: the rule that has it, perhaps a new one.
static bool read_name(struct gbnf *p, uint32_t *rule)
{
    const char *const start = p->at;
    while (in_name(peek(p)))
        p->at++;
    const size_t len = (size_t)(p->at - start);
    if (!len)
        return fail(p, GRAMMAR_NAME, start, 0);
    *rule = find_rule(p, start, len);
    if (*rule != NO_RULE)
        return true;
    return add_rule(p, start, len, rule) && (hash_add(&p->names, hash_bytes(start, len), *rule) || no_memory(p));
}

// ---- repetitions

// A new rule "item rest | ", or without a rest "item | ". rest is NO_RULE for none; with loop it is the rule itself.
static bool add_optional(struct gbnf *p, struct element item, uint32_t rest, bool loop, uint32_t *rule)
{
    const size_t from = p->n_work;
    if (!add_part(p, rule))
        return false;
    if (loop)
        rest = *rule;
    return push(p, item.type, item.value) && (rest == NO_RULE || push(p, ELEMENT_RULE, rest)) && push(p, ELEMENT_END, 0) &&
           define(p, *rule, from);
}

// Makes the work from item on one element, by giving several a rule of their own.
static bool as_one(struct gbnf *p, size_t item, struct element *one)
{
    uint32_t rule;
    if (p->n_work - item != 1 && (!add_part(p, &rule) || !define(p, rule, item) || !push(p, ELEMENT_RULE, rule)))
        return false;
    *one = p->work[item];
    return true;
}

// item{least,most}: `least` times the item, then nested optional ones; a loop when most is UINT32_MAX.
static bool write_out(struct gbnf *p, size_t item, uint32_t least, uint32_t most)
{
    struct element one = {ELEMENT_END, 0};
    uint32_t rest = NO_RULE;
    assert(item < p->n_work && least <= most);
    if (!as_one(p, item, &one))
        return false;
    p->n_work = item;
    for (uint32_t i = 0; i < least; i++)
        if (!push(p, one.type, one.value))
            return false;
    if (most == UINT32_MAX)
        return add_optional(p, one, NO_RULE, true, &rest) && push(p, ELEMENT_RULE, rest);
    for (uint32_t i = least; i < most; i++)
        if (!add_optional(p, one, rest, false, &rest))
            return false;
    return rest == NO_RULE || push(p, ELEMENT_RULE, rest);
}

static bool read_bound(struct gbnf *p, uint32_t limit, uint32_t *v)
{
    const char *const start = p->at;
    *v = read_number(p);
    if (p->at == start)
        return fail(p, GRAMMAR_REPEAT, start, 0);
    if (*v > limit)
        return fail_from(p, GRAMMAR_REPEAT_LARGE, start);
    skip_space(p, p->depth);
    return true;
}

// {m}, {m,} or {m,n}; the cursor is behind the brace. As in llama.cpp an n that is too large is no bound.
static bool read_bounds(struct gbnf *p, uint32_t *least, uint32_t *most)
{
    const char *const start = p->at - 1;
    skip_space(p, p->depth);
    if (!read_bound(p, GRAMMAR_MOST_REPEATS, least))
        return false;
    *most = *least;
    if (peek(p) == ',') {
        p->at++;
        skip_space(p, p->depth);
        *most = UINT32_MAX;
        if (peek(p) != '}' && !read_bound(p, UINT32_MAX, most))
            return false;
    }
    if (peek(p) != '}')
        return fail(p, GRAMMAR_REPEAT, p->at, 0);
    p->at++;
    if (*most > GRAMMAR_MOST_REPEATS)
        *most = UINT32_MAX;
    return *least <= *most || fail_from(p, GRAMMAR_REPEAT_ORDER, start);
}

// Reads an operator * + ? {...} and applies it to the work from `item` on.
static bool read_repetition(struct gbnf *p, size_t item)
{
    const char *const start = p->at;
    const char kind = *p->at++;
    uint32_t least = kind == '+', most = kind == '?' ? 1 : UINT32_MAX;
    if (item == p->n_work)
        return fail(p, GRAMMAR_NOTHING, start, 1);
    return (kind != '{' || read_bounds(p, &least, &most)) && write_out(p, item, least, most);
}

// ---- characters

static bool read_hex(struct gbnf *p, const char *escape, int digits, uint32_t *c)
{
    for (*c = 0; digits--; p->at++) {
        const int v = hex_value(peek(p));
        if (v < 0)
            return fail_from(p, GRAMMAR_ESCAPE, escape);
        *c = *c << 4 | (uint32_t)v;
    }
    return true;
}

// The cursor is at the backslash.
static bool read_escape(struct gbnf *p, uint32_t *c)
{
    static const char names[] = "nrt\\\"[]-", values[] = "\n\r\t\\\"[]-";
    const char *const escape = p->at++;
    const unsigned char kind = peek(p);
    const char *const name = kind ? strchr(names, kind) : NULL;
    p->at += kind != 0;
    if (name)
        *c = (uint32_t)values[name - names];
    else if (kind == 'x' || kind == 'u' || kind == 'U')
        return read_hex(p, escape, kind == 'x' ? 2 : kind == 'u' ? 4 : 8, c);
    return name || fail_from(p, GRAMMAR_ESCAPE, escape);
}

// Reads one character of a literal or class, perhaps escaped.
static bool read_char(struct gbnf *p, uint32_t *c)
{
    if (peek(p) == '\\')
        return read_escape(p, c);
    const size_t n = p->at < p->end ? utf8_decode((const unsigned char *)p->at, (size_t)(p->end - p->at), c) : 0;
    p->at += n;
    return n || fail(p, GRAMMAR_UTF8, p->at, 0);
}

// Adds the class of the characters in p->ranges, or of all others, to the work. A NUL ends a text, so no character is one.
static bool push_class(struct gbnf *p, bool negated)
{
    struct grammar *const g = p->g;
    struct ranges *const r = &p->ranges;
    const size_t known = g->class.n;
    ranges_tidy(r, 1, CHAR_MAX_VALUE);
    if ((negated && !ranges_invert(r, 1, CHAR_MAX_VALUE)) || !mem_grow(&g->ascii, &g->ascii_cap, known + 1, sizeof *g->ascii))
        return no_memory(p);
    const uint32_t class = intern_add(&g->class, (const uint32_t *)r->range, 2 * r->n);
    if (class == INTERN_NONE)
        return no_memory(p);
    if (class == known) {
        memset(g->ascii[class], 0, sizeof g->ascii[class]);
        for (size_t i = 0; i < r->n; i++)
            for (uint32_t c = r->range[i].first; c <= r->range[i].last && c < 128; c++)
                g->ascii[class][c / 64] |= UINT64_C(1) << c % 64;
    }
    return push(p, ELEMENT_CLASS, class);
}

static bool push_range(struct gbnf *p, uint32_t first, uint32_t last)
{
    p->ranges.n = 0;
    return (ranges_add(&p->ranges, first, last) || no_memory(p)) && push_class(p, false);
}

// The cursor is behind the opening quote.
static bool read_literal(struct gbnf *p)
{
    const char *const start = p->at - 1;
    while (peek(p) != '"') {
        uint32_t c;
        if (!peek(p))
            return fail(p, GRAMMAR_LITERAL, start, 0);
        if (!read_char(p, &c) || !push_range(p, c, c))
            return false;
    }
    p->at++;
    return true;
}

// One character or range of a class.
static bool read_range(struct gbnf *p)
{
    const char *const start = p->at;
    uint32_t first = 0, last;
    if (!read_char(p, &first))
        return false;
    last = first;
    if (peek(p) == '-' && p->end - p->at >= 2 && p->at[1] != ']') {
        p->at++;
        if (!read_char(p, &last))
            return false;
        if (first > last)
            return fail_from(p, GRAMMAR_RANGE, start);
    }
    return ranges_add(&p->ranges, first, last) || no_memory(p);
}

// The cursor is behind the opening bracket.
static bool read_class(struct gbnf *p)
{
    const char *const start = p->at - 1;
    const bool negated = peek(p) == '^';
    p->at += negated;
    p->ranges.n = 0;
    while (peek(p) != ']') {
        if (!peek(p))
            return fail(p, GRAMMAR_CLASS, start, 0);
        if (!read_range(p))
            return false;
    }
    p->at++;
    return p->ranges.n ? push_class(p, negated) : fail_from(p, GRAMMAR_EMPTY_CLASS, start);
}

// ---- tokens

// The token that <[id]> or <text> stands for; the cursor is at '<'.
static bool read_token_id(struct gbnf *p, uint32_t *id)
{
    const char *const start = p->at++;
    if (peek(p) == '[') {
        const char *const digits = ++p->at;
        *id = read_number(p);
        if (p->at == digits || p->end - p->at < 2 || memcmp(p->at, "]>", 2) != 0)
            return fail(p, GRAMMAR_TOKEN, start, 0);
        p->at += 2;
        return (*id < VOCAB_NONE && (!p->v || *id < p->v->n)) || fail_from(p, GRAMMAR_TOKEN_ID, start);
    }
    while (peek(p) && *p->at != '>' && *p->at != '\n')
        p->at++;
    if (peek(p) != '>')
        return fail(p, GRAMMAR_TOKEN, start, 0);
    p->at++;
    *id = p->v ? vocab_find(p->v, start, (size_t)(p->at - start)) : 0;
    return *id != VOCAB_NONE || fail_from(p, GRAMMAR_TOKEN_UNKNOWN, start);
}

static bool read_token(struct gbnf *p)
{
    const bool negated = peek(p) == '!';
    uint32_t id = VOCAB_NONE;
    p->at += negated;
    if (peek(p) != '<')
        return fail(p, GRAMMAR_TOKEN, p->at, 0);
    return read_token_id(p, &id) && push(p, negated ? ELEMENT_NOT_TOKEN : ELEMENT_TOKEN, id);
}

// ---- the grammar

// What cannot stand here, whole if it is a character of several bytes.
static bool unexpected(struct gbnf *p)
{
    const char *end = p->at + (p->at < p->end);
    while (end > p->at && end < p->end && (*end & 0xc0) == 0x80)
        end++;
    return fail(p, GRAMMAR_UNEXPECTED, p->at, (size_t)(end - p->at));
}

static bool read_alternatives(struct gbnf *p);

// The cursor is behind the parenthesis.
static bool read_group(struct gbnf *p)
{
    const char *const start = p->at - 1;
    const size_t from = p->n_work;
    uint32_t rule;
    if (!add_part(p, &rule))
        return false;
    if (++p->depth > GRAMMAR_MOST_DEPTH)
        return fail(p, GRAMMAR_DEEP, start, 0);
    skip_space(p, true);
    if (!read_alternatives(p))
        return false;
    if (!peek(p))
        return fail(p, GRAMMAR_GROUP, start, 0);
    if (peek(p) != ')')
        return unexpected(p);
    p->at++;
    p->depth--;
    return define(p, rule, from) && push(p, ELEMENT_RULE, rule);
}

// Reads the item that begins with this character.
static bool read_item(struct gbnf *p)
{
    const unsigned char c = peek(p);
    uint32_t rule = NO_RULE;
    p->at += c && strchr("\"[(.", c);
    switch (c) {
    case '"':
        return read_literal(p);
    case '[':
        return read_class(p);
    case '(':
        return read_group(p);
    case '.':
        return push_range(p, 1, CHAR_MAX_VALUE);
    case '<':
    case '!':
        return read_token(p);
    default:
        return read_name(p, &rule) && push(p, ELEMENT_RULE, rule);
    }
}

// Reads items and operators up to what is neither.
static bool read_sequence(struct gbnf *p)
{
    size_t newest = p->n_work; // where its elements begin
    for (;; skip_space(p, p->depth)) {
        const unsigned char c = peek(p);
        if (c && strchr("*+?{", c)) {
            if (!read_repetition(p, newest))
                return false;
        } else if (in_name(c) || (c && strchr("\"[(.<!", c))) {
            newest = p->n_work;
            if (!read_item(p))
                return false;
        } else {
            return true;
        }
    }
}

static bool read_alternatives(struct gbnf *p)
{
    for (;;) {
        if (!read_sequence(p))
            return false;
        if (peek(p) != '|')
            return true;
        p->at++;
        if (!push(p, ELEMENT_END, 0))
            return false;
        skip_space(p, true);
    }
}

static bool read_rule(struct gbnf *p)
{
    const char *const start = p->at;
    if (!read_name(p, &p->owner))
        return false;
    if (p->g->rule[p->owner].n_alts && !p->twice.code) {
        fail_from(p, GRAMMAR_TWICE, start);
        p->twice = *p->fault;
    }
    p->g->rule[p->owner].name = start;
    skip_space(p, false);
    if (p->end - p->at < 3 || memcmp(p->at, "::=", 3) != 0)
        return fail(p, GRAMMAR_DEFINES, p->at, 0);
    p->at += 3;
    skip_space(p, true);
    if (!read_alternatives(p) || !define(p, p->owner, 0))
        return false;
    if (peek(p) && peek(p) != '\n' && peek(p) != '\r')
        return unexpected(p);
    skip_space(p, true);
    return true;
}

static bool read_grammar(struct gbnf *p)
{
    const char *const nul = p->end > p->text ? memchr(p->text, 0, (size_t)(p->end - p->text)) : NULL;
    if (nul)
        return fail(p, GRAMMAR_NUL, nul, 0);
    for (skip_space(p, true); p->at < p->end;)
        if (!read_rule(p))
            return false;
    const uint32_t root = find_rule(p, "root", 4);
    uint32_t start = NO_RULE;
    if (root == NO_RULE) {
        *p->fault = (struct grammar_fault){.code = GRAMMAR_NO_ROOT};
        return false;
    }
    p->g->start = (uint32_t)p->g->n_elements;
    if (!add_rule(p, p->text, 0, &start) || !push(p, ELEMENT_RULE, root) || !define(p, start, 0))
        return false;
    if (rules_check(p->g, p->fault))
        return true;
    const struct grammar_fault f = *p->fault;
    return f.name ? fail(p, f.code, f.name, f.len) : false;
}

struct grammar *grammar_parse(const char *text, size_t len, const struct vocab *v, struct grammar_fault *fault)
{
    struct gbnf p = {.v = v, .fault = fault, .text = text, .at = text, .end = text + len};
    *fault = (struct grammar_fault){.code = GRAMMAR_MEMORY};
    p.g = calloc(1, sizeof *p.g);
    const bool ok = p.g && read_grammar(&p);
    free(p.work);
    ranges_free(&p.ranges);
    hash_free(&p.names);
    if (ok) {
        *fault = p.twice;
        return p.g;
    }
    grammar_free(p.g);
    return NULL;
}

void grammar_free(struct grammar *g)
{
    if (!g)
        return;
    free(g->element);
    free(g->alt);
    free(g->rule);
    free(g->ascii);
    intern_free(&g->class);
    free(g);
}
