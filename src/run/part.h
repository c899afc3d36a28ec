// SPDX-License-Identifier: MIT
// A run that is a part of a longer one (--shard, --row-base) prints what the longer one prints for its rows. So it must know as much of
// the rows before.
#ifndef SAMPL_RUN_PART_H
#define SAMPL_RUN_PART_H

#include "cli/options.h"

// What the chain must know of earlier rows beyond the tokens that are given; *stage as chain_carry has it, unless it is the grammar.
enum carry part_carry(const struct options *o, size_t *stage);

// Do rows of the longer run come before this part? Also true when it holds none at all.
bool part_is_later(const struct options *o);

// Refuses options that do not go together, and a later part of a run whose chain needs the rows before.
bool part_check(const struct options *o, struct err *e);

#endif
