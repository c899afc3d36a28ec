// SPDX-License-Identifier: MIT
#include "base/builder.h"

#include "base/mem.h"
#include "base/utf8.h"

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
    b->failed = len > SIZE_MAX / 2 - b->len || !mem_grow(&b->text, &b->cap, b->len + len + 1, 1);
    return !b->failed;
}

void builder_bytes(struct builder *b, const void *bytes, size_t len)
{
    if (!reserve(b, len))
        return;
    if (len)
        memcpy(b->text + b->len, bytes, len);
    b->len += len;
    b->text[b->len] = '\0';
}

void builder_byte(struct builder *b, char byte) { builder_bytes(b, &byte, 1); }

void builder_string(struct builder *b, const char *s) { builder_bytes(b, s, strlen(s)); }

void builder_character(struct builder *b, uint32_t point)
{
    unsigned char bytes[4];
    builder_bytes(b, bytes, utf8_encode(bytes, point));
}

void builder_format(struct builder *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0 || !reserve(b, (size_t)len))
        return;
    va_start(args, format);
    vsnprintf(b->text + b->len, (size_t)len + 1, format, args);
    va_end(args);
    b->len += (size_t)len;
}
