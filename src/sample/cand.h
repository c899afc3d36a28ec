// SPDX-License-Identifier: MIT
// The candidates of one row, as a sampler sees them. cand_load.h loads rows; cand_private.h is for the store's own
// files.
//
// The store has two forms behind one interface, because the speed of a chain depends on it:
//
//   dense  The row as it lies in memory: every token is a candidate, its position is its id. A maximum is kept for each
//          block of KERN_BLOCK logits, so that selection reads only the blocks that can hold a winner (cand_rank.c).
//          Only blocks with edited logits are copied.
//   list   Arrays of ids, of logits and, after a softmax, of probabilities. A candidate's position is its index.
//
// A dense row becomes a list when a sampler asks for a list or for fewer candidates. A sparse row is a list from the
// start. A candidate whose logit is -inf is masked: it counts as a candidate but cannot be chosen. Ranks order
// candidates by falling logit; of equal logits the lower id comes first.
//
// Beside its form, the store has an order, a state of the array p, and work that is deferred. In this table "keeps"
// means unchanged.
//
//   function              needs              order after             p after              deferred work
//   cand_edit             -                  SORTED turns UNSORTED   LOGITS               none may be pending
//   cand_map, _mask_*     -                  keeps                   LOGITS               none may be pending
//   cand_list             -                  keeps                   keeps                keeps
//   cand_sort             -                  SORTED                  moves along          does it
//   cand_sort_if_flat     -                  SORTED or keeps         moves along          does it if it sorts
//   cand_defer            may_defer          keeps                   keeps                records it, or does it
//   cand_rank             -                  keeps; may list         keeps                keeps
//   cand_top_k            -                  SORTED                  moves along          none may be pending
//   cand_gather           ranks              as the caller says      moves along          none may be pending
//   cand_drop_best        ranks              keeps                   LOGITS               keeps
//   cand_keep_from        -                  keeps, or SORTED        moves along          none may be pending
//   cand_keep_by_weight    -                  keeps, or SORTED        moves along          none may be pending
//   cand_keep_likely      PROBABILITIES      keeps, or SORTED        moves along          none may be pending
//   cand_softmax          -                  keeps                   PROBABILITIES        none may be pending
//   cand_exp_sum, _mass   -                  keeps                   keeps                keeps; sees the quotients
//   cand_rank_sum,        -                  keeps, or SORTED        PROBABILITIES if     does it if it sorts;
//     _entropy, _head                                                SORTED, else keeps   sees the quotients
//   cand_cut              -                  SORTED                  moves along          none may be pending
//
// A sampler that writes c->logit or c->p itself sets c->state and c->order to what is true afterwards. Writing a
// smaller c->n to a list keeps its first candidates.
//
// The first fault of a row stays in `fault` until the next row. After a fault every function may still be called: the
// store remains whole, although its numbers mean nothing. A sampler therefore looks at the fault only before it draws
// or changes its own state.
#ifndef SAMPL_SAMPLE_CAND_H
#define SAMPL_SAMPLE_CAND_H

#include "base/fault.h"
#include "base/hash.h"
#include "sample/row.h"
#include "sample/unlisted.h"

#include <stdbool.h>

enum cand_order {
    CAND_BY_ID,    // rising ids, as every dense row
    CAND_SORTED,   // by rank, as far as the samplers since the sort kept that order: "sorted" in sampl-spec(7)
    CAND_UNSORTED, // neither
};

// Contents of the array p.
enum cand_state {
    CAND_LOGITS,        // nothing
    CAND_WEIGHTS,       // p[i] = expf(logit[i] - m), m the largest logit; of a sorted list m is its first logit
    CAND_PROBABILITIES, // the last softmax, or what a sampler made of it
};

enum { NOTES_MOST = 6, MEASURES_MOST = 5 };

struct cand {
    const struct kern *kern;
    struct fault fault;

