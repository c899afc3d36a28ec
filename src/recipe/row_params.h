// SPDX-License-Identifier: MIT
// The "params" of a JSON row: llama-server's request parameters, by the server's names, read as its request reader does: null is absent,
// some values are brought into their range silently, others are refused. What is unknown is refused too, except members that have no
// bearing on sampling.
#ifndef SAMPL_RECIPE_ROW_PARAMS_H
#define SAMPL_RECIPE_ROW_PARAMS_H

#include "recipe/recipe.h"

#include <cjson/cJSON.h>

// The recipe with these parameters in place of some, which the caller drops. Errors are of status STATUS_DATA and name the member; NULL
// then.
const struct recipe *recipe_with_params(struct recipes *r, const struct recipe *from, const cJSON *params, struct err *e);

#endif
