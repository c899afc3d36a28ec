// SPDX-License-Identifier: MIT
// The candidate store's order: selection, ranking, sorting.
//
// Plain algorithm: to find the k best of a dense row, sort all n logits. Too slow: n log n steps over 128,000 logits
// for 40 winners, and even one pass that compares every logit costs as much as the rest of a usual chain.
//
// Idea: loading has left the maximum of each block of KERN_BLOCK logits. If k blocks have a maximum of at least f, then
// k logits reach f, so that the k best all reach f. Therefore cand_rank
//
// 1. looks for a floor f that k or somewhat more values reach, by bisection over the block maxima (over a sample of
// whole blocks if k is
//    large): first_floor;
// 2. reads only the blocks whose maximum reaches f, and collects their logits that reach f: cand_collect;
// 3. sorts what is collected: cand_rank_collected.
//
// The floor is only a guess. If fewer than k logits turn up, a lower floor follows, at last one that every unmasked
// logit reaches. The k best are therefore always among those collected; a rank key has the logit's bits and the id, no
// two keys are equal, so that sorting any superset of the k best gives the same k keys in the same order: the result
// does not depend on the floor.
#include "base/mem.h"
#include "sample/cand_private.h"
#include "sample/row_cache.h"

#include <assert.h>
#include <float.h>
#include <math.h>

// ---- selection

enum { WIDE = 6 }; // if k > n / WIDE, the general ranking of all costs less than the search for a floor

// A value that at least k of x[0..n) reach, and not many more if that is found soon; the cut if fewer than k reach
// anything above it.
static float reached_by(const struct cand *c, const float *x, size_t n, size_t k)
{
    enum { STEPS = 12 };
    const float cut = c->store->cut;
    // fewer than k values reach high; at least k reach low once the first loop is done
    float high = c->kern->max(x, n), low = high - 1.0f;
    for (float step = 1.0f; low > cut && c->kern->count(x, n, low) < k; step *= 2) {
        high = low;
        low -= step;
    }
    if (!(low > cut))
        return cut;
    for (int i = 0; i < STEPS; i++) {
        const float middle = low + (high - low) / 2;
        const size_t count = c->kern->count(x, n, middle);
        if (count < k)
            high = middle;
        else
            low = middle;
        if (count >= k && count <= k + k / 8)
            break;
    }
    return low;
}

size_t cand_sample(struct cand *c)
{
    size_t m = 0;
    for (size_t b = 0; b < cand_blocks(c); b += CAND_SAMPLE_STRIDE) {
        float tmp[KERN_BLOCK];
        size_t len;
        const float *const x = cand_masked_block(c, b, tmp, &len);
        memcpy(c->store->spare + m, x, len * sizeof *x);
        m += len;
    }
    return m;
}

// A floor for collecting the k best of a dense row. If it is too high, fewer than k are collected.
static float first_floor(struct cand *c, size_t k)
{
    enum { STRIDE = CAND_SAMPLE_STRIDE };
    if (k <= cand_blocks(c) / 2)
        return reached_by(c, c->store->block_max, cand_blocks(c), k);
    const size_t m = cand_sample(c), want = k / STRIDE + k / (4 * STRIDE) + 8;
    return want < m ? reached_by(c, c->store->spare, m, want) : c->store->cut;
}

// cand_collect of one block.
static size_t collect_block(const struct cand *c, size_t b, float floor, uint64_t *keys)
{
    const struct cand_store *const s = c->store;
    const uint32_t first = (uint32_t)(b * KERN_BLOCK);
    const bool in_row = c->dense && !s->copied[b];
    const float from = in_row && s->cut > floor ? s->cut : floor;
    float tmp[KERN_BLOCK];
    size_t len;
    if (in_row && !s->round) {
        const char *const x = (const char *)s->row + first * dtype_size(s->type);
        return c->kern->collect[s->type](keys, x, cand_block_len(c, b), first, from);
    }
    const float *const x = cand_block(c, b, tmp, &len);
    return c->kern->collect[DTYPE_F32](keys, x, len, first, from);
}

// Finds the blocks that hold a logit of at least floor: their numbers are store->spare_id[0..returned), rising.
static size_t blocks_reaching(struct cand *c, float floor)
{
    struct cand_store *const s = c->store;
    const size_t found =
        c->dense ? c->kern->collect[DTYPE_F32](s->key_tmp, s->block_max, cand_blocks(c), 0, floor) : cand_blocks(c);
    for (size_t i = 0; i < found; i++)
        s->spare_id[i] = c->dense ? rank_id(s->key_tmp[i]) : (uint32_t)i;
    return found;
}

