// SPDX-License-Identifier: MIT
// The candidate store: its two forms, single candidates, probabilities.
#include "sample/cand.h"

#include "base/bits.h"
#include "base/mem.h"
#include "kern/expf.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

void cand_init(struct cand *c, const struct kern *kern)
{
    memset(c, 0, sizeof *c);
    c->kern = kern;
    c->want_p = true;
    c->want_chosen_p = true;
    c->want_logits = true;
    c->later_temp = 1.0f;
}

void cand_free(struct cand *c)
{
    for (size_t i = 0; i < sizeof c->scratch / sizeof *c->scratch; i++)
        free(c->scratch[i].memory);
    free(c->id);
    free(c->logit);
    free(c->p);
    free(c->own);
    free(c->edited);
    free(c->block_max);
    free(c->kept.block_max);
    free(c->kept.key);
    free(c->spare_id);
    free(c->spare);
    free(c->key);
    free(c->key_tmp);
    cand_init(c, c->kern);
}

void *cand_scratch(struct cand *c, size_t n, size_t size)
{
    assert(c->scratch_taken < sizeof c->scratch / sizeof *c->scratch && n <= SIZE_MAX / size);
    const size_t i = c->scratch_taken++;
    if (mem_grow(&c->scratch[i].memory, &c->scratch[i].size, n * size, 1))
        return c->scratch[i].memory;
    cand_fail(c, FAULT_MEMORY, 0);
    return NULL;
}

// ---- a row

// Room for all that n candidates can come to, so that nothing later wants memory. What is not used is never touched.
static bool reserve(struct cand *c, size_t n)
{
    const struct {
        void *array;
        size_t size;
    } arrays[] = {{&c->id, sizeof *c->id},
                  {&c->logit, sizeof *c->logit},
                  {&c->p, sizeof *c->p},
                  {&c->own, sizeof *c->own},
                  {&c->edited, 1}, // a bit would do
                  {&c->block_max, sizeof *c->block_max},
                  {&c->kept.block_max, sizeof *c->kept.block_max},
                  {&c->spare_id, sizeof *c->spare_id},
                  {&c->spare, sizeof *c->spare},
                  {&c->key, sizeof *c->key},
                  {&c->key_tmp, sizeof *c->key_tmp}};
    size_t cap = c->cap;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        cap = c->cap;
        if (!mem_grow(arrays[i].array, &cap, n + KERN_BLOCK, arrays[i].size))
            return false;
    }
    c->cap = cap;
    return true;
}

// Everything but the maxima of the blocks.
static void start(struct cand *c, const struct row *row)
{
    c->fault = fault_none();
    c->row = row->data;
    c->type = row->type;
    c->n = c->n_row = row->n;
    c->row_id = row->ids;
    c->n_vocab = row_vocab(row);
    c->dense = true;
    c->order = CAND_BY_ID;
    c->has_p = c->weighed = c->round = c->changed = c->kept.on = c->later = false;
    c->later_temp = 1.0f;
    c->cut = row_cut(c->type);
    c->scratch_taken = 0;
}

struct fault cand_load(struct cand *c, const struct row *row)
{
    assert(row->n && (!row->ids || !row->n_vocab || row->ids[row->n - 1] < row->n_vocab));
    start(c, row);
    if (!reserve(c, c->n))
        return c->fault = fault_memory();
    memset(c->own, 0, cand_blocks(c) * sizeof *c->own);
    const size_t good = c->kern->scan[c->type](c->row, c->n, c->block_max);
    if (good < c->n) {
        const enum fault_code code = isnan(cand_logit(c, good)) ? FAULT_NAN : FAULT_INFINITE;
        return c->fault = (struct fault){code, cand_row_id(c, good)};
    }
    c->kern->mask_below(c->block_max, c->block_max, cand_blocks(c), c->cut);
    if (cand_max(c) == -INFINITY)
        return c->fault = (struct fault){FAULT_ALL_MASKED, 0};
    if (row->ids) {
        cand_list(c);
        memcpy(c->id, row->ids, row->n * sizeof *c->id);
    }
    return c->fault;
}

void cand_keep(struct cand *c)
{
    assert(c->dense && !c->fault.code);
    memcpy(c->kept.block_max, c->block_max, cand_blocks(c) * sizeof *c->block_max);
    c->kept.on = true;
    c->kept.summed = false;
    c->kept.n_ranked = 0;
}

void cand_load_kept(struct cand *c, const struct row *row)
{
    assert(!row->ids);
    start(c, row);
    memset(c->own, 0, cand_blocks(c) * sizeof *c->own);
    memcpy(c->block_max, c->kept.block_max, cand_blocks(c) * sizeof *c->block_max);
    c->kept.on = true;
}

