// SPDX-License-Identifier: MIT
// The parts of the text format.
#ifndef SAMPL_OUT_TEXT_H
#define SAMPL_OUT_TEXT_H

#include "out/output.h"

// Returns the mark before a candidate: '>' chosen, '+' accepted, ' ' neither.
char text_mark(const struct record *r, uint32_t id);

// A probability in three digits and at most five columns.
const char *text_share(double p, char text[NUMBER_TEXT]);

// For a window: writes candidates with bars of their probabilities. The last list of a record has bars before and after
// the chain, if the chain changed a probability, and the candidates that the chain removed.
void text_bars(const struct output *out, const struct record *r, const struct ranked *ranked, size_t n, bool last);

// Writers of several chains, for struct output_format.
void text_choices(struct output *out, const struct chains_record *r);
void text_candidates(struct output *out, const struct chains_record *r);
void text_texts(struct output *out, const struct chains_record *r);
void text_table(struct output *out, const struct chains_record *r);

#endif
