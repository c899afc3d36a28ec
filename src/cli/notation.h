// SPDX-License-Identifier: MIT
// The notations of other programs' presets: JSON; flat YAML, Modelfiles and llama.cpp's ini, which are read into trees
// like JSON's.
#ifndef SAMPL_CLI_NOTATION_H
#define SAMPL_CLI_NOTATION_H

#include "json/json.h"

// Returns whether a text is in one of the notations. Any other text is a preset of sampl.
bool notation_is_foreign(const char *text);

// Reads text[0..len), with a NUL behind it, into a tree, which the caller frees with cJSON_Delete. Numbers become
// cJSON_Raw, spelt as they are. The tree of YAML, a Modelfile or an ini is an object with one member, "yaml", "options"
// or "ini", that holds the settings. section: the section of an ini; NULL: the one without a name. NULL with *e if the
// text is no JSON, or there is no such section, or memory is short.
cJSON *notation_read(const char *text, size_t len, const char *section, struct err *e);

#endif
