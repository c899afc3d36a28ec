// SPDX-License-Identifier: MIT
// Records of rows: ids, texts, dumps with candidates and stages, and statistics.
#include "base/utf8.h"
#include "out/token_text.h"
#include "views/dump_text.h"
#include "views/record_fields.h"
#include "views/view.h"

#include <inttypes.h>
#include <math.h>

struct records {
    struct columns columns;
    bool tinted;    // the last token's text has a style that has not ended
    size_t missing; // bytes that the last character lacks: later tokens have them
};

static bool is_dump(const struct job *j) { return j->args->dump || j->args->trace; }

// ---- texts in a window

// Returns the style of a token by its raw probability. The styles differ in more than colour.
static const char *tint_of(double p)
{
    return p < 0.001  ? COLOR_ORANGE "\033[1;7m"
           : p < 0.01 ? COLOR_ORANGE "\033[1;4m"
           : p < 0.1  ? COLOR_BLUE "\033[4m"
                      : "";
}

// Returns the number of bytes that the last character of a text lacks.
static size_t missing_bytes(struct piece text)
{
    size_t last = text.len;
    while (last && text.len - last < 4 && (text.p[last - 1] & 0xc0) == 0x80)
        last--;
    const size_t length = last ? utf8_length(text.p[last - 1]) : 0, have = text.len - last + 1;
    return length > have ? length - have : 0;
}

static void end_tint(struct records *v)
{
    builder_string(&v->columns.dest->text, v->tinted ? "\033[0m" : "");
    v->tinted = false;
}

// Writes the text of a token in its style; blanks at its beginning have no style. The bytes of a character may belong
// to several tokens. A terminal cannot show a character if the style changes between its bytes, so the style of its
// first token holds up to its last byte.
static void tinted_text(struct records *v, struct piece text, const char *tint)
{
    struct builder *const b = &v->columns.dest->text;
    size_t at = 0;
    for (; at < text.len && v->missing && (text.p[at] & 0xc0) == 0x80; at++)
        v->missing--;
    builder_bytes(b, text.p, at);
    if (at < text.len || !v->missing)
        end_tint(v);
    if (at == text.len)
        return;
    for (; at < text.len && text.p[at] <= ' '; at++)
        builder_byte(b, (char)text.p[at]);
    text = (struct piece){text.p + at, text.len - at};
    v->missing = missing_bytes(text);
    v->tinted = text.len && *tint;
    builder_string(b, v->tinted ? tint : "");
    builder_bytes(b, text.p, text.len);
    if (!v->missing)
        end_tint(v);
}

// ---- the chosen token

// Writes the row and the chosen token.
static void token_fields(const struct columns *c, const struct record *r)
{
    struct dest *const d = c->dest;
    field_int(d, "row", (int64_t)r->row);
    if (has_cells(d))
        field_int(d, "id", record_id(r));
    else
        fields_of_token(d, r->chosen);
    field_float(d, "prob", r->error ? NAN : r->chosen_p);
    field_int(d, "n", (int64_t)r->kept);
    if (has_cells(d))
        field_token(d, "text", r->error ? UINT32_MAX : r->chosen);
}

// ---- dumps as JSON

// Writes an object of parameters or notes. Underscores replace hyphens in names.
static void named_object(struct dest *d, const char *name, const struct named *x, size_t n)
{
    char text[NUMBER_TEXT];
    object_begin(d, name);
    for (size_t i = 0; i < n; i++) {
        field_begin(d, NULL);
        builder_byte(&d->text, '"');
        for (const char *at = x[i].name; *at; at++)
            builder_byte(&d->text, *at == '-' ? '_' : *at);
        builder_string(&d->text, "\":");
        builder_string(&d->text, isfinite(x[i].value) ? named_text(&x[i], text) : "null");
    }
    object_end(d);
}