// When more than 2 k are collected, the k best of them raise the floor: with a logit equal to the k-th's, a later id
// does not beat the k-th.
size_t cand_collect(struct cand *c, float floor, size_t k)
{
    struct cand_store *const s = c->store;
    const size_t most = 2 * k + KERN_BLOCK, blocks = blocks_reaching(c, floor);
    size_t m = 0;
    for (size_t i = 0; i < blocks; i++) {
        const size_t b = s->spare_id[i];
        if (c->dense && !(s->block_max[b] >= floor))
            continue;
        m += collect_block(c, b, floor, s->key + m);
        if (m > most) {
            c->kern->sort(s->key, m, k, s->key_tmp);
            floor = order_value((uint32_t)(s->key[k - 1] >> 32) + 1);
            m = k;
        }
    }
    return m;
}

// Collects the k best unmasked candidates of a dense row, and others; fewer than k when fewer are unmasked.
static size_t collect_best(struct cand *c, size_t k)
{
    size_t m = cand_collect(c, first_floor(c, k), k);
    if (m < k && k <= cand_blocks(c))
        m = cand_collect(c, reached_by(c, c->store->block_max, cand_blocks(c), k), k);
    if (m < k)
        m = cand_collect(c, -FLT_MAX, k);
    return m;
}

// ---- ranking

// The positions in the first k collected keys.
static struct ranks positions(struct cand *c, size_t k)
{
    for (size_t i = 0; i < k; i++)
        c->store->rank[i] = rank_id(c->store->key[i]);
    return (struct ranks){c->store->rank, k};
}

struct ranks cand_rank_collected(struct cand *c, size_t n, size_t k)
{
    c->kern->sort(c->store->key, n, k, c->store->key_tmp);
    return positions(c, k);
}

struct ranks cand_rank_by_id(struct cand *c)
{
    struct cand_store *const s = c->store;
    for (size_t i = 0; i < c->n; i++)
        s->key[i] = (uint64_t)~c->id[i] << 32 | i;
    c->kern->sort(s->key, c->n, c->n, s->key_tmp);
    for (size_t i = 0; i < c->n; i++)
        s->rank[i] = (uint32_t)s->key[i];
    return (struct ranks){s->rank, c->n};
}

// Ranks a list in any order by way of id order, in which an earlier candidate has the lower id.
static struct ranks rank_unordered(struct cand *c, size_t k)
{
    struct cand_store *const s = c->store;
    memcpy(s->spare_id, cand_rank_by_id(c).at, c->n * sizeof *s->spare_id);
    for (size_t i = 0; i < c->n; i++)
        s->key[i] = rank_key(c->logit[s->spare_id[i]], (uint32_t)i);
    cand_rank_collected(c, c->n, k);
    for (size_t i = 0; i < k; i++)
        s->rank[i] = s->spare_id[s->rank[i]];
    return (struct ranks){s->rank, k};
}

static struct ranks rank_list(struct cand *c, size_t k)
{
    struct cand_store *const s = c->store;
    if (c->order == CAND_UNSORTED)
        return rank_unordered(c, k);
    if (c->order == CAND_BY_ID)
        c->kern->rank(s->rank, s->spare, c->logit, c->n, k, s->key, s->key_tmp);
    for (size_t i = 0; c->order == CAND_SORTED && i < k; i++)
        s->rank[i] = (uint32_t)i;
    return (struct ranks){s->rank, k};
}

// cand_rank of a row in the cache. Ranks more than k if that spares other chains the search. *at is NULL when
// everything must be ranked.
static struct ranks rank_cached(struct cand *c, size_t k)
{
    enum { FEW = 128, MANY = 4096 };
    struct row_cache *const x = c->cache;
    if (k > x->n_ranked) {
        const size_t most = k < FEW ? FEW : k, n = most < c->n ? most : c->n;
        const size_t found = n <= MANY && mem_grow(&x->rank, &x->rank_cap, n, sizeof *x->rank) ? collect_best(c, n) : 0;
        if (found < n)
            return (struct ranks){NULL, 0};
        memcpy(x->rank, cand_rank_collected(c, found, n).at, n * sizeof *x->rank);
        x->n_ranked = n;
    }
    return (struct ranks){x->rank, k};
}

