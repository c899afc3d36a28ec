// SPDX-License-Identifier: MIT
#include "in/json_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

void json_fail(struct json_text *t)
{
    t->failed = true;
    t->p = t->end = t->origin = "";
}

void json_discard(struct json_text *t)
{
    const char *last = t->p; // byte of the line that is no blank
    while (last > t->origin && json_is_space(last - 1, last) && last[-1] != '\n')
        last--;
    if (last > t->origin)
        t->inside_line = last[-1] != '\n';
    source_skip(t->source, (size_t)(t->p - t->origin));
    t->origin = t->p;
}

bool json_begins_line(struct json_text *t)
{
    json_discard(t);
    return !t->inside_line;
}

void json_skip_line(struct json_text *t)
{
    while (json_peek(t, 1) && *t->p != '\n') {
        const char *const newline = memchr(t->p, '\n', (size_t)(t->end - t->p));
        t->p = newline ? newline : t->end;
    }
}

size_t json_peek(struct json_text *t, size_t want)
{
    if ((size_t)(t->end - t->p) < want && !t->failed) {
        const unsigned char *p;
        size_t have;
        json_discard(t);
        if (source_peek(t->source, want, &p, &have, &t->error)) {
            t->p = t->origin = (const char *)p;
            t->end = t->p + have;
        } else {
            json_fail(t);
        }
    }
    return (size_t)(t->end - t->p);
}

uint64_t json_offset(const struct json_text *t) { return t->source->offset + (uint64_t)(t->p - t->origin); }

bool json_is_python(const struct json_text *t)
{
    static const char *const words[] = {"None", "True", "False", "nan", "inf"};
    const char *p = t->p;
    p += p < t->end && *p == '-';
    size_t n = 0;
    while (p + n < t->end && (isalnum((unsigned char)p[n]) || p[n] == '_'))
        n++;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (n == strlen(words[i]) && !memcmp(p, words[i], n))
            return true;
    return (p < t->end && *p == '\'') || (n && isalpha((unsigned char)*p) && p + n < t->end && p[n] == '(');
}

// Returns whether a text begins at the current byte that holds JSON or a stream of events.
static bool holds_json(struct json_text *t)
{
    static const char *const begin[] = {"\"{\\", "\"{ ", "\"[{", "\"[[", "\"[\\", "\"[ ", "\"data:", "\"event:"};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (json_text_at(t, 0, begin[i]))
            return true;
    return false;
}

bool json_syntax(struct json_text *t, const char *expected, struct err *e)
{
    const bool text = holds_json(t);
    const uint64_t at = json_offset(t);
    if (t->p == t->end)
        return err_set(e, STATUS_DATA, "the input ends at byte %" PRIu64 " where JSON expects %s", at, expected);
    if ((unsigned char)(*t->p - ' ') > '~' - ' ')
        return err_set(e, STATUS_DATA, "byte %" PRIu64 ": 0x%02x where JSON expects %s", at, (unsigned char)*t->p,
                       expected);
    if (text)
        return err_set(e, STATUS_DATA,
                       "byte %" PRIu64
                       ": a text that holds JSON where JSON expects %s: jq -r '.. | strings' FILE | sampl",
                       at, expected);
    if (json_is_python(t) || (isdigit((unsigned char)*t->p) && !strcmp(expected, "a member's name")))
        return err_set(e, STATUS_DATA,
                       "byte %" PRIu64 ": '%c' where JSON expects %s: Python printed this, json.dumps writes JSON", at,
                       *t->p, expected);
    return err_set(e, STATUS_DATA, "byte %" PRIu64 ": '%c' where JSON expects %s", at, *t->p, expected);
}

char json_next_byte(struct json_text *t)
{
    do {
        while (json_is_space(t->p, t->end))
            t->p++;
        if (t->p < t->end)
            return *t->p;
    } while (json_peek(t, 1));
    return '\0';
}

char json_byte_from(struct json_text *t, size_t *i)
{
    while (json_peek(t, *i + 1) > *i && json_is_space(t->p + *i, t->end))
        ++*i;
    return json_peek(t, *i + 1) > *i ? t->p[*i] : '\0';
}

bool json_text_at(struct json_text *t, size_t from, const char *text)
{
    size_t i = 0;
    while (text[i] && json_peek(t, from + i + 1) > from + i && t->p[from + i] == text[i])
        i++;
    return !text[i];
}

bool json_accept(struct json_text *t, const char *text)
{
    const bool here = json_text_at(t, 0, text);
    t->p += here ? strlen(text) : 0;
    return here;
}

size_t json_peek_word(struct json_text *t, const char *chars, size_t most)
{
    size_t len = 0;
    while (len < most && json_peek(t, len + 1) > len && t->p[len] && strchr(chars, t->p[len]))
        len++;
    return t->failed ? 0 : len;
}
