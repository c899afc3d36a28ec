// SPDX-License-Identifier: MIT
#include "in/json_text.h"

#include "base/number.h"
#include "kern/kern.h"
#include "json/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    TEXT_MOST = 1 << 26, // bytes of an object, or a piece of one, besides its numbers
    PIECE = 1 << 20,     // bytes of positions in a piece, at least
};

// The arrays of positions that llama-server's replies hold, in a member of the object. They may be long, as each
// position may list the whole vocabulary.
static const struct cut {
    const char *member, *name; // name: of the array
    size_t depth;              // brackets that are open around it
    const char *close;         // what closes it and those
} cuts[] = {
    {"\"completion_probabilities\"", "\"completion_probabilities\"", 0, "]}"},
    {"\"probs\"", "\"probs\"", 0, "]}"},
    {"\"choices\"", "\"content\"", 3, "]}}]}"},
};

static void end_view(struct json_text *t)
{
    t->failed = true;
    t->p = t->end = t->origin = "";
}

void json_release(struct json_text *t)
{
    source_skip(t->source, (size_t)(t->p - t->origin));
    t->origin = t->p;
}

size_t json_view(struct json_text *t, size_t want)
{
    if ((size_t)(t->end - t->p) < want && !t->failed) {
        const unsigned char *p;
        size_t have;
        json_release(t);
        if (source_peek(t->source, want, &p, &have, &t->error)) {
            t->p = t->origin = (const char *)p;
            t->end = t->p + have;
        } else {
            end_view(t);
        }
    }
    return (size_t)(t->end - t->p);
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
        return err_set(e, STATUS_DATA, "byte %" PRIu64 ": 0x%02x where JSON wants %s", at, (unsigned char)*t->p,
                       expected);
    return err_set(e, STATUS_DATA, "byte %" PRIu64 ": '%c' where JSON wants %s", at, *t->p, expected);
}

char json_next_byte(struct json_text *t)
{
    do {
        while (json_is_space(t->p, t->end))
            t->p++;
        if (t->p < t->end)
            return *t->p;
    } while (json_view(t, 1));
    return '\0';
}

char json_byte_inside(struct json_text *t)
{
    assert(t->p < t->end || t->failed);
    for (size_t i = 1; json_view(t, i + 1) > i; i++)
        if (!json_is_space(t->p + i, t->end))
            return t->p[i];
    return '\0';
}

bool json_take(struct json_text *t, const char *text)
{
    size_t i = 0;
    while (text[i] && json_view(t, i + 1) > i && t->p[i] == text[i])
        i++;
    if (text[i])
        return false;
    t->p += i;
    return true;
}

// How many bytes from here on are among `chars`, at most `most`; they come into view. Asks for more input only when
// what is in view may be cut off, so that a row can be answered as soon as it is complete.
static size_t view_word(struct json_text *t, const char *chars, size_t most)
{
    size_t len = 0;
    while (len < most && json_view(t, len + 1) > len && t->p[len] && strchr(chars, t->p[len]))
        len++;
    return t->failed ? 0 : len;
}

// One number into x[i].
static bool read_number(struct json_text *t, float *x, size_t i, struct err *e)
{
    enum { MOST = 4096 }; // characters
    const char c = json_next_byte(t);
    if (!c || !strchr("-0123456789nNI", c))
        return json_syntax(t, "a number", e);
    const size_t len = view_word(t, "+-.0123456789EINaefilntuy", MOST); // of numbers and words for them
    const char *stop = json_number(t->p, t->p + len, &x[i]);
    if (!stop)
        stop = json_word(t->p, t->p + len, &x[i]);
    if (!stop)
        return err_set(e, STATUS_DATA, "byte %" PRIu64 ": no JSON number begins here", json_place(t));
    if (stop == t->p + MOST)
        return err_set(e, STATUS_DATA, "number %zu has more than %d characters", i, MOST);
    t->p = stop;
    return true;
}

int64_t json_written_id(const char *p, const char *stop)
{
    int64_t id = 0;
    if (p == stop || (*p == '0' && stop - p > 1))
        return -1;
    for (; p < stop && id <= INT32_MAX; p++) {
        if (*p < '0' || *p > '9')
            return -1;
        id = id * 10 + (*p - '0');
    }
    return id <= INT32_MAX ? id : -1;
}

// One id into ids[i].
static bool read_id(struct json_text *t, uint32_t *ids, size_t i, struct err *e)
{
    enum { MOST = 40 }; // characters looked at; an id has at most ten
    const size_t len = view_word(t, "+-.0123456789Ee", MOST);
    const int64_t id = json_written_id(t->p, t->p + len);
    if (!len)
        return json_syntax(t, "a token id", e);
    if (id < 0)
        return err_set(e, STATUS_DATA, "ids: element %zu, '%.*s', is not a whole number from 0 to 2147483647", i,
                       (int)len, t->p);
    ids[i] = (uint32_t)id;
    t->p += len;
    return true;
}

