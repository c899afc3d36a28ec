// SPDX-License-Identifier: MIT
// The option table: one row an option. It drives parsing, --help, the completions, and the tests that the man page and README name
// the same options.
#ifndef SAMPL_CLI_OPTION_TABLE_H
#define SAMPL_CLI_OPTION_TABLE_H

#include "cli/options.h"

enum option_group { GROUP_INPUT, GROUP_CHAIN, GROUP_SCATTER, GROUP_OUTPUT, GROUP_OTHER, GROUP_HIDDEN, GROUP_COUNT };

struct option_row {
    const char *name;    // without the dashes
    const char *also[2]; // other long names
    const char *brief;   // short form without the dash, one letter or two ("jf"); NULL: none
    const char *metavar; // NULL: takes no value; "[=X]": may have one
    enum option_group group;
    const char *def;     // default, as one would give it; NULL: none
    const char *choices; // values, comma-separated, that set and completions know; NULL: not a choice
    const char *server;  // llama-server's name, where it is not ours with '_' for '-'
    double low, high;    // range of numbers
    size_t at;           // offset in struct options of what set fills

    // Stores value (NULL without one) in o. NULL: not available yet.
    bool (*set)(const struct option_row *row, const char *value, struct options *o, struct err *e);

    const char *help;
};

extern const struct option_row option_table[]; // ends with a NULL name

// The row that has this long name, len characters long, '_' counting as '-'; NULL: none.
const struct option_row *option_by_name(const char *name, size_t len);

// Was the option on the command line or in a preset?
bool option_given(const struct options *o, const struct option_row *row);

#endif
