// SPDX-License-Identifier: MIT
// Draws that more than one selector makes.
#ifndef SAMPL_SAMPLE_DRAW_H
#define SAMPL_SAMPLE_DRAW_H

#include "sample/cand.h"
#include "sample/rng.h"

// The draw of mirostat and adaptive_p: std::discrete_distribution as libstdc++ has it.
// Chooses one of a list's candidates by p (which need not sum to 1 exactly); returns its place. One candidate is chosen without a
// draw.
size_t draw_discrete(struct rng *r, struct cand *c);

// The draw of the engines ollama and akunu: chooses the first of a list's candidates at which the running f32 sum of p reaches r, else
// the last.
void draw_running(struct cand *c, float r);

#endif
