// SPDX-License-Identifier: MIT
// JSON schema to GBNF. The grammar's language is that of llama.cpp's converter, release v0.5.0, wherever that accepts
// a schema: what it reads otherwise than JSON Schema does is read so here, and the keywords that it passes over are
// passed over and reported. What that language is stands in sampl-formats(5); the grammar's shape and its rules'
// names are our own.
#ifndef SAMPL_SCHEMA_SCHEMA_H
#define SAMPL_SCHEMA_SCHEMA_H

#include "base/builder.h"

#include <cjson/cJSON.h>

enum schema_code {
    SCHEMA_OK = 0,
    SCHEMA_MEMORY,      // out of memory; no path, no word
    SCHEMA_NOT_OBJECT,  // no object stands where a schema should
    SCHEMA_BAD_VALUE,   // the keyword's value is not what it must be; word: that
    SCHEMA_TYPE,        // word: the unknown type
    SCHEMA_REF_REMOTE,  // word: a reference that does not begin with "#/"
    SCHEMA_REF_MISSING, // word: a reference to nothing
    SCHEMA_CYCLE,       // the schema leads back to itself before any character
    SCHEMA_PATTERN,     // word: the part of the pattern that cannot be read
    SCHEMA_COUNT,       // a least count that is too large
    SCHEMA_NOTHING,     // no text satisfies the schema
    SCHEMA_TOO_BIG,     // the grammar grows beyond all reason
    SCHEMA_TOO_DEEP,    // and so does the nesting in one rule
};

struct schema_fault {
    enum schema_code code;
    char path[240]; // JSON pointer to the keyword or the schema, empty for the whole; of a longer one "..." and its end
    char word[80];  // cut where it is too long
};

#define SCHEMA_MOST_NOTES 20

// Places in a schema, as JSON pointers with a NUL behind each. The first SCHEMA_MOST_NOTES are kept, all are counted.
struct schema_notes {
    struct builder paths;
    size_t n;
};

// The grammar made of a schema, and notes on it. A zeroed struct is empty.
struct schema_grammar {
    struct builder gbnf;
    struct schema_notes ignored; // keywords that llama.cpp passes over, and members of allOf
    struct schema_notes loose;   // patterns that llama.cpp cannot follow and takes as any string
};

void schema_grammar_free(struct schema_grammar *g);

// Makes a grammar of a schema whose numbers are cJSON_Raw with their spelling, and whose strings are UTF-8
// (json_parse, JSON_EXACT). Of members with the same name the tree keeps the last, in the first one's place. False
// with *fault; g must be freed either way.
bool schema_to_gbnf(cJSON *schema, struct schema_grammar *g, struct schema_fault *fault);

#endif
