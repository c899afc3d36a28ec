// SPDX-License-Identifier: MIT
#include "vocab/token_class.h"

#include "base/ranges.h"
#include "base/utf8.h"

static bool is_white(uint32_t c)
{
    static const struct range blanks[] = {{'\t', '\r'},     {' ', ' '},       {0x85, 0x85},
                                          {0xa0, 0xa0},     {0x2000, 0x200a}, {0x2028, 0x2029},
                                          {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}};
    return ranges_have(blanks, sizeof blanks / sizeof *blanks, c);
}

static bool is_ascii_digit(uint32_t c) { return c >= '0' && c <= '9'; }

static bool is_letter(uint32_t c)
{
    static const struct range others[] = {{0x80, 0xa9},     {0xab, 0xb4},     {0xb6, 0xb9},      {0xbb, 0xbf},
                                          {0xd7, 0xd7},     {0xf7, 0xf7},     {0x2000, 0x2bff},  {0x3000, 0x303f},
                                          {0xfe00, 0xfe0f}, {0xff00, 0xff20}, {0x1f000, 0x1faff}};
    if (c < 0x80)
        return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    return !ranges_have(others, sizeof others / sizeof *others, c);
}

// The kind of a text behind its first blanks.
struct content {
    bool letter_first, letters, digits, visible, others; // others: characters that are no digits
    bool points_stand;                                   // each '.' and ',' stands between two digits
};

// Reads p[0..len), which does not begin with a blank. Returns false if it is no UTF-8.
static bool read_content(struct content *t, const unsigned char *p, size_t len)
{
    bool digit_before = false;
    *t = (struct content){.points_stand = true};
    for (size_t at = 0; at < len;) {
        uint32_t c;
        const size_t n = utf8_decode(p + at, len - at, &c), next = at + n;
        if (!n)
            return false;
        const bool point = c == '.' || c == ',', letter = is_letter(c);
        if (point)
            t->points_stand = t->points_stand && digit_before && next < len && is_ascii_digit(p[next]);
        t->letter_first = t->letter_first || (!at && letter);
        t->letters = t->letters || letter;
        t->digits = t->digits || is_ascii_digit(c);
        t->others = t->others || !(point || is_ascii_digit(c));
        t->visible = t->visible || !(is_white(c) || utf8_hidden(c));
        digit_before = is_ascii_digit(c);
        at = next;
    }
    return true;
}

enum token_class token_class_of(struct piece text)
{
    struct content t;
    size_t blanks = 0, n;
    uint32_t c;
    while (blanks < text.len && (n = utf8_decode(text.p + blanks, text.len - blanks, &c)) && is_white(c))
        blanks += n;
    if (!text.len || !read_content(&t, text.p + blanks, text.len - blanks))
        return CLASS_OTHER;
    if (blanks == text.len)
        return CLASS_SPACE;
    if (t.letter_first)
        return blanks ? CLASS_SPACE_WORD : CLASS_WORD;
    if (t.digits && !t.others && t.points_stand)
        return CLASS_NUMBER;
    return !t.letters && !t.digits && t.visible ? CLASS_PUNCTUATION : CLASS_OTHER;
}
