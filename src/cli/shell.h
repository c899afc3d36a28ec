// SPDX-License-Identifier: MIT
// Scripts in the language of POSIX shells, and arrays as Bash has them.
#ifndef SAMPL_CLI_SHELL_H
#define SAMPL_CLI_SHELL_H

#include "cli/script.h"

// Reads the commands of a script, up to its NUL, into s->starts. Functions are read where they are called. one_line:
// the text is one command, whose words line ends separate, too, and ${NAME} is the only form of a variable.
void shell_read(struct script *s, const char *text, bool one_line);

#endif
