// SPDX-License-Identifier: MIT
// JSON rows: arrays of numbers, arrays of rows, objects with "logits", "logprobs" or "probs"; concatenated, line by line or in one array.
// The numbers are the data plane and are read straight from the input's window; what else an object holds goes through cJSON.
#include "base/mem.h"
#include "io/input.h"
#include "io/json_text.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ENVELOPE_MAX = 1 << 24 }; // bytes of an object besides its numbers

struct state {
    struct json_text text;
    size_t n_vocab; // 0: any
    bool in_list;   // inside an array of rows
    bool first;     // of that array
    struct json_numbers row;
    char *envelope; // the object's other members, as an object
    size_t envelope_len, envelope_cap;
};

static bool keep(struct state *st, const char *text, size_t len, struct err *e)
{
    if (st->envelope_len + len > ENVELOPE_MAX)
        return err_set(e, STATUS_DATA, "an object holds more than %d bytes besides its numbers", ENVELOPE_MAX);
    if (!mem_grow(&st->envelope, &st->envelope_cap, st->envelope_len + len, 1))
        return err_from_fault(e, fault_memory());
    memcpy(st->envelope + st->envelope_len, text, len);
    st->envelope_len += len;
    return true;
}

// Copies a string, from its quote on, to the envelope.
static bool copy_string(struct state *st, struct err *e)
{
    bool escaped = true; // the opening quote does not close
    for (;;) {
        if (!json_view(&st->text, 1, e))
            return false;
        if (st->text.p == st->text.end)
            return json_syntax(&st->text, "the end of a string", e);
        const char c = *st->text.p++;
        if (!keep(st, &c, 1, e))
            return false;
        if (c == '"' && !escaped)
            return true;
        escaped = c == '\\' && !escaped;
    }
}

// Copies any value to the envelope; cJSON will judge it. Of white space one blank stays, which keeps words apart.
static bool copy_value(struct state *st, struct err *e)
{
    size_t depth = 0;
    for (;;) {
        char c;
        if (!json_view(&st->text, 1, e))
            return false;
        if (json_is_space(st->text.p, st->text.end) && !keep(st, " ", 1, e))
            return false;
        if (!json_next_byte(&st->text, &c, e))
            return false;
        if (!c)
            return json_syntax(&st->text, "'}'", e);
        if (!depth && (c == ',' || c == '}' || c == ']'))
            return true;
        if (c == '"') {
            if (!copy_string(st, e))
                return false;
            continue;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        if (!keep(st, st->text.p++, 1, e))
            return false;
    }
}

// How the numbers of an object are to be read.
enum plane { PLANE_NONE, PLANE_LOGITS, PLANE_PROBS };

static bool probs_to_logits(struct state *st, struct err *e)
{
    for (size_t i = 0; i < st->row.n; i++) {
        if (st->row.x[i] < 0.0f)
            return err_set(e, STATUS_DATA, "probability %zu is negative", i);
        st->row.x[i] = logf(st->row.x[i]);
    }
    return true;
}

// A member, its key just copied to the envelope at key: its numbers into x, anything else into the envelope too.
static bool member(struct state *st, size_t key, enum plane *plane, struct err *e)
{
    const char *const name = st->envelope + key;
    const size_t len = st->envelope_len - key;
    char c;
    if (!json_next_byte(&st->text, &c, e))
        return false;
    if (c != ':')
        return json_syntax(&st->text, "':'", e);
    st->text.p++;
    const bool probs = len == 7 && !memcmp(name, "\"probs\"", 7);
    const bool logits = (len == 8 && !memcmp(name, "\"logits\"", 8)) || (len == 10 && !memcmp(name, "\"logprobs\"", 10));
    if (!probs && !logits)
        return keep(st, ":", 1, e) && copy_value(st, e);
    if (*plane != PLANE_NONE)
        return err_set(e, STATUS_DATA, "an object holds more than one of logits, logprobs and probs");
    *plane = probs ? PLANE_PROBS : PLANE_LOGITS;
    if (!json_next_byte(&st->text, &c, e))
        return false;
    return (c == '[' || json_syntax(&st->text, "an array of numbers", e)) && keep(st, ":0", 2, e) &&
           json_read_numbers(&st->text, &st->row, e) && (!probs || probs_to_logits(st, e));
}

// Members of row objects whose meaning is known but not yet at work.
static bool check_envelope(const struct state *st, uint64_t begin, struct err *e)
{
    static const char *const later[] = {"ids", "seq", "prompt_tokens", "accept", "params"};
    errno = 0;
    cJSON *const object = cJSON_ParseWithLength(st->envelope, st->envelope_len);
    if (!object && errno == ENOMEM)
        return err_from_fault(e, fault_memory());
    if (!object)
        return err_set(e, STATUS_DATA, "byte %" PRIu64 ": the object that begins here is not valid JSON", begin);
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof later / sizeof *later; i++)
        if (cJSON_GetObjectItemCaseSensitive(object, later[i]))
            ok = err_set(e, STATUS_DATA, "row objects with \"%s\" are not available yet", later[i]);
    cJSON_Delete(object);
    return ok;
}

