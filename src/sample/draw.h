// SPDX-License-Identifier: MIT
// The draw of mirostat and adaptive_p: std::discrete_distribution as libstdc++ has it.
#ifndef SAMPL_SAMPLE_DRAW_H
#define SAMPL_SAMPLE_DRAW_H

#include "sample/cand.h"
#include "sample/rng.h"

// Chooses one of a list's candidates by p (which need not sum to 1 exactly); returns its place. One candidate is chosen without a
// draw.
size_t draw_discrete(struct rng *r, struct cand *c);

#endif