    size_t n;       // candidates, masked ones included; at least 1
    size_t n_row;   // candidates that the row came with
    size_t n_vocab; // vocabulary size; 0: a sparse row did not tell
    bool dense;
    enum cand_order order;
    enum cand_state state;
    bool pending_sort;     // cand_defer has deferred a sort,
    float pending_divisor; // and the division of all logits by this behind it; 1: no division
    bool may_defer;        // set by the chain: see cand_defer

    // list form: [n] each
    uint32_t *id;
    float *logit;
    float *p; // by id while dense

    const uint32_t *row_id;        // [n_row] the ids of a sparse row, or NULL
    struct unlisted unlisted;      // of a partial row
    const struct history *history; // the tokens before the row
    uint32_t position;             // of the row in its sequence, from 0: its rows are counted,
    bool position_known;           // or the row tells, and counts the prompt's tokens, too

    // set by the owner of the store
    bool want_p;      // p of every candidate is read after the chain, so that selectors must compute it
    bool want_logits; // the logits are read after the chain; gumbel and adaptive_p otherwise leave them out
    bool want_notes;  // notes that take time are read
    enum {
        WANT_NO_TOKEN,    // the chosen token is not read: dist chooses any candidate
        WANT_TOKEN,       // chosen is read
        WANT_TOKEN_AND_P, // chosen and chosen_p are read
    } want;

    // numbers by which the stage that ran last explains what it did: cand_note
    struct note {
        const char *name;
        double value;   // NaN: there is none this time
    } note[NOTES_MOST]; // [n_notes]
    size_t n_notes;

    // what the chain's sampler with measures found in the row, by sampler->measures; NaN: it did not say
    double *measure; // [MEASURES_MOST] of the owner; NULL: they are not read

    // the selector's answer
    uint32_t chosen; // token id
    float chosen_p;

    struct row_cache *cache;  // what the chains that see this row share, or NULL
    struct cand_store *store; // for cand_private.h
};

// Returns whether a list of logits knows the softmax sum of the full row, which stages take by position.
static inline bool cand_knows_sum(const struct cand *c)
{
    return c->unlisted.state == UNLISTED_LIVE && c->unlisted.exp_sum > 0.0f && c->order == CAND_BY_ID;
}

// Candidates by rank.
struct ranks {
    const uint32_t *at; // [n] their positions, best first, until the next call of the store; NULL: 0, 1, 2, ...
    size_t n;
};

// A candidate's noise, which a selector adds to its logit or log-probability, or by which the selector divides its
// probability; and the resulting value. The candidate with the largest value is chosen.
struct noised {
    double noise, value;
};

// What a selector keeps of the candidates among which it chose, so that their noise can be computed later.
struct noise;
typedef struct noised noise_fn(const struct noise *x, size_t i); // of candidate i
struct noise {
    noise_fn *of;
    const struct kern *kern;
    size_t n;
    bool by_id, dense; // ids rise; candidate i has the id i
    uint32_t *id;      // [n] if not dense
    float *number;     // [n] what noise is added to, or divides
    uint64_t *bits;    // [n] of a generator, for `of`; the selector fills them
    uint32_t key;      // for `of`
    float temp;
};

static inline uint32_t noise_id(const struct noise *x, size_t i) { return x->dense ? (uint32_t)i : x->id[i]; }

// ---- faults, memory

// Records a fault, unless there is one already. O(1).
static inline void cand_fail(struct cand *c, enum fault_code code, uint64_t at)
{
    const bool unlisted =
        c->unlisted.state == UNLISTED_LIVE || (c->unlisted.state == UNLISTED_INEXACT && c->unlisted.most > 0.0);
    if (!c->fault.code)
        c->fault = (struct fault){code == FAULT_NOTHING_LEFT && unlisted ? FAULT_LIST_MASKED : code, at};
}

// Returns memory for n elements of this size, with any content, until the stage ends; a stage may ask ten times. O(1).
// Returns NULL, and records a fault, when memory is short.
void *cand_scratch(struct cand *c, size_t n, size_t size);