// An object, from its '{' on.
static bool object(struct state *st, struct err *e)
{
    const uint64_t begin = json_place(&st->text);
    enum plane plane = PLANE_NONE;
    char c = '{';
    st->envelope_len = 0;
    do {
        if (!keep(st, st->text.p++, 1, e) || !json_next_byte(&st->text, &c, e))
            return false;
        if (c == '}' && st->envelope_len == 1)
            break;
        if (c != '"')
            return json_syntax(&st->text, "a member's name", e);
        const size_t key = st->envelope_len;
        if (!copy_string(st, e) || !member(st, key, &plane, e) || !json_next_byte(&st->text, &c, e))
            return false;
        if (c != ',' && c != '}')
            return json_syntax(&st->text, "',' or '}'", e);
    } while (c == ',');
    if (!keep(st, st->text.p++, 1, e) || !check_envelope(st, begin, e))
        return false;
    return plane != PLANE_NONE || err_set(e, STATUS_DATA, "an object without logits, logprobs or probs");
}

static bool probe_json(const unsigned char *head, size_t len)
{
    size_t i = 0;
    while (i < len && (head[i] == ' ' || head[i] == '\n' || head[i] == '\r' || head[i] == '\t'))
        i++;
    if (i == len || (head[i] != '[' && head[i] != '{'))
        return false;
    for (; i < len; i++) // raw numbers may begin with a bracket, but do not go on as text
        if (head[i] < ' ' && head[i] != '\n' && head[i] != '\r' && head[i] != '\t')
            return false;
    return true;
}

static bool open_json(void *self, const struct format *f, struct source *s, const struct input_config *config, struct err *e)
{
    struct state *const st = self;
    (void)f, (void)e;
    st->text.source = s;
    st->n_vocab = config->n_vocab;
    return true;
}

// Steps to the start of the next row: into, along and out of an array of rows.
static bool seek_row(struct state *st, char *c, struct err *e)
{
    for (;;) {
        if (!json_next_byte(&st->text, c, e))
            return false;
        if (!st->in_list)
            return st->text.p == st->text.end || *c == '{' || *c == '[' || json_syntax(&st->text, "a row", e);
        if (*c == ']') {
            st->text.p++;
            st->in_list = false;
            continue;
        }
        if (!st->first) {
            if (*c != ',')
                return json_syntax(&st->text, "',' or ']'", e);
            st->text.p++;
            if (!json_next_byte(&st->text, c, e))
                return false;
        }
        st->first = false;
        return *c == '{' || *c == '[' || json_syntax(&st->text, "a row", e);
    }
}

// Does the array at hand hold rows? Looks past its '[', which stays in view because the window is peeked from there.
static bool is_list(struct state *st, bool *list, struct err *e)
{
    for (size_t i = 1;; i++) {
        if (!json_view(&st->text, i + 1, e))
            return false;
        const char c = st->text.p + i < st->text.end ? st->text.p[i] : '\0';
        *list = c == '[' || c == '{' || c == ']';
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
            return true;
    }
}

static bool next_json(void *self, struct source *s, struct input_row *r, bool *end, struct err *e)
{
    struct state *const st = self;
    char c;
    (void)s;
    json_release(&st->text); // what lies before this row is done with
    if (!seek_row(st, &c, e))
        return false;
    while (c == '[' && !st->in_list) {
        if (!is_list(st, &st->in_list, e))
            return false;
        if (!st->in_list)
            break;
        st->first = true;
        st->text.p++;
        if (!seek_row(st, &c, e))
            return false;
    }
    *end = !c;
    if (!c)
        return true;
    if (!(c == '{' ? object(st, e) : json_read_numbers(&st->text, &st->row, e)))
        return false;
    r->logits = (struct row){DTYPE_F32, NULL, st->n_vocab}; // all that is known of a bad row, which is behind us
    r->bad = !st->row.n || (st->n_vocab && st->row.n != st->n_vocab);
    if (!st->row.n)
        return err_set(e, STATUS_DATA, "the row is empty");
    if (r->bad)
        return err_set(e, STATUS_DATA, "the row has %zu logits, --n-vocab says %zu", st->row.n, st->n_vocab);
    r->logits = (struct row){DTYPE_F32, st->row.x, st->row.n};
    return true;
}

static void close_json(void *self)
{
    struct state *const st = self;
    free(st->row.x);
    free(st->envelope);
}

const struct format format_json = {.name = "json",
                                   .endings = ".json .jsonl .ndjson",
                                   .size = sizeof(struct state),
                                   .probe = probe_json,
                                   .open = open_json,
                                   .next = next_json,
                                   .close = close_json};
