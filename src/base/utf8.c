// SPDX-License-Identifier: MIT
#include "base/utf8.h"

#include "base/ranges.h"

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

bool utf8_hidden(uint32_t point)
{
    static const struct range hidden[] = {
        {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e}, {0x200b, 0x200f},
        {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
    };
    if (point < 0x7f)
        return point < 0x20;
    return ranges_have(hidden, sizeof hidden / sizeof *hidden, point);
}

bool text_is_safe(const char *text, size_t len)
{
    for (size_t i = 0, n; i < len; i += n) {
        uint32_t c = 0;
        n = utf8_decode((const unsigned char *)text + i, len - i, &c);
        if (!n || (utf8_hidden(c) && c != '\n' && c != '\t'))
            return false;
    }
    return true;
}

void text_make_safe(char *text)
{
    char *to = text;
    for (size_t left = strlen(text), n; left; left -= n, text += n) {
        uint32_t c = 0;
        n = utf8_decode((const unsigned char *)text, left, &c);
        if (n && !utf8_hidden(c)) {
            memmove(to, text, n);
            to += n;
        } else {
            *to++ = '?';
            n += !n;
        }
    }
    *to = '\0';
}
