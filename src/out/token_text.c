// SPDX-License-Identifier: MIT
#include "out/token_text.h"

#include "base/ranges.h"
#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Characters of East Asian width W and F (UAX 11), with the unassigned code points between them.
static const struct range wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},   {0x23f0, 0x23f0},
    {0x23f3, 0x23f3},   {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267f, 0x267f},
    {0x2693, 0x2693},   {0x26a1, 0x26a1},   {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26c5},
    {0x26ce, 0x26ce},   {0x26d4, 0x26d4},   {0x26ea, 0x26ea},   {0x26f2, 0x26f3},   {0x26f5, 0x26f5},
    {0x26fa, 0x26fa},   {0x26fd, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},   {0x2728, 0x2728},
    {0x274c, 0x274c},   {0x274e, 0x274e},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
    {0x27b0, 0x27b0},   {0x27bf, 0x27bf},   {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2b55, 0x2b55},
    {0x2e80, 0x303e},   {0x3041, 0x3247},   {0x3250, 0x4dbf},   {0x4e00, 0xa4cf},   {0xa960, 0xa97f},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},   {0xff01, 0xff60},
    {0xffe0, 0xffe6},   {0x16fe0, 0x18aff}, {0x18b00, 0x18d08}, {0x1aff0, 0x1b2fb}, {0x1f004, 0x1f004},
    {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f335},
    {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0},
    {0x1f3f4, 0x1f3f4}, {0x1f3f8, 0x1f43e}, {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d},
    {0x1f54b, 0x1f54e}, {0x1f550, 0x1f567}, {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4},
    {0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d2}, {0x1f6d5, 0x1f6df},
    {0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7f0}, {0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945},
    {0x1f947, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
};

