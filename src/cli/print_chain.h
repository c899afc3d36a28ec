// SPDX-License-Identifier: MIT
// --print-chain and --print-grammar.
#ifndef SAMPL_CLI_PRINT_CHAIN_H
#define SAMPL_CLI_PRINT_CHAIN_H

#include "chain/recipe.h"
#include "cli/args.h"

// Prints the effective chain as a->how says: text or json, with every parameter; preset, options that make the same
// recipe; llama, llama.cpp's flags where they differ from its defaults; server, a request of llama-server. The last two
// are errors if llama.cpp has no such chain.
bool print_chain(const struct args *a, const struct recipe *r, struct err *e);

// Prints the grammar of the recipe, which has one, in GBNF.
bool print_grammar(const struct recipe *r, struct err *e);

#endif
