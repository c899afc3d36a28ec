// SPDX-License-Identifier: MIT
// The reasoning budget of llama.cpp v0.5.0 (sampl-samplers(7)): tokens between a start tag and an end tag are counted;
// when as many as the budget have come, a message and the first end tag are forced, a token a row. If no tokens are
// to be forced, the state forcing lasts for one token, which is free and begins no tag.
#ifndef SAMPL_SAMPLE_BUDGET_H
#define SAMPL_SAMPLE_BUDGET_H

#include "sample/history.h"
#include "vocab/vocab.h"

#define BUDGET_FREE UINT32_MAX // no token is forced

struct budget_rules {
    uint32_t most;            // tokens that may follow a start tag
    struct tokens start;      // none of the tags is empty
    const struct tokens *end; // [n_ends], at least one
    size_t n_ends;
    struct tokens forced;      // the message and the first end tag; may be empty
    size_t longest;            // tokens of the longest start or end tag
    const struct vocab *vocab; // whose texts may end inside a character; NULL: none does
};

enum budget_state {
    BUDGET_IDLE,     // waits for a start tag
    BUDGET_COUNTING, // waits for an end tag, or for the budget's end
    BUDGET_WAITING,  // the budget is used up, but the last token ends inside a character
    BUDGET_FORCING,
};

// The state of one sequence. A zeroed struct with rules set is at the beginning.
struct budget {
    const struct budget_rules *rules;
    enum budget_state state;
    bool ended;       // a budget has ended since the beginning
    uint32_t left;    // tokens, while counting
    size_t at;        // the next of the forced tokens
    uint32_t *recent; // [n_recent <= rules->longest] tokens, newest last, in which the next tag may have begun
    size_t n_recent, cap;
};

void budget_free(struct budget *b);
void budget_reset(struct budget *b); // to the beginning

// Returns the state in a word: idle, counting, waiting, forcing; done: idle after a budget that has ended.
const char *budget_state_name(const struct budget *b);

// Returns the token that the next row must choose, or BUDGET_FREE.
uint32_t budget_forced(const struct budget *b);

// Counts a token of the text, not of the prompt. Returns false when memory is short.
bool budget_accept(struct budget *b, uint32_t id);

#endif
