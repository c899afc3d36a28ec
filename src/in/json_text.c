// SPDX-License-Identifier: MIT
#include "in/json_text.h"

#include "base/mem.h"
#include "base/number.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

void json_release(struct json_text *t)
{
    source_skip(t->source, (size_t)(t->p - t->origin));
    t->origin = t->p;
}

bool json_view(struct json_text *t, size_t want, struct err *e)
{
    if ((size_t)(t->end - t->p) >= want)
        return true;
    const unsigned char *p;
    size_t have;
    json_release(t);
    if (!source_peek(t->source, want, &p, &have, e))
        return false;
    t->p = t->origin = (const char *)p;
    t->end = t->p + have;
    return true;
}

uint64_t json_place(const struct json_text *t)
{
    return t->source->offset + (uint64_t)(t->p - t->origin);
}

bool json_syntax(const struct json_text *t, const char *expected, struct err *e)
{
    const uint64_t at = json_place(t);
    if (t->p == t->end)
        return err_set(e, STATUS_DATA, "the input ends at byte %" PRIu64 " where JSON wants %s", at, expected);
    if ((unsigned char)(*t->p - ' ') > '~' - ' ')
        return err_set(e, STATUS_DATA, "byte %" PRIu64 ": 0x%02x where JSON wants %s", at, (unsigned char)*t->p, expected);
    return err_set(e, STATUS_DATA, "byte %" PRIu64 ": '%c' where JSON wants %s", at, *t->p, expected);
}

bool json_next_byte(struct json_text *t, char *c, struct err *e)
{
    for (;;) {
        while (json_is_space(t->p, t->end))
            t->p++;
        if (t->p < t->end) {
            *c = *t->p;
            return true;
        }
        if (!json_view(t, 1, e))
            return false;
        if (t->p == t->end) {
            *c = '\0';
            return true;
        }
    }
}

bool json_byte_inside(struct json_text *t, char *c, struct err *e)
{
    assert(t->p < t->end);
    for (size_t i = 1;; i++) {
        if (!json_view(t, i + 1, e))
            return false;
        *c = t->p + i < t->end ? t->p[i] : '\0';
        if (!json_is_space(t->p + i, t->end))
            return true;
    }
}

// How many bytes from here on are among `chars`, at most `most`; they come into view. Asks for more input only when what is in view may be
// cut off, so that a row can be answered as soon as it is complete.
static bool view_word(struct json_text *t, const char *chars, size_t most, size_t *len, struct err *e)
{
    for (*len = 0;;) {
        const size_t have = (size_t)(t->end - t->p);
        while (*len < have && *len < most && t->p[*len] && strchr(chars, t->p[*len]))
            ++*len;
        if (*len < have || *len == most)
            return true;
        if (!json_view(t, have + 1, e))
            return false;
        if ((size_t)(t->end - t->p) == have)
            return true;
    }
}

// The words that Python and JavaScript print for numbers that JSON does not have; `null` is masked, as -Infinity is.
static const char *number_word(const char *p, const char *end, float *x)
{
    static const struct {
        const char *text;
        float x;
    } words[] = {{"null", -INFINITY}, {"-Infinity", -INFINITY}, {"NaN", NAN}, {"Infinity", INFINITY}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t len = strlen(words[i].text);
        if ((size_t)(end - p) >= len && !memcmp(p, words[i].text, len)) {
            *x = words[i].x;
            return p + len;
        }
    }
    return NULL;
}

// The usual stretch: numbers with a comma behind each, well in view. Stops before anything else.
static void plain_numbers(struct json_text *t, struct json_numbers *a)
{
    enum { PLAIN = 64 }; // longer than any usual number
    const char *p = t->p;
    while (t->end - p > PLAIN && a->n < a->cap) {
        const char *const stop = json_number(p, p + PLAIN, &a->x[a->n]);
        if (!stop || stop == p + PLAIN || *stop != ',')
            break;
        a->n++;
        for (p = stop + 1; json_is_space(p, t->end);)
            p++;
    }
    t->p = p;
}

