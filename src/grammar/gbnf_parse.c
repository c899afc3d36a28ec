// SPDX-License-Identifier: MIT
#include "base/mem.h"
#include "grammar/gbnf.h"

#include <stdlib.h>
#include <string.h>

static bool in_name(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

// Reads a name: the rule that has it, perhaps a new one.
static bool name(struct gbnf *p, uint32_t *rule, const char **start, size_t *len)
{
    *start = p->at;
    while (in_name(gbnf_peek(p)))
        p->at++;
    *len = (size_t)(p->at - *start);
    if (!*len)
        return gbnf_fail(p, GRAMMAR_NAME, p->at, 0);
    if (!mem_grow(&p->word, &p->word_cap, *len, sizeof *p->word))
        return gbnf_memory(p);
    for (size_t i = 0; i < *len; i++)
        p->word[i] = (unsigned char)(*start)[i];
    const size_t known = p->name.n;
    const uint32_t id = intern_add(&p->name, p->word, *len);
    if (id == INTERN_NONE || !mem_grow(&p->named, &p->named_cap, p->name.n, sizeof *p->named))
        return gbnf_memory(p);
    if (id == known)
        p->named[id] = gbnf_rule(p, *start, *len);
    *rule = p->named[id];
    return *rule != INTERN_NONE || gbnf_memory(p);
}

// What cannot stand here, whole if it is a character of several bytes.
static bool unexpected(struct gbnf *p)
{
    const char *end = p->at + (p->at < p->end);
    while (end > p->at && end < p->end && (*end & 0xc0) == 0x80)
        end++;
    return gbnf_fail(p, GRAMMAR_UNEXPECTED, p->at, (size_t)(end - p->at));
}

static bool alternatives(struct gbnf *p);

// The cursor is behind the parenthesis. The nesting is bounded, so the recursion is.
static bool group(struct gbnf *p)
{
    const char *const start = p->at - 1;
    const size_t from = p->n_work;
    const struct rule *const owner = &p->g->rule[p->owner];
    const uint32_t rule = gbnf_rule(p, owner->name, owner->len);
    if (rule == INTERN_NONE)
        return gbnf_memory(p);
    if (++p->depth > GRAMMAR_MOST_DEPTH)
        return gbnf_fail(p, GRAMMAR_DEEP, start, 0);
    gbnf_space(p, true);
    if (!alternatives(p))
        return false;
    if (!gbnf_peek(p))
        return gbnf_fail(p, GRAMMAR_GROUP, start, 0);
    if (gbnf_peek(p) != ')')
        return unexpected(p);
    p->at++;
    p->depth--;
    return gbnf_define(p, rule, from) && gbnf_push(p, ELEMENT_RULE, rule);
}

static bool reference(struct gbnf *p)
{
    uint32_t rule;
    const char *start;
    size_t len;
    return name(p, &rule, &start, &len) && gbnf_push(p, ELEMENT_RULE, rule);
}

static bool any_char(struct gbnf *p)
{
    uint32_t range[4] = {1, CHAR_MAX_VALUE};
    const uint32_t class = class_add(p->g, range, 1, false);
    return class == INTERN_NONE ? gbnf_memory(p) : gbnf_push(p, ELEMENT_CLASS, class);
}

// Reads the item that begins with this character.
static bool item(struct gbnf *p)
{
    const unsigned char c = gbnf_peek(p);
    p->at += c && strchr("\"[(.", c);
    switch (c) {
    case '"':
        return gbnf_literal(p);
    case '[':
        return gbnf_class(p);
    case '(':
        return group(p);
    case '.':
        return any_char(p);
    case '<':
    case '!':
        return gbnf_token(p);
    default:
        return reference(p);
    }
}

// Reads items and operators up to what is neither.
static bool sequence(struct gbnf *p)
{
    size_t newest = p->n_work; // where its elements begin
    for (;; gbnf_space(p, p->depth)) {
        const unsigned char c = gbnf_peek(p);
        if (c && strchr("*+?{", c)) {
            if (!gbnf_repeat(p, newest))
                return false;
        } else if (in_name(c) || (c && strchr("\"[(.<!", c))) {
            newest = p->n_work;
            if (!item(p))
                return false;
        } else {
            return true;
        }
    }
}

static bool alternatives(struct gbnf *p)
{
    for (;;) {
        if (!sequence(p))
            return false;
        if (gbnf_peek(p) != '|')
            return true;
        p->at++;
        if (!gbnf_push(p, ELEMENT_END, 0))
            return false;
        gbnf_space(p, true);
    }
}

static bool rule(struct gbnf *p)
{
    const char *start;
    size_t len;
    if (!name(p, &p->owner, &start, &len))
        return false;
    if (p->g->rule[p->owner].n_alts)
        return gbnf_fail(p, GRAMMAR_TWICE, start, len);
    p->g->rule[p->owner].name = start;
    gbnf_space(p, false);
    if (p->end - p->at < 3 || memcmp(p->at, "::=", 3) != 0)
        return gbnf_fail(p, GRAMMAR_DEFINES, p->at, 0);
    p->at += 3;
    gbnf_space(p, true);
    if (!alternatives(p) || !gbnf_define(p, p->owner, 0))
        return false;
    if (gbnf_peek(p) && gbnf_peek(p) != '\n' && gbnf_peek(p) != '\r')
        return unexpected(p);
    gbnf_space(p, true);
    return true;
}

static bool find_root(struct gbnf *p)
{
    static const uint32_t root[] = {'r', 'o', 'o', 't'};
    const size_t known = p->name.n;
    const uint32_t id = intern_add(&p->name, root, 4);
    if (id == INTERN_NONE)
        return gbnf_memory(p);
    if (id == known) {
        *p->fault = (struct grammar_fault){.code = GRAMMAR_NO_ROOT};
        return false;
    }
    p->g->root = p->named[id];
    return true;
}

static bool grammar(struct gbnf *p)
{
    const char *const nul = p->end > p->text ? memchr(p->text, 0, (size_t)(p->end - p->text)) : NULL;
    if (nul)
        return gbnf_fail(p, GRAMMAR_NUL, nul, 0);
    for (gbnf_space(p, true); p->at < p->end;)
        if (!rule(p))
            return false;
    if (!find_root(p))
        return false;
    if (rules_check(p->g, p->fault))
        return true;
    const struct grammar_fault f = *p->fault;
    return f.name ? gbnf_fail(p, f.code, f.name, f.len) : false;
}

struct grammar *grammar_parse(const char *text, size_t len, const struct vocab *v, struct grammar_fault *fault)
{
    struct gbnf p = {.v = v, .fault = fault, .text = text, .at = text, .end = text + len};
    *fault = (struct grammar_fault){.code = GRAMMAR_MEMORY};
    p.g = calloc(1, sizeof *p.g);
    const bool ok = p.g && grammar(&p);
    free(p.work);
    free(p.named);
    free(p.word);
    intern_free(&p.name);
    if (ok) {
        *fault = (struct grammar_fault){.code = GRAMMAR_OK};
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
