// SPDX-License-Identifier: MIT
// The "params" of a JSON row: llama-server's request parameters, by the server's names, read as its request reader does: null is absent,
// some values are brought into their range silently, others are refused. What is unknown is refused too, except members that have no
// bearing on sampling.
#ifndef SAMPL_RECIPE_SERVER_PARAMS_H
#define SAMPL_RECIPE_SERVER_PARAMS_H

#include "cli/options.h"

#include <cjson/cJSON.h>

// Stores the members of an object in o; derive_plan must follow. Errors are of status STATUS_DATA and name the member.
bool server_params_set(struct options *o, const cJSON *params, struct err *e);

#endif
