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
    struct schema_notes crossed; // integers whose least value is above their greatest
    struct schema_notes loose;   // patterns that llama.cpp cannot follow and takes as any string: behind each path the
                                 // construct, with a NUL
    const cJSON *refused;        // a reference to the whole schema, which llama.cpp's converter refuses; NULL: none
};

void schema_grammar_free(struct schema_grammar *g);

// Makes a grammar of a schema whose numbers are cJSON_Raw with their spelling, and whose strings are UTF-8
// (json_parse, JSON_EXACT). Among members of one name, the tree keeps only the last, in the first one's place. The
// caller frees g in any case. False with *e: STATUS_USAGE and a sentence that begins with the JSON pointer to the
// faulty item, of which the last 239 bytes are shown; or STATUS_IO when memory is short.
bool schema_to_gbnf(cJSON *schema, struct schema_grammar *g, struct err *e);

// A rule of a grammar, and the item of the schema that it is made of.
struct schema_part {
    const char *name, *text;
    const cJSON *item;  // NULL: the rule is one that every grammar may use
    const char *reason; // why llama.cpp may refuse the rule; NULL: its parser says why
    size_t end;         // where the rule ends in the grammar
};

// The grammar that llama.cpp's converter writes for a schema. A zeroed struct is empty.
struct schema_release {
    struct builder gbnf;      // without a rule: the grammar is too large or too deep to be written here
    struct schema_part *part; // [n] the rules in their order
    size_t n;
    struct builder texts;       // of the parts
    struct builder differences; // where the accidents of llama.cpp's names make another language: "path: reason", NUL
};

void schema_release_free(struct schema_release *out);

// Writes llama.cpp's grammar of a schema that schema_to_gbnf has read without a fault. The parts refer to the schema.
// The caller frees out in any case. False with *e: memory was short.
bool schema_write_release(cJSON *schema, struct schema_release *out, struct err *e);

// Returns the rule at a place of the grammar; NULL: there is no rule.
const struct schema_part *schema_part_at(const struct schema_release *out, size_t at);

// Appends the JSON pointer to an item of the schema.
void schema_path(const cJSON *schema, const cJSON *item, struct builder *to);

#endif
