// SPDX-License-Identifier: MIT
// What a model's makers recommend for sampling, in its GGUF metadata (formats.md 1.6).
#ifndef SAMPL_RECIPE_ADVICE_H
#define SAMPL_RECIPE_ADVICE_H

#include "cli/options.h"

// Takes what the vocabulary's file recommends for the options that were not given, as llama.cpp does. Engines other than llama.cpp's go
// without. False with *e when it recommends something that an option cannot be.
bool advice_take(struct options *o, struct err *e);

#endif
