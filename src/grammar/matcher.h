// SPDX-License-Identifier: MIT
// A text of tokens held against a grammar: which tokens may come next. As llama.cpp does it, but for two things that only ever let
// more through (see the manual): a token that ends inside a character is let through when some completion fits a negated class too,
// and <[id]> stands for a token of whatever bytes.
//
// What is found out is kept: the automaton (dfa.h), and the mask of each state that was asked for. Past a few tens of megabytes all of
// it is forgotten and begun anew, so memory is bounded, by about 100 MB in the worst of grammars; typical ones take one or two.
#ifndef SAMPL_GRAMMAR_MATCHER_H
#define SAMPL_GRAMMAR_MATCHER_H

#include "base/fault.h"
#include "grammar/grammar.h"
#include "grammar/trie.h"

struct matcher;

// Stands at the beginning of a text. Grammar and trie outlive it and may be shared between threads. NULL and *fault on failure, also
// when the grammar is too ambiguous.
struct matcher *matcher_new(const struct grammar *g, const struct trie *t, struct fault *fault);
void matcher_free(struct matcher *m);

// Back to the beginning.
void matcher_reset(struct matcher *m);

// May this token come next?
struct fault matcher_fits(struct matcher *m, uint32_t id, bool *fits);

// If so, moves past it. A token that ends the generation moves nothing.
struct fault matcher_accept(struct matcher *m, uint32_t id, bool *fits);

// Bit id % 64 of word id / 64: may this token come next? For all tokens of the vocabulary, the last word's other bits being 0. Good until
// the next call.
struct fault matcher_mask(struct matcher *m, const uint64_t **mask);

// May the text end here?
bool matcher_can_end(const struct matcher *m);

// What may come next, for messages.
enum expected_kind {
    EXPECTED_END,       // of the text
    EXPECTED_REST,      // the rest of a character
    EXPECTED_TEXT,      // range: characters that must follow each other, one range of a single one each
    EXPECTED_CLASS,     // range: any of these
    EXPECTED_TOKEN,     // id
    EXPECTED_NOT_TOKEN, // any other than id
};

#define EXPECTED_RANGES 12

struct expected {
    enum expected_kind kind;
    uint32_t id;
    uint32_t range[EXPECTED_RANGES][2]; // [n]
    size_t n;
    bool more; // there are more ranges, or characters
};

// The first `most` of them, each once; returns how many there are.
size_t matcher_next(const struct matcher *m, struct expected *out, size_t most);

#endif
