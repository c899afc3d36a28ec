// SPDX-License-Identifier: MIT
// --generate=json: the tables of the program, for the manual and for programs that put a surface before sampl.
#include "base/names.h"
#include "cli/help.h"
#include "in/reply_shapes.h"
#include "out/fields.h"
#include "programs/program.h"
#include "trace/record.h"

#include <stdio.h>

// Begins an object on a line of its own.
static void item_begin(struct dest *d)
{
    builder_byte(&d->text, '\n');
    object_begin(d, NULL);
}

// Writes the names of a comma-separated text as a list, which is empty if the text is NULL.
static void names_field(struct dest *d, const char *name, const char *names)
{
    const char *item;
    size_t len;
    items_begin(d, name);
    for (const char *at = names ? names : ""; name_next(&at, &item, &len);) {
        field_begin(d, NULL);
        write_json_string(d, (struct piece){(const unsigned char *)item, len});
    }
    items_end(d);
}

static const char *type_of(const struct option_row *row)
{
    static const char *const of_param[] = {"int", "float", "float", "flag"};
    if (row->param)
        return of_param[row->param->type];
    if (row->choices)
        return "choice";
    if (!row->metavar)
        return "flag";
    return option_names_file(row) ? "file" : row->high > row->low ? "int" : "text";
}

// Writes the range that the option accepts, and the hint for a slider.
static void range_fields(struct dest *d, const struct option_row *row)
{
    const struct param *const p = row->param;
    const bool number = p ? p->type != PARAM_FLAG : row->metavar && row->high > row->low;
    if (!number)
        return;
    field_double(d, "low", p ? p->low : row->low);
    field_double(d, "high", p ? p->high : row->high);
    if (!p || p->slider.high == 0.0)
        return;
    object_begin(d, "slider");
    field_text(d, "scale", p->slider.logarithmic ? "log" : "linear", true);
    field_double(d, "low", p->slider.low);
    field_double(d, "high", p->slider.high);
    field_double(d, "step", p->slider.step);
    object_end(d);
}

static void describe_option(struct dest *d, const struct option_row *row)
{
    static const char *const groups[] = {
        [GROUP_INPUT] = "input", [GROUP_CHAIN] = "chain", [GROUP_OUTPUT] = "output", [GROUP_OTHER] = "other"};
    char number[NUMBER_TEXT];
    item_begin(d);
    field_text(d, "flag", row->name, true);
    names_field(d, "aliases", row->also);
    field_text(d, "short", row->brief, true);
    field_text(d, "type", type_of(row), true);
    field_text(d, "group", groups[row->group], true);
    field_bool(d, "recipe", row->recipe);
    field_bool(d, "repeats", row->repeats);
    field_bool(d, "optional", row->metavar && !option_needs_value(row));
    field_text(d, "help", row->help, true);
    field_text(d, "value", row->metavar, true);
    field_text(d, "heading", row->heading, true);
    field_text(d, "default", option_default(row, number), true);
    if (row->choices)
        names_field(d, "choices", row->choices);
    range_fields(d, row);
    object_end(d);
}

// Describes a sampler with its parameters, and the value of its first parameter that switches it off.
static void describe_sampler(struct dest *d, const struct catalog *c, size_t place)
{
    const struct sampler *const s = samplers[place];
    double value[CATALOG_MOST];
    item_begin(d);
    field_text(d, "name", s->name, true);
    names_field(d, "aliases", s->aliases);
    if (s->letter)
        field_text(d, "letter", (const char[]){s->letter, '\0'}, true);
    field_bool(d, "internal", sampler_internal(place));
    field_bool(d, "foreign", s->in_llama == LLAMA_LACKS);
    field_bool(d, "selects", s->selector);
    field_bool(d, "history", s->window);                                  // looks at accepted tokens
    field_bool(d, "state", s->needs_rows);                                // of all rows before a row
    field_bool(d, "draws", s->by_chance || (s->selector && s->size > 0)); // random numbers
    field_bool(d, "lists", s->partial.apply);                             // can be exact on a list of the best tokens
    items_begin(d, "params");
    for (const struct param *p = s->params; p && p->flag; p++)
        field_text(d, NULL, p->flag, true);
    items_end(d);
    catalog_neutral(c, value);
    if (s->params && !sampler_internal(place) && !catalog_enables(c, place, value, NULL))
        field_double(d, "off", value[c->number[place][0]]);
    object_end(d);
}

