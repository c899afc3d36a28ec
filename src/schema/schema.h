// SPDX-License-Identifier: MIT
// JSON schema to GBNF. If llama.cpp's converter, release v0.5.0, accepts a schema, the grammar here matches just the
// texts that llama.cpp's grammar matches, even where JSON Schema says otherwise. Keywords that llama.cpp ignores are
// ignored here, and reported. sampl-input(5) describes the language. The grammar's shape and its rules' names are
// sampl's own.
#ifndef SAMPL_SCHEMA_SCHEMA_H
#define SAMPL_SCHEMA_SCHEMA_H

#include "base/builder.h"
#include "base/err.h"

#include <cjson/cJSON.h>

#define SCHEMA_MOST_NOTES 20

// Places in a schema, as JSON pointers with a NUL behind each. The first SCHEMA_MOST_NOTES are kept; n counts all.
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
// (json_parse, JSON_EXACT). Among members of one name, the tree keeps only the last, in the first one's place. The
// caller frees g in any case. False with *e: STATUS_USAGE and a sentence that begins with the JSON pointer to the
// faulty item, of which the last 239 bytes are shown; or STATUS_IO when memory is short.
bool schema_to_gbnf(cJSON *schema, struct schema_grammar *g, struct err *e);

#endif
