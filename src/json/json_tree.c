// SPDX-License-Identifier: MIT
// cJSON reads the text; what it lets pass and what it loses (the spelling of numbers) is seen to here.
#include "json/json_tree.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

struct scan {
    const unsigned char *start, *p, *end;
    const char *why;
};

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool stop(struct scan *s, const char *why)
{
    s->why = why;
    return false;
}

// One character of UTF-8: how many bytes, 0 when they are none.
static size_t utf8(const unsigned char *p, const unsigned char *end)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t n = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
    if (n < 2 || (size_t)(end - p) < n)
        return n < 2 ? n : 0;
    uint32_t c = *p & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

// Within a string, whose opening quote is behind s->p.
static bool scan_string(struct scan *s)
{
    while (s->p < s->end && *s->p != '"') {
        const size_t n = utf8(s->p, s->end);
        if (!n)
            return stop(s, "not UTF-8");
        if (*s->p < 0x20)
            return stop(s, "a control character in a string");
        if (*s->p == '\\' && s->end - s->p >= 6 && !memcmp(s->p + 1, "u0000", 5))
            return stop(s, "a NUL in a string");
        s->p += *s->p == '\\' && s->end - s->p >= 2 && s->p[1] < 0x80 ? 2 : n;
    }
    return s->p < s->end ? s->p++, true : stop(s, "no end of a string");
}

static void scan_digits(struct scan *s)
{
    while (s->p < s->end && is_digit(*s->p))
        s->p++;
}

static bool scan_number(struct scan *s)
{
    const unsigned char *const start = s->p;
    s->p += *s->p == '-';
    const unsigned char *const whole = s->p;
    scan_digits(s);
    bool ok = s->p > whole && (*whole != '0' || s->p == whole + 1);
    if (s->p < s->end && *s->p == '.') {
        const unsigned char *const fraction = ++s->p;
        scan_digits(s);
        ok = ok && s->p > fraction;
    }
    if (s->p < s->end && (*s->p | 0x20) == 'e') {
        s->p++;
        s->p += s->p < s->end && (*s->p == '+' || *s->p == '-');
        const unsigned char *const exponent = s->p;
        scan_digits(s);
        ok = ok && s->p > exponent;
    }
    if (!ok || s->p - start > 62) { // cJSON reads no longer ones
        s->p = start;
        return stop(s, ok ? "a number of too many digits" : "not a number");
    }
    return true;
}

// The next number from s->p on: true with s->p behind it and *start at it; *start NULL at the end of the text.
static bool next_number(struct scan *s, const unsigned char **start)
{
    *start = NULL;
    while (s->p < s->end) {
        if (*s->p == '-' || is_digit(*s->p)) {
            *start = s->p;
            return scan_number(s);
        }
        if (*s->p == '"') {
            s->p++;
            if (!scan_string(s))
                return false;
        } else {
            s->p++;
        }
    }
    return true;
}

// The numbers of the tree come in the order of the text.
static bool spell_numbers(cJSON *item, struct scan *s)
{
    for (; item; item = item->next) {
        if (cJSON_IsNumber(item)) {
            const unsigned char *start;
            if (!next_number(s, &start) || !start)
                return false;
            const size_t len = (size_t)(s->p - start);
            char *const spelling = cJSON_malloc(len + 1);
            if (!spelling)
                return false;
            memcpy(spelling, start, len);
            spelling[len] = '\0';
            item->valuestring = spelling;
            item->type = cJSON_Raw | (item->type & ~0xff);
        }
        if (item->child && !spell_numbers(item->child, s))
            return false;
    }
    return true;
}

// How deep the first n bytes lead into arrays and objects; their strings have been scanned.
static size_t depth_after(const struct scan *s, size_t n)
{
    struct scan in = {s->start, s->start, s->end, NULL};
    size_t depth = 0;
    while (in.p < s->start + n) {
        const unsigned char c = *in.p++;
        if (c == '"' && !scan_string(&in))
            break;
        depth += c == '[' || c == '{';
        depth -= depth && (c == ']' || c == '}');
    }
    return depth;
}

// Why cJSON stopped at s->p.
static const char *reason(const struct scan *s)
{
    if (s->p == s->end)
        return "the text ends too early";
    const bool opens = *s->p == '[' || *s->p == '{';
    return opens && depth_after(s, (size_t)(s->p - s->start)) >= CJSON_NESTING_LIMIT ? "nested too deep" : "not JSON";
}

static bool at_byte(const struct scan *s, const char *why, struct err *e)
{
    return err_set(e, STATUS_USAGE, "byte %zu: %s", (size_t)(s->p - s->start), why);
}

cJSON *json_tree(const char *text, size_t len, struct err *e)
{
    const unsigned char *const start = (const unsigned char *)text, *number;
    struct scan s = {start, start, start + len, NULL};
    do
        if (!next_number(&s, &number)) {
            at_byte(&s, s.why, e);
            return NULL;
        }
    while (number);
    const char *end = NULL;
    errno = 0;
    cJSON *const root = cJSON_ParseWithLengthOpts(text, len, &end, false);
    while (root && end < text + len && *end && strchr(" \t\r\n", *end))
        end++;
    s.p = end && end < text + len ? start + (end - text) : s.end;
    if (errno == ENOMEM)
        err_from_fault(e, fault_memory());
    else if (!root || s.p < s.end)
        at_byte(&s, reason(&s), e);
    else if (s.p = start, spell_numbers(root, &s))
        return root;
    else
        err_from_fault(e, fault_memory());
    cJSON_Delete(root);
    return NULL;
}