static void describe_engine(struct dest *d, const struct program *p, const struct engine *engine)
{
    item_begin(d);
    field_text(d, "name", engine->name, true);
    field_bool(d, "wide_seed", engine->wide_seed);
    names_field(d, "options", engine->options);
    names_field(d, "grammar_first", engine->first_options);
    object_begin(d, "defaults");
    for (const struct engine_default *x = engine->defaults; x->flag; x++)
        field_float(d, x->flag, (float)x->value);
    object_end(d);
    object_begin(d, "ranges");
    for (const struct engine_range *r = engine->ranges; r->flag; r++)
        field_text(d, r->flag, r->takes, true);
    object_end(d);
    items_begin(d, "stages");
    for (const struct engine_stage *s = engine->stage; s->sampler; s++) {
        object_begin(d, NULL);
        field_text(d, "name", s->sampler->name, true);
        field_bool(d, "hot", !(s->when & ENGINE_COLD));
        field_bool(d, "cold", !(s->when & ENGINE_HOT));
        field_bool(d, "grammar", !(s->when & ENGINE_FREE));
        object_end(d);
    }
    items_end(d);
    field_text(d, "program", p->name, true);
    field_text(d, "as_of", engine->as_of ? engine->as_of : p->as_of, true);
    object_end(d);
}

// Describes what a key of a program's file sets, and when it sets nothing.
static void describe_key(struct dest *d, const struct field_row *f)
{
    object_begin(d, NULL);
    field_text(d, "keys", f->keys, true);
    field_text(d, "option", f->option, true);
    field_text(d, "fate",
               field_is_other(f)          ? "silent"
               : f->form == FIELD_IGNORED ? "ignored"
               : f->form == FIELD_SAMPLER ? "sampler"
               : f->form == FIELD_PROMPT  ? "prompt"
               : f->option                ? "option"
                                          : "refused",
               true);
    if (f->off != OFF_WITH_SAMPLER)
        field_double(d, "off", f->off_value);
    field_double(d, "factor", f->factor != 0.0 ? f->factor : 1.0);
    object_end(d);
}

// Describes a program whose files are read.
static void describe_program(struct dest *d, const struct program *p)
{
    item_begin(d);
    field_text(d, "name", p->name, true);
    field_text(d, "reads", p->reads, true);
    field_text(d, "as_of", p->as_of, true);
    field_text(d, "source", p->source, true);
    field_text(d, "runs", p->runs ? p->runs->name : NULL, true);
    items_begin(d, "marks");
    if (p->member && !p->marks_text)
        field_text(d, NULL, p->member, true);
    for (size_t i = 0; i < sizeof p->marks / sizeof *p->marks && p->marks[i][0]; i++) {
        char both[80];
        snprintf(both, sizeof both, p->marks[i][1] ? "%s and %s" : "%s", p->marks[i][0], p->marks[i][1]);
        field_text(d, NULL, both, true);
    }
    items_end(d);
    field_text(d, "marks_text", p->marks_text, true);
    field_text(d, "order", p->order_text ? p->order_text : p->order, true);
    field_bool(d, "sampl_defaults", p->unset != UNSET_OFF);
    field_text(d, "absent", p->absent, true);
    items_begin(d, "keys");
    for (const struct field_row *f = p->fields; f && f->keys; f++)
        describe_key(d, f);
    items_end(d);
    object_end(d);
}

// Describes a member of a row's "params" with the option that does the same, or without one.
static void describe_member(struct dest *d, const char *name, const char *option)
{
    item_begin(d);
    field_text(d, "name", name, true);
    field_text(d, "option", option, true);
    object_end(d);
}

static void describe_members(struct dest *d, const struct catalog *c)
{
    for (size_t n = 0; n < c->n; n++) {
        char name[60] = "";
        const struct param *const p = c->param[n];
        for (size_t k = 0; k < sizeof name - 1 && p->flag[k]; k++)
            name[k] = (char)(p->flag[k] == '-' ? '_' : p->flag[k]);
        describe_member(d, p->server ? p->server : name, p->flag);
    }
    for (const struct field_row *f = program_sampl.fields; f->keys; f++)
        if (f->form != FIELD_SAMPLER && !field_is_other(f) && (!f->option || catalog_find(c, f->option) == c->n))
            describe_member(d, f->keys, f->option);
}

