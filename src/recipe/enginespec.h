// SPDX-License-Identifier: MIT
// From --engine to the stages of its pipeline.
#ifndef SAMPL_RECIPE_ENGINESPEC_H
#define SAMPL_RECIPE_ENGINESPEC_H

#include "cli/options.h"

// Once all options are known: finds o->engine, gives o->params its defaults where nothing else was given, and refuses options of the chain
// that it has no stage for.
bool enginespec_settle(struct options *o, struct err *e);

// Fills o->plan from o->params. Not for llama, whose chain chainspec_build makes.
bool enginespec_build(struct options *o, struct err *e);

#endif
