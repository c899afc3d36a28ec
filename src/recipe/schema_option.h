// SPDX-License-Identifier: MIT
// --json-schema and --json-schema-file.
#ifndef SAMPL_RECIPE_SCHEMA_OPTION_H
#define SAMPL_RECIPE_SCHEMA_OPTION_H

#include "cli/set.h"

// The grammar in GBNF, which the caller frees, for the schema json[0..len); where (the option) begins the error's text. NULL with *e.
char *schema_grammar(const char *json, size_t len, const char *where, struct err *e);

set_fn set_schema;      // options.grammar_given, from a schema
set_fn set_schema_file; // the same, from a file that has one

#endif
