// SPDX-License-Identifier: MIT
// --help, --version, the completion scripts and the option table as JSON.
#ifndef SAMPL_CLI_HELP_H
#define SAMPL_CLI_HELP_H

#include "cli/options.h"
#include "kern/kern.h"

#define SAMPL_VERSION       "0.3.0"
#define SAMPL_LLAMA_RELEASE "v0.5.0" // of 2026-09-28

// Prints what --help names: "" the common options, "all" all options, or a group of options, an option or a sampler.
// False with *e if it is none of these.
bool help_print(const struct options *o, const char *what, struct err *e);
void help_version(const struct kern *kern);

// Prints the option table and the samplers as JSON.
void describe_print(const struct options *o);

// Prints the completion script for bash, zsh or fish.
void complete_print(const struct options *o, const char *shell);

#endif
