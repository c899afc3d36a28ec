// SPDX-License-Identifier: MIT
// A text as tokens, where there is no tokenizer.
#ifndef SAMPL_VOCAB_SPLIT_H
#define SAMPL_VOCAB_SPLIT_H

#include "vocab/vocab.h"

// The fewest tokens whose texts, one after the other, are text[0..len); of those that are as few, the ones whose first
// token is longest, then whose second is. So it is one token if one says it all. Of tokens with the same text it is the
// first that is no VOCAB_BYTE. id has room for len tokens; *n becomes how many there are, 0 if none spell it. False
// when memory is short. O(tokens of v * len).
bool vocab_split(const struct vocab *v, const void *text, size_t len, uint32_t *id, size_t *n);

#endif
