// SPDX-License-Identifier: MIT
// Presets: text files of options (words_split), or files of other programs (cli/foreign.h).
#ifndef SAMPL_CLI_PRESET_H
#define SAMPL_CLI_PRESET_H

#include "cli/args.h"

struct preset {
    struct args *a;              // options of other programs' presets are set in it
    const char *from;            // the program that --preset-from names; NULL: none
    const struct engine *engine; // that --engine names elsewhere, for presets of other programs; NULL: none

    // results
    const char *path;   // of the file; "NAME (shipped)" for a preset of the program
    struct words words; // options of a preset of sampl; the caller frees words.word
};

// Reads the preset with this name; a->texts owns its texts. A name with a '/' or a '.' may be a file, or FILE:SECTION
// for an ini. If there is no such file, or the name has neither, NAME.preset is searched in
// $XDG_CONFIG_HOME/sampl/presets (~/.config if unset), in the source tree of the program, in the installed data
// directory, and among the presets that are a part of the program. False with *e if there is no such preset, or if it
// cannot be read.
bool preset_read(struct preset *p, const char *name, struct err *e);

// Prints a line for each preset: its name, a tab, and the comment on its first line. Prints the searched directories on
// stderr. If a directory or a preset cannot be read, prints the others, and returns false with *e.
bool preset_list(struct err *e);

// Prints a line for each program whose files are read or whose engine runs: its name, what is read, the version, its
// engines, and where its source is.
void preset_list_programs(void);

#endif
