// SPDX-License-Identifier: MIT
// The grammar that the options give.
#ifndef SAMPL_RECIPE_GRAMMAR_OPTIONS_H
#define SAMPL_RECIPE_GRAMMAR_OPTIONS_H

#include "cli/options.h"
#include "grammar/grammar.h"

// Reads the grammar that was given, if any, into o->gbnf, o->grammar and, for a run, o->trie. The vocabulary is there already.
bool grammar_options_apply(struct options *o, struct err *e);
void grammar_options_free(struct options *o);

// The sentence for a fault in a grammar. Returns false.
bool grammar_error(const struct grammar_fault *f, struct err *e);

// --print-grammar.
bool grammar_print(const struct options *o, struct err *e);

#endif
