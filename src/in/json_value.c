// SPDX-License-Identifier: MIT
#include "in/json_value.h"

#include "base/number.h"
#include "kern/kern.h"
#include "json/json.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#ifndef PIECE_BYTES // a test makes it smaller, for more pieces
#define PIECE_BYTES (1 << 20)
#endif

enum {
    TEXT_MOST = 1 << 26, // most bytes of an object, or of a piece, besides its numbers
    PIECE = PIECE_BYTES, // fewest bytes of positions in a piece
    AHEAD_MOST = 1 << 30 // most bytes of a pipe that wait in memory while the end of an object is looked for
};

// The arrays of positions in replies of llama-server, OpenAI, vLLM and SGLang.
static const struct long_array long_arrays[] = {
    {"completion_probabilities", "completion_probabilities", 0, "]}", true},
    {"choices", "content", 3, "]}}]}", false},
    {"choices", "top_logprobs", 3, NULL},
    {"choices", "prompt_logprobs", 2, NULL},
    {"prompt_logprobs", "prompt_logprobs", 0, NULL},
    {"meta_info", "input_top_logprobs", 1, NULL},
    {"meta_info", "output_top_logprobs", 1, NULL},
};
enum { N_LONG = sizeof long_arrays / sizeof *long_arrays };

// Reads a number to x[i].
static bool read_number(struct json_text *t, float *x, size_t i, struct err *e)
{
    enum { MOST = 4096 }; // characters
    const char c = json_next_byte(t);
    if (!c || !strchr("-0123456789nNI", c))
        return json_syntax(t, "a number", e);
    const size_t len = json_peek_word(t, "+-.0123456789EINaefilntuy", MOST); // as in 1e+5, NaN, Infinity and null
    const char *stop = json_number(t->p, t->p + len, &x[i]);
    if (!stop)
        stop = json_word(t->p, t->p + len, &x[i]);
    if (!stop && json_is_python(t))
        return json_syntax(t, "a number", e);
    if (!stop)
        return err_set(e, STATUS_DATA, "byte %" PRIu64 ": no JSON number begins here", json_offset(t));
    if (stop == t->p + MOST)
        return err_set(e, STATUS_DATA, "number %zu has more than %d characters", i, MOST);
    t->p = stop;
    return true;
}

int64_t json_written_id(const char *p, const char *stop)
{
    return stop - p > 1 && *p == '0' ? -1 : written_id(p, stop);
}

// Reads an id to ids[i].
static bool read_id(struct json_text *t, uint32_t *ids, size_t i, struct err *e)
{
    enum { MOST = 40 }; // characters that a message shows; an id has at most ten
    const size_t len = json_peek_word(t, "+-.0123456789Ee", MOST);
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
    json_fail(t);
    if (v->text.full)
        err_set(&t->error, STATUS_DATA, "an object holds more than %d bytes besides its numbers", TEXT_MOST);
    else
        err_from_fault(&t->error, fault_memory());
}

// Copies a string, whose quote is the current byte. JSON's strings have no line ends, but some programs write them: the
// string is cut off there only if the next line begins as a row does.
static bool copy_string(struct json_text *t, struct json_value *v, struct err *e)
{
    size_t skip = 1; // bytes that do not end the string: the opening quote, and the byte behind a backslash
    char c = '\0';
    while (c != '"') {
        if (!json_peek(t, 1))
            return json_syntax(t, "the end of a string", e);
        const char *p = t->p + skip, *const end = t->end;
        skip = 0;
        while (p < end && (c = *p++) != '"' && c != '\n') {
            if (c == '\\' && p < end)
                p++;
            else if (c == '\\')
                skip = 1;
        }
        copy_text(t, v, t->p, (size_t)(p - t->p));
        if (t->failed)
            return false;
        t->p = p;
        if (c == '\n' && json_peek(t, 1) && (*t->p == '{' || *t->p == '[' || json_text_at(t, 0, "data:")))
            return json_syntax(t, "the end of a string", e);
    }
    return true;
}

// Returns true if the text begins with a string that has these characters.
static bool begins_with_string(const char *text, const char *chars)
{
    const size_t len = strlen(chars);
    return text[0] == '"' && !strncmp(text + 1, chars, len) && text[1 + len] == '"';
}

// Called when an array begins at the end of v->text, inside `depth` brackets of a member; the string before the array
// begins at `name`. If the array is one of long_arrays, notes that in v. Of several arrays in the same place, as in
// several choices, only the first counts.
static void find_long_array(struct json_value *v, size_t name, size_t depth)
{
    const char *const text = v->text.text;
    for (unsigned i = 0; i < N_LONG && !v->in_array && !v->continued; i++) {
        const struct long_array *const k = &long_arrays[i];
        if (k->depth != depth || !begins_with_string(text + v->member_at, k->member) ||
            !begins_with_string(text + name, k->name) || v->seen >> i & 1)
            continue;
        v->seen |= 1U << i;
        v->array = k;
        v->array_at = v->text.len;
        v->n_elements = 0;
        v->in_array = true;
        v->alone = k->alone;
    }
}

