// SPDX-License-Identifier: MIT
// The cursor in GBNF text: bytes, white space and counts; characters, classes and tokens.
#include "base/mem.h"
#include "base/utf8.h"
#include "grammar/gbnf.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

struct gbnf_place gbnf_place(const struct gbnf *p, size_t at)
{
    struct gbnf_place place = {1, 1};
    assert(p->text + at <= p->end);
    for (const char *c = p->text; c < p->text + at; c++) {
        if (*c == '\n') {
            place.line++;
            place.column = 1;
        } else if ((*c & 0xc0) != 0x80) {
            place.column++;
        }
    }
    return place;
}

void gbnf_prefix(const struct gbnf *p, size_t at, struct err *e)
{
    const struct gbnf_place place = gbnf_place(p, at);
    err_prefix(e, "line %zu, column %zu", place.line, place.column);
}

void gbnf_fail(struct gbnf *p, const char *from, const char *format, ...)
{
    va_list args;
    if (p->fault.status)
        return;
    p->fault.status = STATUS_USAGE;
    va_start(args, format);
    err_text(p->fault.text, sizeof p->fault.text, format, args);
    va_end(args);
    p->fault_at = (size_t)(from - p->text);
    p->at = p->end;
}

void gbnf_warn(struct gbnf *p, const char *from, const char *format, ...)
{
    va_list args;
    if (p->warning.status)
        return;
    p->warning.status = STATUS_USAGE;
    va_start(args, format);
    err_text(p->warning.text, sizeof p->warning.text, format, args);
    va_end(args);
    gbnf_prefix(p, (size_t)(from - p->text), &p->warning);
}

void gbnf_memory(struct gbnf *p)
{
    if (!p->fault.status)
        err_from_fault(&p->fault, fault_memory());
    p->at = p->end;
}

unsigned char gbnf_byte(const struct gbnf *p) { return p->at < p->end ? (unsigned char)*p->at : 0; }

bool gbnf_pass(struct gbnf *p, char c)
{
    const bool is = p->at < p->end && *p->at == c;
    p->at += is;
    return is;
}

void gbnf_skip_space(struct gbnf *p, bool newlines)
{
    for (;;) {
        const unsigned char c = gbnf_byte(p);
        if (c == '#')
            while (p->at < p->end && *p->at != '\n' && *p->at != '\r')
                p->at++;
        else if (c == ' ' || c == '\t' || (newlines && (c == '\n' || c == '\r')))
            p->at++;
        else
            return;
    }
}