void cand_put_list(struct cand *c, const uint32_t *id, const float *logit, const float *p, size_t n,
                   enum cand_order order)
{
    assert(n && n <= c->cap);
    memcpy(c->id, id, n * sizeof *id);
    memcpy(c->logit, logit, n * sizeof *logit);
    if (p)
        memcpy(c->p, p, n * sizeof *p);
    c->dense = false;
    c->n = n;
    c->has_p = p;
    c->order = order;
}

void cand_list(struct cand *c)
{
    if (!c->dense)
        return;
    for (size_t b = 0; b < cand_blocks(c); b++) {
        uint32_t *const id = c->id + b * KERN_BLOCK;
        cand_own_block(c, b);
        for (size_t i = 0; i < KERN_BLOCK; i++) // also of a short block: compilers make much of a constant length
            id[i] = (uint32_t)(b * KERN_BLOCK + i);
    }
    c->dense = false;
}

// ---- either form

void cand_map(struct cand *c, cand_map_fn *f, const void *arg)
{
    if (!c->dense)
        f(c->kern, c->logit, c->n, arg);
    for (size_t b = 0; c->dense && b < cand_blocks(c); b++) {
        float *const x = c->logit + b * KERN_BLOCK;
        cand_own_block(c, b);
        f(c->kern, x, cand_block_len(c, b), arg);
        c->block_max[b] = c->kern->max(x, cand_block_len(c, b));
    }
}

// A list's block, or a dense row's that is not simply in the row: where its logits are to be rewritten. Else NULL.
static float *block_to_rewrite(struct cand *c, size_t b)
{
    if (c->dense && !c->own[b])
        return NULL;
    if (c->dense)
        cand_own_block(c, b);
    return c->logit + b * KERN_BLOCK;
}

void cand_mask_below(struct cand *c, float floor)
{
    if (c->dense) {
        c->changed = true;
        c->cut = fmaxf(c->cut, floor);
        c->kern->mask_below(c->block_max, c->block_max, cand_blocks(c), floor);
    }
    for (size_t b = 0; b < cand_blocks(c); b++) {
        float *const x = block_to_rewrite(c, b);
        if (x)
            c->kern->mask_below(x, x, cand_block_len(c, b), floor);
    }
}

// An array and the spare one take each other's place.
static void swap_spare(struct cand *c, float **array)
{
    float *const old = *array;
    *array = c->spare;
    c->spare = old;
}

void cand_gather(struct cand *c, size_t n, enum cand_order order)
{
    uint32_t *const old = c->id, *const new = c->spare_id;
    assert(n && n <= c->n);
    if (c->dense) {
        for (size_t i = 0; i < n; i++) {
            new[i] = (uint32_t)c->key[i];
            c->spare[i] = cand_logit(c, new[i]);
        }
        swap_spare(c, &c->logit);
    } else {
        for (size_t i = 0; i < n; i++) {
            new[i] = old[(uint32_t)c->key[i]];
            c->spare[i] = c->logit[(uint32_t)c->key[i]];
        }
        swap_spare(c, &c->logit);
    }
    if (c->has_p) {
        for (size_t i = 0; i < n; i++)
            c->spare[i] = c->p[(uint32_t)c->key[i]];
        swap_spare(c, &c->p);
    }
    c->id = new;
    c->spare_id = old;
    c->dense = false;
    c->n = n;
    c->order = order;
}

void cand_truncate(struct cand *c, size_t n)
{
    assert(!c->dense && n <= c->n);
    c->n = n;
}

void cand_drop_first(struct cand *c, size_t n)
{
    assert(!c->dense && n < c->n);
    c->n -= n;
    memmove(c->id, c->id + n, c->n * sizeof *c->id);
    memmove(c->logit, c->logit + n, c->n * sizeof *c->logit);
    if (c->has_p)
        memmove(c->p, c->p + n, c->n * sizeof *c->p);
}

void cand_drop_ranked(struct cand *c, size_t n)
{
    assert(n && n < c->n);
    cand_list(c);
    c->kern->sort(c->key, n, n, c->key_tmp); // the last position first
    size_t to = c->key[n - 1];
    for (size_t i = n; i-- > 0;) {
        const size_t from = c->key[i] + 1, len = (i ? c->key[i - 1] : c->n) - from;
        memmove(c->id + to, c->id + from, len * sizeof *c->id);
        memmove(c->logit + to, c->logit + from, len * sizeof *c->logit);
        to += len;
    }
    c->n = to;
    c->has_p = false;
}

float cand_max(const struct cand *c)
{
    if (c->dense)
        return c->kern->max(c->block_max, cand_blocks(c));
    return c->order == CAND_SORTED ? c->logit[0] : c->kern->max(c->logit, c->n);
}

size_t cand_argmax(const struct cand *c)
{
    if (!c->dense)
        return c->kern->argmax(c->logit, c->n);
    float tmp[KERN_BLOCK];
    size_t len;
    const size_t b = c->kern->argmax(c->block_max, cand_blocks(c));
    const float *const x = cand_block(c, b, tmp, &len);
    return b * KERN_BLOCK + c->kern->argmax(x, len);
}

