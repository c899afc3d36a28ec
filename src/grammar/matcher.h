// SPDX-License-Identifier: MIT
// A text of tokens held against a grammar: which tokens may come next. As llama.cpp does it, but for two things that
// only ever let more through (see the manual): a token that ends inside a character is let through when some
// completion fits a negated class too, and <[id]> stands for a token of whatever bytes.
//
// The matcher keeps the automaton (dfa.h) and the mask of each state that was asked for. Past a few tens of
// megabytes all of it is forgotten and begun anew, so memory is bounded, by about 100 MB in the worst of grammars;
// typical ones take one or two.
#ifndef SAMPL_GRAMMAR_MATCHER_H
#define SAMPL_GRAMMAR_MATCHER_H

#include "base/builder.h"
#include "base/fault.h"
#include "grammar/grammar.h"
#include "grammar/trie.h"

struct matcher;

// Stands at the beginning of a text. Grammar and trie outlive it and may be shared between threads. NULL and *fault
// on failure, also when the grammar is too ambiguous.
struct matcher *matcher_new(const struct grammar *g, const struct trie *t, struct fault *fault);
void matcher_free(struct matcher *m);

// Back to the beginning.
void matcher_reset(struct matcher *m);

// May this token come next?
struct fault matcher_fits(struct matcher *m, uint32_t id, bool *fits);

// If so, moves past it. A token that ends the generation moves nothing.
struct fault matcher_accept(struct matcher *m, uint32_t id, bool *fits);

// Bit id % 64 of word id / 64: may this token come next? For all tokens of the vocabulary, the last word's other bits
// being 0. Good until the next call.
struct fault matcher_mask(struct matcher *m, const uint64_t **mask);

// May the text end here?
bool matcher_can_end(const struct matcher *m);

// For messages: add a token's text with GBNF's escapes, and \xHH for bytes that are not UTF-8; what may come next,
// such as: 'true', [0-9] or the end of the text. b->full when that is not all.
void matcher_put_token(const struct matcher *m, uint32_t id, struct builder *b);
void matcher_put_next(const struct matcher *m, struct builder *b);

#endif
