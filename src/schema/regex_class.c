// SPDX-License-Identifier: MIT
// Characters and sets of them in a regular expression, as ECMA 262 writes them with its u flag.
#include "schema/regex.h"

#include <string.h>

static bool memory(struct regex *x)
{
    x->out->code = SCHEMA_MEMORY;
    return false;
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

// n hexadecimal digits; -1 when they are not there.
static int64_t hex_digits(const char **p, int n)
{
    int64_t v = 0;
    for (int i = 0; i < n; i++) {
        if (hex_value((*p)[i]) < 0)
            return -1;
        v = v << 4 | hex_value((*p)[i]);
    }
    *p += n;
    return v;
}

// After \u: HHHH, a pair of them for a character beyond 16 bits, or {H...}.
static int64_t unicode(const char **p)
{
    if (**p == '{') {
        int64_t v = 0;
        const char *s = *p + 1;
        for (; hex_value(*s) >= 0 && v <= CHAR_MOST; s++)
            v = v << 4 | hex_value(*s);
        if (*s != '}' || s == *p + 1 || v > CHAR_MOST)
            return -1;
        *p = s + 1;
        return v;
    }
    const int64_t v = hex_digits(p, 4);
    if (v >= 0xd800 && v < 0xdc00 && (*p)[0] == '\\' && (*p)[1] == 'u') {
        const char *low = *p + 2;
        const int64_t w = hex_digits(&low, 4);
        if (w >= 0xdc00 && w < 0xe000) {
            *p = low;
            return 0x10000 + ((v - 0xd800) << 10) + (w - 0xdc00);
        }
    }
    return v;
}

static bool add_ranges(struct charset *set, const uint32_t *r, size_t n)
{
    for (size_t i = 0; i < n; i += 2)
        if (!charset_add(set, r[i], r[i + 1]))
            return false;
    return true;
}

// \d \w \s and their opposites; *known: it was one of them.
static bool named_set(char letter, struct charset *set, bool *known)
{
    static const uint32_t digit[] = {'0', '9'}, word[] = {'0', '9', 'A', 'Z', '_', '_', 'a', 'z'};
    static const uint32_t space[] = {'\t',   '\r',   ' ',    ' ',    0xa0,   0xa0,   0x1680, 0x1680, 0x2000, 0x200a,
                                     0x2028, 0x2029, 0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff};
    *known = letter && strchr("dDwWsS", letter);
    if (!*known)
        return true;
    const char small = (char)(letter | 0x20);
    const bool ok = small == 'd'   ? add_ranges(set, digit, sizeof digit / sizeof *digit)
                    : small == 'w' ? add_ranges(set, word, sizeof word / sizeof *word)
                                   : add_ranges(set, space, sizeof space / sizeof *space);
    charset_tidy(set);
    return ok && (letter == small || charset_invert(set));
}

bool regex_escape(struct regex *x, struct charset *set, int64_t *c, bool in_class)
{
    static const char control[] = "tnrfv", control_value[] = "\t\n\r\f\v";
    const char *const from = x->p++;
    const char letter = *x->p;
    bool known;
    *c = -1;
    if (!letter)
        return regex_fail(x, SCHEMA_BAD_PATTERN, from);
    x->p++;
    if (!named_set(letter, set, &known))
        return memory(x);
    if (known)
        return true;
    if (strchr(control, letter))
        *c = (unsigned char)control_value[strchr(control, letter) - control];
    else if (strchr("^$\\.*+?()[]{}|/-", letter) || (unsigned char)letter < '0' || strchr("\"'`#%&,:;<=>@_!~", letter))
        *c = (unsigned char)letter;
    else if (letter == 'x')
        *c = hex_digits(&x->p, 2);
    else if (letter == 'u')
        *c = unicode(&x->p);
    else if (letter == 'b' && in_class)
        *c = '\b';
    else if (letter == 'c' && ((*x->p | 0x20) >= 'a' && (*x->p | 0x20) <= 'z'))
        *c = *x->p++ & 31;
    else if (letter == '0' && (*x->p < '0' || *x->p > '9'))
        *c = 0;
    else
        return regex_fail(x, SCHEMA_PATTERN, from);
    if (*c < 0 || (*c >= 0xd800 && *c < 0xe000))
        return regex_fail(x, SCHEMA_BAD_PATTERN, from);
    return charset_add(set, (uint32_t)*c, (uint32_t)*c) || memory(x);
}

// One end of a range, or a whole set; *c -1 for the latter.
static bool class_atom(struct regex *x, struct charset *set, int64_t *c)
{
    struct charset one = {0};
    bool ok = true;
    if (*x->p == '\\') {
        ok = regex_escape(x, &one, c, true);
        for (size_t i = 0; ok && *c < 0 && i < one.n; i++)
            ok = charset_add(set, one.r[i].first, one.r[i].last) || memory(x);
        charset_free(&one);
    } else {
        *c = next_character(&x->p);
    }
    return ok;
}

bool regex_class(struct regex *x, struct charset *set)
{
    const char *const from = x->p++;
    const bool negated = *x->p == '^';
    x->p += negated;
    while (*x->p != ']') {
        const char *const item = x->p;
        int64_t first, last;
        if (!*x->p)
            return regex_fail(x, SCHEMA_BAD_PATTERN, from);
        if (!class_atom(x, set, &first))
            return false;
        last = first;
        if (*x->p == '-' && x->p[1] && x->p[1] != ']') {
            x->p++;
            if (!class_atom(x, set, &last))
                return false;
            if (first < 0 || last < first)
                return regex_fail(x, SCHEMA_BAD_PATTERN, item);
        }
        if (first >= 0 && !charset_add(set, (uint32_t)first, (uint32_t)last))
            return memory(x);
    }
    x->p++;
    charset_tidy(set);
    if (negated && !charset_invert(set))
        return memory(x);
    return set->n || regex_fail(x, SCHEMA_BAD_PATTERN, from);
}

bool regex_dot(struct regex *x, struct charset *set)
{
    static const uint32_t ends[] = {'\n', '\n', '\r', '\r', 0x2028, 0x2029};
    x->p++;
    return (add_ranges(set, ends, sizeof ends / sizeof *ends) && charset_invert(set)) || memory(x);
}
