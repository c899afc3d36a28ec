// SPDX-License-Identifier: MIT
// The candidate store: loading a row, its two forms, changes of all candidates.
#include "base/mem.h"
#include "kern/libm.h"
#include "sample/cand_load.h"
#include "sample/cand_private.h"
#include "sample/row_cache.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

void cand_init(struct cand *c, const struct kern *kern)
{
    *c = (struct cand){.kern = kern, .want_p = true, .want_logits = true, .want = WANT_TOKEN_AND_P};
}

void cand_free(struct cand *c)
{
    if (!c->store)
        return;
    for (size_t i = 0; i < sizeof c->store->scratch / sizeof *c->store->scratch; i++)
        free(c->store->scratch[i].memory);
    free(c->store->memory);
    free(c->store->noise_memory);
    free(c->store);
    cand_init(c, c->kern);
}

void *cand_scratch(struct cand *c, size_t n, size_t size)
{
    struct cand_store *const s = c->store;
    assert(s->scratch_taken < sizeof s->scratch / sizeof *s->scratch && n <= SIZE_MAX / size);
    const size_t i = s->scratch_taken++;
    if (mem_grow(&s->scratch[i].memory, &s->scratch[i].size, n * size, 1))
        return s->scratch[i].memory;
    cand_fail(c, FAULT_MEMORY, 0);
    return NULL;
}

// ---- a row

// Makes room for n candidates in every array, so that nothing fails later. All arrays are parts of one piece of memory,
// 8-byte elements first. The system provides its pages only when they are touched.
static bool reserve_arrays(struct cand *c, size_t n)
{
    if (!c->store && !(c->store = calloc(1, sizeof *c->store)))
        return false;
    struct cand_store *const s = c->store;
    const size_t each = 2 * sizeof(uint64_t) + 3 * sizeof(uint32_t) + 4 * sizeof(float) + sizeof(bool);
    if (n + KERN_BLOCK <= s->cap)
        return true;
    if (!mem_grow(&s->memory, &s->cap, n + KERN_BLOCK, each))
        return false;
    s->key = s->memory;
    s->key_tmp = s->key + s->cap;
    c->id = (uint32_t *)(s->key_tmp + s->cap);
    s->spare_id = c->id + s->cap;
    s->rank = s->spare_id + s->cap;
    c->logit = (void *)(s->rank + s->cap);
    c->p = c->logit + s->cap;
    s->spare = c->p + s->cap;
    s->block_max = s->spare + s->cap;
    s->copied = (void *)(s->block_max + s->cap);
    return true;
}

// The largest half step of a list's numbers.
static double coarsest(const struct row *row)
{
    const struct list_unit *const u = &row->unlisted.unit;
    double most = 0.0;
    for (size_t i = 0; list_unit_coarse(u) && i < row->n; i++)
        most = fmax(most, list_unit_half(u, (double)row_logit(row, i)));
    return most;
}

// Returns what is known of a row's unlisted tokens, as it is loaded.
static struct unlisted unlisted_of(const struct row *row)
{
    const struct row_unlisted *const r = &row->unlisted;
    const double half = coarsest(row);
    const float slack = r->scale == SCALE_LOGPROBS ? (float)(LIST_SLACK + 2.0 * half) : 0.0f;
    if (!r->partial)
        return (struct unlisted){.state = UNLISTED_NONE,
                                 .scale = r->scale,
                                 .slack = slack,
                                 .unit = r->unit,
                                 .stretch = 1.0f,
                                 .left = LEFT_NONE,
                                 .ceiling = -INFINITY,
                                 .low = -INFINITY,
                                 .high = -INFINITY};
    return (struct unlisted){.state = r->high > -INFINITY ? UNLISTED_LIVE : UNLISTED_GONE,
                             .scale = r->scale,
                             .slack = slack,
                             .unit = r->unit,
                             .stretch = 1.0f,
                             .left = LEFT_ALL,
                             .ceiling = r->ceiling,
                             .low = r->low,
                             .high = r->high,
                             .most = fmin(r->most, row->n_vocab ? (double)(row->n_vocab - row->n) : INFINITY),
                             .ranked = r->ranked,
                             .exp_sum = r->exp_sum,
                             .deviation = r->deviation};
}

struct fault cand_load(struct cand *c, const struct row *row) { return cand_load_shared(c, row, NULL); }

