// SPDX-License-Identifier: MIT
// The candidates of one row: what every sampler reads and rewrites. Two forms behind one interface, because speed depends on it:
//
//   dense  the row as it lies in memory, every token a candidate in id order. Nothing is copied; changes to single tokens are kept
//          in a small overlay, and logits below `cut` read as -inf. The maxima of blocks of the row serve as an index: selection
//          visits only the blocks that can hold a winner.
//   list   ids and logits (and, after a softmax, probabilities) as separate arrays.
//
// A row starts dense and becomes a list when a sampler asks for one; a sparse row, which names the ids it has, is a list from the start.
// Memory is kept from row to row. A candidate whose logit is -inf is masked: it is in the list but cannot be chosen. Ranks: descending by
// logit, lower id first on ties.
#ifndef SAMPL_SAMPLE_CAND_H
#define SAMPL_SAMPLE_CAND_H

#include "base/fault.h"
#include "base/hash.h"
#include "kern/kern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cand_order {
    CAND_BY_ID,    // rising ids
    CAND_SORTED,   // by rank, as far as the samplers since the sort kept it: "sorted" in sampl-samplers(7)
    CAND_UNSORTED, // neither
};

// One row of input. data and ids stay the reader's and are not written to.
struct row {
    enum dtype type;
    const void *data;    // [n] logits in id order, any alignment
    size_t n;            // at least 1
    const uint32_t *ids; // [n] sparse: whose logits these are, strictly rising. NULL, dense: of all tokens from 0
    size_t n_vocab;      // sparse: vocabulary size, above every id; 0: unknown
};

// The vocabulary size that a row tells, or 0.
static inline size_t row_vocab(const struct row *r)
{
    return r->ids ? r->n_vocab : r->n;
}

struct cand {
    const struct kern *kern;

    size_t n;       // candidates, masked ones included
    size_t n_row;   // how many the row came with
    size_t n_vocab; // vocabulary size; 0: not known, the row being sparse
    bool dense;
    enum cand_order order;

    // list form: [n] each
    uint32_t *id;
    float *logit;
    float *p; // valid while has_p; by id while dense
    bool has_p;

    bool want_p; // set by the caller: p of every candidate will be read after the chain, so selectors must not leave it undone
    bool want_chosen_p; // set by the caller: chosen_p will be read
    bool want_logits;   // set by the caller: the logits after the chain will be read, which gumbel leaves out of a draw
    uint32_t position;  // set by the caller: of the row in its sequence, from 0

    // the selector's answer
    uint32_t chosen; // token id
    float chosen_p;

    // the rest is for cand*.c
    const void *row;        // dense: [n] as in struct row
    const uint32_t *row_id; // [n_row] of a sparse row, or NULL
    enum dtype type;
    bool round;          // dense: row elements are rounded to f16 when read
    float cut;           // dense: row elements below it read as -inf
    float *block_max;    // dense: maxima of blocks of KERN_BLOCK row elements
    struct idmap edited; // dense: ids whose logit is edit[number], not the row's
    float *edit;
    uint32_t *spare_id; // [n] for reordering a list
    float *spare;
    uint64_t *key, *key_tmp;     // scratch of selection and sorting
    uint32_t *value, *value_tmp; // scratch of sorting logits alone
    float *sample;               // some of a dense row's logits, to guess where its k-th best lies
    size_t list_cap, block_cap, edit_cap, key_cap, key_tmp_cap, value_cap, value_tmp_cap, sample_cap;
};

// Prepares an empty store. kern outlives it.
void cand_init(struct cand *c, const struct kern *kern);
void cand_free(struct cand *c);

// Starts a row: dense, or a list if it is sparse; in id order, nothing edited. The row's arrays must stay put until the next load.
// Refuses NaN, +inf and a row without a finite logit. The lowest finite number of the row's type counts as masked, as -inf does.
struct fault cand_load(struct cand *c, const struct row *row);

