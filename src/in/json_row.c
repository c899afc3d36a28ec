// SPDX-License-Identifier: MIT
#include "in/json_row.h"

#include "base/mem.h"
#include "json/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 1 << 26 }; // bytes of an object besides its numbers

static bool keep(struct json_object *o, const char *text, size_t len, struct err *e)
{
    builder_bytes(&o->text, text, len);
    if (o->text.full)
        return err_set(e, STATUS_DATA, "an object holds more than %d bytes besides its numbers", TEXT_MOST);
    return !o->text.failed || err_from_fault(e, fault_memory());
}

// Copies a string, from its quote on.
static bool copy_string(struct json_object *o, struct json_text *t, struct err *e)
{
    bool open = true, escaped = true; // the opening quote does not close
    while (open) {
        if (!json_view(t, 1, e))
            return false;
        if (t->p == t->end)
            return json_syntax(t, "the end of a string", e);
        const char *const start = t->p;
        while (open && t->p < t->end) {
            const char c = *t->p++;
            open = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
        }
        if (!keep(o, start, (size_t)(t->p - start), e))
            return false;
    }
    return true;
}

// Copies any value; cJSON will judge it. Of white space one blank stays, which keeps words apart.
static bool copy_value(struct json_object *o, struct json_text *t, struct err *e)
{
    size_t depth = 0;
    for (;;) {
        char c;
        if (!json_view(t, 1, e))
            return false;
        if (json_is_space(t->p, t->end) && !keep(o, " ", 1, e))
            return false;
        if (!json_next_byte(t, &c, e))
            return false;
        if (!c)
            return json_syntax(t, "'}'", e);
        if (!depth && (c == ',' || c == '}' || c == ']'))
            return true;
        if (c == '"') {
            if (!copy_string(o, t, e))
                return false;
            continue;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        if (!keep(o, t->p++, 1, e))
            return false;
    }
}

// The value of a member whose name asks for numbers: they are read. With *taken false it is something else under that name: null, which
// is absent, as with the other members, or an array of objects.
static bool read_plane(struct json_object *o, struct json_text *t, enum plane plane, bool *taken, struct err *e)
{
    const bool ids = plane == PLANE_NONE;
    char c;
    *taken = false;
    if (!json_next_byte(t, &c, e))
        return false;
    if (c == 'n')
        return true;
    if (c != '[')
        return json_syntax(t, "an array of numbers", e);
    if (!json_byte_inside(t, &c, e))
        return false;
    *taken = c != '{';
    if (!*taken)
        return true;
    if (ids && o->has_ids)
        return err_set(e, STATUS_DATA, "an object holds ids more than once");
    if (!ids && o->plane != PLANE_NONE)
        return err_set(e, STATUS_DATA, "an object holds more than one of logits, logprobs and probs");
    o->has_ids = o->has_ids || ids;
    o->plane = ids ? o->plane : plane;
    return keep(o, "0", 1, e) && (ids ? json_read_ids(t, &o->ids, e) : json_read_numbers(t, &o->numbers, e));
}

// A member, from its name on.
static bool read_member(struct json_object *o, struct json_text *t, struct err *e)
{
    static const struct {
        const char *name;
        enum plane plane; // PLANE_NONE: the ids
    } planes[] = {
        {"\"ids\"", PLANE_NONE}, {"\"logits\"", PLANE_LOGITS}, {"\"logprobs\"", PLANE_LOGITS}, {"\"probs\"", PLANE_PROBS}};
    const size_t name = o->text.len;
    bool taken = false;
    char c;
    if (!copy_string(o, t, e) || !json_next_byte(t, &c, e))
        return false;
    if (c != ':')
        return json_syntax(t, "':'", e);
    t->p++;
    size_t i = 0;
    while (i < sizeof planes / sizeof *planes && strcmp(o->text.text + name, planes[i].name) != 0)
        i++;
    if (!keep(o, ":", 1, e))
        return false;
    if (i < sizeof planes / sizeof *planes && !read_plane(o, t, planes[i].plane, &taken, e))
        return false;
    return taken || copy_value(o, t, e);
}

// What Python prints for a number that JSON does not have becomes one that reads as such.
static void spell_infinity(char *text, size_t len)
{
    enum { LEN = 9 };
    static const char infinity[LEN + 1] = "-Infinity", number[LEN + 1] = "-1e999999";
    bool string = false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"')
            string = !string;
        else if (text[i] == '\\')
            i++;
        else if (!string && len - i >= LEN && !memcmp(text + i, infinity, LEN))
            memcpy(text + i, number, LEN);
    }
}