struct fault cand_load_shared(struct cand *c, const struct row *row, struct row_cache *cache)
{
    assert(row->n && (!row->ids || !row->n_vocab || row->ids[row->n - 1] < row->n_vocab));
    if (!reserve_arrays(c, row->n))
        return c->fault = fault_memory();
    struct cand_store *const s = c->store;
    const bool known = cache && cache->row == row;
    s->row = row->data;
    s->type = row->type;
    s->round = false;
    s->cut = row_cut(row->type);
    s->scratch_taken = 0;
    s->noise.of = NULL;
    s->met_zero = false;
    for (size_t i = 0; c->measure && i < MEASURES_MOST; i++)
        c->measure[i] = NAN;
    c->fault = fault_none();
    c->n = c->n_row = row->n;
    c->row_id = row->ids;
    c->n_vocab = row_vocab(row);
    c->unlisted = unlisted_of(row);
    c->dense = true;
    c->order = CAND_BY_ID;
    c->state = CAND_LOGITS;
    c->pending_sort = false;
    c->pending_divisor = 1.0f;
    c->cache = cache;
    assert(s->copied);
    memset(s->copied, 0, cand_blocks(c) * sizeof *s->copied);
    if (known) {
        memcpy(s->block_max, cache->block_max, cand_blocks(c) * sizeof *s->block_max);
    } else {
        const size_t good = c->kern->scan[s->type](s->row, c->n, s->block_max);
        if (good < c->n) {
            const enum fault_code code = isnan(cand_logit(c, good)) ? FAULT_NAN : FAULT_INFINITE;
            return c->fault = (struct fault){code, cand_row_id(c, good)};
        }
        c->kern->mask_below(s->block_max, s->block_max, cand_blocks(c), s->cut);
        if (cand_max(c) == -INFINITY)
            return c->fault = (struct fault){FAULT_ALL_MASKED, 0};
    }
    if (row->ids) {
        cand_list(c);
        memcpy(c->id, row->ids, row->n * sizeof *c->id);
    }
    s->cached = c->dense && (known || row_cache_keep_maxima(cache, row, s->block_max, cand_blocks(c)));
    return c->fault;
}

void cand_list(struct cand *c)
{
    if (!c->dense)
        return;
    for (size_t b = 0; b < cand_blocks(c); b++) {
        uint32_t *const id = c->id + b * KERN_BLOCK;
        cand_unshare_block(c, b);
        for (size_t i = 0; i < KERN_BLOCK; i++) // of a short block, too: a constant length lets compilers use vectors
            id[i] = (uint32_t)(b * KERN_BLOCK + i);
    }
    c->dense = false;
}

// ---- either form

void cand_map(struct cand *c, cand_map_fn *f, const void *arg)
{
    c->state = CAND_LOGITS;
    if (!c->dense)
        f(c->kern, c->logit, c->n, arg);
    for (size_t b = 0; c->dense && b < cand_blocks(c); b++) {
        float *const x = c->logit + b * KERN_BLOCK;
        cand_unshare_block(c, b);
        f(c->kern, x, cand_block_len(c, b), arg);
        c->store->block_max[b] = c->kern->max(x, cand_block_len(c, b));
    }
}

// Masks all logits below floor; rounds them to f16 before, if round. On a dense row, blocks that are not copied learn
// of it when they are read.
static void mask_and_round(struct cand *c, float floor, bool round)
{
    struct cand_store *const s = c->store;
    c->state = CAND_LOGITS;
    if (c->dense) {
        s->cached = false;
        s->round |= round;
        if (round)
            c->kern->round_f16(s->block_max, cand_blocks(c));
        c->kern->mask_below(s->block_max, s->block_max, cand_blocks(c), floor);
    }
    for (size_t b = 0; b < cand_blocks(c); b++) {
        float *const x = c->logit + b * KERN_BLOCK;
        if (c->dense && !s->copied[b])
            continue;
        if (c->dense)
            cand_unshare_block(c, b);
        if (round)
            c->kern->round_f16(x, cand_block_len(c, b));
        c->kern->mask_below(x, x, cand_block_len(c, b), floor);
    }
    s->cut = fmaxf(s->cut, floor);
}

void cand_mask_below(struct cand *c, float floor) { mask_and_round(c, floor, false); }

void cand_round_f16(struct cand *c)
{
    if (c->dense && c->store->type == DTYPE_F16)
        return;
    if (c->order == CAND_SORTED)
        c->order = CAND_UNSORTED;
    mask_and_round(c, row_cut(DTYPE_F16), true);
    const size_t best = cand_argmax(c);
    const float max = cand_logit(c, best);
    if (max == INFINITY)
        cand_fail(c, FAULT_F16, cand_id(c, best));
    if (max == -INFINITY)
        cand_fail(c, c->dense ? FAULT_ALL_MASKED : FAULT_NOTHING_LEFT, 0);
}

