// SPDX-License-Identifier: MIT
// The values that are written for each row.
#ifndef SAMPL_OUT_EMIT_H
#define SAMPL_OUT_EMIT_H

#include <stdbool.h>

enum emit {
    EMIT_IDS,
    EMIT_SCORE,
    EMIT_TEXT,
    EMIT_STATS,
    EMIT_PROBS,
    EMIT_LOGPROBS,
    EMIT_LOGITS,
    EMIT_LIST,
    EMIT_RESIDUAL,
    EMIT_COUNT
};

static inline const char *emit_name(enum emit e)
{
    static const char *const names[EMIT_COUNT] = {"ids",      "score",  "text", "stats",   "probs",
                                                  "logprobs", "logits", "list", "residual"};
    return names[e];
}

// Returns whether a record has one number for every token of the vocabulary.
static inline bool emit_distribution(enum emit e)
{
    return (e >= EMIT_PROBS && e <= EMIT_LOGITS) || e == EMIT_RESIDUAL;
}

#endif