uint32_t gbnf_read_count(struct gbnf *p)
{
    uint64_t v = 0;
    for (; gbnf_byte(p) >= '0' && gbnf_byte(p) <= '9'; p->at++)
        v = v < UINT32_MAX ? v * 10 + (uint64_t)(*p->at - '0') : v;
    return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

void gbnf_push(struct gbnf *p, enum element_type type, uint32_t value)
{
    const struct element e = {type, value};
    if (p->n_work + p->g->n_elements >= GRAMMAR_MOST_ELEMENTS)
        gbnf_fail(p, p->at, "the grammar has more than %d elements once its repetitions are written out",
                  GRAMMAR_MOST_ELEMENTS);
    else if (!p->fault.status && !mem_push(&p->work, &p->n_work, &p->work_cap, &e, sizeof e))
        gbnf_memory(p);
}

// ---- characters

// Reads an escape; the cursor is at its backslash.
static uint32_t read_escape(struct gbnf *p)
{
    static const char names[] = "nrt\\\"[]-", values[] = "\n\r\t\\\"[]-";
    const char *const escape = p->at++;
    const unsigned char kind = gbnf_byte(p);
    const char *const name = kind ? strchr(names, kind) : NULL;
    uint32_t c = 0;
    p->at += kind != 0;
    if (name)
        return (uint32_t)values[name - names];
    const int digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (!digits)
        gbnf_fail(p, escape, "'%.*s' is not one of \\n \\r \\t \\\\ \\\" \\[ \\] \\- \\xHH \\uHHHH \\UHHHHHHHH",
                  GBNF_FROM(p, escape));
    for (int i = 0; i < digits; i++, p->at++) {
        const int v = hex_value(gbnf_byte(p));
        if (v < 0) {
            gbnf_fail(p, escape, "'%.*s' is not one of \\n \\r \\t \\\\ \\\" \\[ \\] \\- \\xHH \\uHHHH \\UHHHHHHHH",
                      GBNF_FROM(p, escape));
            return 0;
        }
        c = c << 4 | (uint32_t)v;
    }
    return c;
}

// Reads one character of a literal or class, perhaps escaped.
static uint32_t read_char(struct gbnf *p)
{
    uint32_t c = 0;
    if (gbnf_byte(p) == '\\')
        return read_escape(p);
    const size_t n = p->at < p->end ? utf8_decode((const unsigned char *)p->at, (size_t)(p->end - p->at), &c) : 0;
    if (!n)
        gbnf_fail(p, p->at, "not UTF-8");
    p->at += n;
    return c;
}

static void add_range(struct gbnf *p, uint32_t first, uint32_t last)
{
    if (!ranges_add(&p->ranges, first, last))
        gbnf_memory(p);
}

// Appends the class of the characters in p->ranges, or of all others, to the work. No class holds NUL, which ends a
// text.
static void push_class(struct gbnf *p, bool negated)
{
    struct ranges *const r = &p->ranges;
    uint32_t class = INTERN_NONE;
    ranges_tidy(r, 1, CHAR_MAX_VALUE);
    if (!negated || ranges_invert(r, 1, CHAR_MAX_VALUE))
        class = intern_add(&p->g->class, (const uint32_t *)r->range, 2 * r->n);
    if (class == INTERN_NONE)
        gbnf_memory(p);
    gbnf_push(p, ELEMENT_CLASS, class);
}

void gbnf_push_range(struct gbnf *p, uint32_t first, uint32_t last)
{
    p->ranges.n = 0;
    add_range(p, first, last);
    push_class(p, false);
}

void gbnf_read_literal(struct gbnf *p)
{
    const char *const start = p->at - 1;
    while (gbnf_byte(p) && gbnf_byte(p) != '"') {
        const uint32_t c = read_char(p);
        gbnf_push_range(p, c, c);
    }
    if (!gbnf_pass(p, '"'))
        gbnf_fail(p, start, "this literal has no closing '\"'");
}

void gbnf_read_class(struct gbnf *p)
{
    const char *const start = p->at - 1;
    const bool negated = gbnf_pass(p, '^');
    bool empty = true;
    p->ranges.n = 0;
    while (gbnf_byte(p) && gbnf_byte(p) != ']') {
        const char *const range = p->at;
        const uint32_t first = read_char(p);
        uint32_t last = first;
        if (p->end - p->at >= 2 && *p->at == '-' && p->at[1] != ']') {
            p->at++;
            last = read_char(p);
        }
        if (first > last)
            gbnf_warn(p, range, "the range '%.*s' ends before it begins: it holds no character", GBNF_FROM(p, range));
        else
            add_range(p, first, last);
        empty = false;
    }
    if (!gbnf_pass(p, ']'))
        gbnf_fail(p, start, "this character class has no closing ']'");
    if (empty)
        gbnf_warn(p, start, "'%.*s' holds no character: llama.cpp takes it for an empty text", GBNF_FROM(p, start));
    else
        push_class(p, negated);
}

// ---- tokens

// Reads <[id]> or <text>, or with a ! any other token.
void gbnf_read_token(struct gbnf *p)
{
    const enum element_type type = gbnf_pass(p, '!') ? ELEMENT_NOT_TOKEN : ELEMENT_TOKEN;
    const char *const start = p->at;
    uint32_t id = VOCAB_NONE;
    if (!gbnf_pass(p, '<'))
        gbnf_fail(p, start, "a token is <[id]> or <text>");
    if (gbnf_pass(p, '[')) {
        const char *const digits = p->at;
        id = gbnf_read_count(p);
        if (p->at == digits || !gbnf_pass(p, ']') || !gbnf_pass(p, '>'))
            gbnf_fail(p, start, "a token is <[id]> or <text>");
        if (id == VOCAB_NONE)
            gbnf_fail(p, start, "'%.*s' is no token's id", GBNF_FROM(p, start));
        else if (p->v && id >= p->v->n)
            gbnf_warn(p, start, "the vocabulary has no token '%.*s'", GBNF_FROM(p, start));
    } else {
        while (gbnf_byte(p) && *p->at != '>' && *p->at != '\n')
            p->at++;
        if (!gbnf_pass(p, '>'))
            gbnf_fail(p, start, "a token is <[id]> or <text>");
        id = p->v ? vocab_find(p->v, start, (size_t)(p->at - start), 0) : 0;
        if (id == VOCAB_NONE)
            gbnf_fail(p, start, "no token of the vocabulary has the text '%.*s'", GBNF_FROM(p, start));
    }
    gbnf_push(p, type, id);
}
