// SPDX-License-Identifier: MIT
// --generate=json: the option table and the samplers, for programs that put a surface before sampl.
#include "cli/help.h"

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
    printf("{\"flag\":\"%s\",\"aliases\":", row->name);
    print_words(row->also);
    print_member("short", row->brief);
    printf(",\"type\":\"%s\",\"group\":\"%s\",\"recipe\":%s,\"repeats\":%s,\"optional\":%s", type_of(row),
           groups[row->group], row->recipe ? "true" : "false", row->repeats ? "true" : "false",
           row->metavar && !option_needs_value(row) ? "true" : "false");
    print_member("help", row->help);
    print_member("value", row->metavar);
    print_member("heading", row->heading);
    print_member("default", row->def);
    if (row->choices) {
        fputs(",\"choices\":", stdout);
        print_words(row->choices);
    }
    print_range(row);
    putchar('}');
}

// Prints a sampler with its parameters, and the value of its first parameter that switches it off.
static void describe_sampler(const struct catalog *c, size_t place)
{
    const struct sampler *const s = samplers[place];
    double value[CATALOG_MOST];
    printf("{\"name\":\"%s\",\"aliases\":", s->name);
    print_words(s->aliases);
    if (s->letter)
        printf(",\"letter\":\"%c\"", s->letter);
    printf(",\"internal\":%s,\"foreign\":%s,\"selects\":%s,\"params\":[", sampler_internal(place) ? "true" : "false",
           s->foreign ? "true" : "false", s->selector ? "true" : "false");
    for (size_t k = 0; s->params && s->params[k].flag; k++)
        printf("%s\"%s\"", k ? "," : "", s->params[k].flag);
    putchar(']');
    catalog_neutral(c, value);
    if (s->params && !sampler_internal(place) && !catalog_enables(c, place, value, NULL))
        print_number("off", value[c->number[place][0]]);
    putchar('}');
}

void describe_print(const struct options *o)
{
    fputs("{\"version\":\"" SAMPL_VERSION "\",\"options\":[\n", stdout);
    for (const struct option_row *row = o->row; row->name; row++)
        if (row->group != GROUP_HIDDEN) {
            fputs(row == o->row ? "" : ",\n", stdout);
            describe_option(row);
        }
    fputs("\n],\"samplers\":[\n", stdout);
    for (size_t i = 0; samplers[i]; i++) {
        fputs(i ? ",\n" : "", stdout);
        describe_sampler(o->catalog, i);
    }
    fputs("\n]}\n", stdout);
}
