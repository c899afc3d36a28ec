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

// Reads the preset called name: a file, if there is one and name has a '/' or a '.'; or NAME.preset in
// $XDG_CONFIG_HOME/sampl/presets (~/.config when unset), in the source tree that the program lies in, or in the
// installed data directory. vocab: tokens may be named by their texts. The caller frees what p holds, whatever is
// returned. False with *e if there is no such preset or it cannot be read.
bool preset_read(struct preset *p, const struct options *o, const char *name, bool vocab, struct err *e);

// Prints the presets that can be named, one a line: name, tab, the comment on its first line; and on stderr where they
// are looked for. False with *e, all others listed, if one cannot be read.
bool preset_list(struct err *e);

#endif