// One element of a row, behind those that plain_numbers takes.
static bool read_number(struct json_text *t, void *to, struct err *e)
{
    enum { MOST = 4096 }; // characters
    struct json_numbers *const a = to;
    char c;
    size_t len;
    plain_numbers(t, a);
    if (!json_next_byte(t, &c, e))
        return false;
    if (a->n >= INT32_MAX)
        return err_set(e, STATUS_DATA, "the row is wider than %d", INT32_MAX);
    if (!c || !strchr("-0123456789nNI", c))
        return json_syntax(t, "a number", e);
    if (!mem_grow(&a->x, &a->cap, a->n + 1, sizeof *a->x))
        return err_from_fault(e, fault_memory());
    if (!view_word(t, "+-.0123456789EINaefilntuy", MOST, &len, e)) // of numbers and words for them
        return false;
    const char *stop = json_number(t->p, t->p + len, &a->x[a->n]);
    if (!stop)
        stop = number_word(t->p, t->p + len, &a->x[a->n]);
    if (!stop)
        return err_set(e, STATUS_DATA, "byte %" PRIu64 ": no JSON number begins here", json_place(t));
    if (stop == t->p + MOST)
        return err_set(e, STATUS_DATA, "number %zu has more than %d characters", a->n, MOST);
    t->p = stop;
    a->n++;
    return true;
}

int64_t json_id(const char *p, const char *stop)
{
    int64_t id = 0;
    if (p == stop || (*p == '0' && stop - p > 1))
        return -1;
    for (; p < stop; p++) {
        if (*p < '0' || *p > '9')
            return -1;
        id = id * 10 + (*p - '0');
        if (id > INT32_MAX)
            return -1;
    }
    return id;
}

static bool read_id(struct json_text *t, void *to, struct err *e)
{
    enum { MOST = 40 }; // characters looked at; an id has at most ten
    struct json_ids *const a = to;
    size_t len;
    if (a->n >= INT32_MAX)
        return err_set(e, STATUS_DATA, "the row is wider than %d", INT32_MAX);
    if (!view_word(t, "+-.0123456789Ee", MOST, &len, e))
        return false;
    if (!len)
        return json_syntax(t, "a token id", e);
    const int64_t id = json_id(t->p, t->p + len);
    if (id < 0)
        return err_set(e, STATUS_DATA, "ids: element %zu, '%.*s', is not a whole number from 0 to 2147483647", a->n, (int)len,
                       t->p);
    if (!mem_grow(&a->id, &a->cap, a->n + 1, sizeof *a->id))
        return err_from_fault(e, fault_memory());
    a->id[a->n++] = (uint32_t)id;
    t->p += len;
    return true;
}

// Reads an array, from its '[' on. `element` takes one element, or several with the commas between them, from the first's place on.
static bool read_array(struct json_text *t, bool (*element)(struct json_text *t, void *to, struct err *e), void *to,
                       struct err *e)
{
    char c;
    assert(t->p < t->end && *t->p == '[');
    t->p++;
    if (!json_next_byte(t, &c, e))
        return false;
    for (bool more = c != ']'; more; more = c == ',') {
        if (!json_next_byte(t, &c, e) || !element(t, to, e) || !json_next_byte(t, &c, e))
            return false;
        if (c != ',' && c != ']')
            return json_syntax(t, "',' or ']'", e);
        t->p += c == ',';
    }
    t->p++;
    return true;
}

bool json_read_numbers(struct json_text *t, struct json_numbers *a, struct err *e)
{
    a->n = 0;
    return read_array(t, read_number, a, e);
}

bool json_read_ids(struct json_text *t, struct json_ids *a, struct err *e)
{
    a->n = 0;
    return read_array(t, read_id, a, e);
}
