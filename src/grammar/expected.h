// SPDX-License-Identifier: MIT
// What a grammar expects in a state, in words that a message can use. For matcher_next.
#ifndef SAMPL_GRAMMAR_EXPECTED_H
#define SAMPL_GRAMMAR_EXPECTED_H

#include "grammar/dfa.h"
#include "grammar/matcher.h"

size_t expected_in(const struct dfa *d, uint32_t state, struct expected *out, size_t most);

#endif
