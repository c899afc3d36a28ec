// SPDX-License-Identifier: MIT
// A dump as text: an aligned table or, in a window, bars.
#ifndef SAMPL_VIEWS_DUMP_TEXT_H
#define SAMPL_VIEWS_DUMP_TEXT_H

#include "out/dest.h"
#include "trace/record.h"

// Writes the record with its stages. lists: also its candidates.
void dump_text(struct dest *d, const struct record *r, bool lists);

#endif
