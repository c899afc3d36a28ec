// SPDX-License-Identifier: MIT
// The inside of the candidate store: for the files of sample/, chain.c and measure.c, and for samplers that work on
// blocks, on the arrays of the store, or on the row as it lies in memory.
#ifndef SAMPL_SAMPLE_CAND_PRIVATE_H
#define SAMPL_SAMPLE_CAND_PRIVATE_H

#include "sample/cand.h"

struct cand_store {
    const void *row; // [n] of a dense row: its elements
    enum dtype type;
    bool round;         // dense: elements are rounded to f16 when read
    bool cached;        // dense: the logits are those that c->cache knows
    float cut;          // dense: elements below it are masked
    bool *copied;       // dense, for each block: its logits are in c->logit (cand_block.c)
    float *block_max;   // dense: the largest logit of each block; -inf when all are masked
    uint32_t *spare_id; // [cap] each, for reordering a list
    float *spare;
    uint64_t *key, *key_tmp; // [cap] scratch of selection and sorting
    uint32_t *rank;          // [cap] positions by rank
    size_t cap;              // of c->id, c->logit and c->p, too
    void *memory;            // holds all these arrays
    struct {
        void *memory;
        size_t size;
    } scratch[10]; // of samplers
    size_t scratch_taken;
    struct noise noise; // its `of` is NULL: the selector kept none
    void *noise_memory; // of its arrays
    size_t noise_cap;
    bool met_zero; // cand_find_zero
};

// ---- blocks (cand_block.c). A list has blocks, too: KERN_BLOCK candidates each.

static inline size_t cand_blocks(const struct cand *c) { return (c->n + KERN_BLOCK - 1) / KERN_BLOCK; }
static inline size_t cand_block_len(const struct cand *c, size_t b)
{
    const size_t left = c->n - b * KERN_BLOCK;
    return left < KERN_BLOCK ? left : KERN_BLOCK;
}

// The logits of block b, *len of them, in place or in tmp. Elements below the cut of a block that is not copied stand
// there as numbers.
const float *cand_block(const struct cand *c, size_t b, float tmp[KERN_BLOCK], size_t *len);

// The logits of block b, but masked ones are -inf.
const float *cand_masked_block(const struct cand *c, size_t b, float tmp[KERN_BLOCK], size_t *len);

// Writes a dense row's block to dst, masked ones as -inf.
void cand_copy_block(const struct cand *c, size_t b, float *dst);

// Copies a dense row's block to c->logit, so that it can be rewritten there.
void cand_unshare_block(struct cand *c, size_t b);

// Replaces the logit `old` at a position by x.
void cand_set_logit(struct cand *c, size_t at, float old, float x);

// ---- changes of all candidates (cand.c)

// The position of the first largest logit.
size_t cand_argmax(const struct cand *c);

// The smallest logit that is not masked; +inf if there is none. O(n), in one pass.
float cand_least(const struct cand *c);

// How many candidates that are not masked have a logit of at least `floor`, or `most` if more. O(n), as cand_alive.
size_t cand_count(const struct cand *c, float floor, size_t most);

// Rounds every logit to f16, to nearest even. The lowest finite f16 is then masked, as in a row of f16. Records a fault
// when a logit is too large, or none is left.
void cand_round_f16(struct cand *c);

// ---- selection (cand_rank.c)

// Collects the candidates with logit >= floor as rank keys, with positions for ids, at store->key, by rising position;
// returns how many. If k < n, keeps only the k best, by rank, whenever many are collected.
size_t cand_collect(struct cand *c, float floor, size_t k);

// Returns the positions of a list's candidates by rising id.
struct ranks cand_rank_by_id(struct cand *c);

// Ranks the first k of n collected candidates.
struct ranks cand_rank_collected(struct cand *c, size_t n, size_t k);

// Keeps the n candidates at store->key, as cand_collect leaves them, or the `least` best.
void cand_keep_collected(struct cand *c, size_t n, size_t least);

// Keeps the k best by p, sorted; of equal p the lower id comes first. Needs a list in id order with p, 0 < k <= n.
void cand_top_k_by_p(struct cand *c, size_t k);

// Copies every 16th block to store->spare, which stands for the row; returns how many logits those are.
enum { CAND_SAMPLE_STRIDE = 16 };
size_t cand_sample(struct cand *c);

// ---- weights (cand_weight.c)

// m, the largest logit after deferred divisions. Records the faults of a softmax.
float cand_exp_max(struct cand *c);

// The logits of block b, *len of them after deferred divisions, in place or in tmp, whose weights are expf(logit -
// max). NULL: all weights are 0.
const float *cand_exponents(const struct cand *c, size_t b, float max, float tmp[KERN_BLOCK], size_t *len);

// cand_mass of the weights expf(logit - max) with any max.
struct mass cand_mass_from(const struct cand *c, float max, double *before, bool rough);

// Writes the weights of ranked candidates to w, by rank, from rank `from` on. best.at is not NULL.
void cand_weigh_ranked(const struct cand *c, struct ranks best, size_t from, float max, float *w);

// Writes the weights of all candidates to p: leaves CAND_WEIGHTS.
void cand_exp(struct cand *c);

// Writes the weights of the candidates with logit - max >= floor to w, by position; w has room for n + KERN_BLOCK.
// Returns how many. before: if not NULL, before[b] becomes how many of them stand before block b.
size_t cand_pack_weights(const struct cand *c, float max, float floor, float *w, uint32_t *before);

#endif
