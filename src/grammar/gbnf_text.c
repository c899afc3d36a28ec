// SPDX-License-Identifier: MIT
#include "base/mem.h"
#include "base/utf8.h"
#include "grammar/gbnf.h"

#include <string.h>

bool gbnf_fail(struct gbnf *p, enum grammar_code code, const char *at, size_t len)
{
    struct grammar_fault f = {.code = code, .line = 1, .column = 1, .name = at, .len = len};
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

bool gbnf_memory(struct gbnf *p)
{
    *p->fault = (struct grammar_fault){.code = GRAMMAR_MEMORY};
    return false;
}

void gbnf_space(struct gbnf *p, bool newlines)
{
    for (;;) {
        const unsigned char c = gbnf_peek(p);
        if (c == '#')
            while (p->at < p->end && *p->at != '\n' && *p->at != '\r')
                p->at++;
        else if (c == ' ' || c == '\t' || (newlines && (c == '\n' || c == '\r')))
            p->at++;
        else
            return;
    }
}

uint32_t gbnf_number(struct gbnf *p)
{
    uint64_t v = 0;
    for (; gbnf_peek(p) >= '0' && gbnf_peek(p) <= '9'; p->at++)
        v = v < UINT32_MAX ? v * 10 + (uint64_t)(*p->at - '0') : v;
    return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

static int hex_digit(unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool hexadecimal(struct gbnf *p, const char *escape, int digits, uint32_t *c)
{
    for (*c = 0; digits--; p->at++) {
        const int v = hex_digit(gbnf_peek(p));
        if (v < 0)
            return gbnf_fail(p, GRAMMAR_ESCAPE, escape, (size_t)(p->at - escape));
        *c = *c << 4 | (uint32_t)v;
    }
    return true;
}

static bool escaped(struct gbnf *p, uint32_t *c)
{
    const char *const escape = p->at++;
    const unsigned char kind = gbnf_peek(p);
    if (kind)
        p->at++;
    switch (kind) {
    case 'x':
        return hexadecimal(p, escape, 2, c);
    case 'u':
        return hexadecimal(p, escape, 4, c);
    case 'U':
        return hexadecimal(p, escape, 8, c);
    case 't':
        *c = '\t';
        return true;
    case 'r':
        *c = '\r';
        return true;
    case 'n':
        *c = '\n';
        return true;
    case '\\':
    case '"':
    case '[':
    case ']':
        *c = kind;
        return true;
    default:
        return gbnf_fail(p, GRAMMAR_ESCAPE, escape, (size_t)(p->at - escape));
    }
}

bool gbnf_char(struct gbnf *p, uint32_t *c)
{
    if (gbnf_peek(p) == '\\')
        return escaped(p, c);
    const size_t n = p->at < p->end ? utf8_decode((const unsigned char *)p->at, (size_t)(p->end - p->at), c) : 0;
    p->at += n;
    return n || gbnf_fail(p, GRAMMAR_UTF8, p->at, 0);
}

bool gbnf_literal(struct gbnf *p)
{
    const char *const start = p->at - 1;
    while (gbnf_peek(p) != '"') {
        uint32_t range[4];
        if (!gbnf_peek(p))
            return gbnf_fail(p, GRAMMAR_LITERAL, start, 0);
        if (!gbnf_char(p, range))
            return false;
        range[1] = range[0];
        const uint32_t class = class_add(p->g, range, 1, false);
        if (class == INTERN_NONE)
            return gbnf_memory(p);
        if (!gbnf_push(p, ELEMENT_CLASS, class))
            return false;
    }
    p->at++;
    return true;
}

// One character or range of a class, as two words at `to`.
static bool range(struct gbnf *p, uint32_t *to)
{
    const char *const start = p->at;
    if (!gbnf_char(p, &to[0]))
        return false;
    to[1] = to[0];
    if (gbnf_peek(p) != '-' || p->end - p->at < 2 || p->at[1] == ']')
        return true;
    p->at++;
    if (!gbnf_char(p, &to[1]))
        return false;
    return to[0] <= to[1] || gbnf_fail(p, GRAMMAR_RANGE, start, (size_t)(p->at - start));
}

bool gbnf_class(struct gbnf *p)
{
    const char *const start = p->at - 1;
    const bool negated = gbnf_peek(p) == '^';
    size_t n = 0;
    p->at += negated;
    for (; gbnf_peek(p) != ']'; n++) {
        if (!gbnf_peek(p))
            return gbnf_fail(p, GRAMMAR_CLASS, start, 0);
        if (!mem_grow(&p->word, &p->word_cap, 2 * n + 4, sizeof *p->word)) // class_add may want room for one more
            return gbnf_memory(p);
        if (!range(p, p->word + 2 * n))
            return false;
    }
    p->at++;
    if (!n)
        return gbnf_fail(p, GRAMMAR_EMPTY_CLASS, start, (size_t)(p->at - start));
    const uint32_t class = class_add(p->g, p->word, n, negated);
    return class == INTERN_NONE ? gbnf_memory(p) : gbnf_push(p, ELEMENT_CLASS, class);
}

// The token that <[id]> or <text> stands for; the cursor is at '<'.
static bool token_id(struct gbnf *p, uint32_t *id)
{
    const char *const start = p->at++;
    if (gbnf_peek(p) == '[') {
        p->at++;
        const char *const digits = p->at;
        *id = gbnf_number(p);
        if (p->at == digits || p->end - p->at < 2 || memcmp(p->at, "]>", 2) != 0)
            return gbnf_fail(p, GRAMMAR_TOKEN, start, 0);
        p->at += 2;
        return *id < VOCAB_NONE && (!p->v || *id < p->v->n) ? true
                                                            : gbnf_fail(p, GRAMMAR_TOKEN_ID, start, (size_t)(p->at - start));
    }
    while (gbnf_peek(p) && *p->at != '>' && *p->at != '\n')
        p->at++;
    if (gbnf_peek(p) != '>')
        return gbnf_fail(p, GRAMMAR_TOKEN, start, 0);
    p->at++;
    *id = p->v ? vocab_find(p->v, start, (size_t)(p->at - start)) : 0;
    return *id != VOCAB_NONE || gbnf_fail(p, GRAMMAR_TOKEN_UNKNOWN, start, (size_t)(p->at - start));
}

bool gbnf_token(struct gbnf *p)
{
    const bool negated = gbnf_peek(p) == '!';
    uint32_t id;
    p->at += negated;
    if (gbnf_peek(p) != '<')
        return gbnf_fail(p, GRAMMAR_TOKEN, p->at, 0);
    return token_id(p, &id) && gbnf_push(p, negated ? ELEMENT_NOT_TOKEN : ELEMENT_TOKEN, id);
}
