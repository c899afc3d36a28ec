// SPDX-License-Identifier: MIT
// JSON rows: arrays of numbers, objects with "logits", "logprobs" or "probs", lists of data sets, and servers'
// replies. The rows stand one after the other, perhaps on lines, in an array of rows, or in server-sent events.
#include "in/json_lists.h"
#include "in/json_reply.h"
#include "in/list_tail.h"
#include "in/row_notes.h"
#include "kern/libm.h"
#include "json/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct json_rows {
    struct json_text text;
    const struct input_config *config;
    bool lazy;       // the next row may be returned as text
    bool single;     // reads one row for input_read
    size_t depth;    // arrays of rows that are open
    size_t elements; // of the innermost one so far
    bool leading;    // all of them were null: a prompt's first token has no row
    bool events;     // a line began "data:", as in a stream of server-sent events
    bool names;      // lines of a stream other than "data:" were skipped since the last value
    bool lost;       // the row before was no JSON: the next one begins a line
    bool loose;      // inside an array with such a row: commas, and brackets around rows, do not count
    struct json_value value;
    struct json_reply reply;
    struct json_lists lists;
    struct row_notes notes;
};

// What lines of server-sent events begin with. Only the lines of the first kind hold data.
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
    for (; p < end && found; p++) // raw numbers may begin with a bracket, but not all their bytes are text
        found = (unsigned char)*p >= ' ' || json_is_space(p, end);
    return found;
}

// Skips one thing of a stream of server-sent events that is no row, and returns true: "data:" before a row, a line of
// another kind, or the "[DONE]" that ends a stream. line: no value precedes it on its line. Returns false if there is
// none.
static bool skip_event(struct json_rows *st, bool line)
{
    struct json_text *const t = &st->text;
    for (size_t i = 0; i < N_NAMES && line; i++) {
        if (!json_accept(t, names[i]))
            continue;
        st->events = st->events || !i;
        st->names = st->names || i;
        if (i)
            json_skip_line(t);
        return true;
    }
    if (!st->events || !json_accept(t, "[DONE]"))
        return false;
    json_reply_stop(&st->reply);
    return true;
}

// Behind a row that was no JSON: goes on where the error was found if a line begins there, else at the next line.
static void find_line(struct json_rows *st)
{
    if (!json_begins_line(&st->text))
        json_skip_line(&st->text);
    st->loose = st->loose || st->depth;
    st->depth = 0;
    st->lost = false;
}

// Looks at what the array whose '[' is the current byte holds: returns the first byte that is no white space, null,
// comma or, with `deep`, another '['.
static char array_holds(struct json_text *t, bool deep)
{
    size_t i = 1;
    for (;;) {
        const char c = json_byte_from(t, &i);
        if (c == 'n' && json_text_at(t, i, "null"))
            i += strlen("null");
        else if (c == ',' || (c == '[' && deep))
            i++;
        else
            return c;
    }
}

static void open_list(struct json_rows *st)
{
    st->depth++;
    st->elements = 0;
    st->leading = true;
    st->text.p++;
}

// Finds the next row, entering and leaving arrays of rows. *c: the row's bracket, which is the current byte then; 'n'
// behind an element of an array that is null; 0 at the end of the input.
static bool find_row(struct json_rows *st, char *c, struct err *e)
{
    struct json_text *const t = &st->text;
    bool line = false; // no value precedes the current byte on its line
    json_discard(t);
    if (st->lost)
        find_line(st);
    for (;;) {
        *c = json_next_byte(t);
        line = line || json_begins_line(t);
        if (st->loose && !st->depth && (*c == ',' || *c == ']')) {
            t->p++;
        } else if (!st->depth) {
            if (*c && *c != '{' && skip_event(st, line))
                continue;
            const char inside = *c == '[' ? array_holds(t, false) : '\0';
            if (!inside || !strchr("[{", inside))
                return t->p == t->end || *c == '{' || *c == '[' || json_syntax(t, "a row", e);
            open_list(st);
        } else if (*c == ']') {
            json_reply_stop(&st->reply);
            st->depth--;
            st->elements = 1; // of the array around it
            line = false;
            t->p++;
        } else {
            if (st->elements && *c != ',')
                return json_syntax(t, "',' or ']'", e);
            t->p += st->elements > 0;
            *c = json_next_byte(t);
            st->elements++;
            if (*c == 'n' && json_accept(t, "null")) {
                if (st->leading)
                    continue;
                return true;
            }
            const char inside = *c == '[' ? array_holds(t, true) : '\0';
            if (inside == '{' || inside == '"') { // an array for each prompt; a text is an error that tells its place
                open_list(st);
                continue;
            }
            st->leading = false;
            return *c == '{' || *c == '[' || json_syntax(t, "a row", e);
        }
    }
}

