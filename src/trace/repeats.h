// SPDX-License-Identifier: MIT
// How many runs of four chosen tokens have come before: loops and stock phrases of a text raise the share. A run lies
// in one sequence, and is looked for among the last REPEATS_WINDOW runs of all sequences, so that memory is constant.
#ifndef SAMPL_TRACE_REPEATS_H
#define SAMPL_TRACE_REPEATS_H

#include "base/hash.h"

enum { REPEATS_LENGTH = 4, REPEATS_WINDOW = 1 << 16, REPEATS_SEQUENCES = 1 << 10 };

// A zeroed struct is empty.
struct repeats {
    uint64_t runs, repeated; // runs so far, and those that had come before
    struct token_run {
        uint32_t id[REPEATS_LENGTH];
    } * window; // [REPEATS_WINDOW] the newest distinct runs, the oldest of them at `next`
    size_t next, n;
    struct hash_table places; // of the runs in the window
    struct sequence_end {
        uint64_t key;
        uint32_t n, id[REPEATS_LENGTH - 1]; // n: the tokens that are known, the newest last
    } * end; // [REPEATS_SEQUENCES] by key; of two sequences in one place, the newer one stays
};

void repeats_free(struct repeats *r);

// Adds a chosen token to a sequence, which a number names. begins, ends: it is the first or the last one. Returns false
// when memory is short.
bool repeats_add(struct repeats *r, uint64_t sequence, bool begins, bool ends, uint32_t id);

// A row of the sequence has no token: no run goes over it.
void repeats_break(struct repeats *r, uint64_t sequence);

#endif