// Reads an array, from its '[' on: ids or numbers, *n elements.
static bool read_array(struct json_text *t, struct sparse *row, bool ids, size_t *n, struct err *e)
{
    char c;
    assert(t->p < t->end && *t->p == '[');
    *n = 0;
    do {
        t->p++;
        c = json_next_byte(t);
        if (c == ']' && !*n)
            break;
        if (!ids && row->cap) // the usual stretch of a row
            row->n += t->kern->numbers(&t->p, t->end, row->x + row->n, row->cap - row->n);
        if (!sparse_room(row, *n + 1, e))
            return false;
        if (!(ids ? read_id(t, row->ids, *n, e) : read_number(t, row->x, *n, e)))
            return false;
        ++*n;
        c = json_next_byte(t);
        if (c != ',' && c != ']')
            return json_syntax(t, "',' or ']'", e);
    } while (c == ',');
    t->p++;
    return true;
}

static void keep(struct json_text *t, struct json_value *v, const char *text, size_t len)
{
    builder_bytes(&v->text, text, len);
    if (builder_whole(&v->text))
        return;
    end_view(t);
    if (v->text.full)
        err_set(&t->error, STATUS_DATA, "an object holds more than %d bytes besides its numbers", TEXT_MOST);
    else
        err_from_fault(&t->error, fault_memory());
}

// Copies a string, from its quote on.
static bool copy_string(struct json_text *t, struct json_value *v, struct err *e)
{
    bool open = true, escaped = true; // the opening quote does not close
    while (open) {
        if (!json_view(t, 1))
            return json_syntax(t, "the end of a string", e);
        const char *const start = t->p;
        while (open && t->p < t->end) {
            const char c = *t->p++;
            open = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
        }
        keep(t, v, start, (size_t)(t->p - start));
    }
    return true;
}

// An array begins at the end of the text, at this depth of a member, behind the string at `name`: is it one to be cut?
// Only the first is.
static void find_cut(struct json_value *v, size_t name, size_t depth)
{
    const char *const text = v->text.text;
    for (const struct cut *k = cuts; k < cuts + sizeof cuts / sizeof *cuts && !v->cut; k++) {
        if (k->depth != depth || strncmp(text + v->member, k->member, strlen(k->member)) != 0 ||
            strncmp(text + name, k->name, strlen(k->name)) != 0)
            continue;
        v->cut = k;
        v->cut_at = v->text.len;
        v->amid = true;
    }
}

// Is the text long enough to be a piece?
static bool is_piece(const struct json_value *v)
{
    return v->has_id && v->text.len - v->cut_at >= (v->cut_at < PIECE ? PIECE : v->cut_at);
}

// Copies a value from this depth of it on, 0 or where it was cut; cJSON will judge it. Of white space one blank stays,
// which keeps words apart. Ends behind the value or, with v->more, at the comma behind an element.
static bool copy_value(struct json_text *t, struct json_value *v, size_t depth, struct err *e)
{
    size_t name = v->member;
    for (;;) {
        if (json_view(t, 1) && json_is_space(t->p, t->end))
            keep(t, v, " ", 1);
        const char c = json_next_byte(t);
        const bool infinity = c == '-' && json_take(t, "-Infinity"); // as Python prints it
        const bool element = v->amid && depth == v->cut->depth + 1;  // or the end of their array
        if (!c || t->failed)
            return json_syntax(t, "'}'", e);
        if (!depth && (c == ',' || c == '}' || c == ']'))
            return true;
        v->more = element && c == ',' && is_piece(v);
        if (v->more)
            return true;
        v->amid = v->amid && !(element && c == ']');
        depth += c == '{' || c == '[';
        if (depth >= CJSON_NESTING_LIMIT) // the object around it counts
            return err_set(e, STATUS_DATA, "byte %" PRIu64 ": nested too deep, the most is %d", json_place(t),
                           CJSON_NESTING_LIMIT);
        depth -= c == '}' || c == ']';
        if (infinity) {
            keep(t, v, "-1e999999", 9);
        } else if (c != '"') {
            const char *const start = t->p++;
            while (t->p < t->end && *t->p >= '.' && *t->p <= '9') // a number goes on, as a rule
                t->p++;
            keep(t, v, start, (size_t)(t->p - start));
        } else {
            name = v->text.len;
            if (!copy_string(t, v, e))
                return false;
            if (v->amid && depth == v->cut->depth + 2 && !strcmp(v->text.text + name, "\"id\""))
                v->has_id = v->has_id || json_next_byte(t) == ':';
        }
        if (c == '[')
            find_cut(v, name, depth - 1);
    }
}

static const char *const planes[] = {[PLANE_IDS] = "\"ids\"",
                                     [PLANE_LOGITS] = "\"logits\"",
                                     [PLANE_LOGPROBS] = "\"logprobs\"",
                                     [PLANE_PROBS] = "\"probs\""};

// The byte at i from here on or behind white space there; 0 at the end of the input.
static char byte_from(struct json_text *t, size_t *i)
{
    while (json_view(t, *i + 1) > *i && json_is_space(t->p + *i, t->end))
        ++*i;
    return json_view(t, *i + 1) > *i ? t->p[*i] : '\0';
}

