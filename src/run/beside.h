// SPDX-License-Identifier: MIT
// What two chains make of one row: the base's distribution, held against each variant's. f64, from logits, as run/measure.h has it.
#ifndef SAMPL_RUN_BESIDE_H
#define SAMPL_RUN_BESIDE_H

#include "run/measure.h"

enum beside_stat {
    BESIDE_SAME,    // 1: both chose the same token; else 0
    BESIDE_OVERLAP, // the sum of min(p, q)
    BESIDE_JS,      // the Jensen-Shannon divergence, in nats
    BESIDE_KL,      // KL(base || variant), infinite where the variant lacks what the base has
    BESIDE_COUNT
};

// The base's distribution. A zeroed struct is empty.
struct beside {
    uint32_t chosen;
    bool dense;             // entry i is of token i; else as ids has it
    struct idmap ids;       // numbers of the entries
    size_t n, cap, met_cap; // entries; room
    struct beside_entry {
        double p, log_p;
    } * entry; // [n]
    bool *met; // [n] scratch: does the variant have it?
};

void beside_free(struct beside *b);

// Takes what the base's chain left. False when memory is short.
bool beside_take(struct beside *b, const struct after *after, const struct cand *c);

// Holds a variant's against it. The base against itself gives 1, 1, 0, 0.
void beside_compare(struct beside *b, const struct after *after, const struct cand *c, double stat[BESIDE_COUNT]);

#endif
