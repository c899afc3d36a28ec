// SPDX-License-Identifier: MIT
// A JSON document in memory, as cJSON's tree, with its numbers as they are spelt.
#ifndef SAMPL_JSON_JSON_TREE_H
#define SAMPL_JSON_JSON_TREE_H

#include "base/err.h"

#include <cjson/cJSON.h>
#include <stddef.h>

// Reads text[0..len), every number becoming a cJSON_Raw that holds its spelling. Strings are UTF-8 without NUL. NULL with *e, whose text
// names the byte, when it is no JSON. The caller frees the tree with cJSON_Delete.
cJSON *json_tree(const char *text, size_t len, struct err *e);

#endif
