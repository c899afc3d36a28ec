// SPDX-License-Identifier: MIT
// The one door to cJSON: texts are parsed here and nowhere else, and what cJSON lets pass or loses is seen to.
#ifndef SAMPL_JSON_JSON_H
#define SAMPL_JSON_JSON_H

#include "base/err.h"

#include <cjson/cJSON.h>
#include <stddef.h>

// How much is asked of a text, besides that it is one JSON value in white space, nested no deeper than cJSON reads.
enum json_rigour {
    JSON_LOOSE, // strings may hold any bytes
    JSON_UTF8,  // strings are UTF-8
    JSON_EXACT, // as RFC 8259 has it, and strings without NUL; every number becomes a cJSON_Raw that holds its spelling
};

// Reads text[0..len). The caller frees the tree with cJSON_Delete. NULL when it is no such JSON near byte *at, which *e
// says as an error of usage, or when memory is short, STATUS_IO.
cJSON *json_parse(const char *text, size_t len, enum json_rigour rigour, size_t *at, struct err *e);

// An object's member that is there and not null, or NULL. Of anything but an object there is none, nor one without a
// name (NULL).
const cJSON *json_member(const cJSON *object, const char *name);

// Returns the member if it is an array, else NULL.
const cJSON *json_array(const cJSON *object, const char *name);

// The token id that a value is, a whole number from 0 to 2147483647, or -1.
int64_t json_id(const cJSON *value);

#endif
