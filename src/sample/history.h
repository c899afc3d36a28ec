// SPDX-License-Identifier: MIT
// The accepted tokens, newest last, as far back as any sampler of the chain looks; and counts of the tokens in a window
// of them.
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

// A zeroed struct is an empty history that keeps no tokens. history_widen must come before the first token. history_add
// returns false when memory is short.
void history_free(struct history *h);
void history_widen(struct history *h, size_t window);
bool history_add(struct history *h, uint32_t token);

// Adds a token of the prompt. Returns false when memory is short.
bool history_add_prompt(struct history *h, uint32_t token);
void history_clear(struct history *h);

// Returns how many tokens a window holds now.
size_t history_len(const struct history *h, size_t window);

// Returns the i-th newest token, i < history_len of the widest window.
uint32_t history_newest(const struct history *h, size_t i);

// Copies the n newest tokens, the newest first.
void history_copy(const struct history *h, uint32_t *to, size_t n);

// Returns true if id[0..n) are the n oldest of recent[0..len), which has the newest token first. n <= len.
bool tokens_oldest(const uint32_t *id, size_t n, const uint32_t *recent, size_t len);

// Counts of the tokens in a window of the history. A zeroed struct is an empty tally.
struct tally {
    struct idmap tokens; // may hold tokens whose count is 0
    uint32_t *count;     // [tokens.n]
    size_t begin, end;   // which tokens of the history are counted, by their numbers from 0
    size_t count_cap;
};

void tally_free(struct tally *t);

// Counts the last `window` tokens. O(tokens that came or left since the last call) if the history keeps at least
// `window` + 1 tokens, so that the token that has just left is known; else O(window). Returns false when memory is
// short.
bool tally_update(struct tally *t, const struct history *h, size_t window);

#endif
