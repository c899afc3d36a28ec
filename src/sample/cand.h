// SPDX-License-Identifier: MIT
// The candidates of one row: what every sampler reads and rewrites. Two forms behind one interface, because speed depends on it:
//
//   dense  the row as it lies in memory, every token a candidate in id order. Blocks of it are copied only where single tokens change;
//          logits below `cut` read as -inf. The maxima of the blocks serve as an index: selection visits only those that can hold a
//          winner.
//   list   ids and logits (and, after a softmax, probabilities) as separate arrays.
//
// A row starts dense and becomes a list when a sampler asks for one; a sparse row, which names the ids it has, is a list from the start.
// A candidate's position is its place in the list, or its id in a dense row. One whose logit is -inf is masked: it is a candidate but cannot
// be chosen. Ranks: descending by logit, lower id first on ties.
//
// The first fault of a row stays in `fault` until the next row. The functions may be called all the same: the store remains whole, though
// its numbers mean nothing any more. So a sampler looks at the fault only before it draws, or changes its state.
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

// A logit of such a row that is less is masked: the lowest finite number of each type stands for a mask, and this is the one above it.
float row_cut(enum dtype type);

// A logit of it as loading reads it, -inf if masked; and those of len tokens from a place on.
float row_logit(const struct row *r, size_t place);
void row_logits(const struct kern *kern, const struct row *r, size_t place, size_t len, float *logit);

enum { NOTES_MOST = 6 };

struct cand {
    const struct kern *kern;
    struct fault fault;

    size_t n;       // candidates, masked ones included; at least 1
    size_t n_row;   // how many the row came with
    size_t n_vocab; // vocabulary size; 0: not known, the row being sparse
    bool dense;
    enum cand_order order;

    // list form: [n] each
    uint32_t *id;
    float *logit;
    float *p; // valid while has_p; by id while dense
    bool has_p;
    bool weighed; // a sorted list: the stage before left cand_exp's p, has_p or not

    // set by the caller
    const struct history *history; // the tokens before the row
    bool want_p;        // p of every candidate will be read after the chain, so selectors must not leave it undone
    bool want_chosen_p; // chosen_p will be read
    bool want_logits;   // the logits after the chain will be read, which gumbel and adaptive_p leave out of a draw
    bool want_notes;    // notes that take time will be read
    uint32_t position;  // of the row in its sequence, from 0
    struct prefixes *prefixes; // of the row as it was loaded, for other chains that see it; NULL: there are none

    // set by the chain
    bool may_put_off; // see cand_put_off

    // what the stage that ran last says of what it did, for an onlooker: cand_note
    struct note {
        const char *name;
        double value;   // NaN: there is none this time
    } note[NOTES_MOST]; // [n_notes]
    size_t n_notes;

    // the selector's answer
    uint32_t chosen; // token id
    float chosen_p;

    bool later; // something is put off

    // the rest is for cand*.c
    float later_temp;       // 1: none
    const void *row;        // dense: [n] as in struct row
    const uint32_t *row_id; // [n_row] of a sparse row, or NULL
    enum dtype type;
    bool round; // dense: row elements are rounded to f16 when read
    float cut;  // dense: row elements below it read as -inf
    uint8_t *
        own; // dense, of each block of KERN_BLOCK elements: 0: it is as in the row; else more or less of it is in `logit`
    uint64_t *edited; // dense, a bit an element: of a block of which not all is in `logit`, this is
    float *block_max; // dense: the largest logit of each block; -inf when all are masked
    bool changed;     // dense: the logits are not those that were loaded
    struct {          // of the row that cand_keep was told of, if it is this one (on); as long as it is not changed
        bool on, summed;
        float *block_max;
        uint64_t *key; // [n_ranked] as cand_rank leaves them
        size_t n_ranked, cap;
        float exp_sum; // if summed: cand_exp_sum
    } kept;
    uint32_t *spare_id;
    float *spare;            // [n] both, for reordering a list
    uint64_t *key, *key_tmp; // scratch of selection and sorting
    size_t cap;              // of all of these arrays
    struct {
        void *memory;
        size_t size;
    } scratch[4]; // of samplers
    size_t scratch_taken;
};

