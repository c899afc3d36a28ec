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
    TEXT_MOST = 1 << 26, // most bytes of an object, or of a piece, besides its numbers
    PIECE = 1 << 20,     // fewest bytes of positions in a piece
};

// The arrays of positions in replies of llama-server, and in chat replies of OpenAI and vLLM. Each position may list
// the whole vocabulary, so that an array may have gigabytes. Such an object is read in pieces (struct json_value), to
// keep memory constant.
static const struct long_array {
    const char *member, *name; // names of the object's member, and of the array in it
    size_t depth;              // brackets that are open around the array, without the object's
    const char *close;         // the brackets that close the array, those, and the object
    bool texts;                // tokens may be texts only; ids may follow in a member token_ids
} long_arrays[] = {
    {"\"completion_probabilities\"", "\"completion_probabilities\"", 0, "]}"},
    {"\"probs\"", "\"probs\"", 0, "]}"},
    {"\"choices\"", "\"content\"", 3, "]}}]}", true},
};

static void fail_text(struct json_text *t)
{
    t->failed = true;
    t->p = t->end = t->origin = "";
}

void json_discard(struct json_text *t)
{
    source_skip(t->source, (size_t)(t->p - t->origin));
    t->origin = t->p;
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
            fail_text(t);
        }
    }
    return (size_t)(t->end - t->p);
}

uint64_t json_offset(const struct json_text *t) { return t->source->offset + (uint64_t)(t->p - t->origin); }

