// SPDX-License-Identifier: MIT
#include "views/record_fields.h"

#include "in/input.h"

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
    c->unlisted = r && r->partial;
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
static void unlisted_fields(const struct columns *c, const struct record *r)
{
    if (has_cells(c->dest) ? !c->unlisted : !r->partial || r->error)
        return;
    field_double(c->dest, "rest", r->error ? NAN : r->partial ? r->unlisted_weight : 0.0);
    if (field_begin(c->dest, "exact"))
        builder_string(&c->dest->text, r->error ? "" : !r->partial || r->exact ? "true" : "false");
    if (!has_cells(c->dest) && r->rounded)
        field_double(c->dest, "within", r->within);
}

void record_end(struct columns *c, const struct record *r)
{
    field_text(c->dest, "seq", r->seq, c->sequences);
    file_fields(c, r);
    unlisted_fields(c, r);
    fields_end(c->dest, "\n");
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

void record_all_statistics(struct columns *c, const struct record *r, const char *variant)
{
    const struct row_measure *const measures = job_measures(c->job);
    struct dest *const d = c->dest;
    field_int(d, "row", (int64_t)r->row);
    field_text(d, "seq", r->seq, c->sequences);
    field_int(d, "id", record_id(r));
    group_fields(c, r, STAT_MEANS, STAT_CHOICE);
    field_text(d, "variant", variant, c->job->variants->n > 1);
    file_fields(c, r);
    group_fields(c, r, STAT_EXPECTATION, STAT_EXPECTATION);
    for (size_t i = 0; measures && measures[i].name; i++)
        field_double(d, measures[i].name, r->error ? NAN : r->stat[STAT_MEASURED + i]);
    group_fields(c, r, STAT_PAIR, STAT_PAIR);
    unlisted_fields(c, r);
    group_fields(c, r, STAT_ROW, STAT_ROW);
    fields_end(d, "\n");
}

void record_json_bad(struct columns *c, const struct record *r, const char *nothing, const char *variant)
{
    field_int(c->dest, "row", (int64_t)r->row);
    field_double(c->dest, nothing, NAN);
    field_text(c->dest, "error", r->error, true);
    field_text(c->dest, "variant", variant, true);
    record_end(c, r);
}
