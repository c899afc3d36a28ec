// SPDX-License-Identifier: MIT
// JSON rows: arrays of numbers, arrays of rows, objects with "logits", "logprobs" or "probs", and servers' replies; concatenated, line by
// line, in one array, or as server-sent events. Our numbers are the data plane and are read straight from the input's window; what
// else an object holds goes through cJSON.
#include "in/input.h"
#include "in/json_reply.h"
#include "in/json_row.h"

#include <stdlib.h>
#include <string.h>

struct json_rows {
    struct json_text text;
    const struct input_config *config;
    bool in_list; // inside an array of rows
    bool first;   // of that array
    bool events;  // the last line began "data:", as in a stream of server-sent events
    bool line;    // what comes next begins a line
    bool names;   // since the last value, lines with the other names of a stream were passed over
    struct json_numbers row;
    struct json_object object;
    struct json_reply reply;
};

// The names of lines in a stream of server-sent events; all but the first mean nothing here.
static const char *const names[] = {"data:", "event:", "id:", "retry:", ":"};
enum { N_NAMES = sizeof names / sizeof *names };

static bool probe_json(const unsigned char *head, size_t len)
{
    const char *p = (const char *)head;
    const char *const end = p + len;
    while (json_is_space(p, end))
        p++;
    bool found = p < end && (*p == '[' || *p == '{');
    for (size_t k = 0; k < N_NAMES && !found; k++)
        found = (size_t)(end - p) >= strlen(names[k]) && !memcmp(p, names[k], strlen(names[k]));
    for (; p < end && found; p++) // raw numbers may begin with a bracket, but do not go on as text
        found = (unsigned char)*p >= ' ' || json_is_space(p, end);
    return found;
}

static bool open_json(void *self, const struct format *f, struct source *s, const struct input_config *config, struct err *e)
{
    struct json_rows *const st = self;
    (void)f;
    (void)e;
    st->text.source = s;
    st->config = config;
    return true;
}

static bool skip_line(struct json_text *t, struct err *e)
{
    do {
        const char *const newline = memchr(t->p, '\n', (size_t)(t->end - t->p));
        t->p = newline ? newline : t->end;
        if (!json_view(t, 1, e))
            return false;
    } while (t->p < t->end && *t->p != '\n');
    return true;
}

// Does the text at hand begin so? Takes it if it does.
static bool take(struct json_text *t, const char *text, bool *taken, struct err *e)
{
    const size_t len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        *taken = false;
        if (!json_view(t, i + 1, e))
            return false;
        if ((size_t)(t->end - t->p) <= i || t->p[i] != text[i])
            return true;
    }
    *taken = true;
    t->p += len;
    return true;
}

// Behind a value: does the line end with it?
static bool find_line(struct json_rows *st, struct err *e)
{
    struct json_text *const t = &st->text;
    st->line = json_place(t) == t->source->begin;
    do {
        while (t->p < t->end && *t->p != '\n' && json_is_space(t->p, t->end))
            t->p++;
        if (!json_view(t, 1, e))
            return false;
    } while (json_is_space(t->p, t->end) && *t->p != '\n');
    st->line = st->line || t->p == t->end || *t->p == '\n';
    return true;
}

// Between the objects of a stream of server-sent events stand the names of its lines. They are passed over, as is the data that ends a
// stream. Sets *again when something was.
static bool skip_event(struct json_rows *st, bool *again, struct err *e)
{
    for (size_t i = 0; i < N_NAMES && st->line; i++) {
        if (!take(&st->text, names[i], again, e))
            return false;
        if (*again && i) {
            st->names = true;
            return skip_line(&st->text, e);
        }
        if (*again) {
            st->events = true;
            return true;
        }
    }
    if (!st->events)
        return true;
    if (!take(&st->text, "[DONE]", again, e))
        return false;
    if (*again)
        json_reply_stop(&st->reply);
    return true;
}

