// SPDX-License-Identifier: MIT
// --print-chain: the effective chain with every parameter.
#ifndef SAMPL_RECIPE_PRINT_CHAIN_H
#define SAMPL_RECIPE_PRINT_CHAIN_H

#include "cli/options.h"

// Prints in the way o->how says: text; json; llama (flags, which given to sampl make the same run); server (llama-server's request).
bool print_chain(const struct options *o, struct err *e);

#endif