// Combining marks (Mn and Me) of the scripts that vocabularies hold.
static const struct range combining[] = {
    {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x5bf, 0x5bf},   {0x5c1, 0x5c2},     {0x5c4, 0x5c5},
    {0x5c7, 0x5c7},   {0x610, 0x61a},   {0x64b, 0x65f},   {0x670, 0x670},   {0x6d6, 0x6dc},     {0x6df, 0x6e4},
    {0x6e7, 0x6e8},   {0x6ea, 0x6ed},   {0x711, 0x711},   {0x730, 0x74a},   {0x7a6, 0x7b0},     {0x8e3, 0x902},
    {0x93a, 0x93a},   {0x93c, 0x93c},   {0x941, 0x948},   {0x94d, 0x94d},   {0x951, 0x957},     {0x962, 0x963},
    {0x981, 0x981},   {0x9bc, 0x9bc},   {0x9c1, 0x9c4},   {0x9cd, 0x9cd},   {0x9e2, 0x9e3},     {0xa01, 0xa02},
    {0xa3c, 0xa3c},   {0xa41, 0xa51},   {0xa70, 0xa71},   {0xa81, 0xa82},   {0xabc, 0xabc},     {0xac1, 0xac8},
    {0xacd, 0xacd},   {0xb01, 0xb01},   {0xb3c, 0xb3c},   {0xb3f, 0xb3f},   {0xb41, 0xb44},     {0xb4d, 0xb56},
    {0xb82, 0xb82},   {0xbc0, 0xbc0},   {0xbcd, 0xbcd},   {0xc3e, 0xc40},   {0xc46, 0xc56},     {0xcbc, 0xcbc},
    {0xcbf, 0xcbf},   {0xccc, 0xccd},   {0xd41, 0xd44},   {0xd4d, 0xd4d},   {0xdca, 0xdca},     {0xdd2, 0xdd6},
    {0xe31, 0xe31},   {0xe34, 0xe3a},   {0xe47, 0xe4e},   {0xeb1, 0xeb1},   {0xeb4, 0xebc},     {0xec8, 0xecd},
    {0xf35, 0xf35},   {0xf37, 0xf37},   {0xf39, 0xf39},   {0xf71, 0xf7e},   {0xf80, 0xf84},     {0xf8d, 0xfbc},
    {0x102d, 0x1030}, {0x1032, 0x1037}, {0x1039, 0x103a}, {0x103d, 0x103e}, {0x135d, 0x135f},   {0x17b4, 0x17b5},
    {0x17b7, 0x17bd}, {0x17c6, 0x17c6}, {0x17c9, 0x17d3}, {0x1ab0, 0x1ace}, {0x1dc0, 0x1dff},   {0x20d0, 0x20f0},
    {0x302a, 0x302d}, {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
};

#define IN(c, table) ranges_have(table, sizeof(table) / sizeof *(table), c)

// A character as a terminal shows it: itself or an escape.
struct shown {
    char text[17]; // [len]
    size_t len;
    size_t columns; // East Asian wide characters have two, combining characters none (Unicode 14)
    size_t bytes;   // length of the character that is shown
};

// Returns the first character of a text, which is not empty. A byte that is not UTF-8 counts as a character.
static struct shown show_character(struct piece text, char quote)
{
    const unsigned char *const p = text.p;
    static const char names[] = "\n\r\t\\", values[] = "nrt\\";
    struct shown s = {.bytes = 1};
    uint32_t c = 0;
    assert(text.len);
    const size_t n = utf8_decode(p, text.len, &c);
    const char *const name = *p ? strchr(names, *p) : NULL;
    if (name || (quote && *p == (unsigned char)quote)) {
        s.len = s.columns = 2;
        s.text[0] = '\\';
        s.text[1] = name ? values[name - names] : quote;
        return s;
    }
    s.bytes = n ? n : 1;
    if (n && !utf8_hidden(c)) {
        memcpy(s.text, p, n);
        s.len = n;
        s.columns = c < 0x80 ? 1u : IN(c, combining) ? 0 : 1u + IN(c, wide);
        return s;
    }
    for (size_t i = 0; i < s.bytes; i++)
        s.len += (size_t)snprintf(s.text + s.len, sizeof s.text - s.len, "\\x%02x", p[i]);
    s.columns = s.len;
    return s;
}

size_t text_clip(struct builder *b, struct piece text, char quote, size_t most)
{
    static const char cut[] = "...";
    const size_t quotes = quote ? 2 : 0, dots = strlen(cut);
    struct shown s;
    size_t columns = quotes, fits = SIZE_MAX; // fits: columns for the characters of a text that is cut
    for (size_t at = 0; most < SIZE_MAX && at < text.len && columns <= most; at += s.bytes) {
        s = show_character((struct piece){text.p + at, text.len - at}, quote);
        columns += s.columns;
    }
    if (columns > most)
        fits = most > quotes + dots ? most - quotes - dots : 0;
    columns = 0;
    if (quote && b)
        builder_byte(b, quote);
    for (size_t at = 0; at < text.len; at += s.bytes) {
        s = show_character((struct piece){text.p + at, text.len - at}, quote);
        if (s.columns > fits - columns)
            break;
        columns += s.columns;
        if (b)
            builder_bytes(b, s.text, s.len);
    }
    if (quote && b)
        builder_byte(b, quote);
    if (fits < SIZE_MAX && b)
        builder_string(b, cut);
    return columns + quotes + (fits < SIZE_MAX ? dots : 0);
}

void text_cell(struct builder *b, struct piece text, char quote, size_t width, size_t most)
{
    const size_t columns = text_clip(b, text, quote, most);
    builder_format(b, "%*s", columns < width ? (int)(width - columns) : 0, "");
}

size_t text_columns(const unsigned char *p, size_t len, size_t *bytes)
{
    const struct shown s = show_character((struct piece){p, len}, 0);
    *bytes = s.bytes;
    return s.columns;
}

void text_escaped(struct builder *b, struct piece text, char escaped)
{
    for (size_t at = 0, bytes; at < text.len; at += bytes) {
        text_columns(text.p + at, text.len - at, &bytes);
        if (escaped && text.p[at] == (unsigned char)escaped)
            builder_byte(b, '\\');
        text_write(b, (struct piece){text.p + at, bytes}, 0);
    }
}

void account_text(struct builder *b, const struct dest *d, const char *words)
{
    for (const char *at = words, *end; *at; at = end) {
        end = at + strcspn(at, "{");
        builder_bytes(b, at, (size_t)(end - at));
        if (!*end)
            return;
        const char *const ids = end + 1;
        end += strcspn(end, "}");
        if (!d->vocab) {
            builder_bytes(b, ids, (size_t)(end++ - ids));
            continue;
        }
        struct builder text = {0}; // a character may be spread over tokens
        for (char *id = (char *)(uintptr_t)ids; id < end; id++) {
            const struct piece piece = token_text(d, (uint32_t)strtoul(id, &id, 10));
            builder_bytes(&text, piece.p, piece.len);
        }
        text_write(b, (struct piece){(const unsigned char *)text.text, text.len}, '"');
        b->failed = b->failed || text.failed;
        builder_free(&text);
        end++;
    }
}

const char *named_text(const struct named *x, char text[NUMBER_TEXT])
{
    if (x->type == NAMED_FLAG)
        return x->value != 0.0 ? "true" : "false";
    return x->type == NAMED_INT || x->type == NAMED_WIDE ? number_text_wide(x->value, text)
                                                         : number_text((float)x->value, text);
}

const char *named_plain(const struct named *x, char text[NUMBER_TEXT])
{
    if (x->type == NAMED_FLAG)
        return named_text(x, text);
    named_text(x, text);
    return number_plain(text);
}

// Returns the most columns that a token's text may take in a table: a quarter of the line.
static size_t cell_most(const struct dest *d)
{
    const size_t quarter = window_columns(d) / 4;
    return quarter < TEXT_MOST ? quarter : TEXT_MOST;
}

size_t text_width(const struct dest *d, size_t width, uint32_t id)
{
    const size_t columns = text_clip(NULL, token_text(d, id), '"', cell_most(d));
    return columns <= TEXT_MOST && columns > width ? columns : width;
}

void text_of_token(struct dest *d, uint32_t id, size_t width)
{
    if (!d->vocab)
        return;
    builder_byte(&d->text, ' ');
    text_cell(&d->text, vocab_text(d->vocab, id), '"', width, cell_most(d));
}

void token_name(struct dest *d, uint32_t token)
{
    builder_int(&d->text, token, 0);
    if (!d->vocab)
        return;
    builder_byte(&d->text, ' ');
    text_clip(&d->text, vocab_text(d->vocab, token), '"', d->screen.columns ? cell_most(d) : SIZE_MAX);
}
