// SPDX-License-Identifier: MIT
// From --samplers and --sampler-seq to the stages of a chain.
#ifndef SAMPL_RECIPE_CHAINSPEC_H
#define SAMPL_RECIPE_CHAINSPEC_H

#include "cli/options.h"

// Fills o->choice and o->plan from o->samplers once o->params is complete. NAME=VALUE is read as the option that the sampler's registry
// row names.
bool chainspec_build(struct options *o, struct err *e);

#endif
