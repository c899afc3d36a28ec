// SPDX-License-Identifier: MIT
#include "json/json.h"

#include "base/builder.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/utf8.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static_assert(CJSON_NESTING_LIMIT == 1000, "as a message and the manual say");

static const char nul_escape[] = "\\u0000";

struct scan {
    const unsigned char *p, *end;
    bool exact;
    size_t depth;    // arrays and objects that are open
    const char *why; // the error
};

// Sets the error. Returns false.
static bool scan_fail(struct scan *s, const char *why)
{
    s->why = why;
    return false;
}

// Checks a string and skips it. s->p is behind its opening quote.
static bool scan_string(struct scan *s)
{
    while (s->p < s->end && *s->p != '"') {
        uint32_t c;
        const size_t left = (size_t)(s->end - s->p), n = utf8_decode(s->p, left, &c);
        if (!n)
            return scan_fail(s, "not UTF-8");
        if (s->exact && c < 0x20)
            return scan_fail(s, "a control character in a string");
        s->p += c == '\\' && left >= 2 && s->p[1] < 0x80 ? 2 : n;
    }
    if (s->p == s->end)
        return scan_fail(s, "no end of a string");
    s->p++;
    return true;
}

// Checks a number and skips it.
static bool scan_number(struct scan *s)
{
    enum { MOST = 62 }; // most characters of a number that cJSON reads
    float x;
    const char *const start = (const char *)s->p, *const behind = json_number(start, (const char *)s->end, &x);
    if (!behind)
        return scan_fail(s, "not a number");
    if (behind - start > MOST)
        return scan_fail(s, "a number of too many digits");
    s->p += behind - start;
    return true;
}

// Checks the text up to the end of its next number: *start is the number's begin, and s->p is behind it. At the end of
// the text, *start is NULL. Unless the scan is exact, numbers are not checked, and the scan goes to the end of the
// text.
static bool next_number(struct scan *s, const unsigned char **start)
{
    for (*start = NULL; s->p < s->end;) {
        const unsigned char c = *s->p;
        if (s->exact && (c == '-' || (c >= '0' && c <= '9'))) {
            *start = s->p;
            return scan_number(s);
        }
        if ((c == '[' || c == '{') && ++s->depth > CJSON_NESTING_LIMIT)
            return scan_fail(s, "nested too deep, the most is 1000");
        s->depth -= s->depth && (c == ']' || c == '}');
        s->p++;
        if (c == '"' && !scan_string(s))
            return false;
    }
    return true;
}

// Gives each number of the tree its spelling in the text, which has the numbers in the order of the tree, and the type.
// Returns false if memory is short, or, with s->why, if the text is not exact.
static bool spell_numbers(cJSON *item, struct scan *s, int type)
{
    for (; item; item = item->next) {
        if (cJSON_IsNumber(item)) {
            const unsigned char *start;
            if (!next_number(s, &start) || !start)
                return false;
            free(item->valuestring);
            item->valuestring = strndup((const char *)start, (size_t)(s->p - start));
            if (!item->valuestring)
                return false;
            item->type = type | (item->type & ~0xff);
        }
        if (item->child && !spell_numbers(item->child, s, type))
            return false;
    }
    return true;
}

// Adds a text with JSON_NUL in place of each escape of a NUL.
static void map_nuls(const char *text, size_t len, struct builder *to)
{
    const char *const end = text + len, *from = text;
    for (const char *p = text; (p = memchr(p, '\\', (size_t)(end - p))) && end - p > 1; p += 2) {
        if ((size_t)(end - p) < strlen(nul_escape) || memcmp(p, nul_escape, strlen(nul_escape)) != 0)
            continue;
        builder_bytes(to, from, (size_t)(p - from));
        builder_string(to, JSON_NUL);
        from = p + strlen(nul_escape);
    }
    builder_bytes(to, from, (size_t)(end - from));
}

// Parses a text that cJSON has parsed once more, if a string has an escape of a NUL, at which cJSON ends strings.
// Returns NULL if memory is short.
static cJSON *with_nuls(cJSON *root, const char *text, size_t len)
{
    struct builder mapped = {0};
    if (!mem_find(text, len, nul_escape, strlen(nul_escape)))
        return root;
    cJSON_Delete(root);
    map_nuls(text, len, &mapped);
    cJSON *const again = mapped.failed ? NULL : cJSON_ParseWithLength(mapped.text, mapped.len);
    builder_free(&mapped);
    return again;
}

