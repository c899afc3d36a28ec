// SPDX-License-Identifier: MIT
// A recipe from words such as --top-p 0.9, for programs that have no command line of ours. The words are the options of
// a chain that open no file and name no preset.
#ifndef SAMPL_SETTINGS_CHAIN_WORDS_H
#define SAMPL_SETTINGS_CHAIN_WORDS_H

#include "settings/draft.h"

// Makes the recipe that the command line makes of word[0..n), with the vocabulary of r. The caller drops it. Notes stay
// in r->notes. NULL with *e on failure: STATUS_USAGE, the text names the word.
const struct recipe *recipe_from_words(struct recipes *r, const char *const *word, size_t n, struct err *e);

#endif
