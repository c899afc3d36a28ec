// SPDX-License-Identifier: MIT
// YAML as a tree like JSON's: mappings, lists, plain and quoted texts, blocks (| and >), and lists and mappings in
// brackets. An alias is a copy of its anchor's value, and the key << adds the members that its mapping lacks. Tags,
// complex keys and several documents are errors.
#ifndef SAMPL_CLI_YAML_H
#define SAMPL_CLI_YAML_H

#include "json/json.h"

// Reads a text, with a NUL at its end, into a tree, which the caller frees with cJSON_Delete. Numbers become cJSON_Raw,
// spelt as they are. Of repeated keys the last counts. NULL with *e if it is not such YAML, or memory is short.
cJSON *yaml_read(const char *text, struct err *e);

// Returns what an unquoted text means: null, true or false, a number or a text. NULL: memory is short.
cJSON *yaml_scalar(const char *p, size_t len);

#endif
