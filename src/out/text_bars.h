// SPDX-License-Identifier: MIT
// Candidates with bars of their probabilities, for a window.
#ifndef SAMPL_OUT_TEXT_BARS_H
#define SAMPL_OUT_TEXT_BARS_H

#include "out/token_text.h"

// Returns the mark before a candidate: '>' chosen, '+' accepted, ' ' neither.
char text_mark(const struct record *r, uint32_t id);

// Returns a probability in three digits and at most five columns.
const char *text_share(double p, char text[NUMBER_TEXT]);

// Writes candidates for a window, with bars of their probabilities. last: the list is the last one of the record. It
// then has the candidates that the chain removed and, if the chain changed a probability, bars before and after.
void text_bars(struct dest *d, const struct record *r, const struct ranked *ranked, size_t n, bool last);

#endif
