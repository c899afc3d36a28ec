// SPDX-License-Identifier: MIT
#include "sample/cand_dense.h"

#include "base/bits.h"
#include "base/mem.h"
#include "kern/expf.h"
#include "sample/sort.h"

#include <math.h>

static size_t blocks(const struct cand *c)
{
    return (c->n + KERN_BLOCK - 1) / KERN_BLOCK;
}

// The lowest finite number of each type stands for a mask; this is the one above it.
static const float lowest[DTYPE_COUNT] = {[DTYPE_F32] = -0x1.fffffcp127f, [DTYPE_F16] = F16_LOWEST, [DTYPE_BF16] = -0x1.fcp127f};

struct fault dense_load(struct cand *c, const struct row *row)
{
    c->row = row->data;
    c->type = row->type;
    c->round = false;
    c->cut = lowest[c->type];
    c->n = row->n;
    idmap_clear(&c->edited);
    if (!mem_grow(&c->block_max, &c->block_cap, blocks(c), sizeof *c->block_max))
        return fault_memory();
    const size_t good = c->kern->scan[c->type](c->row, c->n, c->block_max);
    if (good < c->n) {
        const float bad = dense_logit(c, (uint32_t)good);
        return (struct fault){isnan(bad) ? FAULT_NAN : FAULT_INFINITE, good};
    }
    if (c->kern->max(c->block_max, blocks(c)) < c->cut)
        return (struct fault){FAULT_ALL_MASKED, 0};
    return fault_none();
}

struct fault cand_need_keys(struct cand *c, size_t n)
{
    if (!mem_grow(&c->key, &c->key_cap, n, sizeof *c->key) || !mem_grow(&c->key_tmp, &c->key_tmp_cap, n, sizeof *c->key_tmp))
        return fault_memory();
    return fault_none();
}

struct fault dense_max(struct cand *c, float *max)
{
    size_t found;
    const struct fault fault = dense_select(c, 1, &found);
    *max = !fault.code && found ? dense_logit(c, rank_id(c->key[0])) : -INFINITY;
    return fault;
}

struct fault dense_round_f16(struct cand *c)
{
    if (c->type == DTYPE_F16)
        return fault_none();
    c->round = true;
    c->cut = fmaxf(c->cut, F16_LOWEST);
    c->kern->round_f16(c->block_max, blocks(c));
    c->kern->round_f16(c->edit, c->edited.n);
    c->kern->mask_below(c->edit, c->edited.n, F16_LOWEST);
    float max;
    const struct fault fault = dense_max(c, &max);
    if (fault.code || max == -INFINITY)
        return fault.code ? fault : (struct fault){FAULT_ALL_MASKED, 0};
    return max < INFINITY ? fault : (struct fault){FAULT_F16, rank_id(c->key[0])};
}

float dense_logit(const struct cand *c, uint32_t id)
{
    const size_t e = idmap_find(&c->edited, id);
    if (e != IDMAP_NONE)
        return c->edit[e];
    float x;
    c->kern->widen[c->type](&x, (const char *)c->row + id * dtype_size(c->type), 1);
    if (c->round)
        x = f32_of_f16(f16_of_f32(x));
    return x < c->cut ? -INFINITY : x;
}

struct fault dense_put(struct cand *c, uint32_t id, float logit)
{
    const size_t e = idmap_add(&c->edited, id);
    if (e == IDMAP_NONE || !mem_grow(&c->edit, &c->edit_cap, e + 1, sizeof *c->edit))
        return fault_memory();
    c->edit[e] = logit;
    return fault_none();
}

// Elements [b * KERN_BLOCK, + *len) of the row as aligned floats: in place, or widened into tmp.
static const float *block(const struct cand *c, size_t b, float *tmp, size_t *len)
{
    const size_t start = b * KERN_BLOCK;
    const char *at = (const char *)c->row + start * dtype_size(c->type);
    *len = c->n - start < KERN_BLOCK ? c->n - start : KERN_BLOCK;
    if (c->type == DTYPE_F32 && !c->round && (uintptr_t)at % sizeof(float) == 0)
        return (const float *)(const void *)at;
    c->kern->widen[c->type](tmp, at, *len);
    if (c->round)
        c->kern->round_f16(tmp, *len);
    return tmp;
}

// Appends block b's unedited candidates with logit >= floor at key; returns how many.
static size_t collect_block(const struct cand *c, size_t b, float floor, uint64_t *key)
{
    float tmp[KERN_BLOCK];
    size_t len;
    const float *x = block(c, b, tmp, &len);
    const size_t found = c->kern->collect(key, x, len, (uint32_t)(b * KERN_BLOCK), floor);
    if (!c->edited.n)
        return found;
    size_t left = 0;
    for (size_t i = 0; i < found; i++)
        if (idmap_find(&c->edited, rank_id(key[i])) == IDMAP_NONE)
            key[left++] = key[i];
    return left;
}

static struct fault need_keys(struct cand *c, size_t n)
{
    return mem_grow(&c->key, &c->key_cap, n, sizeof *c->key) ? fault_none() : fault_memory();
}