static void describe_column(struct dest *d, const char *table, const char *name, const char *help)
{
    item_begin(d);
    field_text(d, "table", table, true);
    field_text(d, "name", name, true);
    field_text(d, "help", help, true);
    object_end(d);
}

static void describe_columns(struct dest *d, column_help_at *columns)
{
    struct column_help column;
    for (size_t i = 0; columns(i, &column); i++)
        if (column.name)
            describe_column(d, "comparison", column.name, column.help);
    for (const struct stat_column *s = stat_columns; s < stat_columns + STAT_COLUMNS; s++)
        describe_column(d, "row", s->name, s->help);
    for (size_t i = 0; samplers[i]; i++)
        for (const struct row_measure *m = samplers[i]->measures; m && m->name; m++)
            describe_column(d, "row", m->name, m->help);
}

// Writes the shapes of servers' replies: paths as reply_shapes.h explains them.
static void describe_replies(struct dest *d)
{
    static const char *const forms[] = {"records", "texts", "ids", "triples", "columns", "nested", "steps"};
    static const char *const parts[] = {"output", "prompt", "aside", "output"};
    for (const struct reply_shape *k = reply_shapes; k < reply_shapes + n_reply_shapes; k++) {
        item_begin(d);
        field_text(d, "kind", k->kind, true);
        field_text(d, "marker", k->marker, true);
        field_text(d, "request", k->request, true);
        field_text(d, "part", parts[k->part], true);
        field_text(d, "form", forms[k->form], true);
        field_text(d, "each", k->each, true);
        field_text(d, "within", k->within, true);
        field_text(d, "tokens", k->tokens, true);
        field_text(d, "token", k->token, true);
        field_text(d, "lists", k->lists, true);
        field_text(d, "inner", k->inner, true);
        field_text(d, "numbers", k->numbers, true);
        field_text(d, "ids", k->ids, true);
        field_text(d, "starts", k->starts, true);
        object_end(d);
    }
}

static void describe_token_names(struct dest *d)
{
    field_text(d, "id", reply_names.id, true);
    field_text(d, "text", reply_names.text, true);
    field_text(d, "number", reply_names.number, true);
    field_text(d, "list", reply_names.list, true);
}

bool describe_print(const struct options *o, column_help_at *columns, struct err *e)
{
    struct dest d = {.format = output_format_of(FORMAT_JSON)};
    field_text(&d, "version", SAMPL_VERSION, true);
    items_begin(&d, "options");
    for (const struct option_row *row = o->row; row->name; row++)
        if (row->group != GROUP_HIDDEN)
            describe_option(&d, row);
    items_end(&d);
    items_begin(&d, "samplers");
    for (size_t i = 0; samplers[i]; i++)
        describe_sampler(&d, o->catalog, i);
    items_end(&d);
    items_begin(&d, "engines");
    for (size_t i = 0; programs[i]; i++)
        for (const struct engine *const *engine = programs[i]->engines; *engine; engine++)
            describe_engine(&d, programs[i], *engine);
    items_end(&d);
    items_begin(&d, "params");
    describe_members(&d, o->catalog);
    items_end(&d);
    items_begin(&d, "columns");
    describe_columns(&d, columns);
    items_end(&d);
    items_begin(&d, "replies");
    describe_replies(&d);
    items_end(&d);
    object_begin(&d, "reply_tokens");
    describe_token_names(&d);
    object_end(&d);
    items_begin(&d, "reply_wrappers");
    for (size_t i = 0; i < n_reply_wrappers; i++)
        field_text(&d, NULL, reply_wrappers[i], true);
    items_end(&d);
    items_begin(&d, "programs");
    for (size_t i = 0; programs[i]; i++)
        if (programs[i]->reads)
            describe_program(&d, programs[i]);
    items_end(&d);
    fields_end(&d, "");
    const bool ok = !d.text.failed || err_from_fault(e, fault_memory());
    if (ok)
        fputs(d.text.text, stdout);
    builder_free(&d.text);
    return ok;
}
