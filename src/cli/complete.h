// SPDX-License-Identifier: MIT
// Completion scripts, generated from the option table.
#ifndef SAMPL_CLI_COMPLETE_H
#define SAMPL_CLI_COMPLETE_H

// Prints the script for bash, zsh or fish.
void complete_print(const char *shell);

#endif
