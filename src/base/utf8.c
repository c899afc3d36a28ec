// SPDX-License-Identifier: MIT
#include "base/utf8.h"

#include <assert.h>
#include <string.h>

size_t utf8_encode(unsigned char to[4], uint32_t point)
{
    assert(point < 1u << 21);
    if (point < 0x80) {
        to[0] = (unsigned char)point;
        return 1;
    }
    const size_t n = 2u + (point >= 0x800) + (point >= 0x10000);
    for (size_t i = n; --i; point >>= 6)
        to[i] = (unsigned char)(0x80 | (point & 0x3f));
    to[0] = (unsigned char)(0xf00u >> n | point);
    return n;
}

size_t json_escape(char to[JSON_CHARACTER], const unsigned char *p, size_t len, size_t *taken)
{
    static const char names[] = "\n\r\t\\\"", letters[] = "nrt\\\"", digits[] = "0123456789abcdef";
    static const char unknown[3] = {'\xef', '\xbf', '\xbd'}, code[4] = {'\\', 'u', '0', '0'};
    uint32_t c;
    const size_t n = utf8_decode(p, len, &c);
    const char *const name = *p ? strchr(names, *p) : NULL;
    *taken = n ? n : 1;
    if (!n) {
        memcpy(to, unknown, sizeof unknown);
        return sizeof unknown;
    }
    if (name) {
        to[0] = '\\';
        to[1] = letters[name - names];
        return 2;
    }
    if (c < 0x20 || c == 0x7f) {
        memcpy(to, code, sizeof code);
        to[4] = digits[c >> 4];
        to[5] = digits[c & 15];
        return 6;
    }
    memcpy(to, p, n);
    return n;
}
