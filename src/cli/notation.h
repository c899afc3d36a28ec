// SPDX-License-Identifier: MIT
// The notations of other programs' presets: JSON; YAML (cli/yaml.h), Modelfiles and llama.cpp's ini, which are read
// into trees like JSON's.
#ifndef SAMPL_CLI_NOTATION_H
#define SAMPL_CLI_NOTATION_H

#include "json/json.h"

// Returns whether a text is in one of the notations. Any other text is a preset of sampl.
bool notation_is_foreign(const char *text);
bool notation_is_ini(const char *text);

// Reads text[0..len), with a NUL behind it, into a tree, which the caller frees with cJSON_Delete. Numbers become
// cJSON_Raw, spelt as they are. The tree of YAML or a Modelfile is an object with one member, "yaml" or "options",
// that holds the settings. That of an ini is {"ini": {SECTION: {KEY: TEXT}}, "section": NAME, "cut": [KEY, ...]}: the
// section "default" has what stands before the sections, NAME is `section`, and "cut" has the keys whose values end at
// a comment without a blank before it. section: NULL if none is named; that of JSON is the caller's. NULL with *e if
// the text is not in its notation, or memory is short.
cJSON *notation_read(const char *text, size_t len, const char *section, struct err *e);

#endif
