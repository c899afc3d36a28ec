// SPDX-License-Identifier: MIT
// UTF-8, character by character (RFC 3629).
#ifndef SAMPL_BASE_UTF8_H
#define SAMPL_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

// The code point that begins at p, of which len bytes (1 or more) are there. Returns how many bytes it takes, or 0 when no well-formed
// character begins there: a stray or missing continuation byte, an overlong form, a surrogate, a value above U+10FFFF.
static inline size_t utf8_decode(const unsigned char *p, size_t len, uint32_t *point)
{
    const unsigned char b = *p;
    const size_t n = b < 0x80 ? 1 : b < 0xc2 ? 0 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : b < 0xf5 ? 4 : 0;
    if (!n || n > len)
        return 0;
    uint32_t c = n == 1 ? b : b & (0xffu >> (n + 1));
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

#endif
