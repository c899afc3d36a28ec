// SPDX-License-Identifier: MIT
// Presets: text files of options, or files of other programs (cli/foreign.h). Words are separated by white space, '...' and "..." keep it, #
// at the start of a word begins a comment, a backslash at the end of a line is skipped.
#ifndef SAMPL_CLI_PRESET_H
#define SAMPL_CLI_PRESET_H

#include "cli/options.h"
#include "cli/value.h"

#include <limits.h>

// Splits a text of options as that of a preset is, where it stands: the words point into it.
bool words_split(char *text, struct words *words, struct err *e);

// Reads the preset called name: a file, if there is one and name has a '/' or a '.'; or NAME.preset in $XDG_CONFIG_HOME/sampl/presets
// (~/.config when unset), in the source tree that the program lies in, or in the installed data directory. path becomes the file's. Its text
// is added to texts, to be freed by the caller either way, and its words, which point into that, to words. *lacking becomes the path, a NUL
// and a list of what it sets and no option gives, all among the texts; NULL: nothing.
// vocab: tokens may be named by their texts.
bool preset_read(const struct options *o, const char *name, bool vocab, char path[PATH_MAX], struct words *texts,
                 struct words *words, const char **lacking, struct err *e);

// Prints the presets that can be named, one a line: name, tab, the comment on its first line; and on stderr where they are looked for.
// False with *e, all others listed, if one cannot be read.
bool preset_list(struct err *e);

#endif
