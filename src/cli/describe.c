// SPDX-License-Identifier: MIT
// --generate=json: the tables of the program, for the manual and for programs that put a surface before sampl.
#include "cli/help.h"
#include "samplers/engine.h"
#include "settings/setting.h"
#include "trace/record.h"

#include <stdio.h>
#include <string.h>

// Prints a member whose value is a text, which is ASCII; nothing if the text is NULL.
static void print_member(const char *name, const char *s)
{
    if (!s)
        return;
    printf(",\"%s\":\"", name);
    for (; *s; s++) {
        if (strchr("\"\\", *s))
            putchar('\\');
        putchar(*s);
    }
    putchar('"');
}

// Prints the words of a comma-separated text as a JSON list.
static void print_words(const char *s)
{
    putchar('[');
    while (s && *s) {
        const size_t len = strcspn(s, ",");
        printf("\"%.*s\"%s", (int)len, s, s[len] ? "," : "");
        s += len + (s[len] == ',');
    }
    putchar(']');
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

static void print_number(const char *name, double x)
{
    char text[NUMBER_TEXT];
    number_text_wide(x, text);
    printf(",\"%s\":%s", name, text);
}

// Prints the range that the option accepts, and the hint for a slider.
static void print_range(const struct option_row *row)
{
    const struct param *const p = row->param;
    const bool number = p ? p->type != PARAM_FLAG : row->metavar && row->high > row->low;
    if (!number)
        return;
    print_number("low", p ? p->low : row->low);
    print_number("high", p ? p->high : row->high);
    if (!p || p->slider.high == 0.0)
        return;
    printf(",\"slider\":{\"scale\":\"%s\"", p->slider.logarithmic ? "log" : "linear");
    print_number("low", p->slider.low);
    print_number("high", p->slider.high);
    print_number("step", p->slider.step);
    putchar('}');
}

static void describe_option(const struct option_row *row)
{
    static const char *const groups[] = {
        [GROUP_INPUT] = "input", [GROUP_CHAIN] = "chain", [GROUP_OUTPUT] = "output", [GROUP_OTHER] = "other"};
    char number[NUMBER_TEXT];
    printf("{\"flag\":\"%s\",\"aliases\":", row->name);
    print_words(row->also);
    print_member("short", row->brief);
    printf(",\"type\":\"%s\",\"group\":\"%s\",\"recipe\":%s,\"repeats\":%s,\"optional\":%s", type_of(row),
           groups[row->group], row->recipe ? "true" : "false", row->repeats ? "true" : "false",
           row->metavar && !option_needs_value(row) ? "true" : "false");
    print_member("help", row->help);
    print_member("value", row->metavar);
    print_member("heading", row->heading);
    print_member("default", option_default(row, number));
    if (row->choices) {
        fputs(",\"choices\":", stdout);
        print_words(row->choices);
    }
    print_range(row);
    putchar('}');
}

struct flag {
    const char *name;
    bool is;
};

// Prints a member for each flag.
static void print_flags(const struct flag *flag, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf(",\"%s\":%s", flag[i].name, flag[i].is ? "true" : "false");
}

// Prints a sampler with its parameters, and the value of its first parameter that switches it off.
static void describe_sampler(const struct catalog *c, size_t place)
{
    const struct sampler *const s = samplers[place];
    const struct flag flag[] = {{"internal", sampler_internal(place)},
                                {"foreign", s->foreign},
                                {"selects", s->selector},
                                {"history", s->window},                                  // looks at accepted tokens
                                {"state", s->needs_rows},                                // of all rows before a row
                                {"draws", s->by_chance || (s->selector && s->size > 0)}, // random numbers
                                {"lists", s->rest.apply}}; // can be exact on a list of the best tokens
    double value[CATALOG_MOST];
    printf("{\"name\":\"%s\",\"aliases\":", s->name);
    print_words(s->aliases);
    if (s->letter)
        printf(",\"letter\":\"%c\"", s->letter);
    print_flags(flag, sizeof flag / sizeof *flag);
    fputs(",\"params\":[", stdout);
    for (size_t k = 0; s->params && s->params[k].flag; k++)
        printf("%s\"%s\"", k ? "," : "", s->params[k].flag);
    putchar(']');
    catalog_neutral(c, value);
    if (s->params && !sampler_internal(place) && !catalog_enables(c, place, value, NULL))
        print_number("off", value[c->number[place][0]]);
    putchar('}');
}

static void describe_engine(const struct engine *engine)
{
    printf("{\"name\":\"%s\"", engine->name);
    print_flags(&(struct flag){"wide_seed", engine->wide_seed}, 1);
    fputs(",\"options\":", stdout);
    print_words(engine->options);
    fputs(",\"grammar_first\":", stdout);
    print_words(engine->first_options);
    fputs(",\"defaults\":{", stdout);
    for (const struct engine_default *d = engine->defaults; d->flag; d++) {
        char text[NUMBER_TEXT];
        number_text((float)d->value, text);
        printf("%s\"%s\":%s", d == engine->defaults ? "" : ",", d->flag, text);
    }
    fputs("},\"ranges\":{", stdout);
    for (const struct engine_range *r = engine->ranges; r->flag; r++)
        printf("%s\"%s\":\"%s\"", r == engine->ranges ? "" : ",", r->flag, r->takes);
    fputs("},\"stages\":[", stdout);
    for (const struct engine_stage *s = engine->stage; s->sampler; s++)
        printf("%s{\"name\":\"%s\",\"hot\":%s,\"cold\":%s,\"grammar\":%s}", s == engine->stage ? "" : ",",
               s->sampler->name, s->when & ENGINE_COLD ? "false" : "true", s->when & ENGINE_HOT ? "false" : "true",
               s->when & ENGINE_FREE ? "false" : "true");
    fputs("]}", stdout);
}

// Prints a member of a row's "params" with the option that does the same, or without one.
static void describe_member(const char *name, const char *option)
{
    printf("{\"name\":\"%s\"", name);
    print_member("option", option);
    putchar('}');
}

static void describe_column(const char *table, const char *name, const char *help)
{
    printf("{\"table\":\"%s\",\"name\":\"%s\"", table, name);
    print_member("help", help);
    putchar('}');
}

// Prints what stands before the i-th item of a list.
static void separate(size_t i) { fputs(i ? ",\n" : "", stdout); }

static void describe_members(const struct catalog *c)
{
    size_t n = 0;
    for (; n < c->n; n++) {
        char name[60] = "";
        const struct param *const p = c->param[n];
        separate(n);
        for (size_t k = 0; k < sizeof name - 1 && p->flag[k]; k++)
            name[k] = (char)(p->flag[k] == '-' ? '_' : p->flag[k]);
        describe_member(p->server ? p->server : name, p->flag);
    }
    for (const struct setting *s = setting_table; s->request || s->presets; s++)
        if (s->request) {
            separate(n++);
            describe_member(s->request, s->form == SETTING_SEED ? "seed" : s->option);
        }
}

static void describe_columns(column_help_at *columns)
{
    struct column_help column;
    size_t n = 0;
    for (size_t i = 0; columns(i, &column); i++)
        if (column.name) {
            separate(n++);
            describe_column("comparison", column.name, column.help);
        }
    for (const struct stat_column *s = stat_columns; s < stat_columns + STAT_COLUMNS; s++) {
        separate(n++);
        describe_column("row", s->name, s->help);
    }
    for (size_t i = 0; samplers[i]; i++)
        for (const struct row_measure *m = samplers[i]->measures; m && m->name; m++) {
            separate(n++);
            describe_column("row", m->name, m->help);
        }
}

void describe_print(const struct options *o, column_help_at *columns)
{
    size_t n = 0;
    fputs("{\"version\":\"" SAMPL_VERSION "\",\"options\":[\n", stdout);
    for (const struct option_row *row = o->row; row->name; row++)
        if (row->group != GROUP_HIDDEN) {
            separate(n++);
            describe_option(row);
        }
    fputs("\n],\"samplers\":[\n", stdout);
    for (size_t i = 0; samplers[i]; i++) {
        separate(i);
        describe_sampler(o->catalog, i);
    }
    fputs("\n],\"engines\":[\n", stdout);
    for (const struct engine *e = engines; e->name; e++) {
        separate((size_t)(e - engines));
        describe_engine(e);
    }
    fputs("\n],\"params\":[\n", stdout);
    describe_members(o->catalog);
    fputs("\n],\"columns\":[\n", stdout);
    describe_columns(columns);
    fputs("\n]}\n", stdout);
}
