// SPDX-License-Identifier: MIT
// The way back, from texts to tokens, for those who look up many.
#ifndef SAMPL_VOCAB_LOOKUP_H
#define SAMPL_VOCAB_LOOKUP_H

#include "base/hash.h"
#include "vocab/vocab.h"

struct lookup {
    const struct vocab *vocab; // NULL: not built
    struct hash_table ids;     // one for each text
};

// Takes in every text of v, which must outlive l and stay as it is. False, and nothing built, when memory is short.
bool lookup_build(struct lookup *l, const struct vocab *v);
void lookup_free(struct lookup *l); // also of a zeroed struct

// The first token with just this text, one that is not a VOCAB_BYTE if there is one, or VOCAB_NONE: what vocab_find_only finds.
uint32_t lookup_find(const struct lookup *l, const void *text, size_t len);

#endif
