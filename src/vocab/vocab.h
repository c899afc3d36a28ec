// SPDX-License-Identifier: MIT
// The texts and kinds of a vocabulary's tokens. A reader (in/vocab_*.c) fills it once; it is const from then on.
#ifndef SAMPL_VOCAB_VOCAB_H
#define SAMPL_VOCAB_VOCAB_H

#include "base/builder.h"
#include "base/hash.h"

#define VOCAB_NONE UINT32_MAX // no such token

enum {
    VOCAB_SPECIAL = 1, // control or unknown: has a text, but prints as nothing
    VOCAB_EOG = 2,     // ends a generation
    VOCAB_BYTE =
        4, // stands for one byte that no other token may say; a tokenizer prefers any other token with its text
    VOCAB_BANNED = 8, // is never to be chosen
};

// Bytes, not NUL-terminated, often no whole UTF-8 characters.
struct piece {
    const unsigned char *p;
    size_t len;
};

struct vocab {
    size_t n;             // tokens
    size_t *end;          // [n] where each token's text ends in bytes; it begins where the one before ends
    unsigned char *flags; // [n] of VOCAB_*
    struct builder bytes;
    size_t end_cap, flags_cap;
    uint32_t eos, eot; // end of sequence and of turn, or VOCAB_NONE
    unsigned char any; // flags that some token has, once vocab_finish has seen all
    bool space_prefix; // the tokenizer puts a space before a text
    struct builder
        recommended;   // what the file recommends for sampling: key, NUL, value, NUL, and so on; an empty text: nothing
    struct idmap told; // by vocab_tell: the ids, in the order of the arrays, where else token i is the i-th
};

// An empty vocabulary.
void vocab_init(struct vocab *v);
void vocab_free(struct vocab *v);

// Appends a token. False when memory is short.
bool vocab_add(struct vocab *v, const void *text, size_t len, unsigned flags);

// For who knows only some tokens, of any ids: gives one its text, unless it has one; not to be mixed with vocab_add.
// False when memory is short. And forgets them all.
bool vocab_tell(struct vocab *v, uint32_t id, const void *text, size_t len);
void vocab_forget(struct vocab *v);

// Adds a recommendation. False when memory is short.
bool vocab_recommend(struct vocab *v, const char *key, const char *value);

// A token's bytes, those of special tokens included; empty for an id that it does not have.
struct piece vocab_text(const struct vocab *v, uint32_t id);

// The bytes that a token adds to the output: none for a special one.
struct piece vocab_output(const struct vocab *v, uint32_t id);

bool vocab_ends(const struct vocab *v, uint32_t id); // does it end a generation?

// The first token with just this text and all of these flags, or VOCAB_NONE. O(n).
uint32_t vocab_find(const struct vocab *v, const void *text, size_t len, unsigned flags);

// The token with just this text, one that is not a VOCAB_BYTE if there is one, or VOCAB_NONE; *other is the next such
// token, or VOCAB_NONE if it is the only one. O(n).
uint32_t vocab_find_only(const struct vocab *v, const void *text, size_t len, uint32_t *other);

// A table of the tokens' texts, for callers that look up many.
struct lookup {
    const struct vocab *vocab; // NULL: not built
    struct hash_table ids;     // one for each text
};

// Takes in every text of v, which must outlive l and stay as it is. False, and nothing built, when memory is short.
bool lookup_build(struct lookup *l, const struct vocab *v);
void lookup_free(struct lookup *l); // also of a zeroed struct

// The token that vocab_find_only finds.
uint32_t lookup_find(const struct lookup *l, const void *text, size_t len);

#endif