// Steps to the start of the next row: into, along and out of an array of rows.
static bool seek_row(struct json_rows *st, char *c, struct err *e)
{
    for (;;) {
        if (!json_next_byte(&st->text, c, e))
            return false;
        if (!st->in_list) {
            bool again = false;
            if (*c && *c != '{' && !skip_event(st, &again, e))
                return false;
            if (again)
                continue;
            return st->text.p == st->text.end || *c == '{' || *c == '[' || json_syntax(&st->text, "a row", e);
        }
        if (*c == ']') {
            st->text.p++;
            st->in_list = false;
            if (!find_line(st, e))
                return false;
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

// Steps to the next row, which stands at hand then, or to the end (*c 0).
static bool find_row(struct json_rows *st, char *c, struct err *e)
{
    json_release(&st->text); // what lies before this row is done with
    if (!find_line(st, e) || !seek_row(st, c, e))
        return false;
    while (*c == '[' && !st->in_list) {
        char inside;
        if (!json_byte_inside(&st->text, &inside, e))
            return false;
        st->in_list = inside && strchr("[{]", inside);
        if (!st->in_list)
            break;
        st->first = true;
        st->text.p++;
        if (!seek_row(st, c, e))
            return false;
    }
    return true;
}

// The size of the vocabulary as far as it bounds the ids of sparse rows, or 0.
static size_t vocabulary(const struct input_config *config)
{
    return config->n_vocab ? config->n_vocab : config->n_tokens;
}

// An object, which has been read: a row, or a reply with any number of them.
static bool use_object(struct json_rows *st, bool *row, struct input_row *r, struct err *e)
{
    bool found;
    *row = st->object.plane != PLANE_NONE;
    r->may_change = *row; // arrays and replies bring no parameters, other row objects may
    if (*row)
        return json_object_row(&st->object, vocabulary(st->config), r, e);
    return json_reply_open(&st->reply, st->object.rest, st->events && !st->in_list, &found, e) &&
           (found || err_set(e, STATUS_DATA, "an object without logits, logprobs or probs"));
}

static bool check_width(const struct json_rows *st, const struct row *row, struct err *e)
{
    if (!row->n)
        return err_set(e, STATUS_DATA, "the row is empty");
    if (!row->ids && st->config->n_vocab && row->n != st->config->n_vocab)
        return err_set(e, STATUS_DATA, "the row has %zu logits, --n-vocab says %zu", row->n, st->config->n_vocab);
    return true;
}

// A row that was read is behind us even if it is bad.
static bool judge(const struct json_rows *st, bool good, struct input_row *r, const struct err *e)
{
    r->may_change = true;
    return good || input_bad_row(r, st->config->n_vocab, e);
}

// Names of a stream without its data are something else, such as rows with a label.
static bool end_of_input(const struct json_rows *st, struct err *e)
{
    if (st->names && !st->events)
        return json_syntax(&st->text, "a row", e);
    return json_reply_end(&st->reply, e);
}

static bool next_json(void *self, struct source *s, struct input_row *r, bool *end, struct err *e)
{
    struct json_rows *const st = self;
    (void)s;
    for (bool row = false; !row;) {
        char c;
        if (st->reply.next < st->reply.n)
            return judge(st, json_reply_next(&st->reply, st->config, r, e), r, e);
        if (!find_row(st, &c, e))
            return false;
        *end = !c;
        if (!c)
            return end_of_input(st, e);
        st->names = false;
        row = c == '[';
        if (row && !json_read_numbers(&st->text, &st->row, e))
            return false;
        if (row)
            r->logits = (struct row){DTYPE_F32, st->row.x, st->row.n};
        else if (!json_object_read(&st->object, &st->text, e))
            return false;
        else if (!use_object(st, &row, r, e))
            return judge(st, false, r, e);
    }
    return judge(st, check_width(st, &r->logits, e), r, e);
}

static void close_json(void *self)
{
    struct json_rows *const st = self;
    free(st->row.x);
    json_object_free(&st->object);
    json_reply_free(&st->reply);
}

const struct format format_json = {.name = "json",
                                   .endings = {".json", ".jsonl", ".ndjson"},
                                   .size = sizeof(struct json_rows),
                                   .probe = probe_json,
                                   .open = open_json,
                                   .next = next_json,
                                   .close = close_json};