// Keeps the candidates and these numbers of them (NULL: the logits) until the next row, for selectors that add noise.
// Returns NULL if noise is not read (want_notes), or with a fault when memory is short. O(n).
struct noise *cand_keep_noise(struct cand *c, noise_fn *of, const float *number);

// ---- looking at candidates. Nothing here changes them; deferred divisions are not seen.

// The token at a position. O(1).
static inline uint32_t cand_id(const struct cand *c, size_t i) { return c->dense ? (uint32_t)i : c->id[i]; }

// The logit at a position; -inf if masked. O(1).
float cand_logit(const struct cand *c, size_t at);

// Returns whether the row lists this token, even if a stage has removed it. O(log n).
bool cand_listed(const struct cand *c, uint32_t id);

// The largest logit, of a sorted list its first. O(blocks) on a dense row, O(n) on a list, O(1) on a sorted list.
float cand_max(const struct cand *c);

// How many candidates are not masked, or `most` if more. O(n), but only as far as `most`.
size_t cand_alive(const struct cand *c, size_t most);

// ---- changing logits

// For each candidate among ids: logit = f(logit, index of its id in ids, arg). O(ids) on a dense row, O(n) on a list.
// The unlisted tokens of a partial row are shifted by f(0, ...).
// Records a fault when a logit becomes NaN or +inf.
typedef float cand_edit_fn(float logit, size_t j, const void *arg);
void cand_edit(struct cand *c, const struct idmap *ids, cand_edit_fn *f, const void *arg);

// Has f rewrite every logit, many at a time. A dense row stays dense. O(n).
typedef void cand_map_fn(const struct kern *kern, float *logit, size_t n, const void *arg);
void cand_map(struct cand *c, cand_map_fn *f, const void *arg);

// Masks every candidate whose logit is below floor. O(blocks) on a dense row without edits, else O(n).
void cand_mask_below(struct cand *c, float floor);

// Masks every candidate but the first of the largest logit. O(blocks) on a dense row, O(n) on a list.
void cand_mask_all_but_max(struct cand *c);

// ---- order

// Makes a dense row a list of all its candidates. O(n).
void cand_list(struct cand *c);

// Makes a list sorted by rank, and does what cand_defer deferred. O(n log n); O(1) if nothing is to be done.
void cand_sort(struct cand *c);

// Sorts if more than n / share candidates seem to be within `range` of the largest logit; a sample of the blocks
// decides. O(n / 16), and the sort.
void cand_sort_if_flat(struct cand *c, float range, size_t share);

// Defers a sort of the candidates and a division of their logits by temp, as a draw may need neither. If a sort is
// already deferred, cand_defer only records the divisor. The candidates lie by id until cand_sort. Returns false if a
// later stage needs the work done, if the row is traced, or if a fault is possible: deferred work is then done, and
// the caller does the new work itself. O(blocks).
bool cand_defer(struct cand *c, float temp);

// Returns the k best by rank, 0 < k <= n; `at` of the result is not NULL. The candidates stay, but may become a list.
// O(blocks + k log k) for a small k, else O(n log k).
struct ranks cand_rank(struct cand *c, size_t k);

// ---- selection

// Keeps the k best, sorted; all, sorted, if k >= n. k > 0. As cand_rank; O(1) on a sorted list.
void cand_top_k(struct cand *c, size_t k);

// Keeps the candidates at these positions, in this order, as a list. The caller states the new order. O(kept).
void cand_gather(struct cand *c, struct ranks kept, enum cand_order order);

// Drops the best candidates, as a cand_rank_head or cand_rank has ranked them, but not all; makes a list. O(n).
void cand_drop_best(struct cand *c, struct ranks best);

// Drops the n best of a sorted list, but not all. O(n).
static inline void cand_drop_first(struct cand *c, size_t n) { cand_drop_best(c, (struct ranks){NULL, n}); }

