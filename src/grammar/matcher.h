// SPDX-License-Identifier: MIT
// Matches a text of tokens with a grammar: which tokens may come next. The answers are llama.cpp's but for two cases
// (see sampl-samplers(7)), in which more tokens fit here: a token that ends inside a character also fits if a negated
// class holds some completion; and <[id]> stands for a token of whatever bytes.
//
// The matcher keeps the automaton (dfa.h) and the masks that were asked for. When they exceed a few tens of megabytes,
// it forgets them and begins anew. Typical grammars take one or two megabytes, the worst ones about 100.
#ifndef SAMPL_GRAMMAR_MATCHER_H
#define SAMPL_GRAMMAR_MATCHER_H

#include "base/builder.h"
#include "base/fault.h"
#include "grammar/grammar.h"
#include "grammar/trie.h"

struct matcher;

// Returns a matcher at the beginning of a text. Grammar and trie must outlive it; threads may share them. NULL with
// *fault when memory is short, or when the grammar has too many ways to match a text.
struct matcher *matcher_new(const struct grammar *g, const struct trie *t, struct fault *fault);
void matcher_free(struct matcher *m);

// Goes back to the beginning of a text.
void matcher_reset(struct matcher *m);

// Sets *fits to whether a token may come next. *fits is valid only without a fault.
struct fault matcher_fits(struct matcher *m, uint32_t id, bool *fits);

// Sets *fits as matcher_fits does, and moves behind the token if it fits. A token that ends the generation moves
// nothing.
struct fault matcher_accept(struct matcher *m, uint32_t id, bool *fits);

// Sets *mask to a bit for each token of the vocabulary, bit id % 64 of word id / 64: 1 if the token may come next. The
// last word's other bits are 0. The mask belongs to the matcher and is valid until the next call.
struct fault matcher_mask(struct matcher *m, const uint64_t **mask);

// Returns whether the text may end here.
bool matcher_can_end(const struct matcher *m);

// Appends a token's text for a message, with GBNF's escapes, and \xHH for bytes that are not UTF-8.
void matcher_print_token(const struct matcher *m, uint32_t id, struct builder *b);

// Appends the names of the rules whose elements may come next, in the order of the grammar; at the end of the text also
// "the end of the text". The text that the grammar was read from must still be there.
void matcher_print_rules(const struct matcher *m, struct builder *b);

// Appends what may come next for a message, such as: 'true', [0-9] or the end of the text. Sets b->full if some of it
// is left out.
void matcher_print_next(const struct matcher *m, struct builder *b);

#endif