// A value that at least k of x[0..n) reach, and not many more if that is found soon; at worst the cut, if fewer than k reach that.
static float reached_by(const struct cand *c, const float *x, size_t n, size_t k)
{
    enum { STEPS = 12 };
    float high = c->kern->max(x, n),
          low = high - 1.0f; // fewer than k reach high, at least k reach low: once the first loop is done
    for (float step = 1.0f; low > c->cut && c->kern->count(x, n, low) < k; step *= 2) {
        high = low;
        low -= step;
    }
    if (!(low > c->cut))
        return c->cut;
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

// A guess, from every 16th block, at a logit that somewhat more than k elements reach.
static float reached_in_sample(const struct cand *c, size_t k)
{
    enum { STRIDE = 16 };
    size_t m = 0;
    for (size_t b = 0; b < blocks(c); b += STRIDE) {
        float tmp[KERN_BLOCK];
        size_t len;
        const float *const x = block(c, b, tmp, &len);
        memcpy(c->sample + m, x, len * sizeof *x);
        m += len;
    }
    const size_t want = k / STRIDE + k / (4 * STRIDE) + 8;
    return want < m ? reached_by(c, c->sample, m, want) : c->cut;
}

// Where collecting the k best may begin. Too high a floor is noticed by fewer than k turning up.
static float first_floor(const struct cand *c, size_t k)
{
    if (k <= blocks(c) / 2)
        return reached_by(c, c->block_max, blocks(c), k);
    return k <= c->n / 8 ? reached_in_sample(c, k) : c->cut;
}

// Collects unedited candidates with logit >= floor, pruned to the k best whenever there are too many.
static size_t collect_best(struct cand *c, float floor, size_t k, size_t room)
{
    size_t m = 0;
    for (size_t b = 0; b < blocks(c); b++) {
        if (!(c->block_max[b] >= floor))
            continue;
        m += collect_block(c, b, floor, c->key + m);
        if (m + KERN_BLOCK > room) {
            floor = sort_prune(c->key, m, k);
            m = k;
        }
    }
    return m;
}

struct fault dense_select(struct cand *c, size_t k, size_t *found)
{
    const size_t room = 2 * k + 2 * KERN_BLOCK;
    const struct fault fault = need_keys(c, room + c->edited.n);
    if (fault.code || !mem_grow(&c->sample, &c->sample_cap, c->n / 16 + KERN_BLOCK, sizeof *c->sample))
        return fault_memory();
    const size_t sure = k + c->edited.n; // so many elements are above a floor that k unedited ones are
    size_t m = collect_best(c, first_floor(c, k), k, room);
    if (m < k && sure <= blocks(c))
        m = collect_best(c, reached_by(c, c->block_max, blocks(c), sure), k, room);
    if (m < k)
        m = collect_best(c, c->cut, k, room);
    for (size_t e = 0; e < c->edited.n; e++)
        if (c->edit[e] > -INFINITY)
            c->key[m++] = rank_key(c->edit[e], c->edited.id[e]);
    if (m > k)
        sort_select(c->key, m, k);
    *found = m < k ? m : k;
    return fault_none();
}

// Merges the edited candidates with logit >= floor into key[0..*m), which is in id order.
static struct fault merge_edited(struct cand *c, float floor, size_t *m)
{
    const size_t e = c->edited.n;
    const struct fault fault = need_keys(c, *m + e);
    if (fault.code || !mem_grow(&c->key_tmp, &c->key_tmp_cap, 2 * e, sizeof *c->key_tmp))
        return fault_memory();
    uint64_t *const add = c->key_tmp; // id above logit, so that sorting goes by id
    size_t left = 0;
    for (size_t i = 0; i < e; i++)
        if (c->edit[i] >= floor)
            add[left++] = (uint64_t)c->edited.id[i] << 32 | order_bits(c->edit[i]);
    sort_keys(add, left, add + e);
    // Largest ids first, from the back, so that nothing is overwritten before it has moved.
    size_t old = *m, to = old + left;
    *m = to;
    for (size_t i = 0; i < left; i++) {
        const uint32_t id = (uint32_t)(add[i] >> 32);
        for (; old && rank_id(c->key[old - 1]) > id; old--)
            c->key[--to] = c->key[old - 1];
        c->key[--to] = add[i] << 32 | (uint32_t)~id;
    }
    return fault_none();
}

struct fault dense_collect(struct cand *c, float floor, size_t *found)
{
    const float base = fmaxf(floor, c->cut);
    *found = 0;
    for (size_t b = 0; b < blocks(c); b++) {
        if (!(c->block_max[b] >= base))
            continue;
        const struct fault fault = need_keys(c, *found + KERN_BLOCK);
        if (fault.code)
            return fault;
        *found += collect_block(c, b, base, c->key + *found);
    }
    return c->edited.n ? merge_edited(c, floor, found) : fault_none();
}

void dense_copy(const struct cand *c, float *dst)
{
    c->kern->widen[c->type](dst, c->row, c->n);
    if (c->round)
        c->kern->round_f16(dst, c->n);
    c->kern->mask_below(dst, c->n, c->cut);
    for (size_t e = 0; e < c->edited.n; e++)
        dst[c->edited.id[e]] = c->edit[e];
}

void dense_exp(const struct cand *c, float max, float *p)
{
    for (size_t b = 0; b < blocks(c); b++) {
        float tmp[KERN_BLOCK], *const to = p + b * KERN_BLOCK;
        size_t len;
        const float *x = block(c, b, tmp, &len);
        if (c->block_max[b] < c->cut) {
            memset(to, 0, len * sizeof *to);
            continue;
        }
        if (c->cut - max > EXPF_UNDERFLOW) { // edits drove the largest down to where a finite mask is not far below it
            memmove(tmp, x, len * sizeof *tmp);
            c->kern->mask_below(tmp, len, c->cut);
            x = tmp;
        }
        c->kern->exp_sub(to, x, max, len);
    }
    for (size_t e = 0; e < c->edited.n; e++)
        p[c->edited.id[e]] = kern_expf(c->edit[e] - max);
}