// Prepares an empty store. kern outlives it.
void cand_init(struct cand *c, const struct kern *kern);
void cand_free(struct cand *c);

// Starts a row: dense, or a list if it is sparse; in id order, nothing edited, no fault. The row's arrays must stay put until the next load.
// Refuses NaN, +inf and a row without a finite logit. The lowest finite number of the row's type counts as masked, as -inf does.
struct fault cand_load(struct cand *c, const struct row *row);

// For a dense row that several chains see: keeps what loading it has found out, so that loading it again costs nothing, and from here on what
// is asked of it before it is changed: its best, and its sum of weights.
void cand_keep(struct cand *c);
void cand_load_kept(struct cand *c, const struct row *row);

// Notes a fault, unless there is one already.
static inline void cand_fail(struct cand *c, enum fault_code code, uint64_t at)
{
    if (!c->fault.code)
        c->fault = (struct fault){code, at};
}

// A sampler says a number of what it did with the row: its "draw" from [0, 1), the state that it drew with.
static inline void cand_note(struct cand *c, const char *name, double value)
{
    if (c->n_notes < NOTES_MOST)
        c->note[c->n_notes++] = (struct note){name, value};
}

// Memory for a sampler: n elements of this size, of any content, until the stage ends; up to four of them. NULL, and a fault, when memory is
// short.
void *cand_scratch(struct cand *c, size_t n, size_t size);

// For each candidate among ids: logit = f(logit, number of its id there, arg). Costs O(ids) on a dense row, O(n) on a list. Candidates keep
// their places, but count as unsorted. A fault when a logit becomes NaN or +inf.
typedef float cand_edit_fn(float logit, size_t j, const void *arg);
void cand_edit(struct cand *c, const struct idmap *ids, cand_edit_fn *f, const void *arg);

// Has f rewrite every logit, many at a time. A dense row stays dense; candidates keep their places and the order its name.
typedef void cand_map_fn(const struct kern *kern, float *logit, size_t n, const void *arg);
void cand_map(struct cand *c, cand_map_fn *f, const void *arg);

// Every logit below floor becomes -inf; the order stays.
void cand_mask_below(struct cand *c, float floor);

// A list of n others takes the place of the candidates; it has no p if that is NULL.
void cand_put_list(struct cand *c, const uint32_t *id, const float *logit, const float *p, size_t n,
                   enum cand_order order);

// Makes it a list if it is not: every candidate, in id order.
void cand_list(struct cand *c);

// Sorts by rank, unless sorted.
void cand_sort(struct cand *c);

// Keeps the k best, sorted; k >= n sorts everything. k > 0.
void cand_top_k(struct cand *c, size_t k);

// Positions of the k best in rank order: c->key[0..k), until the next call. The candidates stay as they are (but may become a list).
// 0 < k <= n.
void cand_rank(struct cand *c, size_t k);

// Keeps the candidates at positions c->key[0..n), in that order, as a list. p moves along. The caller states the new order.
void cand_gather(struct cand *c, size_t n, enum cand_order order);

// The sum of cand_softmax(c, true), without the order: the same bits. Sorts a flat row, though, and settles what was put off: that costs less.
// Memory at c->key and c->spare is used, here and in the next three. Of a sorted list it leaves the probabilities at c->p, for those.
float cand_rank_sum(struct cand *c);

// The entropy in nats of those probabilities, -(p * logf(p)) added in f32 by rank, also without the order. sum: cand_rank_sum's. log: scratch for
// all candidates; of a sorted list it then has the logf(p).
float cand_rank_entropy(struct cand *c, float sum, float *log);

// The softmax in rank order without its candidates: c->key[0..n) has their positions, as after cand_rank, until the next call; but not those of
// a sorted list, which are the ranks.
struct head {
    size_t n;       // how many of the best: all if n is c->n; 0 after a fault
    const float *p; // [n] by rank, until the next call
    float tail_p;   // no other candidate's probability is above this
};

