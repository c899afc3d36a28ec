// SPDX-License-Identifier: MIT
#include "base/builder.h"

#include "base/mem.h"
#include "base/number.h"
#include "base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void builder_free(struct builder *b)
{
    free(b->text);
    *b = (struct builder){.most = b->most};
}

void builder_clear(struct builder *b)
{
    b->len = 0;
    b->failed = b->full = false;
    if (b->text)
        *b->text = '\0';
}

// Makes room for len more bytes and a NUL.
static bool reserve(struct builder *b, size_t len)
{
    if (!builder_whole(b))
        return false;
    if (b->most && len > b->most - b->len) {
        b->full = true;
        return false;
    }
    if (b->text && len < b->cap - b->len)
        return true;
    b->failed = len > SIZE_MAX / 2 - b->len || !mem_grow(&b->text, &b->cap, b->len + len + 1, 1);
    return !b->failed;
}

void builder_add(struct builder *b, const void *bytes, size_t len)
{
    if (!reserve(b, len))
        return;
    if (len)
        memcpy(b->text + b->len, bytes, len);
    b->len += len;
    b->text[b->len] = '\0';
}

void builder_pad(struct builder *b, char byte, size_t n)
{
    if (!reserve(b, n))
        return;
    memset(b->text + b->len, byte, n);
    b->len += n;
    b->text[b->len] = '\0';
}

// Where x times the power of ten is not halfway between two integers, it is rounded to the same integer as the exact
// product: halves below 2^51 are floats, too, which the product's own rounding does not pass. printf does the others.
void builder_fixed(struct builder *b, double x, int digits, int width)
{
    static const double power[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
    const double size = fabs(x) * power[digits];
    if (!(size < 0x1p51)) {
        builder_format(b, "%*.*f", width, digits, x);
        return;
    }
    uint64_t left = (uint64_t)size;
    const double over = size - (double)left;
    if (over == 0.5) {
        builder_format(b, "%*.*f", width, digits, x);
        return;
    }
    left += over > 0.5;
    char text[24], *at = text + sizeof text;
    for (int i = 0; i <= digits || left; i++, left /= 10) {
        if (i == digits)
            *--at = '.';
        *--at = (char)('0' + left % 10);
    }
    if (signbit(x))
        *--at = '-';
    const int len = (int)(text + sizeof text - at);
    if (len < width)
        builder_pad(b, ' ', (size_t)(width - len));
    builder_bytes(b, at, (size_t)len);
}

void builder_int(struct builder *b, int64_t x, int width)
{
    char text[20], *at = text + sizeof text;
    uint64_t left = x < 0 ? -(uint64_t)x : (uint64_t)x;
    do
        *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (x < 0)
        *--at = '-';
    const int len = (int)(text + sizeof text - at);
    if (len < width)
        builder_pad(b, ' ', (size_t)(width - len));
    builder_bytes(b, at, (size_t)len);
}

void builder_float(struct builder *b, float x)
{
    if (reserve(b, NUMBER_TEXT))
        b->len += strlen(number_text(x, b->text + b->len));
}

void builder_character(struct builder *b, uint32_t point)
{
    unsigned char bytes[4];
    const size_t n = utf8_encode(bytes, point);
    builder_bytes(b, bytes, n);
}

// Formats into the room that is left. Only a text that does not fit there is formatted again.
void builder_format(struct builder *b, const char *format, ...)
{
    enum { ROOM = 128 }; // as much as most calls take
    va_list args;
    if (!builder_whole(b) || (!b->most && !reserve(b, ROOM)))
        return;
    const size_t room = b->most ? 0 : b->cap - b->len;
    va_start(args, format);
    const int len = vsnprintf(room ? b->text + b->len : NULL, room, format, args);
    va_end(args);
    if (len >= 0 && (size_t)len >= room && reserve(b, (size_t)len)) {
        va_start(args, format);
        vsnprintf(b->text + b->len, (size_t)len + 1, format, args);
        va_end(args);
    }
    if (len >= 0 && builder_whole(b))
        b->len += (size_t)len;
    if (b->text)
        b->text[b->len] = '\0';
}

// Adds the first character of p[0..len), len > 0, as JSON strings have it. Returns how many bytes of p it takes.
static size_t add_json_character(struct builder *b, const unsigned char *p, size_t len, bool page)
{
    static const char names[] = "\n\r\t\\\"", letters[] = "nrt\\\"";
    uint32_t c = 0;
    const size_t n = utf8_decode(p, len, &c);
    const char *const name = *p ? strchr(names, *p) : NULL;
    const bool escapes =
        c < 0x20 || (c >= 0x7f && c < 0xa0) || (page && (c == '<' || c == '>' || c == '&' || utf8_hidden(c)));
    if (!n) {
        builder_string(b, "\xef\xbf\xbd"); // U+FFFD
        return 1;
    }
    if (name) {
        builder_byte(b, '\\');
        builder_byte(b, letters[name - names]);
    } else if (!escapes) {
        builder_bytes(b, p, n);
    } else if (c < 0x10000) {
        builder_format(b, "\\u%04x", c);
    } else {
        builder_format(b, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
    }
    return n;
}

static void add_json(struct builder *b, const void *text, size_t len, bool page)
{
    const unsigned char *p = text;
    builder_byte(b, '"');
    for (size_t n; len; p += n, len -= n)
        n = add_json_character(b, p, len, page);
    builder_byte(b, '"');
}

void builder_json(struct builder *b, const void *text, size_t len) { add_json(b, text, len, false); }

void builder_json_page(struct builder *b, const void *text, size_t len) { add_json(b, text, len, true); }
