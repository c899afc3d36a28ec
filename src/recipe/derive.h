// SPDX-License-Identifier: MIT
// Options of a single sequence: the run's, with some of the chain's parameters changed.
#ifndef SAMPL_RECIPE_DERIVE_H
#define SAMPL_RECIPE_DERIVE_H

#include "cli/options.h"

// Copies what bears on the chain; the rest stays empty. `from` must outlive the copy, which options_free frees.
bool derive(struct options *to, const struct options *from, struct err *e);

// Take away what options can only add to or replace. (The grammar stays with its owner.)
void derive_forget_bias(struct options *o);
void derive_forget_breakers(struct options *o);
void derive_forget_grammar(struct options *o);

// Keeps a malloc'ed string for as long as o lives. Returns it, or NULL when memory is short (or word is NULL).
const char *derive_keep(struct options *o, char *word);

// Once, after parameters have changed: builds grammar and plan.
bool derive_plan(struct options *o, struct err *e);

#endif
