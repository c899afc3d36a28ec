// SPDX-License-Identifier: MIT
// Presets: text files of options. Words are separated by white space, '...' and "..." keep it, # at the start of a word begins a comment,
// a backslash at the end of a line is skipped.
#ifndef SAMPL_CLI_PRESET_H
#define SAMPL_CLI_PRESET_H

#include "base/err.h"

#include <stddef.h>

// Reads the preset called name: a file; or NAME.preset in $XDG_CONFIG_HOME/sampl/presets (~/.config when unset) or in the installed data
// directory. The caller frees each of word[0..n) and word.
bool preset_read(const char *name, char ***word, size_t *n, struct err *e);

// Prints the presets that can be named, one a line: name, tab, the comment on its first line.
void preset_list(void);

#endif