// Keeps the candidates with logit >= floor, in the present order; of a sorted list those before the first that is
// below. If fewer than `least` reach the floor, keeps the `least` best, sorted. least > 0. O(blocks + n of the blocks
// that reach the floor).
void cand_keep_from(struct cand *c, float floor, size_t least);

// Keeps the candidates with p >= floor, in the present order; or the `least` best (0 counts as 1), sorted, if fewer
// reach it. O(n).
void cand_keep_likely(struct cand *c, float floor, size_t least);

// Keeps the candidates whose weight, expf(logit - m), is at least t, as cand_keep_likely does. t is only known to lie
// in [low, high]. Returns false, and leaves all candidates, if different t of that range keep different candidates. As
// cand_keep_from.
bool cand_keep_by_weight(struct cand *c, double low, double high, size_t least);

// ---- probabilities. All of these record a fault when every candidate is masked or the largest logit is out of range.

// The softmax of sampl-spec(7): p = expf(logit - m) / sum, the sum taken in f32 by position. Returns that sum.
// O(n).
float cand_softmax(struct cand *c);

// That sum alone: the same bits. O(n), without writing p. Of a list of logits whose full row is unchanged, the full
// row's.
float cand_exp_sum(struct cand *c);

// The standard deviation of the logits that are not masked, of which there must be one. Both sums are taken in f32 by
// position, and each square in f64. O(n).
float cand_deviation(struct cand *c);

// Sums over the weights w of all candidates, in f64 and in lanes, with bounds of their errors. Callers decide by these
// sums which candidates to keep or to choose, if the bounds exclude another decision. That costs less than p of every
// candidate.
struct mass {
    float max;
    double sum, squares; // of w, and of w * w
    double error;        // relative distance, at most, from such a sum in any order
    double error_f32;    // relative distance, at most, from the sum of w in f32
};

// rough: leaves out most weights below e^-20, which costs less. before: if not NULL, before[b] becomes the sum before
// block b. O(n).
struct mass cand_mass(struct cand *c, double *before, bool rough);

// The sum that cand_softmax would return for the sorted candidates, without sorting them: the same bits (cand_head.c).
// A flat row and a sorted list are softmaxed, though. O(n + k log k), k being the candidates within 16.7 of the
// largest.
float cand_rank_sum(struct cand *c);

// The entropy in nats of the probabilities that belong to cand_rank_sum: -(p * logf(p)) added in f32 by rank. log is
// scratch for all candidates; of a sorted list it then holds logf(p). As cand_rank_sum.
float cand_rank_entropy(struct cand *c, float sum, float *log);

// Finds out whether a candidate is masked or its probability 0 in f32, so that llama.cpp's entropy is NaN. sum: that of
// cand_rank_sum. O(n): one pass, if no logit lies 80 or more below the largest.
void cand_find_zero(struct cand *c, float sum);

// Returns whether cand_find_zero has found one in this row.
bool cand_met_zero(const struct cand *c);

// The best candidates with their probabilities.
struct head {
    struct ranks best; // all if best.n is c->n; best.n is 0 after a fault
    const float *p;    // [best.n] by rank, until the next call of the store
    float tail_p;      // no other candidate's probability is above this
};

// The probabilities of the sorted softmax whose sum is `sum`, for the candidates whose logit is within `range` of the
// largest. Ranks the `least` best (0 counts as 1) if those are more, and all if more than half are within range. The
// candidates stay. As cand_rank.
struct head cand_rank_head(struct cand *c, float sum, float range, size_t least);

// Returns how many of the best to keep, at least 1, by their probabilities; 0: more of them are needed to tell.
typedef size_t cand_cut_fn(struct cand *c, const struct head *head, const void *arg);

// Sorts the best and keeps as many as f says, or the `least` best if those are more. f sees the head of this range
// first, then all. As cand_rank_head; O(n log n) if the head does not tell.
void cand_cut(struct cand *c, float range, size_t least, cand_cut_fn *f, const void *arg);

#endif
