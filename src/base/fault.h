// SPDX-License-Identifier: MIT
// Faults below the command line and the I/O: a code and a place. The layers above turn a fault into a sentence.
#ifndef SAMPL_BASE_FAULT_H
#define SAMPL_BASE_FAULT_H

#include <stdint.h>

enum fault_code {
    FAULT_NONE = 0,
    FAULT_MEMORY,       // out of memory
    FAULT_NAN,          // at: token of the first bad logit
    FAULT_INFINITE,     // at: token of the first +inf logit
    FAULT_ALL_MASKED,   // no finite logit in the row
    FAULT_NOTHING_LEFT, // the chain masked every candidate
    FAULT_LIST_MASKED,  // the chain masked every listed candidate of a partial row; unlisted ones may be left
    FAULT_OVERFLOW,     // the chain drove a logit to NaN or +inf
    FAULT_GRAMMAR,      // too many ways to match a text with the grammar: they take more than `at` MiB
    FAULT_F16,          // at: index of a logit that is too large for f16
    FAULT_NO_EOT,       // infill wants the token that ends a turn, and the vocabulary has none
    FAULT_TOP_K,        // at: width of the row, which top-k must be below
    FAULT_EMBEDDINGS,   // at: number of vectors, which is not the width of the row
    FAULT_VECTOR,       // at: token whose vector cannot be scaled to length 1
    FAULT_NO_SIZE,      // the whole vocabulary is wanted of a sparse row that does not know its size
};

struct fault {
    enum fault_code code;
    uint64_t at;
};

static inline struct fault fault_none(void) { return (struct fault){FAULT_NONE, 0}; }

static inline struct fault fault_memory(void) { return (struct fault){FAULT_MEMORY, 0}; }

#endif
