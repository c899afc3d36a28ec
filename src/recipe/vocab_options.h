// SPDX-License-Identifier: MIT
// What options mean once the vocabulary is known: token texts become ids.
#ifndef SAMPL_RECIPE_VOCAB_OPTIONS_H
#define SAMPL_RECIPE_VOCAB_OPTIONS_H

#include "cli/options.h"

// Loads --vocab and resolves what depends on it. To be called when all options are read and before the chain is put together.
bool vocab_options_apply(struct options *o, struct err *e);

// Works the vocabulary, if there is one, into o's parameters: biases of texts, --ignore-eos and banned tokens, DRY's text breakers.
bool vocab_options_resolve(struct options *o, struct err *e);

// Warns of what has no effect without a vocabulary, once the chain is known.
void vocab_options_warn(const struct options *o);

#endif
