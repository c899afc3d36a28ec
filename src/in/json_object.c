// SPDX-License-Identifier: MIT
#include "in/json_object.h"

#include "base/mem.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ENVELOPE_MAX = 1 << 26 }; // bytes of an object besides its numbers

static bool keep(struct json_object *o, const char *text, size_t len, struct err *e)
{
    if (o->len + len > ENVELOPE_MAX)
        return err_set(e, STATUS_DATA, "an object holds more than %d bytes besides its numbers", ENVELOPE_MAX);
    if (!mem_grow(&o->envelope, &o->cap, o->len + len, 1))
        return err_from_fault(e, fault_memory());
    memcpy(o->envelope + o->len, text, len);
    o->len += len;
    return true;
}

// Copies a string, from its quote on, to the envelope.
static bool copy_string(struct json_object *o, struct json_text *t, struct err *e)
{
    bool escaped = true; // the opening quote does not close
    for (;;) {
        if (!json_view(t, 1, e))
            return false;
        if (t->p == t->end)
            return json_syntax(t, "the end of a string", e);
        const char c = *t->p++;
        if (!keep(o, &c, 1, e))
            return false;
        if (c == '"' && !escaped)
            return true;
        escaped = c == '\\' && !escaped;
    }
}

// Copies any value to the envelope; cJSON will judge it. Of white space one blank stays, which keeps words apart.
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

// Does the array at hand hold objects? Looks past its '[', which stays in view because the window is peeked from there.
static bool holds_objects(struct json_text *t, bool *objects, struct err *e)
{
    for (size_t i = 1;; i++) {
        if (!json_view(t, i + 1, e))
            return false;
        *objects = t->p + i < t->end && t->p[i] == '{';
        if (!json_is_space(t->p + i, t->end))
            return true;
    }
}

// The value of a member whose name asks for numbers: they are read, and a 0 stands for them in the envelope. With *taken false, it is
// something else under that name. null is absent, as with the other members.
static bool numbers(struct json_object *o, struct json_text *t, enum plane plane, bool *taken, struct err *e)
{
    char c;
    bool objects;
    if (!json_next_byte(t, &c, e))
        return false;
    *taken = false;
    if (c == 'n')
        return true;
    if (c != '[')
        return json_syntax(t, "an array of numbers", e);
    if (!holds_objects(t, &objects, e))
        return false;
    *taken = !objects;
    if (objects)
        return true;
    if (plane == PLANE_NONE && o->has_ids)
        return err_set(e, STATUS_DATA, "an object holds ids more than once");
    if (plane != PLANE_NONE && o->plane != PLANE_NONE)
        return err_set(e, STATUS_DATA, "an object holds more than one of logits, logprobs and probs");
    if (plane == PLANE_NONE)
        o->has_ids = true;
    else
        o->plane = plane;
    return keep(o, "0", 1, e) && (plane == PLANE_NONE ? json_read_ids(t, &o->ids, e) : json_read_numbers(t, &o->numbers, e));
}

static bool is(const char *name, size_t len, const char *quoted)
{
    return len == strlen(quoted) && !memcmp(name, quoted, len);
}

// A member, its name just copied to the envelope at key.
static bool member(struct json_object *o, struct json_text *t, size_t key, struct err *e)
{
    const char *const name = o->envelope + key;
    const size_t len = o->len - key;
    const bool ids = is(name, len, "\"ids\""), probs = is(name, len, "\"probs\"");
    const bool logits = is(name, len, "\"logits\"") || is(name, len, "\"logprobs\"");
    bool taken = false;
    char c;
    if (!json_next_byte(t, &c, e))
        return false;
    if (c != ':')
        return json_syntax(t, "':'", e);
    t->p++;
    if (!keep(o, ":", 1, e))
        return false;
    if ((ids || probs || logits) && !numbers(o, t, ids ? PLANE_NONE : probs ? PLANE_PROBS : PLANE_LOGITS, &taken, e))
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
    char c = '{';
    cJSON_Delete(o->rest);
    o->rest = NULL;
    o->plane = PLANE_NONE;
    o->has_ids = false;
    o->len = 0;
    do {
        if (!keep(o, t->p++, 1, e) || !json_next_byte(t, &c, e))
            return false;
        if (c == '}' && o->len == 1)
            break;
        if (c != '"')
            return json_syntax(t, "a member's name", e);
        const size_t key = o->len;
        if (!copy_string(o, t, e) || !member(o, t, key, e) || !json_next_byte(t, &c, e))
            return false;
        if (c != ',' && c != '}')
            return json_syntax(t, "',' or '}'", e);
    } while (c == ',');
    if (!keep(o, t->p++, 1, e))
        return false;
    spell_infinity(o->envelope, o->len);
    errno = 0;
    o->rest = cJSON_ParseWithLength(o->envelope, o->len);
    if (!o->rest && errno == ENOMEM)
        return err_from_fault(e, fault_memory());
    return o->rest || err_set(e, STATUS_DATA, "byte %" PRIu64 ": the object that begins here is not valid JSON", begin);
}

void json_object_free(struct json_object *o)
{
    cJSON_Delete(o->rest);
    free(o->numbers.x);
    free(o->ids.id);
    free(o->envelope);
}
