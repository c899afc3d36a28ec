// SPDX-License-Identifier: MIT
// --print-chain and --print-grammar: a recipe on standard output.
#ifndef SAMPL_RECIPE_PRINT_CHAIN_H
#define SAMPL_RECIPE_PRINT_CHAIN_H

#include "cli/args.h"
#include "recipe/recipe.h"

// The effective chain with every parameter, in the way a->how says: text; json; llama (flags, which given to sampl make the same run);
// server (llama-server's request, an error when the server has no such thing).
bool print_chain(const struct args *a, const struct recipe *r, struct err *e);

// The grammar in GBNF; there is one.
void print_grammar(const struct recipe *r);

#endif