cJSON *json_parse(const char *text, size_t len, enum json_rigour rigour, struct err *e)
{
    const unsigned char *const start = (const unsigned char *)text, *number = start;
    const struct scan whole = {start, start + len, rigour == JSON_EXACT, 0, NULL};
    struct scan s = whole;
    assert(text);
    while (rigour != JSON_LOOSE && number) { // checks what cJSON does not
        if (!next_number(&s, &number)) {
            err_set(e, STATUS_USAGE, "byte %zu: %s", (size_t)(s.p - start), s.why);
            return NULL;
        }
    }
    const char *end = text;
    errno = 0;
    cJSON *root = cJSON_ParseWithLengthOpts(text, len, &end, false);
    const bool no_memory = !root && errno == ENOMEM;
    while (root && end < text + len && *end && strchr(" \t\r\n", *end))
        end++;
    const bool complete = root && end == text + len;
    s = whole;
    if (complete)
        root = with_nuls(root, text, len);
    if (complete && root && (rigour != JSON_EXACT || spell_numbers(root, &s, cJSON_Raw)))
        return root;
    if (no_memory || complete)
        err_from_fault(e, fault_memory());
    else
        err_set(e, STATUS_USAGE, "byte %zu: %s", (size_t)(end - text),
                end < text + len ? "not JSON" : "the text ends too early");
    cJSON_Delete(root);
    return NULL;
}

bool json_keep_spelling(cJSON *root, const char *text, size_t len)
{
    struct scan s = {(const unsigned char *)text, (const unsigned char *)text + len, true, 0, NULL};
    return spell_numbers(root, &s, cJSON_Number) || s.why;
}

cJSON *json_parse_object(const void *text, size_t len, const char *what, struct err *e)
{
    cJSON *const root = json_parse(text, len, JSON_UTF8, e);
    if (cJSON_IsObject(root))
        return root;
    if (root) {
        err_set(e, STATUS_DATA, "%s", what);
    } else if (e->status == STATUS_USAGE) {
        err_prefix(e, "%s", what);
        e->status = STATUS_DATA;
    }
    cJSON_Delete(root);
    return NULL;
}

// Returns the name of the member that holds a NUL in its name or in a string; NULL if there is none. name: that of the
// value.
static const char *find_nul(const cJSON *value, const char *name)
{
    const char *found = NULL;
    for (const cJSON *item = value->child; item && !found; item = item->next) {
        const char *const of = item->string ? item->string : name;
        const bool holds = strstr(of, JSON_NUL) || (cJSON_IsString(item) && strstr(item->valuestring, JSON_NUL));
        found = holds ? of : find_nul(item, of);
    }
    return found;
}

bool json_refuse_nul(const cJSON *value, enum status status, struct err *e)
{
    const char *const name = value ? find_nul(value, value->string ? value->string : "") : NULL;
    return !name ||
           err_set(e, status, "\"%.*s\" holds a NUL, which only texts of tokens may", err_clip(name, 60), name);
}

// ---- members with one name

struct named_item {
    cJSON *item;
    size_t place; // in the object
};

static int compare_members(const void *left, const void *right)
{
    const struct named_item *const a = left, *const b = right;
    const int order = strcmp(a->item->string, b->item->string);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

static bool keep_last_members(cJSON *object, struct builder *names)
{
    const size_t n = (size_t)cJSON_GetArraySize(object);
    struct named_item *const member = n > 1 ? malloc(n * sizeof *member) : NULL;
    cJSON *item;
    size_t at = 0;
    if (!member)
        return n < 2;
    cJSON_ArrayForEach(item, object)
    {
        member[at] = (struct named_item){item, at};
        at++;
    }
    qsort(member, n, sizeof *member, compare_members);
    for (size_t first = 0, behind; first < n; first = behind) {
        for (behind = first + 1; behind < n && !strcmp(member[first].item->string, member[behind].item->string);)
            behind++;
        if (behind - first < 2)
            continue;
        builder_bytes(names, member[first].item->string, strlen(member[first].item->string) + 1);
        for (size_t i = first + 1; i < behind - 1; i++)
            cJSON_Delete(cJSON_DetachItemViaPointer(object, member[i].item));
        cJSON *const last = cJSON_DetachItemViaPointer(object, member[behind - 1].item);
        cJSON_ReplaceItemViaPointer(object, member[first].item, last);
    }
    free(member);
    return !names->failed;
}

bool json_keep_last(cJSON *value, struct builder *names)
{
    bool ok = !cJSON_IsObject(value) || keep_last_members(value, names);
    for (cJSON *item = ok ? value->child : NULL; ok && item; item = item->next)
        ok = json_keep_last(item, names);
    return ok;
}

void json_add_text(const char *text, struct builder *to)
{
    for (const char *nul; (nul = strstr(text, JSON_NUL)); text = nul + strlen(JSON_NUL)) {
        builder_bytes(to, text, (size_t)(nul - text));
        builder_byte(to, '\0');
    }
    builder_string(to, text);
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
