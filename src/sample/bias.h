// SPDX-License-Identifier: MIT
// Biases, grouped by token.
#ifndef SAMPL_SAMPLE_BIAS_H
#define SAMPL_SAMPLE_BIAS_H

#include "base/hash.h"

struct bias {
    uint32_t id;
    float bias; // finite, or -inf to ban
};

// A zeroed struct is an empty table.
struct bias_table {
    struct idmap ids; // the biased ids, each once
    size_t *end;      // [ids.n] the biases of id number j are bias[end[j-1]] ... bias[end[j]-1], in the order given
    float *bias;
};

// t is zeroed. False when memory is short; t must be freed either way.
bool bias_table_build(struct bias_table *t, const struct bias *bias, size_t n);
void bias_table_free(struct bias_table *t);

#endif
