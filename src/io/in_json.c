// SPDX-License-Identifier: MIT
// JSON rows: arrays of numbers, arrays of rows, objects with "logits", "logprobs" or "probs"; concatenated, line by line or in one array.
// The numbers are the data plane and are read straight from the input's window; what else an object holds goes through cJSON.
#include "base/mem.h"
#include "io/input.h"
#include "io/json_number.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NUMBER_MAX = 4096,      // characters of one number
    ENVELOPE_MAX = 1 << 24, // bytes of an object besides its numbers
};

struct state {
    struct source *source;
    const char *p, *end; // the part of the input in view
    const char *origin;  // where the view began; source->offset is its place in the input
    size_t n_vocab;      // 0: any
    bool in_list;        // inside an array of rows
    bool first;          // of that array
    float *x;            // the row
    size_t n, cap;
    char *envelope; // the object's other members, as an object
    size_t envelope_len, envelope_cap;
};

// Brings at least `want` bytes into view, fewer only at the end of the input.
static bool view(struct state *st, size_t want, struct err *e)
{
    if ((size_t)(st->end - st->p) >= want)
        return true;
    const unsigned char *p;
    size_t have;
    source_skip(st->source, (size_t)(st->p - st->origin));
    if (!source_peek(st->source, want, &p, &have, e))
        return false;
    st->p = st->origin = (const char *)p;
    st->end = st->p + have;
    return true;
}

// The present place, in bytes from the start of the input.
static uint64_t place(const struct state *st)
{
    return st->source->offset + (uint64_t)(st->p - st->origin);
}

static bool syntax(const struct state *st, const char *expected, struct err *e)
{
    const uint64_t at = place(st);
    if (st->p == st->end)
        return err_set(e, STATUS_DATA, "the input ends at byte %" PRIu64 " where JSON wants %s", at, expected);
    if ((unsigned char)(*st->p - ' ') > '~' - ' ')
        return err_set(e, STATUS_DATA, "byte %" PRIu64 ": 0x%02x where JSON wants %s", at, (unsigned char)*st->p, expected);
    return err_set(e, STATUS_DATA, "byte %" PRIu64 ": '%c' where JSON wants %s", at, *st->p, expected);
}

static inline bool is_space(const char *p, const char *end)
{
    return p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t');
}