// The probabilities that cand_softmax(c, true) would give, of the candidates whose logit is within `range` of the largest; of the `least`
// best (1 or more count) when those are fewer, of all when they are more than half. The candidates stay as they are, but for what
// cand_rank_sum does. cand_rank_head is told the sum.
struct head cand_softmax_head(struct cand *c, float range, size_t least);
struct head cand_rank_head(struct cand *c, float sum, float range, size_t least);

// How many of the best to keep, at least 1, by their probabilities; 0: the head does not tell, which one of all candidates does.
typedef size_t cand_cut_fn(struct cand *c, const struct head *head, const void *arg);

// Sorts the best and keeps as many as f says, or the `least` best if those are more. f is asked with the head of this range first.
void cand_cut(struct cand *c, float range, size_t least, cand_cut_fn *f, const void *arg);

// Keeps the first n of a list, or all but the first n; the order stays.
void cand_truncate(struct cand *c, size_t n);
void cand_drop_first(struct cand *c, size_t n);

// Drops the candidates at positions c->key[0..n), as after cand_rank, but not all there are; makes it a list.
void cand_drop_ranked(struct cand *c, size_t n);

// Puts off sorting the candidates and dividing their logits by temp, as a draw may need neither. Until cand_settle does both, the candidates
// lie by id; cand_exp_max, cand_exponents and what is built on them see the quotients, everything else the logits undivided. A sort that is put
// off already only gets its temperature. False when it cannot be put off, because the next stage must have it done (sampler.h) or somebody looks
// at what stands between; what was put off before is then settled.
bool cand_put_off(struct cand *c, float temp);
void cand_settle(struct cand *c);

// Rounds every logit to f16, to nearest even. Then the lowest finite f16 counts as masked, as in a row of f16. A fault when one is too
// large, or none is left.
void cand_round_f16(struct cand *c);

// Keeps the k best by p, sorted, lower id first where p is equal. A list in id order that has p. 0 < k <= n.
void cand_top_k_by_p(struct cand *c, size_t k);

// The logit at a position; -inf if masked.
float cand_logit(const struct cand *c, size_t at);

// The largest logit.
float cand_max(const struct cand *c);

// The position of the first largest logit.
size_t cand_argmax(const struct cand *c);

// Has cand_mask_all_but_max (a temperature of 0) left one unmasked candidate of a dense row? Then *id is it.
bool cand_single(const struct cand *c, uint32_t *id);

// Keeps the candidates with logit >= floor, in the present order (of a sorted list, those before the first below); or the `least` best,
// sorted, if they are more. least > 0.
void cand_keep_from(struct cand *c, float floor, size_t least);

// Every logit but the first largest becomes -inf; the order stays.
void cand_mask_all_but_max(struct cand *c);

// p = expf(logit - m), m the largest logit (a sorted list's first): a dense row stays dense, p is by id. A fault when every candidate
// is masked or a sampler drove the largest logit out of range.
void cand_exp(struct cand *c);

// The softmax of sampl-samplers(7): a list, sorted first if asked; cand_exp; then p /= sum, the sum taken in f32 in list order.
void cand_softmax(struct cand *c, bool sort);

// The same of the candidates as they stand: a dense row stays dense, p is by id. Returns that sum.
float cand_softmax_as_is(struct cand *c);

// Keeps the candidates with p >= floor, in the present order; or the `least` best (1 or more count), sorted, if fewer would be left. After a
// softmax.
void cand_keep_likely(struct cand *c, float floor, size_t least);

// What the weights w of all candidates come to, the p of cand_exp, in sums that are not in the order that samplers are defined by. That tells what
// becomes of a row, unless it is a near thing, for less than what p of every candidate costs.
struct mass {
    float max;
    double sum, squares; // of w, and of w * w
    double error;        // a sum in f64, in any order, may differ from either by this share
    double error_f32;    // and one of w in f32 by this
};

// A fault, and meaningless numbers, where cand_exp has a fault. rough: without most of those that weigh very little, which costs less. before,
// unless it is NULL, is told the sum before each block of KERN_BLOCK.
struct mass cand_mass(struct cand *c, double *before, bool rough);