// For each candidate whose id is ids[j] (j < m, ids distinct): logit = f(logit, j, arg). Costs O(m) on a dense row, O(n + m) on a
// list. Candidates keep their places, but count as unsorted. A fault when a logit becomes NaN or +inf.
typedef float cand_edit_fn(float logit, size_t j, const void *arg);
struct fault cand_edit(struct cand *c, const uint32_t *ids, size_t m, cand_edit_fn *f, const void *arg);

// Makes it a list if it is not: every candidate, in id order.
struct fault cand_list(struct cand *c);

// Sorts by rank, unless sorted.
struct fault cand_sort(struct cand *c);

// Keeps the k best, sorted; k >= n sorts everything. k > 0.
struct fault cand_top_k(struct cand *c, size_t k);

// Positions of the k best in rank order: c->key[0..k), until the next call. A candidate's position is its place in the list, or its id
// in a dense row. The candidates stay as they are (but may become a list). 0 < k <= n.
struct fault cand_rank(struct cand *c, size_t k);

// Keeps the candidates at positions c->key[0..n), in that order, as a list. p moves along. The caller states the new order.
struct fault cand_gather(struct cand *c, size_t n, enum cand_order order);

// The softmax in rank order without its candidates: cand_rank finds those that turn out to be needed.
struct head {
    size_t n;       // how many of the best: all if n is c->n
    const float *p; // [n] by rank, until the next call
    float tail_p;   // no other candidate's probability is above this
};

// The probabilities that cand_softmax(c, true) would give, of the candidates whose logit is within `range` (at least 16.7) of the largest;
// of all when those are fewer than `least` (1 or more) or more than half. Exact: in rank order the f32 sum no longer changes once the
// terms are below half an ulp of it. The candidates stay as they are.
struct fault cand_softmax_head(struct cand *c, float range, size_t least, struct head *head);

// Keeps the first n of a list, or all but the first n; the order stays.
void cand_truncate(struct cand *c, size_t n);
void cand_drop_first(struct cand *c, size_t n);

// Rounds every logit to f16, to nearest even. Then the lowest finite f16 counts as masked, as in a row of f16. A fault when one is too
// large, or none is left.
struct fault cand_round_f16(struct cand *c);

// Keeps the k best by p, sorted, lower id first where p is equal. A list in id order that has p. 0 < k <= n.
struct fault cand_top_k_by_p(struct cand *c, size_t k);

// The logit of a dense row's token; -inf if masked.
float cand_logit(const struct cand *c, uint32_t id);

// The largest logit.
struct fault cand_max(struct cand *c, float *max);

// Is there exactly one unmasked candidate left of a dense row? Then *id is it. (What a temperature of 0 leaves.)
bool cand_single(const struct cand *c, uint32_t *id);

// If at least `least` candidates (and one) have logit >= floor, keeps just those, in the present order, and sets *kept.
struct fault cand_keep_from(struct cand *c, float floor, size_t least, bool *kept);

// Every logit but the first largest becomes -inf; the order stays.
struct fault cand_mask_all_but_max(struct cand *c);

// p = expf(logit - m), m the largest logit (a sorted list's first): a dense row stays dense, p is by id. A fault when every candidate
// is masked or a sampler drove the largest logit out of range.
struct fault cand_exp(struct cand *c);

// The softmax of sampl-samplers(7): a list, sorted first if asked; cand_exp; then p /= sum, the sum taken in f32 in list order.
struct fault cand_softmax(struct cand *c, bool sort);

// The logits in the row's order, for an onlooker: logit[0..n_row), -inf for what is gone or masked.
void cand_snapshot(const struct cand *c, float *logit);

// The token at a place of that order; and a token's place, n_row if the row does not have it.
uint32_t cand_row_id(const struct cand *c, size_t place);
size_t cand_row_place(const struct cand *c, uint32_t id);

// How many candidates are not masked, or `most` if more.
struct fault cand_alive(struct cand *c, size_t most, size_t *alive);

#endif
