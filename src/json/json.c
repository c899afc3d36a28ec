// SPDX-License-Identifier: MIT
#include "json/json.h"

#include "base/utf8.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct scan {
    const unsigned char *p, *end;
    bool exact;
    size_t depth; // arrays and objects that are open
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

// Within a string, whose opening quote is behind s->p.
static bool scan_string(struct scan *s)
{
    while (s->p < s->end && *s->p != '"') {
        uint32_t c;
        const size_t left = (size_t)(s->end - s->p), n = utf8_decode(s->p, left, &c);
        if (!n)
            return stop(s, "not UTF-8");
        if (s->exact && c < 0x20)
            return stop(s, "a control character in a string");
        if (s->exact && left >= 6 && !memcmp(s->p, "\\u0000", 6))
            return stop(s, "a NUL in a string");
        s->p += c == '\\' && left >= 2 && s->p[1] < 0x80 ? 2 : n;
    }
    if (s->p == s->end)
        return stop(s, "no end of a string");
    s->p++;
    return true;
}

static bool scan_digits(struct scan *s)
{
    const unsigned char *const start = s->p;
    while (s->p < s->end && is_digit(*s->p))
        s->p++;
    return s->p > start;
}

static bool scan_number(struct scan *s)
{
    enum { MOST = 62 }; // characters that cJSON reads
    const unsigned char *const start = s->p;
    s->p += *s->p == '-';
    const unsigned char *const whole = s->p;
    bool ok = scan_digits(s) && (*whole != '0' || s->p == whole + 1);
    if (s->p < s->end && *s->p == '.') {
        s->p++;
        ok = scan_digits(s) && ok;
    }
    if (s->p < s->end && (*s->p | 0x20) == 'e') {
        s->p++;
        s->p += s->p < s->end && (*s->p == '+' || *s->p == '-');
        ok = scan_digits(s) && ok;
    }
    if (ok && s->p - start <= MOST)
        return true;
    s->p = start;
    return stop(s, ok ? "a number of too many digits" : "not a number");
}

// The next number from s->p on: true with s->p behind it and *start at it; *start NULL at the end of the text. Unless the scan is exact,
// numbers are passed over like all else.
static bool next_number(struct scan *s, const unsigned char **start)
{
    for (*start = NULL; s->p < s->end;) {
        const unsigned char c = *s->p;
        if (s->exact && (c == '-' || is_digit(c))) {
            *start = s->p;
            return scan_number(s);
        }
        if ((c == '[' || c == '{') && ++s->depth > CJSON_NESTING_LIMIT)
            return stop(s, "nested too deep");
        s->depth -= s->depth && (c == ']' || c == '}');
        s->p++;
        if (c == '"' && !scan_string(s))
            return false;
    }
    return true;
}

// What cJSON would not look at.
static bool scan_all(struct scan *s)
{
    const unsigned char *number;
    do
        if (!next_number(s, &number))
            return false;
    while (number);
    return true;
}

// Gives the numbers of the tree, which come in the order of the text, their spelling. False: memory is short.
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

cJSON *json_parse(const char *text, size_t len, enum json_rigour rigour, struct json_fault *fault)
{
    const unsigned char *const start = (const unsigned char *)text;
    const struct scan whole = {start, start + len, rigour == JSON_EXACT, 0, NULL};
    struct scan s = whole;
    if (rigour != JSON_LOOSE && !scan_all(&s)) {
        *fault = (struct json_fault){(size_t)(s.p - start), s.why};
        return NULL;
    }
    const char *end = NULL;
    errno = 0;
    cJSON *const root = cJSON_ParseWithLengthOpts(text, len, &end, false);
    const bool no_memory = !root && errno == ENOMEM;
    while (root && end < text + len && *end && strchr(" \t\r\n", *end))
        end++;
    const size_t at = end ? (size_t)(end - text) : 0;
    s = whole;
    if (root && at == len && (rigour != JSON_EXACT || spell_numbers(root, &s)))
        return root;
    cJSON_Delete(root);
    *fault = (struct json_fault){at, at < len ? "not JSON" : "the text ends too early"};
    if (no_memory || (root && at == len))
        fault->why = NULL;
    return NULL;
}

bool json_explain(const struct json_fault *fault, struct err *e)
{
    if (!fault->why)
        return err_from_fault(e, fault_memory());
    return err_set(e, STATUS_USAGE, "byte %zu: %s", fault->at, fault->why);
}

const cJSON *json_member(const cJSON *object, const char *name)
{
    const cJSON *const value = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNull(value) ? NULL : value;
}

const cJSON *json_array(const cJSON *object, const char *name)
{
    const cJSON *const value = json_member(object, name);
    return cJSON_IsArray(value) ? value : NULL;
}

int64_t json_id(const cJSON *value)
{
    const double x = cJSON_IsNumber(value) ? value->valuedouble : -1.0;
    return x >= 0.0 && x <= INT32_MAX && x == floor(x) ? (int64_t)x : -1;
}
