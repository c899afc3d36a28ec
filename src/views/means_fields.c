// SPDX-License-Identifier: MIT
// The table of several chains as fields: cells of lines, or JSON.
#include "cli/value.h"
#include "out/fields.h"
#include "out/token_text.h"
#include "views/means.h"

#include <string.h>

// Returns a swept value as JSON has it, if it is a number; or for a flag true or false. Else NULL.
static const char *swept_number(const struct swept *s, char memory[NUMBER_TEXT])
{
    const struct option_row *const row = s->row;
    struct err e;
    double value;
    int64_t whole;
    if (row->param && value_parse(row->param, s->value, &value, &e))
        return value_text(row->param, value, memory);
    if (row->flag || (!strcmp(row->name, "seed") && whole_number(s->value, NULL, INT64_MIN, INT64_MAX, &whole)))
        return s->value;
    return NULL;
}

// Writes the swept options. JSON has an object of numbers; values that are no numbers are strings.
static void swept_fields(struct dest *d, const struct job *j, const struct variant *v)
{
    const struct variant *first = j->variants->of; // variant of a sweep
    while (j->variants->n_sweeps && !first->swept)
        first++;
    if (!has_cells(d))
        object_begin(d, "swept");
    for (size_t k = 0; k < j->variants->n_sweeps; k++) {
        const char *const name = first->swept[k].row->name, *const none = has_cells(d) ? "-" : NULL;
        char memory[NUMBER_TEXT];
        const char *const number = v->swept && !has_cells(d) ? swept_number(&v->swept[k], memory) : NULL;
        if (!number)
            field_text(d, name, v->swept ? v->swept[k].value : none, true);
        else if (field_begin(d, name))
            builder_string(&d->text, number);
    }
    if (!has_cells(d))
        object_end(d);
}

// Writes the columns of a chain.
static void chain_fields(const struct means *m, struct dest *d, size_t i, const char *tail)
{
    const struct variant *const v = &m->job->variants->of[i];
    // The script of a page needs all columns.
    const bool chosen = m->names && d->format->kind != FORMAT_PAGE;
    const struct means_list *const l = chosen ? &m->shown : &m->all;
    char name[CELL_TEXT];
    field_text(d, "name", v->name, true);
    field_text(d, "options", v->options, true);
    swept_fields(d, m->job, v);
    for (size_t k = 0; k < l->n; k++) {
        const struct means_field f = l->field[k];
        if (!strcmp(means_name(m, f, name), "rows"))
            field_bool(d, "of_the_draw", means_by_chance(m, i));
        field_double(d, name, means_cell(m, i, f).value);
    }
    fields_end(d, tail);
}

void means_fields(const struct means *m, struct dest *d, const char *between, const char *behind)
{
    d->heading = has_cells(d);
    if (d->heading)
        chain_fields(m, d, 0, behind);
    d->heading = false;
    for (size_t i = 0; i < m->job->variants->n; i++)
        chain_fields(m, d, i, i + 1 < m->job->variants->n ? between : behind);
}
