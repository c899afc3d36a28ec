// SPDX-License-Identifier: MIT
// --help, --version, the completion scripts and the option table as JSON.
#ifndef SAMPL_CLI_HELP_H
#define SAMPL_CLI_HELP_H

#include "base/version.h"
#include "kern/kern.h"
#include "settings/options.h"

#define SAMPL_LLAMA_RELEASE "v0.5.0" // of 2026-09-28

// A column of the comparison table, and one line that explains it.
struct column_help {
    const char *name; // NULL: a sampler's measures name it
    char help[160];   // begins with what the column needs, in parentheses
};

// Sets *column to the i-th column. Returns false if there is none. Views define the columns.
typedef bool column_help_at(size_t i, struct column_help *column);

// Prints what --help names: "" the common options, "all" all options, or a group of options, an option, a sampler or a
// column. False with *e if it is not one of these.
bool help_print(const struct options *o, column_help_at *columns, const char *what, struct err *e);
void help_version(const struct kern *kern);

// Prints as JSON the tables that the manual and other programs are made from: options, samplers, engines, members of a
// row's "params" and columns. False with *e if memory is short.
bool describe_print(const struct options *o, column_help_at *columns, struct err *e);

// Prints the completion script for bash, zsh or fish.
void complete_print(const struct options *o, const char *shell);

#endif