// Reads a member that is a number, f32 if so: *x, or leaves it if there is none.
static bool tail_number(const cJSON *object, const char *where, const char *name, bool f32, double *x, struct err *e)
{
    const cJSON *const value = json_member(object, name);
    if (value && !cJSON_IsNumber(value))
        return err_set(e, STATUS_DATA, "%s%s is not a number", where, name);
    if (value)
        *x = f32 ? (double)(float)value->valuedouble : value->valuedouble;
    return true;
}

// Makes the row of a list with a tail, which is null if all tokens are listed.
static bool list_row(struct json_rows *st, const cJSON *object, const cJSON *tail, struct input_row *r, struct err *e)
{
    const cJSON *const logit = cJSON_GetObjectItemCaseSensitive(object, "accept_logit");
    struct list_tail t = {.prefix = "tail.",
                          .rank_name = "accept_rank",
                          .token_rank = NAN,
                          .token = json_id(json_member(object, "accept")),
                          .token_logit = cJSON_IsNull(logit) ? -INFINITY : NAN};
    double n_vocab = (double)st->config->n_vocab;
    for (size_t i = 0; i < TAIL_MEMBERS; i++) {
        t.value[i] = cJSON_IsNull(tail) && i <= TAIL_MASKED ? 0.0 : NAN;
        if (!tail_number(tail, t.prefix, tail_names[i], i >= TAIL_MAX && i <= TAIL_SD, &t.value[i], e))
            return false;
    }
    if (!tail_number(object, "", "accept_logit", true, &t.token_logit, e) ||
        !tail_number(object, "", t.rank_name, false, &t.token_rank, e) ||
        !tail_number(object, "", "n_vocab", false, &n_vocab, e))
        return false;
    if (!(n_vocab >= 0.0 && n_vocab <= INT32_MAX && n_vocab == floor(n_vocab)) ||
        (st->config->n_vocab && n_vocab != (double)st->config->n_vocab))
        return err_set(e, STATUS_DATA, "n_vocab is %g, --n-vocab %zu", n_vocab, st->config->n_vocab);
    return list_tail_row(&st->value.row, &t, (size_t)n_vocab, &r->logits, e);
}

static bool read_logits(struct json_rows *st, struct input_row *r, struct err *e)
{
    struct sparse *const row = &st->value.row;
    const struct input_config *const c = st->config;
    for (size_t i = 0; i < row->n && st->value.plane == PLANE_PROBS; i++) {
        if (row->x[i] < 0.0f)
            return err_set(e, STATUS_DATA, "probability %zu is negative", i);
        row->x[i] = c->probs == PROBS_STAY ? row->x[i] : libm_logf(row->x[i]);
    }
    if (st->value.has_ids && st->value.n_ids != row->n)
        return err_set(e, STATUS_DATA, "the row has %zu ids and %zu numbers", st->value.n_ids, row->n);
    const cJSON *const tail = cJSON_GetObjectItemCaseSensitive(st->value.tree, "tail");
    if (tail && st->value.has_ids && st->value.plane == PLANE_LOGITS)
        return list_row(st, st->value.tree, tail, r, e);
    r->logits = (struct row){DTYPE_F32, row->x, row->n};
    return !st->value.has_ids || !row->n || sparse_row(row, input_n_vocab(c), &r->logits, e);
}

static bool read_row(struct json_rows *st, struct input_row *r, struct err *e)
{
    struct json_value *const v = &st->value;
    if (!json_refuse_nul(v->tree, STATUS_DATA, e) || !row_notes_sequence(&st->notes, v->tree, r, e) ||
        !read_logits(st, r, e) || !row_notes_others(&st->notes, v->tree, v->text.text, v->text.len, r, e))
        return false;
    if (!r->logits.n)
        return err_set(e, STATUS_DATA, "the row is empty");
    return r->logits.ids || input_check_width(st->config, r->logits.n, e);
}

// Returns true if the next len bytes lie in one line, and end it. False if that is not known yet.
static bool fills_line(const struct json_text *t, size_t len)
{
    const char *p = t->p + len;
    while (p < t->end && *p != '\n' && json_is_space(p, t->end))
        p++;
    return p < t->end && *p == '\n' && !memchr(t->p, '\n', len);
}

// If the input goes on behind a row that is no JSON, marks it as bad. Returns false.
static bool lose_row(struct json_rows *st, struct input_row *r, const struct err *e)
{
    if (st->config->on_error == ERROR_STOPS || st->text.failed)
        return false;
    st->value.more = false;
    st->lost = true;
    json_reply_stop(&st->reply);
    return input_bad_row(r, st->config->n_vocab, e);
}

// Returns the next value as text, for input_read, if that is wanted and the value can be read by itself.
static bool defer_row(struct json_rows *st, struct input_row *r)
{
    struct json_text *const t = &st->text;
    const size_t len = st->lazy && !st->events && !st->single ? json_plain_length(t) : 0;
    if (!len || t->failed || (st->config->on_error == ERROR_SKIPS && !fills_line(t, len)))
        return false;
    r->text = t->p;
    r->n_text = len;
    r->text_at = json_offset(t);
    r->mapped = t->source->mapped;
    t->p += len;
    return true;
}

