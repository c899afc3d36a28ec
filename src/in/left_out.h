// SPDX-License-Identifier: MIT
// Counts the rows of named sequences that --rows leaves out, for engines whose noise depends on a row's position in its
// sequence.
#ifndef SAMPL_IN_LEFT_OUT_H
#define SAMPL_IN_LEFT_OUT_H

#include "base/hash.h"

// A zeroed struct is empty. Its memory grows with the number of names.
struct left_out {
    struct left_out_sequence {
        char *name;
        uint64_t rows; // left out since the last row that was not, or since the last end
        bool ended;    // a row that was left out ended the sequence
    } * sequence;      // [n]
    size_t n, cap;
    struct hash_table names; // of places in sequence[]
};

void left_out_free(struct left_out *l);

// Counts a row; `ends`: the next row of this name begins another sequence. Returns false when memory is short.
bool left_out_add(struct left_out *l, const char *name, bool ends);

// Returns how many rows of a sequence were left out since the last call for it; *ended: they are of a new sequence of
// this name.
uint64_t left_out_take(struct left_out *l, const char *name, bool *ended);

#endif
