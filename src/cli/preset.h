// SPDX-License-Identifier: MIT
// Presets: text files of options (words_split), or files of other programs (cli/foreign.h).
#ifndef SAMPL_CLI_PRESET_H
#define SAMPL_CLI_PRESET_H

#include "cli/options.h"
#include "cli/words.h"

struct preset {
    // set by the caller
    const struct options *options;
    bool vocab;                  // texts may name tokens
    const struct engine *engine; // that --engine names elsewhere, for presets of other programs; NULL: none
    struct words *texts;         // takes the texts that the results point into, and owns them

    // results
    const char *path;        // of the file; "NAME (shipped)" for a preset of the program
    struct words words;      // the options; the caller frees words.word
    bool whole;              // they are a whole chain: no option of a chain before them counts, but for the seed
    const char *unsupported; // a list of the settings that no option gives; NULL: there are none
    const char *note;        // what else is to be said of the file; NULL: nothing
    const char *with_prompt; // what is to be said if the run has a prompt; NULL: nothing
};

// Reads the options of the preset with this name. A name with a '/' or a '.' may be a file, or FILE:SECTION for an ini.
// If there is no such file, or the name has neither, NAME.preset is searched in $XDG_CONFIG_HOME/sampl/presets
// (~/.config if unset), in the source tree of the program, in the installed data directory, and among the presets that
// are a part of the program. False with *e if there is no such preset, or if it cannot be read.
bool preset_read(struct preset *p, const char *name, struct err *e);

// Prints a line for each preset: its name, a tab, and the comment on its first line. Prints the searched directories on
// stderr. If a directory or a preset cannot be read, prints the others, and returns false with *e.
bool preset_list(struct err *e);

#endif
