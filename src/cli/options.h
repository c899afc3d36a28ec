// SPDX-License-Identifier: MIT
// The options, one row each: the rows of the table in option_table.c, and a row for each parameter of the samplers.
// Parsing, --help and the completions follow the rows. Tests compare the manual page and README with them.
#ifndef SAMPL_CLI_OPTIONS_H
#define SAMPL_CLI_OPTIONS_H

#include "base/err.h"
#include "base/number.h"
#include "samplers/list.h"

#include <string.h>

struct args;

enum option_group { GROUP_INPUT, GROUP_CHAIN, GROUP_OUTPUT, GROUP_OTHER, GROUP_HIDDEN };

struct option_row {
    const char *name;    // without the dashes; NULL after the last row
    const char *also;    // another long name, or NULL
    const char *brief;   // short form without the dash, one letter or two ("jf"); NULL: none
    const char *metavar; // NULL: a flag, or an action; "[=X]": may have a value
    enum option_group group;
    const char *heading; // in --help, within the group; NULL: the group's own
    bool common;         // --help lists it; else only --help=all does
    const char *def;     // default, as one would give it; NULL: none
    const char *choices; // values that are accepted, comma-separated; NULL: any
    bool flag;           // takes no value, but may be given as =true or =false
    bool repeats;        // may be given several times
    bool recipe;         // is a part of the recipe, and may stand in a preset
    double low, high;    // range of numbers; for some options low is what `set` stores
    size_t at;           // offset in struct args of the member that `set` stores the value in

    // Reads the value, NULL without one, and stores it in a. False with *e if the value is refused. NULL for --preset,
    // which args.c reads.
    bool (*set)(const struct option_row *row, const char *value, struct args *a, struct err *e);

    const char *help;

    const struct param
        *param; // the sampler's parameter that the option sets, and its number in the catalog; NULL: none
    size_t number;
};

enum { OPTIONS_MOST = 220 };

struct options {
    const struct catalog *catalog;
    struct option_row row[OPTIONS_MOST]; // [n], and one without a name
    size_t n;
    char def[OPTIONS_MOST][NUMBER_TEXT]; // texts of the parameters' defaults
};

// Makes the rows. The catalog outlives o.
void options_make(struct options *o, const struct catalog *catalog);

// Does the option need a value?
static inline bool option_needs_value(const struct option_row *row) { return row->metavar && *row->metavar != '['; }

// Is the option's value the name of a file?
static inline bool option_names_file(const struct option_row *row)
{
    return row->metavar && !strcmp(row->metavar, "FILE");
}

// Finds the option with the short form brief[0..len), which lacks its dash. NULL: there is none.
static inline const struct option_row *option_by_brief(const struct options *o, const char *brief, size_t len)
{
    for (const struct option_row *row = o->row; row->name; row++)
        if (row->brief && strlen(row->brief) == len && !strncmp(row->brief, brief, len))
            return row;
    return NULL;
}

// Finds the option with the long name name[0..len), in which '_' is equal to '-'. NULL: there is none.
const struct option_row *option_by_name(const struct options *o, const char *name, size_t len);

#endif
