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

struct json_fault {
    size_t at;       // near this byte
    const char *why; // a few words; NULL: memory is short
};

// Reads text[0..len). NULL and *fault when it is no such JSON. The caller frees the tree with cJSON_Delete.
cJSON *json_parse(const char *text, size_t len, enum json_rigour rigour, struct json_fault *fault);

// "byte N: WHY" as an error of usage, or that memory is short. Returns false.
bool json_explain(const struct json_fault *fault, struct err *e);

// An object's member that is there and not null, or NULL. Of anything but an object there is none, nor one without a name (NULL).
const cJSON *json_member(const cJSON *object, const char *name);

// The same, if it is an array.
const cJSON *json_array(const cJSON *object, const char *name);

// The token id that a value is, a whole number from 0 to 2147483647, or -1.
int64_t json_id(const cJSON *value);

#endif
