// SPDX-License-Identifier: MIT
// Facts about a row that all its chains share. Two things are found out once instead of once a chain:
//
// - by the store: the maxima of the row's blocks, its best candidates, the sum of its weights, all of the row as it was
//   loaded;
// - by chains that begin with equal stages: what these stages left of the row. Only stages that depend on nothing but
//   the row, their parameters and their context take part, so that another chain gets the same bits as if it had run
//   them itself.
#ifndef SAMPL_SAMPLE_ROW_CACHE_H
#define SAMPL_SAMPLE_ROW_CACHE_H

#include "sample/sampler.h"

#define PREFIX_NONE SIZE_MAX       // stages that other chains cannot share
#define PREFIX_ROW  (SIZE_MAX - 1) // no stages: the row as it was loaded

// A zeroed struct is empty.
struct row_cache {
    bool shares_stages; // set by the owner: stages stay until row_cache_clear, so that their results can be shared

    // of the store
    const struct row *row; // the row that block_max belongs to, or NULL
    float *block_max;
    uint32_t *rank; // [n_ranked] positions of the best, as cand_rank returns them
    size_t n_ranked;
    float exp_sum; // cand_exp_sum, which is at least 1; 0: not known

    // of chains
    struct prefix {
        const struct stage *stage; // the last stage of the prefix
        size_t before;             // the prefix without that stage
        size_t at, n;              // its candidates are cand[at..at + n); n is 0 if they were not kept
        enum cand_order order;
        enum cand_state state;
    } * prefix; // [n_prefixes]
    size_t n_prefixes;
    struct prefix_cand {
        uint32_t id;
        float logit, p;
    } * cand; // [n_cands]
    size_t n_cands;

    size_t block_cap, rank_cap, prefix_cap, cand_cap;
};

// Forgets the row and its prefixes. O(1).
void row_cache_clear(struct row_cache *x);
void row_cache_free(struct row_cache *x);

// Copies the block maxima of a row that has just been loaded. Returns false if there is no cache (NULL) or memory is
// short.
bool row_cache_keep_maxima(struct row_cache *x, const struct row *row, const float *block_max, size_t n);

// The prefix that a stage makes of another prefix, which is not PREFIX_NONE; PREFIX_NONE if no chain had it.
// O(prefixes).
size_t row_cache_find_prefix(const struct row_cache *x, size_t before, const struct stage *stage);

// Adds the prefix that a stage has made of another prefix, which is not PREFIX_NONE, with the candidates that it left,
// unless those are too many. Returns the prefix, or PREFIX_NONE if it cannot be shared or memory is short. The stage
// must stay until row_cache_clear. O(candidates).
size_t row_cache_add_prefix(struct row_cache *x, size_t before, const struct stage *stage, const struct cand *c);

// Makes the candidates of a store, which has loaded the row, those of a prefix whose candidates were kept. O(those).
void row_cache_load_prefix(const struct row_cache *x, size_t prefix, struct cand *c);

#endif