static void ranked_json(struct dest *d, const struct record *r, const struct ranked *ranked, size_t n, bool raw,
                        bool noisy)
{
    double sum = 0.0;
    items_begin(d, "top_probs");
    for (size_t i = 0; i < n; i++) {
        const struct ranked *const c = &ranked[i];
        sum += c->p;
        object_begin(d, NULL);
        fields_of_token(d, c->id);
        field_float(d, "prob", c->p);
        field_float(d, "logit", c->logit);
        if (raw)
            field_float(d, "raw_prob", c->raw_p);
        field_float(d, "cum", (float)sum);
        if (c->id == r->accepted)
            field_bool(d, "accepted", true);
        if (noisy) {
            field_double(d, "noise", c->noised.noise);
            field_double(d, "value", c->noised.value);
        }
        object_end(d);
    }
    items_end(d);
}

// Writes a member for the words of an account, unless there are none.
static void words_json(struct dest *d, const char *name, const char *words)
{
    struct builder text = {0};
    if (!words || !*words)
        return;
    account_text(&text, d, words);
    field_text(d, name, text.text, true);
    d->text.failed = d->text.failed || text.failed;
    builder_free(&text);
}

static void account_json(struct dest *d, const struct trace_line *t)
{
    words_json(d, "says", t->words);
    if (!t->n_findings)
        return;
    items_begin(d, "found");
    for (size_t i = 0; i < t->n_findings; i++) {
        const struct finding *const f = &t->finding[i];
        object_begin(d, NULL);
        field_int(d, "id", f->token);
        field_token(d, "token", f->token);
        if (f->count)
            field_int(d, "count", (int64_t)f->count);
        if (f->back) {
            field_int(d, "length", (int64_t)f->length);
            field_int(d, "back", (int64_t)f->back);
        }
        field_float(d, "change", f->change);
        object_end(d);
    }
    items_end(d);
}

static void stage_json(struct dest *d, const struct record *r, const struct trace_line *t)
{
    field_text(d, "name", t->name, true);
    field_bool(d, "enabled", t->enabled);
    if (!t->enabled) {
        object_end(d);
        return;
    }
    field_int(d, "before", (int64_t)t->before);
    field_int(d, "after", (int64_t)t->after);
    field_double(d, "mass", t->mass);
    field_double(d, "entropy", t->entropy);
    field_int(d, "top_before", t->top_before);
    field_token(d, "token_before", t->top_before);
    field_int(d, "top_after", t->top_after);
    field_token(d, "token_after", t->top_after);
    field_int(d, "removed", (int64_t)t->n_removed);
    items_begin(d, "likeliest_removed");
    for (size_t k = 0; k < t->n_removed && k < TRACE_REMOVED; k++) {
        object_begin(d, NULL);
        field_int(d, "id", t->removed[k].id);
        field_token(d, "token", t->removed[k].id);
        field_float(d, "prob", t->removed[k].p);
        object_end(d);
    }
    items_end(d);
    named_object(d, "params", t->param, t->n_params);
    named_object(d, "notes", t->note, t->n_notes);
    field_text(d, "rest", t->unlisted, false);
    if (t->n_best)
        ranked_json(d, r, t->best, t->n_best, false, t->noisy);
    account_json(d, t);
    object_end(d);
}

static void dump_json(struct columns *c, const struct record *r)
{
    struct dest *const d = c->dest;
    token_fields(c, r);
    if (job_records(c->job, RECORD_SHOWN))
        ranked_json(d, r, r->ranked, r->shown, true, r->noisy);
    if (job_records(c->job, RECORD_LINES)) {
        items_begin(d, "stages");
        for (size_t i = 0; i < r->n_trace; i++) {
            object_begin(d, NULL);
            stage_json(d, r, &r->trace[i]);
        }
        items_end(d);
    }
    field_int(d, "v", 1);
    field_double(d, "entropy", r->entropy);
    words_json(d, "grammar", r->first_choice);
    field_text(d, "budget", r->budget, false);
    if (r->budget_left)
        field_int(d, "budget_left", r->budget_left);
    if (r->rules) {
        field_text(d, "rules", r->rules, true);
        field_int(d, "fits", (int64_t)r->fits);
    }
    record_end(c, r);
}

