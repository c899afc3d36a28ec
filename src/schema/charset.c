// SPDX-License-Identifier: MIT
#include "schema/charset.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void charset_free(struct charset *s)
{
    free(s->r);
    *s = (struct charset){0};
}

bool charset_add(struct charset *s, uint32_t first, uint32_t last)
{
    if (!mem_grow(&s->r, &s->cap, s->n + 1, sizeof *s->r))
        return false;
    s->r[s->n++] = (struct char_range){first, last};
    return true;
}

static int by_first(const void *a, const void *b)
{
    const struct char_range *const x = a, *const y = b;
    return (x->first > y->first) - (x->first < y->first);
}

void charset_tidy(struct charset *s)
{
    size_t n = 0;
    if (s->n)
        qsort(s->r, s->n, sizeof *s->r, by_first);
    for (size_t i = 0; i < s->n; i++)
        if (n && s->r[i].first <= s->r[n - 1].last + 1)
            s->r[n - 1].last = s->r[i].last > s->r[n - 1].last ? s->r[i].last : s->r[n - 1].last;
        else
            s->r[n++] = s->r[i];
    s->n = n;
}

bool charset_invert(struct charset *s)
{
    struct charset out = {0};
    uint32_t next = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < s->n; i++) {
        if (s->r[i].first > next)
            ok = charset_add(&out, next, s->r[i].first - 1);
        next = s->r[i].last + 1;
    }
    if (ok && next <= CHAR_MOST)
        ok = charset_add(&out, next, CHAR_MOST);
    charset_free(s);
    *s = out;
    return ok;
}

void text_character(struct text *t, uint32_t c)
{
    char u[4];
    size_t n = 1;
    if (c < 0x80) {
        u[0] = (char)c;
    } else {
        n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        for (size_t i = n; i-- > 1; c >>= 6)
            u[i] = (char)(0x80 | (c & 0x3f));
        u[0] = (char)(0xf00u >> n | c);
    }
    text_bytes(t, u, n);
}

uint32_t next_character(const char **s)
{
    const unsigned char *p = (const unsigned char *)*s;
    uint32_t c = *p++;
    if (c >= 0x80) {
        const unsigned more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
        c &= 0x3fu >> more;
        for (unsigned i = 0; i < more && (*p & 0xc0) == 0x80; i++)
            c = c << 6 | (*p++ & 0x3f);
    }
    *s = (const char *)p;
    return c;
}

// A character within a GBNF class.
static void add_member(struct text *t, uint32_t c)
{
    static const char hex[] = "0123456789ABCDEF";
    const unsigned digits = c < 0x80 ? 2 : c < 0x10000 ? 4 : 8;
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c < 0x7f && c > ' ' && strchr("_.,:;!?@#$%&/+*()<>={}|~'`", (int)c));
    if (plain || c == ' ') {
        text_character(t, c);
        return;
    }
    text_string(t, c < 0x80 ? "\\x" : c < 0x10000 ? "\\u" : "\\U");
    for (unsigned i = digits; i-- > 0;)
        text_bytes(t, hex + (c >> 4 * i & 15), 1);
}

static void add_members(struct text *t, const struct charset *s)
{
    for (size_t i = 0; i < s->n; i++) {
        add_member(t, s->r[i].first);
        if (s->r[i].last > s->r[i].first + 1)
            text_string(t, "-");
        if (s->r[i].last > s->r[i].first)
            add_member(t, s->r[i].last);
    }
}

static bool has(const struct charset *s, uint32_t c)
{
    for (size_t i = 0; i < s->n; i++)
        if (c >= s->r[i].first && c <= s->r[i].last)
            return true;
    return false;
}

// The set without what a JSON string must escape.
static bool without_escaped(const struct charset *s, struct charset *plain)
{
    struct charset rest = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < s->n; i++)
        ok = charset_add(&rest, s->r[i].first, s->r[i].last);
    ok = ok && charset_invert(&rest) && charset_add(&rest, 0, 0x1f) && charset_add(&rest, '"', '"') &&
         charset_add(&rest, '\\', '\\') && charset_add(&rest, 0x7f, 0x7f);
    charset_tidy(&rest);
    ok = ok && charset_invert(&rest);
    *plain = rest;
    return ok;
}

// The escapes of the members that need one, after "\\".
static void add_escapes(const struct charset *s, struct text *t)
{
    static const char what[] = "\b\f\n\r\t\"\\", letter[] = "bfnrt\"\\";
    bool any = false;
    for (size_t i = 0; i + 1 < sizeof what; i++)
        if (has(s, (unsigned char)what[i])) {
            text_string(t, any ? "" : "[");
            if (letter[i] == '"' || letter[i] == '\\')
                text_string(t, "\\");
            text_bytes(t, letter + i, 1);
            any = true;
        }
    text_string(t, any ? "]" : "");
    bool controls = false;
    for (uint32_t c = 0; c < 0x20; c++) {
        if (!has(s, c) || (c && memchr(what, (int)c, sizeof what)))
            continue;
        text_string(t, controls ? " | \"" : any ? " | \"u00\" (\"" : "\"u00\" (\"");
        text_number(t, c >> 4);
        text_string(t, "\" [");
        text_bytes(t, &"0123456789abcdef"[c & 15], 1);
        if ((c & 15) > 9)
            text_bytes(t, &"ABCDEF"[(c & 15) - 10], 1);
        text_string(t, "]");
        controls = true;
    }
    if (has(s, 0x7f)) {
        text_string(t, controls ? " | \"7\" [fF]" : any ? " | \"u007\" [fF]" : "\"u007\" [fF]");
    }
    text_string(t, controls ? ")" : "");
}

static bool any_escaped(const struct charset *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->r[i].first < 0x20 || (s->r[i].first <= '"' && s->r[i].last >= '"') ||
            (s->r[i].first <= '\\' && s->r[i].last >= '\\') || (s->r[i].first <= 0x7f && s->r[i].last >= 0x7f))
            return true;
    return false;
}

bool charset_write(const struct charset *s, struct text *t)
{
    struct charset plain = {0};
    bool ok = without_escaped(s, &plain);
    const bool escaped = any_escaped(s), wide = ok && plain.n && plain.r[plain.n - 1].last == CHAR_MOST;
    if (!ok) {
        charset_free(&plain);
        return false;
    }
    const bool both = escaped && plain.n;
    text_string(t, both ? "(" : "");
    if (plain.n || !escaped) {
        if (wide)
            ok = charset_invert(&plain);
        text_string(t, wide ? "[^" : "[");
        add_members(t, &plain);
        text_string(t, "]");
    }
    text_string(t, both ? " | " : "");
    if (escaped) {
        text_string(t, both ? "\"\\\\\" (" : "(\"\\\\\" (");
        add_escapes(s, t);
        text_string(t, both ? ")" : "))");
    }
    text_string(t, both ? ")" : "");
    charset_free(&plain);
    return ok;
}
