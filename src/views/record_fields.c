// SPDX-License-Identifier: MIT
#include "views/record_fields.h"

#include "in/input.h"
#include "out/token_text.h"

#include <math.h>

bool columns_open(void *self, struct job *j, struct dest *d, struct err *e)
{
    struct columns *const c = self;
    *c = (struct columns){.job = j, .dest = d, .sequences = j->args->params != NULL};
    return !has_cells(d) || input_names(j->in[0], &c->sequences, e);
}

void columns_begin(struct columns *c, const struct record *r,
                   void (*write)(struct columns *c, const struct record *none))
{
    static const struct record none = {.error = ""};
    if (c->begun)
        return;
    c->begun = true;
    c->sequences = c->sequences || (r && r->seq);
    c->rests = r && r->partial;
    if (!has_cells(c->dest) || job_is_later_part(c->job->args))
        return;
    c->dest->heading = true;
    write(c, &none);
    c->dest->heading = false;
}

// ---- fields that all records have

static void file_fields(const struct columns *c, const struct record *r)
{
    const bool several = c->job->args->files.n > 1;
    field_text(c->dest, "file", r->file, several);
    if (several)
        field_int(c->dest, "file_row", (int64_t)r->file_row);
}

// Writes the members of a partial row. Cells have these columns if the first record is of a partial row.
static void rest_fields(const struct columns *c, const struct record *r)
{
    if (has_cells(c->dest) ? !c->rests : !r->partial || r->error)
        return;
    field_double(c->dest, "rest", r->error ? NAN : r->partial ? r->rest : 0.0);
    if (field_begin(c->dest, "exact"))
        builder_string(&c->dest->text, r->error ? "" : !r->partial || r->exact ? "true" : "false");
}

void record_end(struct columns *c, const struct record *r)
{
    field_text(c->dest, "seq", r->seq, c->sequences);
    file_fields(c, r);
    rest_fields(c, r);
    fields_end(c->dest, "\n");
}

void record_token(struct columns *c, const struct record *r)
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

void record_value(struct columns *c, const struct record *r, const char *name, int64_t id, float x)
{
    field_int(c->dest, "row", (int64_t)r->row);
    field_int(c->dest, "id", id);
    field_float(c->dest, name, x);
}

// ---- statistics

// Writes the columns of the statistics in some groups.
static void group_fields(const struct columns *c, const struct record *r, enum stat_group first, enum stat_group last)
{
    for (const struct stat_column *s = stat_columns; s < stat_columns + STAT_COLUMNS; s++) {
        const double *const from = s->group == STAT_PAIR ? r->pair : r->stat;
        const bool shown =
            s->when == STAT_ALWAYS || (s->when == STAT_ACCEPTS ? job_accepts(c->job) : c->job->args->against != NULL);
        if (shown && s->group >= first && s->group <= last)
            field_double(c->dest, s->name, r->error || !from ? NAN : from[s->source]);
    }
}

void record_statistics(struct columns *c, const struct record *r) { group_fields(c, r, STAT_MEANS, STAT_CHOICE); }

void record_all_statistics(struct columns *c, const struct record *r, const char *variant)
{
    const struct row_measure *const measures = job_measures(c->job);
    struct dest *const d = c->dest;
    field_int(d, "row", (int64_t)r->row);
    field_text(d, "seq", r->seq, c->sequences);
    field_int(d, "id", record_id(r));
    record_statistics(c, r);
    field_text(d, "variant", variant, c->job->variants->n > 1);
    file_fields(c, r);
    group_fields(c, r, STAT_EXPECTATION, STAT_EXPECTATION);
    for (size_t i = 0; measures && measures[i].name; i++)
        field_double(d, measures[i].name, r->error ? NAN : r->stat[STAT_MEASURED + i]);
    group_fields(c, r, STAT_PAIR, STAT_PAIR);
    rest_fields(c, r);
    fields_end(d, "\n");
}

// ---- JSON

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

static void candidates_json(struct dest *d, const struct record *r, const struct ranked *ranked, size_t n, bool raw,
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
    field_text(d, "rest", t->rest, false);
    if (t->n_best)
        candidates_json(d, r, t->best, t->n_best, false, t->noisy);
    object_end(d);
}

void record_json(struct columns *c, const struct record *r)
{
    struct dest *const d = c->dest;
    record_token(c, r);
    if (job_records(c->job, RECORD_SHOWN))
        candidates_json(d, r, r->ranked, r->shown, true, r->noisy);
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
    record_end(c, r);
}

void record_json_bad(struct columns *c, const struct record *r, const char *nothing, const char *variant)
{
    field_int(c->dest, "row", (int64_t)r->row);
    field_double(c->dest, nothing, NAN);
    field_text(c->dest, "error", r->error, true);
    field_text(c->dest, "variant", variant, true);
    record_end(c, r);
}
