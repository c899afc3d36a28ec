// SPDX-License-Identifier: MIT
// The accepted tokens, newest last, as far back as any sampler of the chain looks; and a count of each token in a
// window of them.
#ifndef SAMPL_SAMPLE_HISTORY_H
#define SAMPL_SAMPLE_HISTORY_H

#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTORY_ALL SIZE_MAX // a window that is the whole history

// A sequence of tokens.
struct tokens {
    const uint32_t *id; // [n]
    size_t n;
};

struct history {
    uint32_t *token; // ring of cap tokens; grows without end when window is HISTORY_ALL
    size_t cap;
    size_t total;  // tokens accepted so far
    size_t window; // at least this many are kept

    struct idmap prompt; // the tokens of the prompt, each once
    size_t n_prompt;     // how many of the accepted tokens it had
};

// A zeroed struct is an empty history that keeps nothing. Widen before the first token. history_add is false when
// memory is short.
void history_free(struct history *h);
void history_widen(struct history *h, size_t window);
bool history_add(struct history *h, uint32_t token);

// The token is one of the prompt, too; and there is no token any more.
bool history_add_prompt(struct history *h, uint32_t token);
void history_clear(struct history *h);

// How many tokens a window holds now.
size_t history_len(const struct history *h, size_t window);

// The i-th newest token, i < history_len of the widest window.
uint32_t history_newest(const struct history *h, size_t i);

// Copies the n newest tokens, the newest first.
void history_copy(const struct history *h, uint32_t *to, size_t n);

// Counts of the tokens in a window of the history. A zeroed struct is an empty tally.
struct tally {
    struct idmap tokens; // may hold tokens whose count is 0
    uint32_t *count;     // [tokens.n]
    size_t begin, end;   // which tokens of the history are counted, by their numbers from 0
    size_t count_cap;
};

void tally_free(struct tally *t);
void tally_clear(struct tally *t); // with the history

// Counts the last `window` tokens, at the cost of those that came and left since the last call. Cheap if the history
// keeps `window` + 1 tokens at least, so that the one that has just left is known. False when memory is short.
bool tally_update(struct tally *t, const struct history *h, size_t window);

#endif
