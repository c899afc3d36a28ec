// SPDX-License-Identifier: MIT
// The texts and kinds of a vocabulary's tokens. A reader (in/vocab_*.c) adds the tokens once; then nothing changes.
#ifndef SAMPL_VOCAB_VOCAB_H
#define SAMPL_VOCAB_VOCAB_H

#include "base/builder.h"
#include "base/hash.h"

#define VOCAB_NONE UINT32_MAX // no such token

enum {
    VOCAB_SPECIAL = 1,  // control or unknown token: has a text, but adds nothing to the output
    VOCAB_EOG = 2,      // ends a generation
    VOCAB_BYTE = 4,     // a byte token, such as <0x0A>; a tokenizer prefers any other token with the same text
    VOCAB_BANNED = 8,   // must never be chosen
    VOCAB_DEFINED = 16, // user-defined: a tokenizer finds its text before all others
    VOCAB_STRIPS = 32,  // where a tokenizer cuts it out of a text as a special token, white space behind it goes, too
};

// Bytes, not NUL-terminated, often no whole UTF-8 characters.
struct piece {
    const unsigned char *p;
    size_t len;
};

enum tokenizer_kind { TOKENIZER_NONE, TOKENIZER_SPM, TOKENIZER_BPE };

// What the file of a vocabulary says for its tokenizer (vocab/tokenize.h). TOKENIZER_NONE: too little, and the rest is
// not set.
struct tokenizer {
    enum tokenizer_kind kind;
    bool whole_words;      // BPE: a word that is a token is not merged
    struct builder spelt;  // the tokens' texts as the file spells them
    size_t *end;           // [vocab.n] where each ends in spelt.text
    float *score;          // [vocab.n] of SPM
    struct builder merges; // of BPE: two texts with a space between, and a NUL, the first first
};

struct vocab {
    size_t n;             // tokens
    size_t *end;          // [n] where in bytes.text each token's text ends; it begins where the one before ends
    unsigned char *flags; // [n] of VOCAB_*
    struct builder bytes;
    size_t end_cap, flags_cap;
    uint32_t eos, eot; // end of sequence and end of turn, or VOCAB_NONE
    unsigned char any; // the flags that some token has, after vocab_finish
    bool space_prefix; // the tokenizer puts a space before a text
    struct tokenizer tokenizer;
    struct builder recommended; // sampling parameters that the file recommends: key, NUL, value, NUL, and so on
    struct idmap known;         // after vocab_set_text: the ids of the tokens [n]. Empty: token i has id i
};

// Makes v an empty vocabulary.
void vocab_init(struct vocab *v);
void vocab_free(struct vocab *v);

// Appends a token, whose id is v->n. Returns false if memory is short.
bool vocab_add(struct vocab *v, const void *text, size_t len, unsigned flags);

// Sets the text of a token unless it has one, in a vocabulary of which only some tokens are known. A vocabulary is made
// either with this function or with vocab_add. Returns false if memory is short.
bool vocab_set_text(struct vocab *v, uint32_t id, const void *text, size_t len);

// Removes the tokens of vocab_set_text.
void vocab_clear(struct vocab *v);

// Adds a recommendation. Returns false if memory is short.
bool vocab_recommend(struct vocab *v, const char *key, const char *value);

// Keeps the spelt text and the score of token i for the tokenizer; v->n is the number of tokens, and i rises from 0.
// Returns false if memory is short.
bool vocab_keep_spelt(struct vocab *v, size_t i, const void *text, size_t len, float score);

// Returns a token's bytes, also those of a special token; no bytes for an id that v does not have.
struct piece vocab_text(const struct vocab *v, uint32_t id);

// Returns the bytes that a token adds to the output: none for a special one.
struct piece vocab_output(const struct vocab *v, uint32_t id);

// Returns true if the token ends a generation.
bool vocab_ends(const struct vocab *v, uint32_t id);

// Returns the first token with exactly this text and all of these flags, or VOCAB_NONE. O(n).
uint32_t vocab_find(const struct vocab *v, const void *text, size_t len, unsigned flags);

// Returns the first token with exactly this text, or VOCAB_NONE; a VOCAB_BYTE only if no other token has the text.
// *other: the second token with the text that is no VOCAB_BYTE, or VOCAB_NONE. O(n).
uint32_t vocab_find_only(const struct vocab *v, const void *text, size_t len, uint32_t *other);

// A hash table of the tokens' texts, for callers that look up many.
struct lookup {
    const struct vocab *vocab; // NULL: not built
    struct hash_table ids;     // one for each text
};

// Builds the table of v, which must outlive l and not change. Returns false, and leaves l not built, if memory is
// short.
bool lookup_build(struct lookup *l, const struct vocab *v);
void lookup_free(struct lookup *l); // also of a zeroed struct

// Returns the token that vocab_find_only finds. O(1).
uint32_t lookup_find(const struct lookup *l, const void *text, size_t len);

#endif