// Returns whether an array or object may begin at the end of v->text, in which a blank stands for white space.
static bool may_open(const struct json_value *v)
{
    const char *last = v->text.text + v->text.len - 1;
    last -= *last == ' ';
    return *last == ',' || *last == ':' || *last == '[';
}

static bool read_members(struct json_text *t, struct json_value *v, struct err *e);

// Looks ahead for the end of the object, from the current byte inside `open` brackets on; an element of the long array
// ended before it. Copies what stands behind the array to v->tail, and counts the elements of the array. Returns false
// if the object does not end, or is not one that can be read in pieces: reading it whole finds the error.
static bool find_tail(struct json_text *t, struct json_value *v, size_t open)
{
    const size_t level = open;
    bool inside = false, escaped = false; // inside a string
    size_t have = 0, end = 0, i = 0;      // the array ends at t->p[end]
    const char *kept = t->p;              // pages of a mapped file before it were given back
    v->n_all = v->n_elements;
    for (; open; i++) {
        if (i >= have && ((!t->source->mapped && i > AHEAD_MOST) || (have = json_peek(t, i + 1)) <= i))
            return false;
        if (t->source->mapped && (size_t)(t->p + i - kept) >= PIECE)
            kept = source_give_back(kept, t->p + i);
        const char c = t->p[i];
        if (inside) {
            inside = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
            continue;
        }
        inside = c == '"';
        v->n_all += c == ',' && open == level && !end;
        open += c == '{' || c == '[';
        open -= c == '}' || c == ']';
        if (open < level && !end)
            end = i;
    }
    struct source bytes = {
        .buf = (unsigned char *)(uintptr_t)t->p + end, .end = i - end, .offset = json_offset(t) + end, .at_end = true};
    struct json_text rest = {.source = &bytes, .kern = t->kern};
    struct json_value tail = {.text.most = TEXT_MOST, .array = v->array, .in_array = true, .continued = true};
    struct err ignored;
    const bool found = json_next_byte(&rest) == ']' && read_members(&rest, &tail, &ignored) && !tail.has_ids &&
                       tail.plane == PLANE_NONE;
    builder_free(&v->tail);
    v->tail = tail.text;
    tail.text = (struct builder){0};
    json_value_free(&tail);
    return found;
}

// Returns true if a piece may end here, at a comma inside `open` brackets. The text besides the array is copied to each
// piece; a piece at least as long as that text bounds the work.
static bool is_long_enough(struct json_text *t, struct json_value *v, size_t open)
{
    const size_t len = v->text.len - v->array_at, besides = v->array_at + v->tail.len;
    if (len < PIECE || len < besides)
        return false;
    if (v->alone)
        return true;
    if (!v->looked)
        v->has_tail = find_tail(t, v, open);
    v->looked = true;
    return v->has_tail && len >= v->array_at + v->tail.len;
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
        if ((c == '{' || c == '[') && !may_open(v)) // perhaps the line before was cut off
            return json_syntax(t, "',' or '}'", e);
        if (!depth && (c == ',' || c == '}' || c == ']'))
            return true;
        v->n_elements += element && c == ',';
        v->more = element && c == ',' && is_long_enough(t, v, depth + 1);
        if (v->more || t->failed)
            return !t->failed;
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
            if (v->in_array && v->array->close && depth == v->array->depth + 2 &&
                !strcmp(v->text.text + name, "\"id\""))
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
    const bool object = json_byte_from(t, &i) == '{';
    if (object) {
        enum plane plane = PLANE_PROBS;
        i++;
        json_byte_from(t, &i);
        while (plane > PLANE_IDS && !json_text_at(t, i, planes[plane]))
            plane--;
        i += strlen(planes[plane]);
        if (plane == PLANE_IDS || json_byte_from(t, &i) != ':')
            return 0;
        i++;
    }
    if (json_byte_from(t, &i) != '[')
        return 0;
    i++;
    const char first = json_byte_from(t, &i), *close = NULL;
    if (!first || !strchr("-0123456789nNI", first))
        return 0;
    for (size_t have; !close && (have = json_peek(t, i + 1)) > i; i = close ? (size_t)(close - t->p) : have)
        close = memchr(t->p + i, ']', have - i);
    if (!close)
        return 0;
    i++;
    return !object ? i : json_byte_from(t, &i) == '}' ? i + 1 : 0;
}