size_t json_plain_length(struct json_text *t)
{
    size_t i = 0, len = 0;
    const bool object = byte_from(t, &i) == '{';
    if (object) {
        i++;
        if (byte_from(t, &i) != '"')
            return 0;
        for (enum plane plane = PLANE_LOGITS; plane <= PLANE_PROBS && !len; plane++)
            if (json_view(t, i + strlen(planes[plane])) >= i + strlen(planes[plane]) &&
                !memcmp(t->p + i, planes[plane], strlen(planes[plane])))
                len = strlen(planes[plane]);
        i += len;
        if (!len || byte_from(t, &i) != ':')
            return 0;
        i++;
    }
    if (byte_from(t, &i) != '[')
        return 0;
    i++;
    const char first = byte_from(t, &i), *close = NULL;
    if (!first || !strchr("-0123456789nNI", first))
        return 0;
    for (size_t have; !close && (have = json_view(t, i + 1)) > i; i = close ? (size_t)(close - t->p) : have)
        close = memchr(t->p + i, ']', have - i);
    if (!close)
        return 0;
    i++;
    return !object ? i : byte_from(t, &i) == '}' ? i + 1 : 0;
}

// A member, from its name on. Those that are called so hold numbers unless they are null, which is absent, as with the
// other members, or arrays of objects.
static bool read_member(struct json_text *t, struct json_value *v, struct err *e)
{
    enum plane plane = PLANE_PROBS;
    v->member = v->text.len;
    if (!copy_string(t, v, e))
        return false;
    if (json_next_byte(t) != ':')
        return json_syntax(t, "':'", e);
    while (plane != PLANE_NONE && strcmp(v->text.text + v->member, planes[plane]) != 0)
        plane--;
    keep(t, v, t->p++, 1);
    const char c = json_next_byte(t);
    if (plane == PLANE_NONE || c == 'n')
        return copy_value(t, v, 0, e);
    if (c != '[')
        return json_syntax(t, "an array of numbers", e);
    if (json_byte_inside(t) == '{')
        return copy_value(t, v, 0, e);
    keep(t, v, "0", 1);
    if (t->failed)
        return false;
    if (plane == PLANE_IDS) {
        if (v->has_ids)
            return err_set(e, STATUS_DATA, "an object holds ids more than once");
        v->has_ids = true;
        return read_array(t, &v->row, true, &v->n_ids, e);
    }
    if (v->plane != PLANE_NONE)
        return err_set(e, STATUS_DATA, "an object holds more than one of logits, logprobs and probs");
    v->plane = plane;
    return read_array(t, &v->row, false, &v->row.n, e);
}

// Copies the members of an object from its brace or, amid one, from where it was cut on; to its end or to where it is
// cut.
static bool read_members(struct json_text *t, struct json_value *v, struct err *e)
{
    bool amid = v->follows;
    char c;
    do {
        if (!amid) {
            keep(t, v, t->p++, 1);
            c = json_next_byte(t);
            if (c == '}' && v->text.len == 1)
                break;
            if (c != '"')
                return json_syntax(t, "a member's name", e);
        }
        if (!(amid ? copy_value(t, v, v->cut->depth + 1, e) : read_member(t, v, e)))
            return false;
        amid = false;
        if (v->more) {
            keep(t, v, v->cut->close, strlen(v->cut->close));
            return !t->failed;
        }
        c = json_next_byte(t);
        if (c != ',' && c != '}')
            return json_syntax(t, "',' or '}'", e);
    } while (c == ',');
    keep(t, v, t->p++, 1);
    return !t->failed;
}

static bool read_object(struct json_text *t, struct json_value *v, struct err *e)
{
    const uint64_t begin = json_place(t);
    size_t at;
    if (!read_members(t, v, e))
        return false;
    if (v->plane != PLANE_NONE && v->text.len == strlen(planes[v->plane]) + strlen("{:0}")) // there is no rest
        return true;
    v->rest = json_parse(v->text.text, v->text.len, JSON_LOOSE, &at, e);
    if (!v->rest && e->status == STATUS_USAGE)
        err_set(e, STATUS_DATA, "byte %" PRIu64 ": the object that begins here is not valid JSON", begin);
    return v->rest;
}

bool json_read_value(struct json_text *t, struct json_value *v, struct err *e)
{
    assert(t->p < t->end && (v->more ? *t->p == ',' : *t->p == '[' || *t->p == '{'));
    cJSON_Delete(v->rest);
    v->rest = NULL;
    v->follows = v->more;
    v->more = false;
    if (v->follows) {
        v->text.text[v->text.len = v->cut_at] = '\0';
        t->p++;
        json_next_byte(t); // as messages name the place
        json_release(t);
        return read_object(t, v, e);
    }
    v->plane = *t->p == '[' ? PLANE_LOGITS : PLANE_NONE;
    v->has_ids = v->has_id = v->amid = false;
    v->cut = NULL;
    v->text.most = TEXT_MOST;
    builder_clear(&v->text);
    return *t->p == '[' ? read_array(t, &v->row, false, &v->row.n, e) : read_object(t, v, e);
}

void json_value_free(struct json_value *v)
{
    cJSON_Delete(v->rest);
    builder_free(&v->text);
    sparse_free(&v->row);
}
