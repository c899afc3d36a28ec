// SPDX-License-Identifier: MIT
// Recipes of the command line and of its variants, and notes on them.
#ifndef SAMPL_CLI_FROM_ARGS_H
#define SAMPL_CLI_FROM_ARGS_H

#include "chain/recipe.h"
#include "cli/variant.h"

// Makes the recipe that the arguments describe; the caller drops it. Loads the vocabulary, if one is given. A model's
// recommendations hold for options that were not given. NULL with *e on failure.
const struct recipe *recipe_from_args(struct recipes *r, const struct args *a, struct err *e);

// Makes the recipes of all variants but the first: recipe[1..v->n), NULL at first, which the caller drops in any case.
// recipe[0] is the first variant's. If the engine is swept, a variant goes without the options that its engine has no
// stage for.
bool recipes_of_variants(struct recipes *r, struct variants *v, const struct recipe **recipe, struct err *e);

// Forgets the options that the engine has no stage for, and appends their names.
bool args_leave_out(struct args *a, struct builder *names, struct err *e);

// Before a run: prints a note for each typed option that has no effect on the variant's recipe. base: the arguments of
// the first variant, whose options need no second note; NULL: the variant is the first.
void note_idle_options(const struct recipe *r, const struct variant *x, const struct args *base);

// The name of a variant in a message, for "%.*s".
#define VARIANT_NAME(x) err_clip((x)->name, 80), (x)->name

#endif
