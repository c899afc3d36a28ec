// SPDX-License-Identifier: MIT
// Chooses the token of a row for a sequence: its chain, under its grammar and its reasoning budget.
#ifndef SAMPL_SESSION_CHOOSE_H
#define SAMPL_SESSION_CHOOSE_H

#include "sample/row_cache.h"
#include "session/session.h"
#include "trace/log.h"

// The memory of one thread for choosing tokens. The owner calls cand_init, and sets the takes_ members of the log.
struct chooser {
    struct cand cand;
    struct log log;
    struct row_cache *cache; // what chains that see the row share; NULL: nothing
    float *masked;           // scratch: a row without the tokens that do not fit the grammar
    size_t masked_cap;
};
void chooser_free(struct chooser *ch);

// Samples a row as llama.cpp does: ch->cand.chosen is the token, which is not accepted. A token that the reasoning
// budget forces must fit the grammar. Otherwise the chain runs first, and once more on the tokens that fit the grammar
// if its token does not fit. (--grammar-first and some engines mask at once.) *masked: tokens were masked. If then no
// token is left (FAULT_ALL_MASKED), session_exhausted has the words.
struct fault choose_token(struct chooser *ch, struct session *q, const struct row *row, bool *masked);

#endif
