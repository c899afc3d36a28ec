// SPDX-License-Identifier: MIT
// Files that hold the command of a program among other things: units of systemd, Dockerfiles, Docker Compose,
// Kubernetes. Their commands are rewritten as a shell script (cli/shell.h).
#ifndef SAMPL_CLI_CONTAINER_H
#define SAMPL_CLI_CONTAINER_H

#include "base/builder.h"
#include "json/json.h"

// Returns what a text is, "a Dockerfile" for example, by its lines; NULL: no such file.
const char *container_kind(const char *text);

// Appends the commands of a text that container_kind knows, and the variables that it gives to them.
void container_of_text(const char *text, struct builder *script);

// Appends the commands in a tree of YAML or JSON: of each mapping with a key command, cmd, args, entrypoint, run or
// script, and of texts in the outermost mapping. name: of the mapping, its key or its member "name"; NULL: all.
// Returns whether there are any.
bool container_of_tree(const cJSON *tree, const char *name, struct builder *script);

#endif
