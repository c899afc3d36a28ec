// SPDX-License-Identifier: MIT
// Presets: text files of options (words_split), or files of other programs (cli/foreign.h).
#ifndef SAMPL_CLI_PRESET_H
#define SAMPL_CLI_PRESET_H

#include "cli/options.h"
#include "cli/words.h"

#include <limits.h>

struct preset {
    char path[PATH_MAX]; // of its file
    char *text;          // malloc'ed; the words point into it
    struct words words;
    char *lacking; // malloc'ed list of the settings that no option gives; NULL: there are none
};

// Reads the preset called name. That is a file, if there is one and name has a '/' or a '.'. Otherwise it is
// NAME.preset in $XDG_CONFIG_HOME/sampl/presets (~/.config if unset), in the source tree of the program, or in the
// installed data directory. vocab: tokens may be named by their texts. The caller frees what p holds, whatever is
// returned. False with *e if there is no such preset or it cannot be read.
bool preset_read(struct preset *p, const struct options *o, const char *name, bool vocab, struct err *e);

// Prints the presets, one a line: name, tab, the comment on the first line; and on stderr the directories that are
// searched. If one cannot be read, prints the others, and returns false with *e.
bool preset_list(struct err *e);

#endif