// The rank, from 1, that a place of the row had when it was loaded, if cand_keep's row has been ranked so far; else 0.
size_t cand_kept_rank(const struct cand *c, size_t place);

// Fills w, which has room for KERN_BLOCK more than all, with the p of cand_exp of those whose logit less max is at least floor, as they
// lie. Returns how many. before, unless it is NULL, is told how many come before each block of KERN_BLOCK.
size_t cand_weigh(const struct cand *c, float max, float floor, float *w, uint32_t *before);

// What the sum in f32 of cand_exp's p comes to, in the present order. A fault as that has.
float cand_exp_sum(struct cand *c);

// A guess, from a sample, at how many of the best have a logit of `from` or more or make up this share of what the others weigh; rather
// too many than too few. At most n.
size_t cand_likely_needed(struct cand *c, float from, float share);

// A guess, from a sample, at how many candidates are within range of the largest. 0 if there are few: then nothing is saved by knowing.
size_t cand_within(struct cand *c, float range);

// How many candidates weigh t or more, collected as by cand_collect, if that is the same for every t from low to high; else SIZE_MAX.
size_t cand_weighing(struct cand *c, double low, double high);

// Keeps them, as cand_keep_likely does, and returns true, or leaves all and returns false.
bool cand_keep_weighing(struct cand *c, double low, double high, size_t least);

// A selector's answer: the candidate at this place of a list that has p.
void cand_choose(struct cand *c, size_t at);

// The logits in the row's order, for an onlooker: logit[0..n_row), -inf for what is gone or masked.
void cand_snapshot(const struct cand *c, float *logit);

// The token of the i-th candidate as they lie.
static inline uint32_t cand_id(const struct cand *c, size_t i)
{
    return c->dense ? (uint32_t)i : c->id[i];
}

// The token at a place of that order; and a token's place, n_row if the row does not have it.
uint32_t cand_row_id(const struct cand *c, size_t place);
size_t cand_row_place(const struct cand *c, uint32_t id);

// The smallest logit that is not masked; +inf if there is none.
float cand_least(const struct cand *c);

// How many candidates are not masked, or `most` if more.
size_t cand_alive(const struct cand *c, size_t most);

// Between the parts of the store, cand*.c. How many blocks there are; the length of block b; its logits, or of one that is as in the row what
// stands there, where less than cut is masked: in place, or written to tmp. *len is how many.
static inline size_t cand_blocks(const struct cand *c)
{
    return (c->n + KERN_BLOCK - 1) / KERN_BLOCK;
}
size_t cand_block_len(const struct cand *c, size_t b);
const float *cand_block(const struct cand *c, size_t b, float tmp[KERN_BLOCK], size_t *len);

// The same, but what is masked is -inf.
const float *cand_masked_block(const struct cand *c, size_t b, float tmp[KERN_BLOCK], size_t *len);

// Writes a dense row's block to dst, with -inf for what is masked; the same to where it belongs in `logit`.
void cand_copy_block(const struct cand *c, size_t b, float *dst);
void cand_own_block(struct cand *c, size_t b);

// A new logit for the old one, in a dense row or a list.
void cand_put_logit(struct cand *c, size_t at, float old, float x);

// The logits of block b, or of a list's, whose p is expf(logit - max) as in cand_exp: in place, or written to tmp. NULL: p is 0.
const float *cand_exponents(const struct cand *c, size_t b, float max, float tmp[KERN_BLOCK], size_t *len);

// The m of cand_exp, and its faults.
float cand_exp_max(struct cand *c);

// Collects candidates with logit >= floor as rank keys with positions for ids at c->key, by rising position; returns how many. From time to
// time only the k best are kept, by rank, with k = n never.
size_t cand_collect(struct cand *c, float floor, size_t k);

// Ranks the first k of the n that are collected: c->key[0..k) has their positions, as after cand_rank.
void cand_rank_collected(struct cand *c, size_t n, size_t k);

#endif
