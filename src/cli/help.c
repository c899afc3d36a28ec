// SPDX-License-Identifier: MIT
#include "cli/help.h"

#include "base/platform.h"
#include "out/screen.h"
#include "trace/record.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    WIDTH = 80, // columns of a line; fewer in a narrower window
    TEXT_AT = 28,
    LONG_WORD = 24,    // bytes; longer words are lists, which a line may break
    SHORT_DEFAULT = 40 // bytes; the list of common options has no longer defaults
};

#define BOLD  "\033[1m"
#define PLAIN "\033[0m"

// The help, and where it goes.
struct help {
    const struct options *o;
    int width;  // columns of a line
    bool color; // headings and options have colours
};

static const char *const headings[GROUP_HIDDEN] = {
    [GROUP_INPUT] = "Input",
    [GROUP_CHAIN] = "Samplers",
    [GROUP_OUTPUT] = "Output",
    [GROUP_OTHER] = "Other",
};

static const char *heading_of(const struct option_row *row)
{
    assert(row->group < GROUP_HIDDEN);
    return row->heading ? row->heading : headings[row->group];
}

// ---- an option

// Returns the length of the first part of a text that a line does not break: a word, or an item of a long list.
static int unbroken_length(const char *text)
{
    const int word = (int)strcspn(text, " "), item = (int)strcspn(text, " ,;");
    return word <= LONG_WORD || item == word ? word : item + 1;
}

// Prints a text from column `at` on, in lines of h->width columns. Later lines begin at `indent`.
static void wrap(const struct help *h, const char *text, int at, int indent)
{
    for (bool space = false; *text; text += space) {
        const int len = unbroken_length(text);
        if (at > indent && at + space + len > h->width) {
            printf("\n%*s", indent, "");
            at = indent;
            space = false;
        }
        at += printf("%s%.*s", space ? " " : "", len, text);
        text += len;
        space = *text == ' ';
    }
    putchar('\n');
}

static void print_color(const struct help *h, const char *color) { fputs(h->color ? color : "", stdout); }

static void print_heading(const struct help *h, const char *heading)
{
    putchar('\n');
    print_color(h, BOLD);
    printf("%s:", heading);
    print_color(h, PLAIN);
    putchar('\n');
}

// Prints an option with its choices. If `whole`, with its other name, and the details behind the ';' of its text; else
// in short.
static void print_option(const struct help *h, const struct option_row *row, bool whole)
{
    char number[NUMBER_TEXT], text[400];
    const char *const value = option_default(row, number), *const details = strchr(row->help, ';'),
                      *const def = value && (whole || strlen(value) <= SHORT_DEFAULT) ? value : NULL;
    const size_t help = !whole && details ? (size_t)(details - row->help) : strlen(row->help);
    const char *const choices = row->choices;
    print_color(h, BOLD);
    int len = row->brief ? printf("  -%s, --%s", row->brief, row->name) : printf("      --%s", row->name);
    if (row->also && whole)
        len += printf(", --%s", row->also);
    print_color(h, PLAIN);
    if (row->metavar)
        len += printf("%s%s", *row->metavar == '[' ? "" : " ", row->metavar);
    snprintf(text, sizeof text, "%.*s%s%s%s%s%s", (int)help, row->help, choices ? ": " : "", choices ? choices : "",
             def ? " (" : "", def ? def : "", def ? ")" : "");
    if (len + 2 > TEXT_AT)
        putchar('\n');
    printf("%*s", len + 2 > TEXT_AT ? TEXT_AT : TEXT_AT - len, "");
    wrap(h, text, TEXT_AT, TEXT_AT);
}

// ---- groups of options

// Prints the options under a heading; all, or the common ones. Prints nothing if there are none.
static void print_group(const struct help *h, const char *heading, bool all)
{
    bool first = true;
    for (const struct option_row *row = h->o->row; row->name; row++) {
        if (row->group == GROUP_HIDDEN || strcmp(heading_of(row), heading) != 0 || !(all || row->common))
            continue;
        if (first)
            print_heading(h, heading);
        print_option(h, row, all);
        first = false;
    }
}

// Returns whether the row is the first of its heading.
static bool begins_group(const struct options *o, const struct option_row *row)
{
    if (row->group == GROUP_HIDDEN)
        return false;
    for (const struct option_row *before = o->row; before < row; before++)
        if (before->group < GROUP_HIDDEN && !strcmp(heading_of(before), heading_of(row)))
            return false;
    return true;
}

// Prints the groups in the order of their first options. word: only groups whose heading begins with this word; NULL:
// every group. Returns whether there is one.
static bool print_groups(const struct help *h, const char *word, bool all)
{
    bool any = false;
    for (const struct option_row *row = h->o->row; row->name; row++) {
        const char *const heading = begins_group(h->o, row) ? heading_of(row) : NULL;
        if (!heading ||
            (word && (strncasecmp(heading, word, strlen(word)) != 0 || isalpha((unsigned char)heading[strlen(word)]))))
            continue;
        print_group(h, heading, all);
        any = true;
    }
    return any;
}

// Prints the options of a sampler. Returns false if no sampler is named so.
static bool print_sampler(const struct help *h, const char *name)
{
    const struct sampler *const s = sampler_by_name(name, strlen(name));
    if (!s)
        return false;
    if (!s->params)
        printf("%s has no options of its own.\n", s->name);
    for (const struct param *p = s->params; p && p->flag; p++)
        print_option(h, option_by_name(h->o, p->flag, strlen(p->flag)), true);
    return true;
}