// ---- dumps as cells

static void named_cell(struct dest *d, const struct named *x, size_t n)
{
    char text[NUMBER_TEXT];
    field_begin(d, "");
    for (size_t i = 0; i < n; i++)
        builder_format(&d->text, "%s%s=%s", i ? " " : "", x[i].name, named_text(&x[i], text));
}

static void empty_cells(struct dest *d, int n)
{
    for (; n; n--)
        field_text(d, "", NULL, true);
}

// Writes the line of a candidate that is left after stage t, or after the chain (t is NULL).
static void candidate_line(struct columns *c, const struct record *r, const struct trace_line *t,
                           const struct ranked *token, size_t rank, double sum)
{
    static const char *const of_stages[] = {"params",     "before",    "after",   "mass",
                                            "top_before", "top_after", "removed", "notes"};
    struct dest *const d = c->dest;
    field_int(d, "row", (int64_t)r->row);
    field_int(d, "rank", (int64_t)rank);
    field_int(d, "id", r->error ? -1 : (int64_t)token->id);
    field_float(d, "logit", token->logit);
    field_float(d, "prob", token->p);
    field_float(d, "cum", (float)sum);
    field_int(d, "chosen", token->id == r->chosen);
    field_token(d, "text", token->id);
    field_double(d, "entropy", t ? t->entropy : r->error ? NAN : r->entropy);
    if (job_accepts(c->job))
        field_int(d, "accepted", token->id == r->accepted);
    if (job_records(c->job, RECORD_LINES))
        field_text(d, "stage", t ? t->name : "", true);
    for (size_t i = 0; job_records(c->job, RECORD_LINES) && i < sizeof of_stages / sizeof *of_stages; i++)
        field_text(d, of_stages[i], NULL, true);
    record_end(c, r);
}

// Writes the line of a stage. The cells of a candidate are empty.
static void stage_line(struct columns *c, const struct record *r, const struct trace_line *t)
{
    struct dest *const d = c->dest;
    field_int(d, "row", (int64_t)r->row);
    empty_cells(d, d->vocab ? 7 : 6);
    if (t->enabled)
        field_double(d, "entropy", t->entropy);
    empty_cells(d, !t->enabled + job_accepts(c->job));
    field_text(d, "stage", t->name, true);
    if (t->enabled) {
        named_cell(d, t->param, t->n_params);
        field_int(d, "before", (int64_t)t->before);
        field_int(d, "after", (int64_t)t->after);
        field_double(d, "mass", t->mass);
        field_int(d, "top_before", t->top_before);
        field_int(d, "top_after", t->top_after);
        field_int(d, "removed", (int64_t)t->n_removed);
        named_cell(d, t->note, t->n_notes);
    } else {
        field_text(d, "params", "off", true);
        empty_cells(d, 7);
    }
    record_end(c, r);
}

static void candidate_lines(struct columns *c, const struct record *r, const struct trace_line *t,
                            const struct ranked *ranked, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += ranked[i].p;
        candidate_line(c, r, t, &ranked[i], i + 1, sum);
    }
}

static void dump_cells(struct columns *c, const struct record *r)
{
    for (size_t i = 0; i < r->n_trace; i++) {
        stage_line(c, r, &r->trace[i]);
        candidate_lines(c, r, &r->trace[i], r->trace[i].best, r->trace[i].n_best);
    }
    if (job_records(c->job, RECORD_SHOWN))
        candidate_lines(c, r, NULL, r->ranked, r->shown);
}

// ---- rows

