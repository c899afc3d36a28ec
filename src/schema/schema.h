// SPDX-License-Identifier: MIT
// JSON schema to GBNF, llama.cpp's grammar language. What the converter takes, and where it reads a schema more narrowly than JSON
// Schema does, stands in the manual under JSON SCHEMAS. It never takes a text that the schema forbids, `oneOf` aside.
#ifndef SAMPL_SCHEMA_SCHEMA_H
#define SAMPL_SCHEMA_SCHEMA_H

#include "schema/text.h"

#include <cjson/cJSON.h>

enum schema_code {
    SCHEMA_OK = 0,
    SCHEMA_MEMORY,      // out of memory
    SCHEMA_UNSUPPORTED, // the keyword at path
    SCHEMA_BAD_VALUE,   // the keyword's value is not of the kind it must be; word: that kind
    SCHEMA_NOT_SCHEMA,  // neither an object nor a boolean stands at path
    SCHEMA_TWICE,       // a name that an object has twice; word: the name
    SCHEMA_TYPE,        // word: the unknown type
    SCHEMA_FORMAT,      // word: the unknown format
    SCHEMA_PATTERN,     // word: what the pattern has that is not supported
    SCHEMA_UNANCHORED,  // the pattern is not anchored at both ends
    SCHEMA_BAD_PATTERN, // word: what is wrong with the pattern
    SCHEMA_REF_REMOTE,  // word: a reference to another document
    SCHEMA_REF_MISSING, // word: a reference to nothing
    SCHEMA_CYCLE,       // the schema refers to itself without anything in between
    SCHEMA_TOGETHER,    // the keyword at path does not go together with another; word: that one
    SCHEMA_NOTHING,     // no value satisfies the schema at path
    SCHEMA_RANGE,       // the keyword's number is too large
    SCHEMA_TOO_BIG,     // the grammar grows beyond all reason
    SCHEMA_TOO_DEEP,    // too many schemas within each other that describe one and the same value
};

struct schema_fault {
    enum schema_code code;
    char path[240]; // JSON pointer to the keyword, empty for the whole schema; a beginning that is too long becomes "..."
    char word[80];  // cut where it is too long
};

// Appends the grammar to out. In the schema, numbers are cJSON_Raw with their spelling and strings are UTF-8 (json_parse). False with
// *fault; out must be freed either way.
bool schema_to_gbnf(const cJSON *schema, struct text *out, struct schema_fault *fault);

#endif