// Reads a member, whose name's quote is the current byte. The members that `planes` names hold numbers, unless they are
// null, which means absent, an object, a string, or an array of objects or arrays: the reader of replies knows these.
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
    if (plane == PLANE_NONE || (plane != PLANE_IDS && c && strchr("n{\"", c)) || c == 'n')
        return copy_value(t, v, 0, e);
    if (c != '[')
        return json_syntax(t, "an array of numbers", e);
    size_t next = 1;
    char inside = json_byte_from(t, &next);
    while ((inside == 'n' && json_text_at(t, next, "null")) || inside == ',') { // before lists: no list
        next += inside == 'n' ? strlen("null") : 1;
        inside = json_byte_from(t, &next);
    }
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
            const char *const tail = v->has_tail ? v->tail.text : v->array->close;
            copy_text(t, v, tail, strlen(tail));
            return !t->failed;
        }
        c = json_next_byte(t);
        if (c != ',' && c != '}')
            return json_syntax(t, "',' or '}'", e);
    } while (c == ',');
    copy_text(t, v, t->p++, 1);
    return !t->failed;
}

// Returns whether a text holds, outside of strings, what Python prints and JSON does not have.
static bool holds_python(const struct builder *text)
{
    struct json_text t = {.p = text->text, .end = text->text + text->len};
    bool inside = false, word = false; // a string, a word
    for (; t.p < t.end; t.p++) {
        if (!inside && !word && json_is_python(&t))
            return true;
        word = isalnum((unsigned char)*t.p);
        if (inside && *t.p == '\\')
            t.p++;
        else if (*t.p == '"')
            inside = !inside;
    }
    return false;
}

static bool read_object(struct json_text *t, struct json_value *v, struct err *e)
{
    const uint64_t begin = json_offset(t);
    if (!read_members(t, v, e))
        return false;
    if (v->plane != PLANE_NONE && v->text.len == strlen(planes[v->plane]) + strlen("{:0}")) // no other member
        return true;
    v->tree = json_parse(v->text.text, v->text.len, JSON_LOOSE, e);
    if (!v->tree && e->status == STATUS_USAGE && holds_python(&v->text))
        return err_set(e, STATUS_DATA,
                       "byte %" PRIu64 ": the object that begins here was printed by Python; json.dumps writes JSON",
                       begin);
    if (!v->tree && e->status == STATUS_USAGE)
        err_set(e, STATUS_DATA, "byte %" PRIu64 ": the object that begins here is not valid JSON", begin);
    return v->tree;
}

bool json_read_value(struct json_text *t, struct json_value *v, struct err *e)
{
    assert(t->p < t->end && (v->more ? *t->p == ',' : *t->p == '[' || *t->p == '{'));
    cJSON_Delete(v->tree);
    v->tree = NULL;
    v->continued = v->more;
    v->more = false;
    if (v->continued) {
        v->before = v->n_elements;
        v->text.text[v->text.len = v->array_at] = '\0';
        t->p++;
        json_next_byte(t); // error messages name the offset of the element
        json_discard(t);
        return read_object(t, v, e);
    }
    v->plane = *t->p == '[' ? PLANE_LOGITS : PLANE_NONE;
    v->has_ids = v->looked = v->alone = v->has_tail = v->in_array = false;
    v->array = NULL;
    v->seen = 0;
    v->before = 0;
    builder_clear(&v->tail);
    v->text.most = TEXT_MOST;
    builder_clear(&v->text);
    return *t->p == '[' ? read_array(t, v, false, e) : read_object(t, v, e);
}

bool json_value_pair(struct json_value *v, struct err *e)
{
    static const char *const names[] = {"token_ids",    "indices",       "tokens",
                                        "response_ids", "output_tokens", "output_token_ids"};
    enum { N_LISTS = 3 }; // the others name the tokens of a text, with a log-probability each
    const cJSON *ids = NULL;
    char name[16];
    const size_t n_names = v->plane == PLANE_LOGPROBS ? sizeof names / sizeof *names : N_LISTS;
    for (size_t i = 0; i < n_names && !ids && v->plane != PLANE_NONE && !v->has_ids; i++) {
        ids = json_array(v->tree, names[i]);
        ids = i < N_LISTS || (size_t)cJSON_GetArraySize(ids) == v->row.n ? ids : NULL;
    }
    v->paired = ids && v->row.n && (cJSON_IsNumber(ids->child) || cJSON_IsString(ids->child));
    if (!v->paired)
        return true;
    const size_t len = strlen(planes[v->plane]) - 2; // without quotes
    memcpy(name, planes[v->plane] + 1, len);
    name[len] = '\0';
    cJSON *const numbers = cJSON_CreateFloatArray(v->row.x, (int)v->row.n);
    if (!numbers || !cJSON_ReplaceItemInObjectCaseSensitive(v->tree, name, numbers)) {
        cJSON_Delete(numbers);
        return err_from_fault(e, fault_memory());
    }
    v->plane = PLANE_NONE;
    return true;
}

void json_value_free(struct json_value *v)
{
    cJSON_Delete(v->tree);
    builder_free(&v->text);
    builder_free(&v->tail);
    sparse_free(&v->row);
}
