// SPDX-License-Identifier: MIT
// Rows that list some tokens with their numbers, as data sets have them: the members or tensors "topk_ids" and
// "topk_logprobs", and other names of these.
#ifndef SAMPL_IN_TOKEN_LIST_H
#define SAMPL_IN_TOKEN_LIST_H

#include "in/sparse.h"

// Returns whether this is the name of the ids, or of the numbers, of a data set's lists.
bool token_list_has_ids(const char *name);
bool token_list_has_numbers(const char *name);

// What the numbers of a list are, as their name says.
enum list_numbers { LIST_LOGPROBS, LIST_PROBS, LIST_LOGITS };
enum list_numbers token_list_numbers(const char *name);

// Returns whether the name begins with "topk_" or "top_".
bool token_list_is_marked(const char *name);

// Returns what a list of log-probabilities x[0..n) says of the tokens that it leaves out. No unlisted token is above
// `least`, but for rounding to the unit. Numbers whose probabilities add up to more than 1.02, and more than the unit
// explains, are logits, of a complete row. A list with a masked token (-inf) is complete if its probabilities add up to
// 1 within the unit; otherwise unlisted tokens may be likelier than listed ones, and the unit becomes infinite.
struct row_unlisted token_list_unlisted(const float *x, size_t n, float least, const struct list_unit *of);

// Returns what a list of the whole vocabulary says: its numbers may be log-probabilities, but it leaves out no token.
struct row_unlisted token_list_complete(struct row_unlisted unlisted);

// Makes *row of the ids and numbers of s: complete if they are logits or the whole vocabulary, else partial. Removes
// padding: masked tokens whose id repeats. n_vocab: 0 if unknown. Fails with STATUS_DATA if no token is left, and as
// sparse_row does.
bool token_list_row(struct sparse *s, enum list_numbers numbers, const struct list_unit *unit, size_t n_vocab,
                    struct row *row, struct err *e);

#endif
