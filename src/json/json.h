// SPDX-License-Identifier: MIT
// JSON texts as trees of cJSON. Only json.c calls cJSON's parser, since cJSON accepts texts that are no JSON, does not
// keep how a number is spelt, and ends strings at a NUL.
#ifndef SAMPL_JSON_JSON_H
#define SAMPL_JSON_JSON_H

#include "base/err.h"

#include <cjson/cJSON.h>
#include <stddef.h>

struct builder;

// Stands for a NUL, U+0000, in strings and names of a tree: two bytes that are never UTF-8. Loose texts may hold these
// bytes for a NUL, too. The reader of a tree either refuses NULs or reads texts with json_add_text.
#define JSON_NUL "\xc0\x80"

// How strictly a text is checked. Each text must be one JSON value, perhaps between white space, with at most
// CJSON_NESTING_LIMIT levels of brackets.
enum json_rigour {
    JSON_LOOSE, // strings may hold any bytes
    JSON_UTF8,  // strings are UTF-8
    JSON_EXACT, // as RFC 8259 defines JSON; each number becomes a cJSON_Raw with its spelling
};

// Parses text[0..len). The caller frees the tree with cJSON_Delete. Returns NULL with STATUS_USAGE and "byte N: REASON"
// if the text is no such JSON; with STATUS_IO if memory is short.
cJSON *json_parse(const char *text, size_t len, enum json_rigour rigour, struct err *e);

// Parses an object of a file with JSON_UTF8. The caller frees the tree with cJSON_Delete. Returns NULL with STATUS_DATA
// and "WHAT: byte N: REASON" if the text is no JSON, or "WHAT" if the value is no object; with STATUS_IO if memory is
// short.
cJSON *json_parse_object(const void *text, size_t len, const char *what, struct err *e);

// Gives the numbers of a tree that was parsed from text[0..len) their spelling as valuestring, for messages and
// schemas; they stay cJSON_Number. Ends without an error where the text is not as JSON_EXACT wants it. Returns false if
// memory is short.
bool json_keep_spelling(cJSON *root, const char *text, size_t len);

// Returns true if no string and no name inside an array or object holds a NUL, or value is NULL. Else the error names
// the member.
bool json_refuse_nul(const cJSON *value, enum status status, struct err *e);

// Keeps the last of the members of an object that have one name, in the place of the first, also in arrays and objects
// within. Appends the names to `names`, each with a NUL behind it. Returns false if memory is short.
bool json_keep_last(cJSON *value, struct builder *names);

// Adds a string of a tree with its NULs.
void json_add_text(const char *text, struct builder *to);

// Returns a member of an object; NULL if the member is absent or null, the value is no object, or name is NULL.
const cJSON *json_member(const cJSON *object, const char *name);

// Returns a member that is an array, else NULL.
const cJSON *json_array(const cJSON *object, const char *name);

// Returns the token id that a value is, a whole number from 0 to 2147483647, or -1.
int64_t json_id(const cJSON *value);

#endif
