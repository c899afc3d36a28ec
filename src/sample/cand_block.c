// SPDX-License-Identifier: MIT
// The candidate store's dense form, a row as it lies in memory, block by block; edits of single logits, in either form.
#include "base/bits.h"
#include "sample/cand.h"

#include <assert.h>
#include <math.h>
#include <string.h>

// What c->own says of a block.
enum { IN_ROW, EDITED, OWN };

float row_cut(enum dtype type)
{
    static const float cut[DTYPE_COUNT] = {-0x1.fffffcp127f, -65472.0f, -0x1.fcp127f}; // f32, f16, bf16
    return cut[type];
}

// Element `at` of a row in memory.
static float load_element(const void *row, enum dtype type, size_t at)
{
    const char *const from = (const char *)row + at * dtype_size(type);
    float x;
    uint16_t half;
    if (type == DTYPE_F32) {
        memcpy(&x, from, sizeof x);
        return x;
    }
    memcpy(&half, from, sizeof half);
    return type == DTYPE_F16 ? f32_of_f16(half) : f32_of_bf16(half);
}

float row_logit(const struct row *r, size_t place)
{
    const float x = load_element(r->data, r->type, place);
    return x < row_cut(r->type) ? -INFINITY : x;
}

void row_logits(const struct kern *kern, const struct row *r, size_t place, size_t len, float *logit)
{
    assert(place + len <= r->n);
    kern->widen[r->type](logit, (const char *)r->data + place * dtype_size(r->type), len);
    kern->mask_below(logit, logit, len, row_cut(r->type));
}

size_t cand_block_len(const struct cand *c, size_t b)
{
    const size_t left = c->n - b * KERN_BLOCK;
    return left < KERN_BLOCK ? left : KERN_BLOCK;
}

// The word that has the marks of elements from i on, 64 of them.
static uint64_t *marks(const struct cand *c, size_t i)
{
    return &c->edited[i / 64];
}

// Of a block in the row: the elements as they stand there, in place or in tmp.
static const float *elements(const struct cand *c, size_t b, float tmp[KERN_BLOCK], size_t len)
{
    const void *const at = (const char *)c->row + b * KERN_BLOCK * dtype_size(c->type);
    if (c->type == DTYPE_F32 && !c->round && (uintptr_t)at % sizeof(float) == 0)
        return at;
    c->kern->widen[c->type](tmp, at, len);
    if (c->round)
        c->kern->round_f16(tmp, len);
    return tmp;
}

const float *cand_block(const struct cand *c, size_t b, float tmp[KERN_BLOCK], size_t *len)
{
    const float *const logit = c->logit + b * KERN_BLOCK;
    *len = cand_block_len(c, b);
    if (!c->dense || c->own[b] == OWN)
        return logit;
    const float *const x = elements(c, b, tmp, *len);
    if (c->own[b] == IN_ROW)
        return x;
    c->kern->mask_below(tmp, x, *len, c->cut);
    for (size_t i = 0; i < KERN_BLOCK; i += 64)
        for (uint64_t left = *marks(c, b * KERN_BLOCK + i); left; left &= left - 1) {
            const size_t k = i + (size_t)__builtin_ctzll(left);
            tmp[k] = logit[k];
        }
    return tmp;
}

void cand_copy_block(const struct cand *c, size_t b, float *dst)
{
    size_t len;
    assert(c->dense);
    const float *const x = cand_block(c, b, dst, &len);
    if (c->own[b] == IN_ROW)
        c->kern->mask_below(dst, x, len, c->cut);
    else if (x != dst)
        memcpy(dst, x, len * sizeof *dst);
}

const float *cand_masked_block(const struct cand *c, size_t b, float tmp[KERN_BLOCK], size_t *len)
{
    const float *const x = cand_block(c, b, tmp, len);
    if (!c->dense || c->own[b] || c->kern->count(x, *len, c->cut) == *len)
        return x;
    cand_copy_block(c, b, tmp);
    return tmp;
}

void cand_own_block(struct cand *c, size_t b)
{
    float *const logit = c->logit + b * KERN_BLOCK, tmp[KERN_BLOCK];
    if (c->own[b] == IN_ROW)
        cand_copy_block(c, b, logit);
    if (c->own[b] == EDITED) {
        cand_copy_block(c, b, tmp);
        memcpy(logit, tmp, cand_block_len(c, b) * sizeof *logit);
    }
    c->own[b] = OWN;
    c->changed = true;
}

float cand_logit(const struct cand *c, size_t at)
{
    const int own = c->dense ? c->own[at / KERN_BLOCK] : OWN;
    if (own == OWN || (own == EDITED && *marks(c, at) >> at % 64 & 1))
        return c->logit[at];
    float x = load_element(c->row, c->type, at);
    if (c->round)
        x = f32_of_f16(f16_of_f32(x));
    return x < c->cut ? -INFINITY : x;
}

// Marks an element of a dense row. Few of the blocks that are edited are looked at again, so they are not copied for that; unless there are
// more edits near each other.
static void mark(struct cand *c, size_t at)
{
    const size_t b = at / KERN_BLOCK;
    if (c->own[b] == OWN)
        return;
    if (c->own[b] == IN_ROW)
        memset(marks(c, b * KERN_BLOCK), 0, KERN_BLOCK / 8);
    c->own[b] = EDITED;
    c->changed = true;
    uint64_t *const word = marks(c, at), old = *word;
    *word |= UINT64_C(1) << at % 64;
    if (old & (old - 1))
        cand_own_block(c, b);
}

void cand_put_logit(struct cand *c, size_t at, float old, float x)
{
    const size_t b = at / KERN_BLOCK;
    if (!c->dense) {
        c->logit[at] = x;
        return;
    }
    mark(c, at);
    c->logit[at] = x;
    if (x >= c->block_max[b]) {
        c->block_max[b] = x;
    } else if (old == c->block_max[b]) {
        cand_own_block(c, b);
        c->block_max[b] = c->kern->max(c->logit + b * KERN_BLOCK, cand_block_len(c, b));
    }
}

static void edit(struct cand *c, size_t at, size_t j, cand_edit_fn *f, const void *arg)
{
    const float old = cand_logit(c, at), x = f(old, j, arg);
    if (!(x < INFINITY))
        cand_fail(c, FAULT_OVERFLOW, cand_id(c, at));
    else if (bits_of_f32(x) != bits_of_f32(old))
        cand_put_logit(c, at, old, x);
}

void cand_edit(struct cand *c, const struct idmap *ids, cand_edit_fn *f, const void *arg)
{
    if (c->order == CAND_SORTED)
        c->order = CAND_UNSORTED;
    for (size_t j = 0; c->dense && j < ids->n; j++)
        if (ids->id[j] < c->n)
            edit(c, ids->id[j], j, f, arg);
    for (size_t i = 0; !c->dense && i < c->n; i++) {
        const size_t j = idmap_find(ids, c->id[i]);
        if (j != IDMAP_NONE)
            edit(c, i, j, f, arg);
    }
}