// Reads the next array of numbers or object, or returns it as text in r. Sets *end at the end of the input.
static bool next_value(struct json_rows *st, struct input_row *r, bool *end, struct err *e)
{
    char c;
    if (st->value.more)
        return json_read_value(&st->text, &st->value, e) || lose_row(st, r, e);
    if (!find_row(st, &c, e)) {
        const bool more = st->text.p < st->text.end;
        st->text.p += more; // the line is lost, even if its first byte is wrong
        return more && lose_row(st, r, e);
    }
    if (st->text.failed)
        return false;
    *end = !c;
    if (!c && st->names && !st->events) // lines such as "id: ..." without data are no stream, but perhaps labelled rows
        return json_syntax(&st->text, "a row", e);
    st->names = false;
    if (c == 'n') {
        err_set(e, STATUS_DATA, "element %zu of the array is null: it lists no tokens", st->elements - 1);
        return input_bad_row(r, st->config->n_vocab, e);
    }
    if (c && defer_row(st, r))
        return true;
    if (!c)
        return json_reply_end(&st->reply, e);
    return json_read_value(&st->text, &st->value, e) || lose_row(st, r, e);
}

// Reads the next position of a reply. Arrays side by side may have the members of a JSON row; those that belong to one
// row count only if they are one list.
static bool next_position(struct json_rows *st, struct input_row *r, struct err *e)
{
    struct json_value *const v = &st->value;
    if (!json_reply_next(&st->reply, st->config, r, e))
        return false;
    if (!v->paired)
        return true;
    return json_refuse_nul(v->tree, STATUS_DATA, e) && row_notes_sequence(&st->notes, v->tree, r, e) &&
           (st->reply.n > 1 || row_notes_others(&st->notes, v->tree, v->text.text, v->text.len, r, e));
}

static bool next_json(void *self, struct source *s, const struct input_config *config, struct input_row *r, bool *end,
                      struct err *e)
{
    struct json_rows *const st = self;
    st->config = config;
    st->text.source = s;
    st->text.kern = config->kern;
    r->place.first = st->reply.first; // also of a row that turns out bad
    while (st->reply.next == st->reply.n && st->lists.next == st->lists.n) {
        if (!next_value(st, r, end, e)) {
            if (st->text.failed)
                *e = st->text.error;
            return false;
        }
        if (*end || r->text)
            return true;
        if (!json_value_pair(&st->value, e))
            return false;
        if (!st->value.row.n && !st->value.has_ids && json_reply_is_part(st->value.tree))
            st->value.plane = PLANE_NONE; // "logprobs": [] in a part of a stream
        if (st->value.plane != PLANE_NONE)
            return read_row(st, r, e) || input_bad_row(r, config->n_vocab, e);
        bool found;
        if (!json_lists_open(&st->lists, st->value.tree, &found, e))
            return input_bad_row(r, config->n_vocab, e);
        st->reply.depth = st->depth;
        if (!found && !json_reply_open(&st->reply, &st->value, st->events && !st->depth, e))
            return input_bad_row(r, config->n_vocab, e);
    }
    const bool lists = st->lists.next < st->lists.n;
    return (lists ? json_lists_next(&st->lists, &st->notes, config, r, e) : next_position(st, r, e)) ||
           input_bad_row(r, config->n_vocab, e);
}

static bool next_text(void *self, struct source *s, const struct input_config *config, struct input_row *r, bool *end,
                      struct err *e)
{
    struct json_rows *const st = self;
    st->lazy = true;
    const bool ok = next_json(self, s, config, r, end, e);
    st->lazy = false;
    return ok;
}

static void close_json(void *self)
{
    struct json_rows *const st = self;
    json_value_free(&st->value);
    json_reply_free(&st->reply);
    json_lists_free(&st->lists);
    row_notes_free(&st->notes);
}

struct input_reader {
    struct source source; // over the text of a row
    struct json_rows rows;
};

bool input_read(struct input_reader **reader, const struct input_config *config, struct input_row *r, struct err *e)
{
    bool end = false;
    struct input_reader *const x = *reader = *reader ? *reader : calloc(1, sizeof *x);
    if (!x)
        return err_from_fault(e, fault_memory());
    x->source = (struct source){.name = r->file,
                                .buf = (unsigned char *)(uintptr_t)r->text,
                                .end = r->n_text,
                                .offset = r->text_at,
                                .at_end = true};
    x->rows.text = (struct json_text){0};
    x->rows.single = true;
    x->rows.lost = false;
    r->text = NULL;
    return next_json(&x->rows, &x->source, config, r, &end, e);
}

void input_reader_free(struct input_reader *reader)
{
    if (reader)
        close_json(&reader->rows);
    free(reader);
}

const struct format format_json = {.name = "json",
                                   .endings = {".json", ".jsonl", ".ndjson"},
                                   .size = sizeof(struct json_rows),
                                   .names = true,
                                   .probe = probe_json,
                                   .next = next_json,
                                   .next_text = next_text,
                                   .close = close_json};
