// SPDX-License-Identifier: MIT
#include "schema/text.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void text_free(struct text *t)
{
    free(t->p);
    *t = (struct text){0};
}

void text_bytes(struct text *t, const void *bytes, size_t len)
{
    if (t->failed || t->full)
        return;
    if (len > TEXT_MOST - t->len) {
        t->full = true;
    } else if (!mem_grow(&t->p, &t->cap, t->len + len + 1, 1)) {
        t->failed = true;
    } else {
        memcpy(t->p + t->len, bytes, len);
        t->len += len;
        t->p[t->len] = '\0';
    }
}

void text_string(struct text *t, const char *s)
{
    text_bytes(t, s, strlen(s));
}

void text_append(struct text *t, const struct text *more)
{
    t->failed = t->failed || more->failed;
    t->full = t->full || more->full;
    if (more->len)
        text_bytes(t, more->p, more->len);
}

void text_number(struct text *t, uint64_t n)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + n % 10);
    while (n /= 10);
    text_bytes(t, digits + at, sizeof digits - at);
}

static void add_hex(struct text *t, const char *before, unsigned char c)
{
    static const char hex[] = "0123456789ABCDEF";
    const char pair[2] = {hex[c >> 4], hex[c & 15]};
    text_string(t, before);
    text_bytes(t, pair, 2);
}

void text_literal(struct text *t, const char *s)
{
    text_bytes(t, "\"", 1);
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            text_bytes(t, "\\", 1);
        if (c < 0x20 || c == 0x7f)
            add_hex(t, "\\x", c);
        else
            text_bytes(t, s, 1);
    }
    text_bytes(t, "\"", 1);
}

void text_json(struct text *t, const char *s)
{
    static const char control[] = "\b\f\n\r\t\"\\", letter[] = "bfnrt\"\\";
    text_bytes(t, "\"", 1);
    for (; *s; s++) {
        const char *const known = strchr(control, *s);
        if (known) {
            text_bytes(t, "\\", 1);
            text_bytes(t, letter + (known - control), 1);
        } else if ((unsigned char)*s < 0x20) {
            add_hex(t, "\\u00", (unsigned char)*s);
        } else {
            text_bytes(t, s, 1);
        }
    }
    text_bytes(t, "\"", 1);
}

#define BLOCK UINT64_C(1000) // llama.cpp refuses counts above 2000

static void add_counts(struct text *t, uint64_t min, uint64_t max)
{
    if (min == 1 && max == 1)
        return;
    if (max == UINT64_MAX && min <= 1) {
        text_string(t, min ? "+" : "*");
    } else if (min == 0 && max == 1) {
        text_string(t, "?");
    } else {
        text_string(t, "{");
        text_number(t, min);
        if (min != max)
            text_string(t, ",");
        if (min != max && max != UINT64_MAX)
            text_number(t, max);
        text_string(t, "}");
    }
}

// BLOCK^depth items as one, `min` to `max` of them, after a space where something stands before.
static void add_blocks(struct text *t, const char *item, unsigned depth, uint64_t min, uint64_t max, bool *first)
{
    if (!max)
        return;
    if (!*first)
        text_string(t, " ");
    *first = false;
    for (unsigned i = 0; i < depth; i++)
        text_string(t, "(");
    text_string(t, item);
    for (unsigned i = 0; i < depth; i++) {
        add_counts(t, BLOCK, BLOCK);
        text_string(t, ")");
    }
    add_counts(t, min, max);
}

void text_repeat(struct text *t, const char *item, uint64_t min, uint64_t max)
{
    bool first = true;
    if (min <= BLOCK && (max <= BLOCK || max == UINT64_MAX)) {
        add_blocks(t, item, 0, min, max, &first);
    } else {
        uint64_t size = BLOCK * BLOCK * BLOCK * BLOCK, rest = max - min;
        uint64_t sure = min;
        for (unsigned depth = 5; depth-- > 0; size /= BLOCK) {
            add_blocks(t, item, depth, sure / size, sure / size, &first);
            sure %= size;
        }
        // Of up to `rest` more, blocks come only as far as single ones can still make up every number in between.
        size = BLOCK * BLOCK * BLOCK * BLOCK;
        for (unsigned depth = 5; max != UINT64_MAX && depth-- > 0; size /= BLOCK) {
            const uint64_t blocks = rest >= size - 1 ? (rest - (size - 1)) / size : 0;
            add_blocks(t, item, depth, 0, blocks, &first);
            rest -= blocks * size;
        }
        if (max == UINT64_MAX)
            add_blocks(t, item, 0, 0, max, &first);
    }
    if (first)
        text_string(t, "\"\"");
}
