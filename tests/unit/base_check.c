// SPDX-License-Identifier: MIT
// base_check: compares base/ with simple versions: range sets with a table of booleans, UTF-8 encoded and decoded, builders at their limit.
#include "base/builder.h"
#include "base/hash.h"
#include "base/ranges.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 40 }; // the small sets hold numbers below SIZE

static uint32_t seed = 1;

static uint32_t dice(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static void expect(bool right, const char *what)
{
    if (right)
        return;
    printf("%s\n", what);
    exit(1);
}

static void same_set(const struct ranges *s, const bool *has)
{
    for (uint32_t x = 0; x < SIZE; x++) {
        uint32_t last = x;
        bool all = has[x], some = has[x];
        expect(ranges_have(s->range, s->n, x) == has[x], "a range set holds the wrong numbers");
        for (; last < SIZE; last++) {
            all = all && has[last];
            some = some || has[last];
            expect(ranges_cover(s->range, s->n, x, last) == all, "ranges_cover");
            expect(ranges_meet(s->range, s->n, x, last) == some, "ranges_meet");
        }
    }
    for (size_t i = 1; i < s->n; i++)
        expect(s->range[i].first > s->range[i - 1].last + 1, "a range set has adjacent or unsorted ranges");
}

static void check_ranges(void)
{
    for (int round = 0; round < 2000; round++) {
        struct ranges s = {0};
        bool has[SIZE] = {false};
        const uint32_t low = dice(5), high = SIZE - 1 - dice(5);
        for (uint32_t n = dice(8); n; n--) {
            const uint32_t first = dice(SIZE), last = first + dice(SIZE - first);
            expect(ranges_add(&s, first, last), "memory");
            for (uint32_t x = first; x <= last; x++)
                has[x] = x >= low && x <= high;
        }
        ranges_tidy(&s, low, high);
        same_set(&s, has);
        expect(ranges_invert(&s, low, high), "memory");
        for (uint32_t x = low; x <= high; x++)
            has[x] = !has[x];
        same_set(&s, has);
        ranges_free(&s);
    }
    struct ranges ends = {0};
    expect(ranges_add(&ends, UINT32_MAX, UINT32_MAX) && ranges_add(&ends, 0, 0), "memory");
    ranges_tidy(&ends, 0, UINT32_MAX);
    expect(ranges_invert(&ends, 0, UINT32_MAX) && ends.n == 1 && ends.range->first == 1 &&
               ends.range->last == UINT32_MAX - 1,
           "a range set with 0 and the largest number is wrong");
    ranges_free(&ends);
}

static void check_utf8(void)
{
    for (uint32_t c = 0; c < 0x120000; c++) {
        unsigned char text[4];
        uint32_t back = UINT32_MAX;
        const size_t n = utf8_encode(text, c), got = utf8_decode(text, n, &back);
        const bool character = c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
        expect(character ? got == n && back == c : !got, "utf8_decode does not undo utf8_encode");
        for (size_t part = 1; part < n; part++)
            expect(!utf8_decode(text, part, &back), "utf8_decode accepts a part of a character");
    }
    expect(!utf8_decode((const unsigned char *)"\xc1\x81", 2, &(uint32_t){0}), "utf8_decode accepts an overlong form");
    for (int c = 0; c < 256; c++) {
        const char *const digits = "0123456789abcdef0123456789ABCDEF", *const at = c ? strchr(digits, c) : NULL;
        expect(hex_value((unsigned char)c) == (at ? (int)(at - digits) % 16 : -1), "hex_value");
    }
}

static void check_builder(void)
{
    struct builder b = {0};
    static const unsigned char text[] = "a\"\\\n\x01\x7f\xff\xc3\xa9";
    builder_json(&b, text, sizeof text); // includes the NUL
    expect(builder_whole(&b) && !strcmp(b.text, "\"a\\\"\\\\\\n\\u0001\\u007f\xef\xbf\xbd\xc3\xa9\\u0000\""),
           "builder_json");
    builder_clear(&b);
    builder_json_page(&b, "<\xe2\x80\x8b\xf0\x9f\x98\x80\xf3\xa0\x80\x81&", 13);
    expect(!strcmp(b.text, "\"\\u003c\\u200b\xf0\x9f\x98\x80\\udb40\\udc01\\u0026\""), "builder_json_page");
    for (size_t n = 0; n < 400; n++) { // texts that fit into the room that is left, and others
        const size_t len = b.len;
        builder_format(&b, "%*d", (int)n, 7);
        builder_pad(&b, '.', n);
        expect(b.len == len + (n ? n : 1) + n && strlen(b.text) == b.len && b.text[len + (n ? n : 1) - 1] == '7',
               "builder_format or builder_pad beyond its room");
    }
    builder_clear(&b);
    builder_format(&b, "%d %s", 12, "ab");
    builder_character(&b, 0x20ac);
    builder_byte(&b, '!');
    expect(b.len == 9 && !strcmp(b.text, "12 ab\xe2\x82\xac!"), "builder_format");
    builder_clear(&b);
    builder_int(&b, INT64_MIN, 0);
    builder_int(&b, 0, 0);
    builder_int(&b, INT64_MAX, 0);
    expect(!strcmp(b.text, "-922337203685477580809223372036854775807"), "builder_int");
    builder_clear(&b);
    b.most = 5;
    builder_string(&b, "abc");
    builder_string(&b, "xyz");
    builder_string(&b, "d");
    expect(b.full && !builder_whole(&b) && !strcmp(b.text, "abc"), "a builder beyond its limit has no error");
    builder_clear(&b);
    builder_bytes(&b, "abcde", 5);
    expect(builder_whole(&b) && b.len == 5, "a builder at its limit is wrong");
    builder_format(&b, "%d", 1);
    expect(b.full && b.len == 5, "a builder beyond its limit has no error, by format");
    builder_free(&b);
}

static void check_idmap(void)
{
    enum { IDS = 3000 };
    struct idmap m = {0};
    for (int round = 0; round < 20; round++) {
        uint32_t added[IDS];
        size_t n = 0;
        for (uint32_t k = dice(round % 2 ? 50 : IDS); k; k--) {
            const uint32_t id = dice(2) ? dice(IDS) : dice(IDS) * 0x10001u;
            size_t at = 0;
            while (at < n && added[at] != id)
                at++;
            expect(idmap_find(&m, id) == (at < n ? at : IDMAP_NONE), "idmap_find");
            if (at == n)
                added[n++] = id;
            expect(idmap_add(&m, id) == at && m.n == n && m.id[at] == id, "idmap_add");
        }
        idmap_clear(&m);
        expect(!m.n && !m.numbers.n, "idmap_clear");
        for (size_t i = 0; i < m.numbers.slots; i++)
            expect(!m.numbers.slot[i].item, "idmap_clear does not clear a slot");
    }
    idmap_free(&m);
}

int main(void)
{
    check_ranges();
    check_utf8();
    check_builder();
    check_idmap();
    puts("ok");
    return 0;
}
