// SPDX-License-Identifier: MIT
// Splits a text into tokens without a tokenizer.
#ifndef SAMPL_VOCAB_SPLIT_H
#define SAMPL_VOCAB_SPLIT_H

#include "vocab/vocab.h"

// Splits text[0..len) into the fewest tokens whose texts make it up. Among splits into as few tokens, the first token
// is the longest possible, then the second, and so on. Among tokens with equal texts, the lowest id that is no
// VOCAB_BYTE is used. Writes the ids to id, which holds at least len, and their number to *n; *n is 0 if no tokens make
// up the text. Returns false if memory is short. O(tokens of v * len).
bool vocab_split(const struct vocab *v, const void *text, size_t len, uint32_t *id, size_t *n);

#endif
