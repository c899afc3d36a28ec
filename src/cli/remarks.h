// SPDX-License-Identifier: MIT
// Remarks on a chain whose stages act on each other in a way that is easily overlooked.
#ifndef SAMPL_CLI_REMARKS_H
#define SAMPL_CLI_REMARKS_H

#include "base/builder.h"
#include "chain/recipe.h"

// Appends a line for each remark on the recipe's chain: the text, and a newline.
void remarks_write(struct builder *lines, const struct recipe *r);

// Prints the remarks as notes.
void remarks_note(const struct recipe *r);

#endif
