// SPDX-License-Identifier: MIT
#include "json/json.h"

#include "base/number.h"
#include "base/utf8.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

static_assert(CJSON_NESTING_LIMIT == 1000, "as messages and the manual have it");

struct scan {
    const unsigned char *p, *end;
    bool exact;
    size_t depth; // arrays and objects that are open
    const char *why;
};

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

static bool scan_number(struct scan *s)
{
    enum { MOST = 62 }; // characters that cJSON reads
    float x;
    const char *const start = (const char *)s->p, *const behind = json_number(start, (const char *)s->end, &x);
    if (!behind)
        return stop(s, "not a number");
    if (behind - start > MOST)
        return stop(s, "a number of too many digits");
    s->p += behind - start;
    return true;
}

// The next number from s->p on: true with s->p behind it and *start at it; *start NULL at the end of the text. Unless
// the scan is exact, numbers are passed over like all else.
static bool next_number(struct scan *s, const unsigned char **start)
{
    for (*start = NULL; s->p < s->end;) {
        const unsigned char c = *s->p;
        if (s->exact && (c == '-' || (c >= '0' && c <= '9'))) {
            *start = s->p;
            return scan_number(s);
        }
        if ((c == '[' || c == '{') && ++s->depth > CJSON_NESTING_LIMIT)
            return stop(s, "nested too deep, the most is 1000");
        s->depth -= s->depth && (c == ']' || c == '}');
        s->p++;
        if (c == '"' && !scan_string(s))
            return false;
    }
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
            item->valuestring = strndup((const char *)start, (size_t)(s->p - start));
            if (!item->valuestring)
                return false;
            item->type = cJSON_Raw | (item->type & ~0xff);
        }
        if (item->child && !spell_numbers(item->child, s))
            return false;
    }
    return true;
}

cJSON *json_parse(const char *text, size_t len, enum json_rigour rigour, size_t *at, struct err *e)
{
    const unsigned char *const start = (const unsigned char *)text, *number = start;
    const struct scan whole = {start, start + len, rigour == JSON_EXACT, 0, NULL};
    struct scan s = whole;
    assert(text);
    while (rigour != JSON_LOOSE && number) { // for what cJSON would not look at
        if (!next_number(&s, &number)) {
            *at = (size_t)(s.p - start);
            err_set(e, STATUS_USAGE, "byte %zu: %s", *at, s.why);
            return NULL;
        }
    }
    const char *end = text;
    errno = 0;
    cJSON *const root = cJSON_ParseWithLengthOpts(text, len, &end, false);
    const bool no_memory = !root && errno == ENOMEM;
    while (root && end < text + len && *end && strchr(" \t\r\n", *end))
        end++;
    *at = (size_t)(end - text);
    s = whole;
    if (root && *at == len && (rigour != JSON_EXACT || spell_numbers(root, &s)))
        return root;
    if (no_memory || (root && *at == len))
        err_from_fault(e, fault_memory());
    else
        err_set(e, STATUS_USAGE, "byte %zu: %s", *at, *at < len ? "not JSON" : "the text ends too early");
    cJSON_Delete(root);
    return NULL;
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