bool json_object_read(struct json_object *o, struct json_text *t, struct err *e)
{
    const uint64_t begin = json_place(t);
    struct json_fault fault;
    char c = '{';
    assert(t->p < t->end && *t->p == c);
    cJSON_Delete(o->rest);
    o->rest = NULL;
    o->plane = PLANE_NONE;
    o->has_ids = false;
    o->text.most = TEXT_MOST;
    builder_clear(&o->text);
    do {
        if (!keep(o, t->p++, 1, e) || !json_next_byte(t, &c, e))
            return false;
        if (c == '}' && o->text.len == 1)
            break;
        if (c != '"')
            return json_syntax(t, "a member's name", e);
        if (!read_member(o, t, e) || !json_next_byte(t, &c, e))
            return false;
        if (c != ',' && c != '}')
            return json_syntax(t, "',' or '}'", e);
    } while (c == ',');
    if (!keep(o, t->p++, 1, e))
        return false;
    spell_infinity(o->text.text, o->text.len);
    o->rest = json_parse(o->text.text, o->text.len, JSON_LOOSE, &fault);
    if (!o->rest && !fault.why)
        return err_from_fault(e, fault_memory());
    return o->rest || err_set(e, STATUS_DATA, "byte %" PRIu64 ": the object that begins here is not valid JSON", begin);
}

static bool read_seq(struct json_object *o, struct input_row *r, struct err *e)
{
    const double most = 0x1p53; // up to here each whole number is one
    const cJSON *const value = json_member(o->rest, "seq");
    if (!value)
        return true;
    if (cJSON_IsNumber(value) && fabs(value->valuedouble) <= most && value->valuedouble == floor(value->valuedouble)) {
        snprintf(o->seq, sizeof o->seq, "%.0f", value->valuedouble);
        r->seq = o->seq;
        return true;
    }
    r->seq = cJSON_GetStringValue(value);
    return r->seq || err_set(e, STATUS_DATA, "\"seq\" is neither a string nor a whole number");
}

static bool read_end(const struct json_object *o, struct input_row *r, struct err *e)
{
    const cJSON *const end = json_member(o->rest, "end");
    r->ends = cJSON_IsTrue(end);
    return !end || cJSON_IsBool(end) || err_set(e, STATUS_DATA, "\"end\" is neither true nor false");
}

static bool read_prompt(struct json_object *o, struct input_row *r, struct err *e)
{
    const cJSON *const value = json_member(o->rest, "prompt_tokens"), *token;
    size_t n = 0;
    if (!value)
        return true;
    if (!cJSON_IsArray(value))
        return err_set(e, STATUS_DATA, "\"prompt_tokens\" is not an array of token ids");
    if (!mem_grow(&o->prompt, &o->prompt_cap, (size_t)cJSON_GetArraySize(value) + 1, sizeof *o->prompt))
        return err_from_fault(e, fault_memory());
    cJSON_ArrayForEach(token, value)
    {
        if (!json_is_id(token))
            return err_set(e, STATUS_DATA, "\"prompt_tokens\": element %zu is not a whole number from 0 to 2147483647", n);
        o->prompt[n++] = (uint32_t)token->valuedouble;
    }
    r->prompt = o->prompt;
    r->n_prompt = n;
    return true;
}

static bool read_others(const struct json_object *o, struct input_row *r, struct err *e)
{
    const cJSON *const accept = json_member(o->rest, "accept");
    if (accept && !json_is_id(accept))
        return err_set(e, STATUS_DATA, "\"accept\" is not a whole number from 0 to 2147483647");
    if (accept)
        r->forced = (int64_t)accept->valuedouble;
    r->params = json_member(o->rest, "params");
    return !r->params || cJSON_IsObject(r->params) || err_set(e, STATUS_DATA, "\"params\" is not an object");
}

static bool probs_to_logits(struct json_numbers *a, struct err *e)
{
    for (size_t i = 0; i < a->n; i++) {
        if (a->x[i] < 0.0f)
            return err_set(e, STATUS_DATA, "probability %zu is negative", i);
        a->x[i] = logf(a->x[i]);
    }
    return true;
}

bool json_object_row(struct json_object *o, size_t n_vocab, struct input_row *r, struct err *e)
{
    struct json_numbers *const a = &o->numbers;
    assert(o->plane != PLANE_NONE);
    if (!read_seq(o, r, e) || !read_end(o, r, e))
        return false;
    if (o->plane == PLANE_PROBS && !probs_to_logits(a, e))
        return false;
    if (o->has_ids && o->ids.n != a->n)
        return err_set(e, STATUS_DATA, "the row has %zu ids and %zu numbers", o->ids.n, a->n);
    r->logits = (struct row){DTYPE_F32, a->x, a->n};
    if (o->has_ids && a->n && !sparse_row(&o->sparse, o->ids.id, a->x, a->n, n_vocab, &r->logits, e))
        return false;
    return read_prompt(o, r, e) && read_others(o, r, e);
}

void json_object_free(struct json_object *o)
{
    cJSON_Delete(o->rest);
    free(o->numbers.x);
    free(o->ids.id);
    builder_free(&o->text);
    sparse_free(&o->sparse);
    free(o->prompt);
}