struct ranks cand_rank(struct cand *c, size_t k)
{
    assert(k && k <= c->n);
    const struct ranks cached = c->dense && c->store->cached ? rank_cached(c, k) : (struct ranks){NULL, 0};
    if (cached.at)
        return cached;
    const size_t found = c->dense && k <= c->n / WIDE ? collect_best(c, k) : 0;
    if (found >= k)
        return cand_rank_collected(c, found, k);
    cand_list(c); // many, or masked ones among them
    return rank_list(c, k);
}

// ---- what samplers ask for

// cand_top_k of many that have no p and are in id order: the kernel's ids and logits become the list.
static void keep_ranked(struct cand *c, size_t k)
{
    struct cand_store *const s = c->store;
    const bool named = !c->dense; // a list, whose positions are not ids
    cand_list(c);
    uint32_t *const id = s->spare_id;
    float *const logit = s->spare;
    c->kern->rank(id, logit, c->logit, c->n, k, s->key, s->key_tmp);
    for (size_t i = 0; i < k && named; i++)
        id[i] = c->id[id[i]];
    s->spare_id = c->id;
    s->spare = c->logit;
    c->id = id;
    c->logit = logit;
    c->n = k;
    c->order = CAND_SORTED;
}

void cand_top_k(struct cand *c, size_t k)
{
    assert(k);
    k = k < c->n ? k : c->n;
    if (c->order == CAND_SORTED)
        c->n = k;
    else if (k > c->n / WIDE && c->order == CAND_BY_ID && c->state == CAND_LOGITS)
        keep_ranked(c, k);
    else
        cand_gather(c, cand_rank(c, k), CAND_SORTED);
}

static void divide_logits(const struct kern *kern, float *x, size_t n, const void *divisor)
{
    kern->divide(x, n, *(const float *)divisor);
}

void cand_sort(struct cand *c)
{
    const float divisor = c->pending_divisor;
    c->pending_sort = false;
    c->pending_divisor = 1.0f;
    if (c->order != CAND_SORTED)
        cand_top_k(c, c->n);
    if (divisor != 1.0f)
        cand_map(c, divide_logits, &divisor);
}

void cand_sort_if_flat(struct cand *c, float range, size_t share)
{
    if (c->n <= KERN_BLOCK || c->order == CAND_SORTED)
        return;
    const size_t m = cand_sample(c),
                 within = c->kern->count(c->store->spare, m, cand_max(c) - range * c->pending_divisor);
    assert(m);
    if (within * c->n / m > c->n / share)
        cand_sort(c);
}

bool cand_defer(struct cand *c, float temp)
{
    const float max = cand_max(c);
    // few candidates are soon sorted; other numbers may end in a fault
    if (c->may_defer && c->order == CAND_BY_ID && c->n > KERN_BLOCK && c->pending_divisor == 1.0f && temp > 0x1p-20f &&
        temp < 0x1p20f && fabsf(max) < 1e30f) {
        c->pending_sort = true;
        c->pending_divisor = temp;
        return true;
    }
    if (c->pending_sort)
        cand_sort(c);
    return false;
}

void cand_top_k_by_p(struct cand *c, size_t k)
{
    float *const logit = c->logit;
    assert(!c->dense && c->state == CAND_PROBABILITIES && c->order == CAND_BY_ID && k && k <= c->n);
    c->logit = c->p;
    c->p = logit;
    const struct ranks best = rank_list(c, k);
    c->p = c->logit;
    c->logit = logit;
    cand_gather(c, best, CAND_SORTED);
}

void cand_keep_collected(struct cand *c, size_t n, size_t least)
{
    if (n < least || !n)
        cand_top_k(c, least ? least : 1);
    else if (n < c->n)
        cand_gather(c, positions(c, n), c->order);
}

void cand_keep_from(struct cand *c, float floor, size_t least)
{
    assert(least);
    if (c->order != CAND_SORTED) {
        cand_keep_collected(c, cand_collect(c, floor, c->n), least);
        return;
    }
    size_t keep = least < c->n ? least : c->n;
    while (keep < c->n && c->logit[keep] >= floor)
        keep++;
    c->n = keep;
}

void cand_keep_likely(struct cand *c, float floor, size_t least)
{
    assert(c->state == CAND_PROBABILITIES || c->fault.code);
    cand_keep_collected(c, c->kern->collect[DTYPE_F32](c->store->key, c->p, c->n, 0, floor),
                        least < c->n ? least : c->n);
}
