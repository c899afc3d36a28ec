// SPDX-License-Identifier: MIT
// Batch files of Windows' cmd.exe.
#ifndef SAMPL_CLI_BATCH_FILE_H
#define SAMPL_CLI_BATCH_FILE_H

#include "cli/script.h"

// Returns true if a text looks like a batch file: it has lines that only such files have.
bool batch_file_is(const char *text);

// Reads the commands of a batch file, up to its NUL, into s->starts. Behind a jump or a label everything is under a
// condition.
void batch_file_read(struct script *s, const char *text);

#endif
