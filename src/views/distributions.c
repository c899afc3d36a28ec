// SPDX-License-Identifier: MIT
// A score of each row, or its distribution: probabilities, log-probabilities or logits.
#include "out/array.h"
#include "out/token_text.h"
#include "views/record_fields.h"
#include "views/view.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct distributions {
    struct columns columns;
    struct array array;
};

static const char *value_name(const struct job *j)
{
    const bool prob = j->args->emit == EMIT_PROBS || j->args->emit == EMIT_RESIDUAL;
    return prob ? "prob" : j->args->emit == EMIT_LOGITS ? "logit" : "logprob";
}

static void text(struct dest *d, const struct record *r, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        builder_string(&d->text, i ? " " : "");
        builder_float(&d->text, r->error ? NAN : r->values[i]);
        dest_spill(d);
    }
    builder_string(&d->text, width || !r->error ? "\n" : "nan\n");
}

// Writes a line with one value; of a bad row, or of the heading, that of no token. A distribution names no sequence and
// no file.
static void value_line(struct columns *c, const struct record *r, int64_t id, float x)
{
    const bool score = c->job->args->emit == EMIT_SCORE;
    field_int(c->dest, "row", (int64_t)r->row);
    field_int(c->dest, "id", id);
    field_float(c->dest, value_name(c->job), x);
    if (score)
        record_end(c, r);
    else
        fields_end(c->dest, "\n");
}

static void no_value(struct columns *c, const struct record *r) { value_line(c, r, -1, NAN); }

// field_int and field_float would make the loop 25 % slower.
static void cells(struct dest *d, const struct record *r)
{
    const struct output_format *const f = d->format;
    for (size_t i = 0; i < r->n_vocab; i++) {
        builder_string(&d->text, f->before);
        builder_int(&d->text, (int64_t)r->row, 0);
        builder_string(&d->text, f->between);
        builder_int(&d->text, (int64_t)i, 0);
        builder_string(&d->text, f->between);
        builder_float(&d->text, r->values[i]);
        builder_string(&d->text, f->behind);
        dest_spill(d);
    }
}

// Writes an object. That of a bad row is empty, so that a sampl that reads the output finds this row bad, too. Readers
// take null for masked.
static void json(struct dest *d, enum emit emit, const struct record *r)
{
    field_int(d, "row", (int64_t)r->row);
    items_begin(d, emit_name(emit == EMIT_RESIDUAL ? EMIT_PROBS : emit)); // which sampl reads
    for (size_t i = 0; !r->error && i < r->n_vocab; i++) {
        builder_string(&d->text, i ? "," : "");
        if (r->values[i] > -INFINITY)
            builder_float(&d->text, r->values[i]);
        else
            builder_string(&d->text, "null");
        dest_spill(d);
    }
    items_end(d);
    field_text(d, "error", r->error, true);
    fields_end(d, "\n");
}

static bool row(void *self, const struct seen *s, struct err *e)
{
    struct distributions *const v = self;
    struct columns *const c = &v->columns;
    struct dest *const d = c->dest;
    const struct record *const r = &s->result->record;
    const bool score = c->job->args->emit == EMIT_SCORE;
    columns_begin(c, r, no_value);
    if (d->format->kind == FORMAT_ARRAY)
        return array_add(&v->array, r, e);
    if (d->format->kind == FORMAT_TEXT)
        text(d, r, score ? 1 : r->n_vocab);
    else if (!score && !has_cells(d))
        json(d, c->job->args->emit, r);
    else if (r->error && !has_cells(d))
        record_json_bad(c, r, "logprob", NULL);
    else if (r->error)
        no_value(c, r);
    else if (score)
        value_line(c, r, r->scored, *r->values);
    else
        cells(d, r);
    return true;
}

// An array without rows has the type and the width that its rows would have.
static bool shape_empty(struct distributions *v, struct err *e)
{
    struct row like;
    if (v->array.rows || !v->array.dest->format->counted)
        return true;
    if (!input_width(v->columns.job->in[0], &like, e))
        return err_prefix(e, "%s", v->array.dest->name);
    v->array.type = like.type == DTYPE_F16 ? v->array.type : DTYPE_F32;
    v->array.width = like.n;
    return true;
}

static bool end(void *self, enum ending how, struct err *e)
{
    struct distributions *const v = self;
    const bool shaped = how != ENDING_RAN || shape_empty(v, e);
    struct err late;
    columns_begin(&v->columns, NULL, no_value);
    const bool finished = array_end(&v->array, how == ENDING_RAN && shaped, shaped ? e : &late);
    return shaped && finished;
}

static bool prepare(void *self, struct job *j, struct dest *d, struct err *e)
{
    struct distributions *const v = self;
    const struct args *const a = j->args;
    const char *input = a->format;
    if (!a->output_format && a->emit != EMIT_SCORE) {
        if (!strcmp(input, "auto") && !input_format(j->in[0], &input, e))
            return false;
        d->format = output_format_like(input);
    }
    const bool follows = d->format->counted && !a->output_format; // the input's type
    v->array = (struct array){.dest = d,
                              .width = (size_t)a->n_vocab,
                              .type = follows ? DTYPE_F16 : d->format->type,
                              .single = a->emit == EMIT_SCORE};
    return columns_open(self, j, d, e);
}

static unsigned more(const struct job *j, const struct dest *d)
{
    return j->args->emit == EMIT_PROBS ? LEAVE_P : j->args->emit == EMIT_RESIDUAL ? NEED_PAIRS : 0;
}

const struct view view_distributions = {.name = "--emit",
                                        .size = sizeof(struct distributions),
                                        .formats = FORMAT_TEXT | FORMAT_CELLS | FORMAT_JSON | FORMAT_ARRAY,
                                        .prepare = prepare,
                                        .needs = RECORD_VALUES | LEAVE_LOGITS,
                                        .more = more,
                                        .row = row,
                                        .end = end};
