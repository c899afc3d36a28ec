// SPDX-License-Identifier: MIT
// Lists of logits with a tail, as --emit list writes them: the size of what a list leaves out, and its bounds.
#ifndef SAMPL_IN_LIST_TAIL_H
#define SAMPL_IN_LIST_TAIL_H

#include "in/sparse.h"

// The members of a tail, which sampl-input(5) describes.
enum tail_member { TAIL_N, TAIL_MASKED, TAIL_LSE, TAIL_MAX, TAIL_SUM, TAIL_SD, TAIL_XMEAN, TAIL_MEMBERS };

extern const char *const tail_names[TAIL_MEMBERS];

struct list_tail {
    double value[TAIL_MEMBERS]; // NaN: not given
    const char *prefix;         // of the members' names in messages: "tail." or "tail_"
    int64_t token;              // that follows the row, or -1
    double token_logit;         // NaN: not given
    double token_rank;          // in the whole row, from 1; NaN: not given
    const char *rank_name;      // of this member
};

// Makes *row of the tokens of s, which are listed by rank, and their tail. A token that follows the row and is not
// listed is listed besides, with its rank. A missing member widens the bounds. n_vocab: 0 if unknown. Fails with
// STATUS_DATA if members contradict each other, and as sparse_row does.
bool list_tail_row(struct sparse *s, const struct list_tail *tail, size_t n_vocab, struct row *row, struct err *e);

#endif
