// SPDX-License-Identifier: MIT
// Presets: text files of options. Words are separated by white space, '...' and "..." keep it, # at the start of a word begins a comment,
// a backslash at the end of a line is skipped.
#ifndef SAMPL_CLI_PRESET_H
#define SAMPL_CLI_PRESET_H

#include "cli/value.h"

// Reads the preset called name: a file; or NAME.preset in $XDG_CONFIG_HOME/sampl/presets (~/.config when unset) or in the installed data
// directory. Its text is added to texts, to be freed by the caller either way, and its words, which point into that, to words.
bool preset_read(const char *name, struct words *texts, struct words *words, struct err *e);

// Prints the presets that can be named, one a line: name, tab, the comment on its first line.
void preset_list(void);

#endif
