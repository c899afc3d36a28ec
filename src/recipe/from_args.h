// SPDX-License-Identifier: MIT
// From the command line to a recipe.
#ifndef SAMPL_RECIPE_FROM_ARGS_H
#define SAMPL_RECIPE_FROM_ARGS_H

#include "cli/args.h"
#include "recipe/recipe.h"

// Loads the vocabulary, if one is given, and makes the recipe that the arguments describe; the caller drops it. What the model's file
// recommends holds for options that were not given. NULL with *e.
const struct recipe *recipe_from_args(struct recipes *r, const struct args *a, struct err *e);

#endif
