// SPDX-License-Identifier: MIT
// Presets of other programs (programs/). A setting of a file sets an option, as if it were typed.
#ifndef SAMPL_CLI_FOREIGN_H
#define SAMPL_CLI_FOREIGN_H

#include "cli/args.h"
#include "json/json.h"

// Sets the options of text[0..len), with a NUL behind it, of the file at `path`, which is no preset of sampl's.
// section: of an ini; NULL: none is named. from: the program that --preset-from names; NULL: none. typed: the engine
// that --engine names elsewhere, which holds; NULL: none. Adds what is to be said of the file to a->left_out. False
// with *e.
bool foreign_read(struct args *a, const char *path, const char *text, size_t len, const char *section, const char *from,
                  const struct engine *typed, struct err *e);

// The same for a tree as notation_read gives it, which is owned from here on.
bool foreign_read_tree(struct args *a, const char *path, cJSON *root, const char *section, const char *from,
                       const struct engine *typed, struct err *e);

#endif
