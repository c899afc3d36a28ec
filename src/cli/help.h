// SPDX-License-Identifier: MIT
// What the program says about itself.
#ifndef SAMPL_CLI_HELP_H
#define SAMPL_CLI_HELP_H

#include "cli/options.h"
#include "kern/kern.h"

#define SAMPL_VERSION       "0.1.0"
#define SAMPL_LLAMA_RELEASE "v0.5.0" // of 2026-09-28

// all: with the rare options.
void help_print(const struct options *o, bool all);
void help_version(const struct kern *kern);

// Prints the completion script for bash, zsh or fish.
void complete_print(const struct options *o, const char *shell);

#endif