// The next byte that is not white space, which is not taken; 0 at the end of the input.
static bool next_byte(struct state *st, char *c, struct err *e)
{
    for (;;) {
        while (is_space(st->p, st->end))
            st->p++;
        if (st->p < st->end) {
            *c = *st->p;
            return true;
        }
        if (!view(st, 1, e))
            return false;
        if (st->p == st->end) {
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
static bool no_number(const struct state *st, struct err *e)
{
    return err_set(e, STATUS_DATA, "byte %" PRIu64 ": no JSON number begins here", place(st));
}

// One element of a row. Asks for more input only when what is in view may be cut off, so that a row can be answered as soon as it is
// complete.
static bool number(struct state *st, float *x, struct err *e)
{
    for (size_t want = 1;; want++) {
        if (!view(st, want, e))
            return false;
        const size_t have = (size_t)(st->end - st->p);
        if (!have || !*st->p || !strchr("-0123456789nNI", *st->p))
            return syntax(st, "a number", e);
        const char *const limit = st->p + (have < NUMBER_MAX ? have : NUMBER_MAX);
        const char *stop = json_number(st->p, limit, x);
        if (!stop)
            stop = word(st->p, limit, x);
        if (stop && (stop < limit || have < want)) {
            st->p = stop;
            return true;
        }
        if (have >= NUMBER_MAX)
            return stop ? err_set(e, STATUS_DATA, "number %zu has more than %d characters", st->n, NUMBER_MAX) : no_number(st, e);
        if (have < want)
            return no_number(st, e);
        want = have;
    }
}

// The usual stretch: numbers with a comma behind each, well in view. Stops before anything else.
static void plain_numbers(struct state *st)
{
    enum { PLAIN = 64 }; // longer than any usual number
    const char *p = st->p;
    while (st->end - p > PLAIN && st->n < st->cap) {
        const char *const stop = json_number(p, p + PLAIN, &st->x[st->n]);
        if (!stop || stop == p + PLAIN || *stop != ',')
            break;
        st->n++;
        p = stop + 1 + (stop[1] == ' ');
    }
    st->p = p;
}

// An array of numbers, from its '[' on, into x.
static bool numbers(struct state *st, struct err *e)
{
    char c;
    st->n = 0;
    st->p++;
    if (!next_byte(st, &c, e))
        return false;
    if (c == ']') {
        st->p++;
        return true;
    }
    for (;;) {
        plain_numbers(st);
        if (!next_byte(st, &c, e))
            return false;
        if (st->n >= INT32_MAX)
            return err_set(e, STATUS_DATA, "the row is wider than %d", INT32_MAX);
        float x = 0.0f;
        if (!number(st, &x, e))
            return false;
        if (!mem_grow(&st->x, &st->cap, st->n + 1, sizeof *st->x))
            return err_from_fault(e, fault_memory());
        st->x[st->n++] = x;
        if (!next_byte(st, &c, e))
            return false;
        if (c != ',' && c != ']')
            return syntax(st, "',' or ']'", e);
        st->p++;
        if (c == ']')
            return true;
        if (!next_byte(st, &c, e))
            return false;
    }
}

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
        if (!view(st, 1, e))
            return false;
        if (st->p == st->end)
            return syntax(st, "the end of a string", e);
        const char c = *st->p++;
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
        if (!view(st, 1, e))
            return false;
        if (is_space(st->p, st->end) && !keep(st, " ", 1, e))
            return false;
        if (!next_byte(st, &c, e))
            return false;
        if (!c)
            return syntax(st, "'}'", e);
        if (!depth && (c == ',' || c == '}' || c == ']'))
            return true;
        if (c == '"') {
            if (!copy_string(st, e))
                return false;
            continue;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        if (!keep(st, st->p++, 1, e))
            return false;
    }
}

// How the numbers of an object are to be read.
enum plane { PLANE_NONE, PLANE_LOGITS, PLANE_PROBS };

static bool probs_to_logits(struct state *st, struct err *e)
{
    for (size_t i = 0; i < st->n; i++) {
        if (st->x[i] < 0.0f)
            return err_set(e, STATUS_DATA, "probability %zu is negative", i);
        st->x[i] = logf(st->x[i]);
    }
    return true;
}

// A member, its key just copied to the envelope at key: its numbers into x, anything else into the envelope too.
static bool member(struct state *st, size_t key, enum plane *plane, struct err *e)
{
    const char *const name = st->envelope + key;
    const size_t len = st->envelope_len - key;
    char c;
    if (!next_byte(st, &c, e))
        return false;
    if (c != ':')
        return syntax(st, "':'", e);
    st->p++;
    const bool probs = len == 7 && !memcmp(name, "\"probs\"", 7);
    const bool logits = (len == 8 && !memcmp(name, "\"logits\"", 8)) || (len == 10 && !memcmp(name, "\"logprobs\"", 10));
    if (!probs && !logits)
        return keep(st, ":", 1, e) && copy_value(st, e);
    if (*plane != PLANE_NONE)
        return err_set(e, STATUS_DATA, "an object holds more than one of logits, logprobs and probs");
    *plane = probs ? PLANE_PROBS : PLANE_LOGITS;
    if (!next_byte(st, &c, e))
        return false;
    return (c == '[' || syntax(st, "an array of numbers", e)) && keep(st, ":0", 2, e) && numbers(st, e) &&
           (!probs || probs_to_logits(st, e));
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
    const uint64_t begin = place(st);
    enum plane plane = PLANE_NONE;
    char c = '{';
    st->envelope_len = 0;
    do {
        if (!keep(st, st->p++, 1, e) || !next_byte(st, &c, e))
            return false;
        if (c == '}' && st->envelope_len == 1)
            break;
        if (c != '"')
            return syntax(st, "a member's name", e);
        const size_t key = st->envelope_len;
        if (!copy_string(st, e) || !member(st, key, &plane, e) || !next_byte(st, &c, e))
            return false;
        if (c != ',' && c != '}')
            return syntax(st, "',' or '}'", e);
    } while (c == ',');
    if (!keep(st, st->p++, 1, e) || !check_envelope(st, begin, e))
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
    st->source = s;
    st->n_vocab = config->n_vocab;
    return true;
}

// Steps to the start of the next row: into, along and out of an array of rows.
static bool seek_row(struct state *st, char *c, struct err *e)
{
    for (;;) {
        if (!next_byte(st, c, e))
            return false;
        if (!st->in_list)
            return st->p == st->end || *c == '{' || *c == '[' || syntax(st, "a row", e);
        if (*c == ']') {
            st->p++;
            st->in_list = false;
            continue;
        }
        if (!st->first) {
            if (*c != ',')
                return syntax(st, "',' or ']'", e);
            st->p++;
            if (!next_byte(st, c, e))
                return false;
        }
        st->first = false;
        return *c == '{' || *c == '[' || syntax(st, "a row", e);
    }
}

// Does the array at hand hold rows? Looks past its '[', which stays in view because the window is peeked from there.
static bool is_list(struct state *st, bool *list, struct err *e)
{
    for (size_t i = 1;; i++) {
        if (!view(st, i + 1, e))
            return false;
        const char c = st->p + i < st->end ? st->p[i] : '\0';
        *list = c == '[' || c == '{' || c == ']';
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
            return true;
    }
}

static bool next_json(void *self, struct source *s, struct input_row *r, bool *end, struct err *e)
{
    struct state *const st = self;
    char c;
    source_skip(s, (size_t)(st->p - st->origin)); // what lies before this row is done with
    st->origin = st->p;
    if (!seek_row(st, &c, e))
        return false;
    while (c == '[' && !st->in_list) {
        if (!is_list(st, &st->in_list, e))
            return false;
        if (!st->in_list)
            break;
        st->first = true;
        st->p++;
        if (!seek_row(st, &c, e))
            return false;
    }
    *end = !c;
    if (!c)
        return true;
    if (!(c == '{' ? object(st, e) : numbers(st, e)))
        return false;
    if (!st->n)
        return err_set(e, STATUS_DATA, "the row is empty");
    if (st->n_vocab && st->n != st->n_vocab)
        return err_set(e, STATUS_DATA, "the row has %zu logits, --n-vocab says %zu", st->n, st->n_vocab);
    r->logits = (struct row){DTYPE_F32, st->x, st->n};
    return true;
}

static void close_json(void *self)
{
    struct state *const st = self;
    free(st->x);
    free(st->envelope);
}

const struct format format_json = {.name = "json",
                                   .endings = ".json .jsonl .ndjson",
                                   .size = sizeof(struct state),
                                   .probe = probe_json,
                                   .open = open_json,
                                   .next = next_json,
                                   .close = close_json};
