// SPDX-License-Identifier: MIT
// Remarks on a chain whose stages act on each other in a way that is easily overlooked.
#ifndef SAMPL_CLI_REMARKS_H
#define SAMPL_CLI_REMARKS_H

#include "base/note.h"
#include "chain/recipe.h"

// Adds a note for each remark on the recipe's chain.
void remarks_add(struct builder *notes, const struct recipe *r);

#endif