void cand_round_f16(struct cand *c)
{
    if (c->dense && c->type == DTYPE_F16)
        return;
    if (c->dense) { // from now on elements are rounded when they are read
        c->round = c->changed = true;
        c->cut = fmaxf(c->cut, row_cut(DTYPE_F16));
        c->kern->round_f16(c->block_max, cand_blocks(c));
        c->kern->mask_below(c->block_max, c->block_max, cand_blocks(c), row_cut(DTYPE_F16));
    } else if (c->order == CAND_SORTED) {
        c->order = CAND_UNSORTED;
    }
    for (size_t b = 0; b < cand_blocks(c); b++) {
        float *const x = block_to_rewrite(c, b);
        if (!x)
            continue;
        c->kern->round_f16(x, cand_block_len(c, b));
        c->kern->mask_below(x, x, cand_block_len(c, b), row_cut(DTYPE_F16));
    }
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
        c->cut = INFINITY;
        memset(c->own, 0, cand_blocks(c) * sizeof *c->own);
        c->kern->mask_below(c->block_max, c->block_max, cand_blocks(c), INFINITY);
    } else {
        c->kern->mask_below(c->logit, c->logit, c->n, INFINITY);
    }
    cand_put_logit(c, best, -INFINITY, max);
}

bool cand_single(const struct cand *c, uint32_t *id)
{
    if (!c->dense || c->cut < INFINITY)
        return false;
    *id = (uint32_t)cand_argmax(c);
    return cand_logit(c, *id) > -INFINITY;
}

// From where on a logit of a block as cand_block gives it is not masked.
static float unmasked_from(const struct cand *c, size_t b)
{
    return c->dense && !c->own[b] ? c->cut : -FLT_MAX;
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

size_t cand_alive(const struct cand *c, size_t most)
{
    size_t alive = 0;
    for (size_t b = 0; b < cand_blocks(c) && alive < most; b++) {
        float tmp[KERN_BLOCK];
        size_t len;
        if (c->dense && c->block_max[b] == -INFINITY)
            continue;
        const float *const x = cand_block(c, b, tmp, &len);
        alive += c->kern->count(x, len, unmasked_from(c, b));
    }
    return alive < most ? alive : most;
}

// ---- probabilities

const float *cand_exponents(const struct cand *c, size_t b, float max, float tmp[KERN_BLOCK], size_t *len)
{
    const float *const x = cand_block(c, b, tmp, len);
    const bool divided = c->later_temp != 1.0f;
    if (!c->dense && !divided)
        return x;
    if (c->dense && c->block_max[b] == -INFINITY)
        return NULL;
    if (!divided && !(c->cut - max > EXPF_UNDERFLOW))
        return x;
    if (c->dense)
        cand_copy_block(c, b,
                        tmp); // what is masked may be a number here, and near the largest after an edit or the division
    else
        memcpy(tmp, x, *len * sizeof *tmp);
    if (divided)
        c->kern->divide(tmp, *len, c->later_temp);
    return tmp;
}

// p of a dense row's block.
static void exp_block(struct cand *c, size_t b, float max)
{
    float *const p = c->p + b * KERN_BLOCK;
    size_t len;
    const float *const x = cand_exponents(c, b, max, p, &len);
    assert(c->p);
    if (x)
        c->kern->exp_sub(p, x, max, len);
    else
        memset(p, 0, len * sizeof *p);
}

float cand_exp_max(struct cand *c)
{
    const float max = cand_max(c) / c->later_temp;
    if (max == -INFINITY)
        cand_fail(c, FAULT_NOTHING_LEFT, 0);
    else if (!(max < INFINITY))
        cand_fail(c, FAULT_OVERFLOW, cand_id(c, cand_argmax(c)));
    return max;
}

void cand_exp(struct cand *c)
{
    const float max = cand_exp_max(c);
    c->has_p = true;
    if (c->fault.code)
        memset(c->p, 0, c->n * sizeof *c->p);
    else if (c->dense)
        for (size_t b = 0; b < cand_blocks(c); b++)
            exp_block(c, b, max);
    else
        c->kern->exp_sub(c->p, c->logit, max, c->n);
}

void cand_choose(struct cand *c, size_t at)
{
    c->chosen = c->id[at];
    c->chosen_p = c->p[at];
}

// ---- for onlookers

size_t cand_row_place(const struct cand *c, uint32_t id)
{
    size_t low = 0, high = c->n_row; // where it belongs lies in [low, high]
    if (!c->row_id)
        return id < c->n_row ? id : c->n_row;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (c->row_id[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->n_row && c->row_id[low] == id ? low : c->n_row;
}

uint32_t cand_row_id(const struct cand *c, size_t place)
{
    return c->row_id ? c->row_id[place] : (uint32_t)place;
}

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
