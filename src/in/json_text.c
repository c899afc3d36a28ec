// SPDX-License-Identifier: MIT
#include "in/json_text.h"

#include "base/json_number.h"
#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { NUMBER_MAX = 4096 }; // characters of one number

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

// The words that Python and JavaScript print for numbers that JSON does not have; `null` is masked, as -Infinity is.
static const char *word(const char *p, const char *end, float *x)
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

// What begins like a number and is none.
static bool no_number(const struct json_text *t, struct err *e)
{
    return err_set(e, STATUS_DATA, "byte %" PRIu64 ": no JSON number begins here", json_place(t));
}

// One element of a row. Asks for more input only when what is in view may be cut off, so that a row can be answered as soon as it is
// complete.
static bool number(struct json_text *t, size_t index, float *x, struct err *e)
{
    for (size_t want = 1;; want++) {
        if (!json_view(t, want, e))
            return false;
        const size_t have = (size_t)(t->end - t->p);
        if (!have || !*t->p || !strchr("-0123456789nNI", *t->p))
            return json_syntax(t, "a number", e);
        const char *const limit = t->p + (have < NUMBER_MAX ? have : NUMBER_MAX);
        const char *stop = json_number(t->p, limit, x);
        if (!stop)
            stop = word(t->p, limit, x);
        if (stop && (stop < limit || have < want)) {
            t->p = stop;
            return true;
        }
        if (have >= NUMBER_MAX)
            return stop ? err_set(e, STATUS_DATA, "number %zu has more than %d characters", index, NUMBER_MAX) : no_number(t, e);
        if (have < want)
            return no_number(t, e);
        want = have;
    }
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
        p = stop + 1 + (stop[1] == ' ');
    }
    t->p = p;
}

bool json_read_numbers(struct json_text *t, struct json_numbers *a, struct err *e)
{
    char c;
    a->n = 0;
    t->p++;
    if (!json_next_byte(t, &c, e))
        return false;
    if (c == ']') {
        t->p++;
        return true;
    }
    for (;;) {
        plain_numbers(t, a);
        if (!json_next_byte(t, &c, e))
            return false;
        if (a->n >= INT32_MAX)
            return err_set(e, STATUS_DATA, "the row is wider than %d", INT32_MAX);
        float x = 0.0f;
        if (!number(t, a->n, &x, e))
            return false;
        if (!mem_grow(&a->x, &a->cap, a->n + 1, sizeof *a->x))
            return err_from_fault(e, fault_memory());
        a->x[a->n++] = x;
        if (!json_next_byte(t, &c, e))
            return false;
        if (c != ',' && c != ']')
            return json_syntax(t, "',' or ']'", e);
        t->p++;
        if (c == ']')
            return true;
        if (!json_next_byte(t, &c, e))
            return false;
    }
}
