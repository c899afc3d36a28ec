// SPDX-License-Identifier: MIT
// The characters of texts: UTF-8 (RFC 3629) and hexadecimal digits.
#ifndef SAMPL_BASE_UTF8_H
#define SAMPL_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How many bytes a character takes that begins with this one; 0: none does.
static inline size_t utf8_length(unsigned char first)
{
    if (first < 0x80)
        return 1;
    return first < 0xc2 || first > 0xf4 ? 0 : 2u + (first >= 0xe0) + (first >= 0xf0);
}

// The code point that begins at p, of which len bytes (1 or more) are there. Returns how many bytes it takes, or 0 when
// no well-formed character begins there: a stray or missing continuation byte, an overlong form, a surrogate, a value
// above U+10FFFF.
static inline size_t utf8_decode(const unsigned char *p, size_t len, uint32_t *point)
{
    const size_t n = utf8_length(*p);
    if (!n || n > len)
        return 0;
    uint32_t c = n == 1 ? *p : *p & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    if ((n == 3 && (c < 0x800 || (c >= 0xd800 && c < 0xe000))) || (n == 4 && (c < 0x10000 || c > 0x10ffff)))
        return 0;
    *point = c;
    return n;
}

// How many bytes the first character of a string takes; 1 if it is none.
static inline size_t utf8_step(const char *s)
{
    uint32_t point;
    const size_t n = utf8_decode((const unsigned char *)s, 4, &point); // a NUL ends it sooner
    return n ? n : 1;
}

// The opposite, for any number below 2^21, whether it is a character or not. Returns how many bytes of `to` it takes, 1
// to 4.
size_t utf8_encode(unsigned char to[4], uint32_t point);

// Returns whether a character is a control or formatting character, or a line or paragraph separator, which no terminal
// and no table should be given.
bool utf8_hidden(uint32_t point);

// Returns true if a terminal may be shown the text as it is; it may have newlines and tabs.
bool text_is_safe(const char *text, size_t len);

// Replaces each hidden character, and each byte that is not UTF-8, by '?'. Whatever quotes others' texts (names of
// files, comments, what a server says) in a line for people goes through this, so that it cannot break the line or
// command the terminal. A signal handler may call it.
void text_make_safe(char *text);

// The value of a hexadecimal digit in either case, or -1.
static inline int hex_value(unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
