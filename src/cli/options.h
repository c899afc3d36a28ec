// SPDX-License-Identifier: MIT
// The options, one row each: the rows of the table in option_table.c, and a row for each parameter of the samplers. The
// rows drive parsing, --help and the completions. Tests compare the manual page and README with them.
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
    const char *choices; // values that are accepted, comma-separated; NULL: any
    bool flag;           // takes no value, but may be given as =true or =false
    bool recipe;         // is a part of the recipe, and may stand in a preset
    double low, high;    // range of numbers
    size_t at;           // offset in struct args of the member that `set` fills
    size_t on;           // set_switch: offset of the bool that goes with the number

    // Stores the value, NULL without one, in a. NULL for --preset, which args_parse reads.
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
static inline bool option_needs_value(const struct option_row *row)
{
    return row->metavar && *row->metavar != '[';
}

// Finds the option with the long name name[0..len), in which '_' is equal to '-'. NULL: there is none.
const struct option_row *option_by_name(const struct options *o, const char *name, size_t len);

// Returns a hint for the word[0..len), if it is an option of llama.cpp that does not concern sampling; else NULL.
const char *option_hint(const char *word, size_t len);

// Finds the long names nearest to name[0..len). Returns how many, at most OPTIONS_NEAR; 0 if none is near.
enum { OPTIONS_NEAR = 3 };
size_t options_near(const struct options *o, const char *name, size_t len, const char *near[OPTIONS_NEAR]);

#endif
