// SPDX-License-Identifier: MIT
// Completion scripts, generated from the option table.
#ifndef SAMPL_CLI_COMPLETE_H
#define SAMPL_CLI_COMPLETE_H

#include "cli/options.h"

// Prints the script for bash, zsh or fish.
void complete_print(const struct options *o, const char *shell);

#endif
