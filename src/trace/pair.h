// SPDX-License-Identifier: MIT
// Two distributions of one row: the base's, with which each variant's is compared. In f64, from logits, as the
// statistics are.
#ifndef SAMPL_TRACE_PAIR_H
#define SAMPL_TRACE_PAIR_H

#include "base/hash.h"
#include "trace/measure.h"

// The base's distribution. A zeroed struct is empty.
struct pair_base {
    uint32_t chosen, best;
    size_t best_at;   // index of the entry of `best`
    bool dense;       // entry i is of token i; else ids maps tokens to entries
    struct idmap ids; // unless dense
    struct pair_entry {
        double p, log_p;
        bool met; // scratch: the variant has the token
        double q; // scratch: the variant's probability
    } * entry;    // [n]
    size_t n, cap;
};

void pair_free(struct pair_base *b);

// Copies what the base's chain left. False when memory is short.
bool pair_set_base(struct pair_base *b, const struct after *after);

// Compares what a variant's chain left with the base. The base itself gives 1, 1, 0, 0, 1, and two
// probabilities.
void pair_measure(struct pair_base *b, const struct after *after, double stat[PAIR_COUNT]);

// Writes the distribution that is drawn from when a draft from the variant q has been rejected, to to[0..n) by id:
// max(p - q, 0) divided by its sum, p being the base; p where the two are equal (Leviathan et al. 2023, arXiv
// 2211.17192, algorithm 1).
void pair_residual(struct pair_base *b, const struct after *after, float *to, size_t n);

#endif
