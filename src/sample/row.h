// SPDX-License-Identifier: MIT
// One row of input: logits as a reader leaves them in memory.
#ifndef SAMPL_SAMPLE_ROW_H
#define SAMPL_SAMPLE_ROW_H

#include "base/bits.h"
#include "kern/kern.h"

#include <stdbool.h>
#include <string.h>

// The meaning of the numbers of a row.
enum logit_scale {
    SCALE_LOGITS,   // they are the logits
    SCALE_LOGPROBS, // a server's log-probabilities: they tell the differences of logits, but no sign and no size
    SCALE_STORED,   // the log-probabilities of a complete row of a kld file
};

// The tokens of a kld file's row that llama-perplexity clipped. They share what the others leave of 1.
struct row_clipped {
    size_t n;
    float low;    // the log-probability that the file has for them; no other token's is below it
    double share; // the probability that they have in the row
};

// How coarse the numbers of a list are. Zeroed: they are f32.
struct list_unit {
    float decimal;      // half a step of decimals, or 0; infinite: no number is known
    float digit;        // half a step of significant digits as a share of the power of ten below the number, or 0
    float binary;       // half a step of bf16 or f16 as a share of the power of two below the number, or 0
    bool probabilities; // these are rounded, instead of their logarithms
};

// Returns true if one of its steps is known to be coarser than f32's.
static inline bool list_unit_coarse(const struct list_unit *u)
{
    return u->decimal > 0.0f || u->digit > 0.0f || u->binary > 0.0f;
}

// The largest power of ten that is not above |x|, from 1e-12 to 1e4.
double list_unit_leading(double x);

// How far the true log-probability may be from a listed one, x, for its rounding. 0 for a masked token.
double list_unit_half(const struct list_unit *u, double x);

// What a reader knows of the tokens that a partial row does not list. Zeroed: the row is complete.
struct row_unlisted {
    enum logit_scale scale; // of a list in a reply or a data set, complete or not
    struct list_unit unit;  // of its numbers; zeroed if they are not coarser than LIST_SLACK
    bool partial;
    float ceiling;    // no unlisted logit is above it
    double weight;    // the probability of the unlisted tokens
    double sum;       // ln of the sum of e^logit over the unlisted tokens
    double low, high; // its bounds
    double mean;      // of the unlisted logits, by their probabilities; `sum` counts them as one token
    double most;      // bound of the number of the unlisted tokens that are not masked; infinite: not known
    bool gaps;        // the list has masked tokens, and unlisted ones that may be likelier
    bool logits;      // probabilities were expected, but add up to more than 1.02: logits of a complete row
    bool alone;       // there is no list: the only token is the one that the server chose

    // Set for a list of logits with a tail; else 0 or NaN. All numbers of such a list have the bits of the whole row.
    size_t ranked;            // the listed tokens that rank before all others
    size_t extra_token;       // 1 + the id of a token that is listed besides them; 0: none
    size_t extra_rank;        // its rank in the whole row, from 1; 0: not known
    float exp_sum, deviation; // of the whole row: cand_exp_sum and cand_deviation
};

// The store never writes to data and ids, which belong to the reader.
struct row {
    enum dtype type;
    const void *data; // [n] logits, at any alignment, in the order of their ids
    size_t n;         // at least 1
    const uint32_t
        *ids; // [n] of a sparse row: the ids of its logits, strictly rising. NULL: the row is dense, its ids are 0..n-1
    size_t n_vocab; // of a sparse row: the vocabulary size, above every id; 0: unknown
    struct row_unlisted unlisted;
    struct row_clipped clipped; // if unlisted.scale is SCALE_STORED
};

// The vocabulary size that a row tells, or 0.
static inline size_t row_vocab(const struct row *r) { return r->ids ? r->n_vocab : r->n; }

// Returns whether two dense rows have different widths. A bad row may have none.
static inline bool rows_differ_in_width(const struct row *a, const struct row *b)
{
    return !a->ids && !b->ids && a->n && b->n && a->n != b->n;
}

// The smallest logit of a type that is not masked. The lowest finite number of each type stands for a mask; the cut is
// the number above it.
float row_cut(enum dtype type);

// The logit at a place, -inf if masked.
float row_logit(const struct row *r, size_t place);

// Returns how many tokens a list was asked for: its tokens, without one that servers list besides. O(n).
size_t row_listed(const struct row *r);

// Writes the logits of len places from `place` on to logit[0..len), -inf for masked ones.
void row_logits(const struct kern *kern, const struct row *r, size_t place, size_t len, float *logit);

#endif