// Prints an option, and those whose names go on from its name: --mirostat, --mirostat-ent and --mirostat-lr.
static void print_option_family(const struct help *h, const struct option_row *row)
{
    const size_t len = strlen(row->name);
    print_option(h, row, true);
    for (const struct option_row *other = h->o->row; other->name; other++)
        if (other->group != GROUP_HIDDEN && !strncmp(other->name, row->name, len) && other->name[len] == '-')
            print_option(h, other, true);
}

// ---- columns

// Prints the first len bytes of a name, and its help.
static void print_column(const struct help *h, int len, const char *name, const char *help)
{
    print_color(h, BOLD);
    printf("  %.*s", len, name);
    print_color(h, PLAIN);
    printf("%*s", TEXT_AT - 2 - len, "");
    wrap(h, help, TEXT_AT, TEXT_AT);
}

// Fields of the comparison table that belong to a column: their names are the column's with a suffix.
static const struct field_part {
    const char *suffix, *help;
} field_parts[] = {
    {"_diff_se", "standard error of that difference"},
    {"_diff", "difference from the base, as a mean over the rows where both have a value"},
    {"_se", "standard error of the mean"},
    {"", NULL},
};

static bool ends_with(const char *name, const char *suffix)
{
    const size_t len = strlen(name), n = strlen(suffix);
    return len > n && !strcmp(name + len - n, suffix);
}

static bool is_column(const char *column, const char *name, size_t len)
{
    return strlen(column) == len && !strncmp(column, name, len);
}

// Returns the help of a sampler's measure, or NULL.
static const char *measure_help(const char *name, size_t len)
{
    for (size_t i = 0; samplers[i]; i++)
        for (const struct row_measure *m = samplers[i]->measures; m && m->name; m++)
            if (is_column(m->name, name, len))
                return m->help;
    return NULL;
}

// Prints the column of the comparison table to which a field belongs, and the field. Returns false if there is none.
static bool print_table_column(const struct help *h, column_help_at *columns, const char *name)
{
    const struct field_part *part = field_parts;
    struct column_help column;
    while (!ends_with(name, part->suffix))
        part++;
    const size_t len = strlen(name) - strlen(part->suffix);
    const char *help = measure_help(name, len);
    for (size_t i = 0; !help && columns(i, &column); i++)
        if (column.name && is_column(column.name, name, len))
            help = column.help;
    if (!help)
        return false;
    print_heading(h, "Comparison table");
    print_column(h, (int)len, name, help);
    if (part->help)
        print_column(h, (int)strlen(name), name, part->help);
    return true;
}

static bool print_statistic(const struct help *h, const char *name)
{
    const char *help = measure_help(name, strlen(name));
    for (const struct stat_column *s = stat_columns; s < stat_columns + STAT_COLUMNS; s++)
        help = strcmp(s->name, name) != 0 ? help : s->help;
    if (!help)
        return false;
    print_heading(h, "Statistics of a row");
    print_column(h, (int)strlen(name), name, help);
    return true;
}

// ---- --help

static void print_frame(const struct help *h, bool all)
{
    static const char *const example[] = {"sampl -n 32000 -s 1 --top-p 0.9 --temp 0.7 rows.f32",
                                          "sampl -n 32000 --accept @ids --vs chat --vs min-p rows.f32"};
    fputs("usage: sampl [OPTION]... [FILE]...\n\n", stdout);
    wrap(
        h,
        "Reads a model's logits, runs llama.cpp's samplers on each row, and prints the id of the token that they pick. "
        "Without a FILE, or if FILE is -, reads standard input. Defaults are in parentheses.",
        0, 0);
    print_groups(h, NULL, all);
    print_heading(h, "Examples");
    for (size_t i = 0; i < sizeof example / sizeof *example; i++)
        printf("  %s\n", example[i]);
    putchar('\n');
    wrap(h,
         "To choose a sampler, take the logits of a text by a person, 600 tokens or more. For each sampler, "
         "samples/tune/match.sh finds the value that loses (removes) 5 % of these tokens. Then the largest gain wins; "
         "see sampl-compare(7).",
         0, 0);
    wrap(h, "Exit status: 0 success, 1 bad data, 2 usage, 3 I/O failed, 4 differences.", 0, 0);
    wrap(h,
         all ? "SAMPL_CPU=TIER in the environment lowers the SIMD tier. More in sampl(1)."
             : "sampl --help=all lists all options, --help=top-k one of them. More in sampl(1).",
         0, 0);
}

bool help_print(const struct options *o, column_help_at *columns, const char *what, struct err *e)
{
    const char *const name = what + strspn(what, "-");
    const struct option_row *row = option_by_name(o, name, strlen(name));
    if (!row && *what == '-')
        row = option_by_brief(o, name, strlen(name));
    const struct screen screen = screen_of(STDOUT_FILENO);
    const bool narrow = screen.columns && screen.columns < WIDTH;
    const struct help h = {o, narrow ? screen.columns : WIDTH, screen.color};
    if (!*what || !strcmp(what, "all")) {
        print_frame(&h, *what);
        return true;
    }
    bool any = print_groups(&h, what, true);
    if (!any && row)
        print_option_family(&h, row);
    any = any || row || print_sampler(&h, what);
    any = print_table_column(&h, columns, what) || any;
    any = print_statistic(&h, what) || any;
    return any || err_set(e, STATUS_USAGE, "--help: there is no option, sampler, column or group '%s'", what);
}

void help_version(const struct kern *kern)
{
    printf("sampl " SAMPL_VERSION "\ncompatible with llama.cpp " SAMPL_LLAMA_RELEASE "\nSIMD tier %s (of", kern->name);
    for (size_t i = 0; kern_tier(i); i++)
        printf(" %s", kern_tier(i)->name);
    printf(")\ncJSON %s\nbuild %s\n", cJSON_Version(), platform_build());
}
