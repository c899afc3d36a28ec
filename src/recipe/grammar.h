// SPDX-License-Identifier: MIT
// Grammars as they are given: GBNF or a JSON schema, as text or in a file.
#ifndef SAMPL_RECIPE_GRAMMAR_H
#define SAMPL_RECIPE_GRAMMAR_H

#include "cli/args.h"
#include "recipe/recipe.h"

// Gives a draft the grammar; of GRAMMAR_NONE it has none. Errors begin with the option's name.
bool draft_grammar_given(struct draft *d, enum grammar_source source, const char *given, struct err *e);

#endif