void cand_mask_all_but_max(struct cand *c)
{
    const size_t best = cand_argmax(c);
    const float max = cand_logit(c, best);
    if (c->dense) {
        c->store->cut = INFINITY;
        memset(c->store->copied, 0, cand_blocks(c) * sizeof *c->store->copied);
        c->kern->mask_below(c->store->block_max, c->store->block_max, cand_blocks(c), INFINITY);
    } else {
        c->kern->mask_below(c->logit, c->logit, c->n, INFINITY);
    }
    cand_set_logit(c, best, -INFINITY, max);
}

void cand_gather(struct cand *c, struct ranks kept, enum cand_order order)
{
    struct cand_store *const s = c->store;
    uint32_t *const id = s->spare_id;
    float *const logit = s->spare, *const p = c->logit; // once the logits have moved
    assert(kept.n && kept.n <= c->n);
    for (size_t i = 0; i < kept.n; i++) {
        id[i] = cand_id(c, kept.at[i]);
        logit[i] = c->dense ? cand_logit(c, kept.at[i]) : c->logit[kept.at[i]];
    }
    s->spare_id = c->id;
    s->spare = p;
    c->id = id;
    c->logit = logit;
    if (c->state != CAND_LOGITS) {
        for (size_t i = 0; i < kept.n; i++)
            p[i] = c->p[kept.at[i]];
        s->spare = c->p;
        c->p = p;
    }
    c->dense = false;
    c->n = kept.n;
    c->order = order;
}

void cand_drop_best(struct cand *c, struct ranks best)
{
    uint64_t *const key = c->store->key;
    assert(best.n && best.n < c->n);
    unlisted_change(&c->unlisted);
    cand_list(c);
    for (size_t i = 0; i < best.n; i++)
        key[i] = best.at ? best.at[i] : i;
    c->kern->sort(key, best.n, best.n, c->store->key_tmp); // the last position first
    size_t to = (size_t)key[best.n - 1];
    for (size_t i = best.n; i-- > 0;) {
        const size_t from = (size_t)key[i] + 1, len = (i ? (size_t)key[i - 1] : c->n) - from;
        memmove(c->id + to, c->id + from, len * sizeof *c->id);
        memmove(c->logit + to, c->logit + from, len * sizeof *c->logit);
        to += len;
    }
    c->n = to;
    c->state = CAND_LOGITS;
}

float cand_max(const struct cand *c)
{
    if (c->dense)
        return c->kern->max(c->store->block_max, cand_blocks(c));
    return c->order == CAND_SORTED ? c->logit[0] : c->kern->max(c->logit, c->n);
}

size_t cand_argmax(const struct cand *c)
{
    if (!c->dense)
        return c->kern->argmax(c->logit, c->n);
    float tmp[KERN_BLOCK];
    size_t len;
    const size_t b = c->kern->argmax(c->store->block_max, cand_blocks(c));
    const float *const x = cand_block(c, b, tmp, &len);
    return b * KERN_BLOCK + c->kern->argmax(x, len);
}

// The logit from which on an element that cand_block returns is not masked.
static float unmasked_from(const struct cand *c, size_t b)
{
    return c->dense && !c->store->copied[b] ? c->store->cut : -FLT_MAX;
}

float cand_least(const struct cand *c)
{
    float least = INFINITY;
    for (size_t b = 0; b < cand_blocks(c); b++) {
        float tmp[KERN_BLOCK];
        size_t len;
        const float *const x = cand_block(c, b, tmp, &len), from = unmasked_from(c, b);
        for (size_t i = 0; i < len; i++)
            least = x[i] < least && x[i] >= from ? x[i] : least;
    }
    return least;
}

size_t cand_count(const struct cand *c, float floor, size_t most)
{
    size_t count = 0;
    for (size_t b = 0; b < cand_blocks(c) && count < most; b++) {
        float tmp[KERN_BLOCK];
        size_t len;
        if (c->dense && c->store->block_max[b] == -INFINITY)
            continue;
        const float *const x = cand_block(c, b, tmp, &len), from = unmasked_from(c, b);
        count += c->kern->count(x, len, floor > from ? floor : from);
    }
    return count < most ? count : most;
}

size_t cand_alive(const struct cand *c, size_t most) { return cand_count(c, -INFINITY, most); }

// ---- for onlookers

uint32_t cand_row_id(const struct cand *c, size_t place) { return c->row_id ? c->row_id[place] : (uint32_t)place; }

void cand_snapshot(const struct cand *c, float *logit)
{
    if (c->dense) {
        for (size_t b = 0; b < cand_blocks(c); b++)
            cand_copy_block(c, b, logit + b * KERN_BLOCK);
        return;
    }
    for (size_t i = 0; i < c->n_row; i++)
        logit[i] = -INFINITY;
    for (size_t i = 0; i < c->n; i++) {
        const size_t place = cand_row_place(c, c->id[i]);
        if (place < c->n_row) // infill may bring in a token that a sparse row lacks
            logit[place] = c->logit[i];
    }
}