bool json_syntax(const struct json_text *t, const char *expected, struct err *e)
{
    const uint64_t at = json_offset(t);
    if (t->p == t->end)
        return err_set(e, STATUS_DATA, "the input ends at byte %" PRIu64 " where JSON expects %s", at, expected);
    if ((unsigned char)(*t->p - ' ') > '~' - ' ')
        return err_set(e, STATUS_DATA, "byte %" PRIu64 ": 0x%02x where JSON expects %s", at, (unsigned char)*t->p,
                       expected);
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

// Skips white space from t->p + *i on: advances *i to the next other byte and returns that byte; 0 at the end of the
// input. t->p stays at the same byte.
static char byte_from(struct json_text *t, size_t *i)
{
    while (json_peek(t, *i + 1) > *i && json_is_space(t->p + *i, t->end))
        ++*i;
    return json_peek(t, *i + 1) > *i ? t->p[*i] : '\0';
}

char json_byte_inside(struct json_text *t)
{
    size_t i = 1;
    assert(t->p < t->end || t->failed);
    return byte_from(t, &i);
}

// Returns true if the input goes on with `text` from t->p + from on. Looks at no byte behind the first that differs,
// because a pipe may not have it yet.
static bool text_at(struct json_text *t, size_t from, const char *text)
{
    size_t i = 0;
    while (text[i] && json_peek(t, from + i + 1) > from + i && t->p[from + i] == text[i])
        i++;
    return !text[i];
}

bool json_accept(struct json_text *t, const char *text)
{
    const bool here = text_at(t, 0, text);
    t->p += here ? strlen(text) : 0;
    return here;
}

// Peeks the word that the input goes on with: bytes that are in `chars`, at most `most`. Returns its length. Looks only
// at the word and the byte behind it, so that a row from a pipe is answered as soon as it is complete.
static size_t peek_word(struct json_text *t, const char *chars, size_t most)
{
    size_t len = 0;
    while (len < most && json_peek(t, len + 1) > len && t->p[len] && strchr(chars, t->p[len]))
        len++;
    return t->failed ? 0 : len;
}

// Reads a number to x[i].
static bool read_number(struct json_text *t, float *x, size_t i, struct err *e)
{
    enum { MOST = 4096 }; // characters
    const char c = json_next_byte(t);
    if (!c || !strchr("-0123456789nNI", c))
        return json_syntax(t, "a number", e);
    const size_t len = peek_word(t, "+-.0123456789EINaefilntuy", MOST); // as in 1e+5, NaN, Infinity and null
    const char *stop = json_number(t->p, t->p + len, &x[i]);
    if (!stop)
        stop = json_word(t->p, t->p + len, &x[i]);
    if (!stop)
        return err_set(e, STATUS_DATA, "byte %" PRIu64 ": no JSON number begins here", json_offset(t));
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

// Reads an id to ids[i].
static bool read_id(struct json_text *t, uint32_t *ids, size_t i, struct err *e)
{
    enum { MOST = 40 }; // characters that a message shows; an id has at most ten
    const size_t len = peek_word(t, "+-.0123456789Ee", MOST);
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

// Reads an array, whose '[' is the current byte: v->n_ids ids, or v->row.n numbers.
static bool read_array(struct json_text *t, struct json_value *v, bool ids, struct err *e)
{
    struct sparse *const row = &v->row;
    size_t *const n = ids ? &v->n_ids : &row->n;
    char c;
    assert(t->p < t->end && *t->p == '[');
    *n = 0;
    do {
        t->p++;
        c = json_next_byte(t);
        if (c == ']' && !*n)
            break;
        if (!ids && row->cap) // most numbers of a row, in the form that the kernel reads
            row->n += t->kern->numbers(&t->p, t->end, row->x + row->n, row->cap - row->n);
        if (!sparse_reserve(row, *n + 1, e))
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

// Appends to the value's text. If that fails, reading fails.
static void copy_text(struct json_text *t, struct json_value *v, const char *text, size_t len)
{
    builder_bytes(&v->text, text, len);
    if (builder_whole(&v->text))
        return;
    fail_text(t);
    if (v->text.full)
        err_set(&t->error, STATUS_DATA, "an object holds more than %d bytes besides its numbers", TEXT_MOST);
    else
        err_from_fault(&t->error, fault_memory());
}

// Copies a string, whose quote is the current byte.
static bool copy_string(struct json_text *t, struct json_value *v, struct err *e)
{
    bool open = true, escaped = true; // the opening quote does not close
    while (open) {
        if (!json_peek(t, 1))
            return json_syntax(t, "the end of a string", e);
        const char *const start = t->p;
        while (open && t->p < t->end) {
            const char c = *t->p++;
            open = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
        }
        copy_text(t, v, start, (size_t)(t->p - start));
    }
    return true;
}

// Called when an array begins at the end of v->text, inside `depth` brackets of a member; the string before the array
// begins at `name`. If the array is one of long_arrays, and the first of the object, notes that in v.
static void find_long_array(struct json_value *v, size_t name, size_t depth)
{
    const char *const text = v->text.text;
    for (const struct long_array *k = long_arrays;
         k < long_arrays + sizeof long_arrays / sizeof *long_arrays && !v->array; k++) {
        if (k->depth != depth || strncmp(text + v->member_at, k->member, strlen(k->member)) != 0 ||
            strncmp(text + name, k->name, strlen(k->name)) != 0)
            continue;
        v->array = k;
        v->array_at = v->text.len;
        v->in_array = true;
    }
}

#define IDS_KEY "token_ids\"" // ends the names of the members with the ids of a reply, and with those of its prompt

// Looks for such a member, unless it is null, in a text.
static bool text_has_ids(const char *text)
{
    while ((text = strstr(text, IDS_KEY))) {
        text += strlen(IDS_KEY);
        text += strspn(text, ": ");
        if (*text != 'n')
            return true;
    }
    return false;
}

// Looks for such a member, unless it is null, in the rest of the object, inside `open` brackets. Reads on
// without a copy: a pipe's rest is kept, up to TEXT_MOST bytes. True also if the object is longer or does not end;
// reading it finds the error.
static bool ids_follow(struct json_text *t, size_t open)
{
    static const char key[] = IDS_KEY;
    const size_t len = sizeof key - 1;
    bool inside = false, escaped = false, named = false; // inside a string; the last string ends with the key
    size_t have = 0;
    for (size_t i = 0; open; i++) {
        if (i >= have && ((!t->source->mapped && i > TEXT_MOST) || (have = json_peek(t, i + 1)) <= i))
            return true;
        const char c = t->p[i];
        if (inside) {
            inside = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
            named = !inside && i >= len && !memcmp(t->p + i + 1 - len, key, len);
            continue;
        }
        if (named && c != ':' && !json_is_space(t->p + i, t->end)) {
            if (c != 'n')
                return true;
            named = false;
        }
        inside = c == '"';
        open += c == '{' || c == '[';
        open -= c == '}' || c == ']';
    }
    return false;
}

// Returns true if a piece may end here, inside `open` brackets. Its elements must have ids of their own, or the object
// must have no ids beside the long array. The text before the array is copied to each piece; a piece at least as long
// as that text bounds the work.
static bool is_long_enough(struct json_text *t, struct json_value *v, size_t open)
{
    if (v->text.len - v->array_at < (v->array_at < PIECE ? PIECE : v->array_at))
        return false;
    if (!v->alone && !v->looked && v->array->texts) {
        v->looked = true;
        v->text.text[v->array_at - 1] = '\0'; // in place of the bracket that opens the array
        v->alone = !text_has_ids(v->text.text) && !ids_follow(t, open);
        v->text.text[v->array_at - 1] = '[';
    }
    return v->alone;
}

// Copies a value, or the rest of one that is continued inside `depth` brackets. cJSON checks the copy later. White
// space becomes one blank, which keeps words apart. Ends behind the value; or, if a piece ends, sets v->more and ends
// at the comma behind an element of the long array.
static bool copy_value(struct json_text *t, struct json_value *v, size_t depth, struct err *e)
{
    size_t name = v->member_at;
    for (;;) {
        if (json_peek(t, 1) && json_is_space(t->p, t->end))
            copy_text(t, v, " ", 1);
        const char c = json_next_byte(t);
        const bool infinity = c == '-' && json_accept(t, "-Infinity");    // as Python prints it
        const bool element = v->in_array && depth == v->array->depth + 1; // between elements, or at the array's end
        if (!c || t->failed)
            return json_syntax(t, "'}'", e);
        if (!depth && (c == ',' || c == '}' || c == ']'))
            return true;
        v->more = element && c == ',' && is_long_enough(t, v, depth + 1);
        if (v->more)
            return true;
        v->in_array = v->in_array && !(element && c == ']');
        depth += c == '{' || c == '[';
        if (depth >= CJSON_NESTING_LIMIT) // the object around the value counts, too
            return err_set(e, STATUS_DATA, "byte %" PRIu64 ": nested too deep, the most is %d", json_offset(t),
                           CJSON_NESTING_LIMIT);
        depth -= c == '}' || c == ']';
        if (infinity) {
            copy_text(t, v, "-1e999999", 9);
        } else if (c != '"') {
            const char *const start = t->p++;
            while (t->p < t->end && *t->p >= '.' && *t->p <= '9') // copies a number at once
                t->p++;
            copy_text(t, v, start, (size_t)(t->p - start));
        } else {
            name = v->text.len;
            if (!copy_string(t, v, e))
                return false;
            if (v->in_array && depth == v->array->depth + 2 && !strcmp(v->text.text + name, "\"id\""))
                v->alone = v->alone || json_next_byte(t) == ':';
        }
        if (c == '[')
            find_long_array(v, name, depth - 1);
    }
}

static const char *const planes[] = {[PLANE_IDS] = "\"ids\"",
                                     [PLANE_LOGITS] = "\"logits\"",
                                     [PLANE_LOGPROBS] = "\"logprobs\"",
                                     [PLANE_PROBS] = "\"probs\""};

size_t json_plain_length(struct json_text *t)
{
    size_t i = 0;
    const bool object = byte_from(t, &i) == '{';
    if (object) {
        enum plane plane = PLANE_PROBS;
        i++;
        byte_from(t, &i);
        while (plane > PLANE_IDS && !text_at(t, i, planes[plane]))
            plane--;
        i += strlen(planes[plane]);
        if (plane == PLANE_IDS || byte_from(t, &i) != ':')
            return 0;
        i++;
    }
    if (byte_from(t, &i) != '[')
        return 0;
    i++;
    const char first = byte_from(t, &i), *close = NULL;
    if (!first || !strchr("-0123456789nNI", first))
        return 0;
    for (size_t have; !close && (have = json_peek(t, i + 1)) > i; i = close ? (size_t)(close - t->p) : have)
        close = memchr(t->p + i, ']', have - i);
    if (!close)
        return 0;
    i++;
    return !object ? i : byte_from(t, &i) == '}' ? i + 1 : 0;
}

// Reads a member, whose name's quote is the current byte. The members that `planes` names hold numbers, unless they are
// null, which means absent, or arrays of objects.
static bool read_member(struct json_text *t, struct json_value *v, struct err *e)
{
    enum plane plane = PLANE_PROBS;
    v->member_at = v->text.len;
    if (!copy_string(t, v, e))
        return false;
    if (json_next_byte(t) != ':')
        return json_syntax(t, "':'", e);
    while (plane != PLANE_NONE && strcmp(v->text.text + v->member_at, planes[plane]) != 0)
        plane--;
    copy_text(t, v, t->p++, 1);
    const char c = json_next_byte(t);
    if (plane == PLANE_NONE || c == 'n')
        return copy_value(t, v, 0, e);
    if (c != '[')
        return json_syntax(t, "an array of numbers", e);
    const char inside = json_byte_inside(t);
    if (inside == '{' || inside == '[')
        return copy_value(t, v, 0, e);
    copy_text(t, v, "0", 1);
    if (t->failed)
        return false;
    if (plane == PLANE_IDS) {
        if (v->has_ids)
            return err_set(e, STATUS_DATA, "an object holds ids more than once");
        v->has_ids = true;
        return read_array(t, v, true, e);
    }
    if (v->plane != PLANE_NONE)
        return err_set(e, STATUS_DATA, "an object holds more than one of logits, logprobs and probs");
    v->plane = plane;
    return read_array(t, v, false, e);
}

// Reads the members of an object, whose brace is the current byte; or, if v is continued, the rest of the members. Ends
// behind the object, or where a piece ends.
static bool read_members(struct json_text *t, struct json_value *v, struct err *e)
{
    bool inside = v->continued; // a member
    char c;
    do {
        if (!inside) {
            copy_text(t, v, t->p++, 1);
            c = json_next_byte(t);
            if (c == '}' && v->text.len == 1)
                break;
            if (c != '"')
                return json_syntax(t, "a member's name", e);
        }
        if (!(inside ? copy_value(t, v, v->array->depth + 1, e) : read_member(t, v, e)))
            return false;
        inside = false;
        if (v->more) {
            copy_text(t, v, v->array->close, strlen(v->array->close));
            return !t->failed;
        }
        c = json_next_byte(t);
        if (c != ',' && c != '}')
            return json_syntax(t, "',' or '}'", e);
    } while (c == ',');
    copy_text(t, v, t->p++, 1);
    return !t->failed;
}

static bool read_object(struct json_text *t, struct json_value *v, struct err *e)
{
    const uint64_t begin = json_offset(t);
    if (!read_members(t, v, e))
        return false;
    if (v->plane != PLANE_NONE && v->text.len == strlen(planes[v->plane]) + strlen("{:0}")) // no other member
        return true;
    v->rest = json_parse(v->text.text, v->text.len, JSON_LOOSE, e);
    if (!v->rest && e->status == STATUS_USAGE)
        err_set(e, STATUS_DATA, "byte %" PRIu64 ": the object that begins here is not valid JSON", begin);
    return v->rest;
}

bool json_read_value(struct json_text *t, struct json_value *v, struct err *e)
{
    assert(t->p < t->end && (v->more ? *t->p == ',' : *t->p == '[' || *t->p == '{'));
    cJSON_Delete(v->rest);
    v->rest = NULL;
    v->continued = v->more;
    v->more = false;
    if (v->continued) {
        v->text.text[v->text.len = v->array_at] = '\0';
        t->p++;
        json_next_byte(t); // error messages name the offset of the element
        json_discard(t);
        return read_object(t, v, e);
    }
    v->plane = *t->p == '[' ? PLANE_LOGITS : PLANE_NONE;
    v->has_ids = v->looked = v->alone = v->in_array = false;
    v->array = NULL;
    v->text.most = TEXT_MOST;
    builder_clear(&v->text);
    return *t->p == '[' ? read_array(t, v, false, e) : read_object(t, v, e);
}

void json_value_free(struct json_value *v)
{
    cJSON_Delete(v->rest);
    builder_free(&v->text);
    sparse_free(&v->row);
}
