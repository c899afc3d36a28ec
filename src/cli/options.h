// SPDX-License-Identifier: MIT
// The options, one row each: those of the table in option_table.c, and those of the samplers' parameters, which the
// samplers describe. The rows drive parsing, --help, the completions, and the tests that the manual page and README
// name the same options.
#ifndef SAMPL_CLI_OPTIONS_H
#define SAMPL_CLI_OPTIONS_H

#include "base/err.h"
#include "base/number.h"
#include "samplers/list.h"

struct args;

enum option_group { GROUP_INPUT, GROUP_CHAIN, GROUP_OUTPUT, GROUP_OTHER, GROUP_HIDDEN };

struct option_row {
    const char *name;    // without the dashes; NULL after the last row
    const char *also;    // another long name, or NULL
    const char *brief;   // short form without the dash, one letter or two ("jf"); NULL: none
    const char *metavar; // NULL: a flag, or an action; "[=X]": may have a value
    enum option_group group;
    const char *heading; // in --help, within the group; NULL: the group's own
    bool rare;           // only --help=all has it
    const char *def;     // default, as one would give it; NULL: none
    const char *choices; // values, comma-separated, that set and completions know; NULL: not a choice
    bool flag;           // takes no value, but may be given as =true or =false
    bool recipe;         // is part of what makes a recipe, and may stand in a preset
    double low, high;    // range of numbers
    size_t at;           // offset in struct args of what set fills, where several rows have the same set
    size_t on;           // offset of the bool that says that it was given, for a switch with a number

    // Stores value (NULL without one) in a. NULL: --preset's, which args_parse sees to.
    bool (*set)(const struct option_row *row, const char *value, struct args *a, struct err *e);

    const char *help;

    const struct param *param; // the sampler's parameter that it gives, of this number in the catalog; NULL: none
    size_t number;
};

enum { OPTIONS_MOST = 220 };

struct options {
    const struct catalog *catalog;
    struct option_row row[OPTIONS_MOST]; // [n], and one without a name
    size_t n;
    char def[OPTIONS_MOST][NUMBER_TEXT]; // texts of the parameters' defaults
};

// catalog outlives o.
void options_make(struct options *o, const struct catalog *catalog);

// Must a value follow?
static inline bool option_needs_value(const struct option_row *row)
{
    return row->metavar && *row->metavar != '[';
}

// The row that has this long name, len characters long, '_' counting as '-'; NULL: none.
const struct option_row *option_by_name(const struct options *o, const char *name, size_t len);

// For a word that is no option here: what there is to say to it if it is one of llama.cpp's that do not concern
// sampling, else NULL.
const char *option_hint(const char *word, size_t len);

// The options' names that are nearest to this one, n of them, up to OPTIONS_NEAR; 0 if none is near.
enum { OPTIONS_NEAR = 3 };
size_t options_near(const struct options *o, const char *name, size_t len, const char *near[OPTIONS_NEAR]);

#endif
