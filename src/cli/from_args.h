// SPDX-License-Identifier: MIT
// Recipes from arguments.
#ifndef SAMPL_CLI_FROM_ARGS_H
#define SAMPL_CLI_FROM_ARGS_H

#include "cli/args.h"
#include "settings/new_recipe.h"

// Makes the recipe that the arguments describe; the caller drops it. Loads the vocabulary, if one is given. Where an
// option was not given, the model's recommendation holds. Options of presets that the engine has no stage for count as
// not given. Prints notes and warnings. NULL with *e on failure.
const struct recipe *recipe_from_args(struct recipes *r, const struct args *given, struct err *e);

// Sets the values that were not given to those that the model's metadata recommend, if the engine is llama.cpp's.
// Appends the recommended chain to *chain. It counts more than --sampler-seq, and less than --samplers.
void set_recommendations(struct new_recipe *d, const struct args *a, struct builder *chain);

// Resets the given options that the engine has no stage for, and appends their names. preset: only those that this file
// gave, and only the names of those that would change the chain; NULL: all. False with *e if memory is short.
bool args_leave_out(struct args *a, const char *preset, struct builder *names, struct err *e);

#endif
