// SPDX-License-Identifier: MIT
// The vectors of a vocabulary's tokens, as a model's file has them: the rows of its embedding matrix.
#ifndef SAMPL_SAMPLE_EMBEDDINGS_H
#define SAMPL_SAMPLE_EMBEDDINGS_H

#include "kern/kern.h"

#include <stdbool.h>

enum {
    EMBEDDINGS_K = 4096,           // candidates of a row at most, and
    EMBEDDINGS_BYTES = 64 << 20,   // bytes of their vectors in f32
    EMBEDDING_BLOCK = 32,          // numbers of a block of Q8_0
    EMBEDDING_BLOCK_BYTES = 2 + 32 // of a block: its scale in f16, then a signed byte for each number
};

enum distance_metric {
    METRIC_COSINE, // 1 - u * v of the vectors u and v, scaled to length 1
    METRIC_L2,     // the length of u - v
};

struct embeddings {
    const unsigned char *data; // [n * bytes]
    bool blocks;               // the numbers are blocks of Q8_0, and width is a multiple of EMBEDDING_BLOCK; else
    enum dtype type;           // their type
    size_t n, width;           // tokens, and numbers of a vector; neither is 0
    size_t bytes;              // of a vector
    enum distance_metric metric;
};

#endif