// Writes the line of a bad row, which is also that of the heading.
static void bad_cells(struct columns *c, const struct record *r)
{
    static const struct ranked none = {UINT32_MAX, NAN, NAN, NAN};
    if (is_dump(c->job)) {
        candidate_line(c, r, NULL, &none, 0, NAN);
        return;
    }
    token_fields(c, r);
    record_end(c, r);
}

static void bad(struct columns *c, const struct record *r)
{
    struct builder *const b = &c->dest->text;
    if (c->dest->format->kind == FORMAT_CELLS)
        bad_cells(c, r);
    else if (c->dest->format->kind == FORMAT_JSON)
        record_json_bad(c, r, "id", NULL);
    else if (is_dump(c->job))
        builder_format(b, "row %" PRIu64 "  chosen -1  kept 0/%zu  error: %s\n", r->row, r->n_vocab, r->error);
    else if (c->job->args->emit == EMIT_IDS)
        builder_string(b, "-1\n");
}

static void dump(struct columns *c, const struct record *r)
{
    if (c->dest->format->kind == FORMAT_TEXT)
        dump_text(c->dest, r, job_records(c->job, RECORD_SHOWN));
    else if (c->dest->format->kind == FORMAT_JSON)
        dump_json(c, r);
    else
        dump_cells(c, r);
}

// Writes the chosen token.
static void token(struct records *v, const struct record *r)
{
    struct columns *const c = &v->columns;
    struct dest *const d = c->dest;
    if (d->format->kind != FORMAT_TEXT) {
        token_fields(c, r);
        record_end(c, r);
        return;
    }
    if (c->job->args->emit == EMIT_IDS) {
        builder_int(&d->text, r->chosen, 0);
        builder_byte(&d->text, '\n');
        return;
    }
    const struct piece text = vocab_output(d->vocab, r->chosen);
    if (d->screen.color)
        tinted_text(v, text, tint_of(r->stat[STAT_RAW_PROB]));
    else
        builder_bytes(&d->text, text.p, text.len);
}

static bool row(void *self, const struct seen *s, struct err *e)
{
    struct records *const v = self;
    struct columns *const c = &v->columns;
    const struct record *const r = &s->result->record;
    columns_begin(c, r, bad_cells);
    if (!r->error && c->job->args->emit == EMIT_TEXT && !seen_texts(s, c->job, e))
        return false;
    if (r->error)
        bad(c, r);
    else if (is_dump(c->job))
        dump(c, r);
    else
        token(v, r);
    return true;
}

static bool end(void *self, enum ending how, struct err *e)
{
    struct records *const v = self;
    columns_begin(&v->columns, NULL, bad_cells);
    end_tint(v);
    return true;
}

static bool prepare(void *self, struct job *j, struct dest *d, struct err *e)
{
    d->folds = is_dump(j) && d->format->kind == FORMAT_TEXT;
    return job_can_write_texts(j, e) && columns_open(self, j, d, e);
}

static unsigned more(const struct job *j, const struct dest *d)
{
    const struct args *const a = j->args;
    const bool text = d->format->kind == FORMAT_TEXT, window = text && d->screen.columns;
    unsigned bits = text ? 0 : RECORD_KEPT | LEAVE_CHOSEN_P;
    if (a->dump)
        bits |= NEED_LIST | RECORD_SHOWN;
    if (a->dump && (text || d->format->kind == FORMAT_JSON))
        bits |= LOG_RAW; // raw_p
    if (a->dump && window)
        bits |= RECORD_CUTS | NEED_REMOVALS;
    if (a->trace)
        bits |= NEED_LINES;
    if (a->emit == EMIT_TEXT && window) // raw_prob tints the text
        bits |= NEED_STATS;
    return bits;
}

const struct view view_records = {.name = "--emit",
                                  .size = sizeof(struct records),
                                  .formats = FORMAT_TEXT | FORMAT_CELLS | FORMAT_JSON,
                                  .prepare = prepare,
                                  .more = more,
                                  .row = row,
                                  .end = end};
