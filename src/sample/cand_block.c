// SPDX-License-Identifier: MIT
// The candidate store's dense form: a row as it lies in memory, block by block, and changes of its logits.
//
// The plain way is to copy the row into an array of f32 when it is loaded, and to edit and search that array. Too slow:
// most chains read all logits once, change a few and look again at a few hundred, so that the copy costs more than the
// sampling. Instead, the row stays where it is, and a block is copied to c->logit when one of its logits changes. The
// logits of a block that is not copied are the row's elements: widened, rounded to f16 if store->round, and masked
// below store->cut.
//
// store->block_max has the largest logit of every block, exactly: widening, rounding and masking are monotone, so that
// the maximum of the changed elements is the changed maximum; an edit that lowers the largest logit looks at the whole
// block again. A reader therefore gets the same bits as from the array of the plain way.
#include "base/bits.h"
#include "sample/cand_load.h"
#include "sample/cand_private.h"

#include <assert.h>
#include <math.h>
#include <string.h>

// The row's elements of block b before masking, in place or in tmp.
static const float *block_in_row(const struct cand *c, size_t b, float tmp[KERN_BLOCK], size_t len)
{
    const struct cand_store *const s = c->store;
    const void *const at = (const char *)s->row + b * KERN_BLOCK * dtype_size(s->type);
    if (s->type == DTYPE_F32 && !s->round && (uintptr_t)at % sizeof(float) == 0)
        return at;
    c->kern->widen[s->type](tmp, at, len);
    if (s->round)
        c->kern->round_f16(tmp, len);
    return tmp;
}

const float *cand_block(const struct cand *c, size_t b, float tmp[KERN_BLOCK], size_t *len)
{
    *len = cand_block_len(c, b);
    return c->dense && !c->store->copied[b] ? block_in_row(c, b, tmp, *len) : c->logit + b * KERN_BLOCK;
}

void cand_copy_block(const struct cand *c, size_t b, float *dst)
{
    size_t len;
    assert(c->dense);
    const float *const x = cand_block(c, b, dst, &len);
    if (c->store->copied[b])
        memcpy(dst, x, len * sizeof *dst);
    else
        c->kern->mask_below(dst, x, len, c->store->cut);
}

const float *cand_masked_block(const struct cand *c, size_t b, float tmp[KERN_BLOCK], size_t *len)
{
    const float *const x = cand_block(c, b, tmp, len);
    if (!c->dense || c->store->copied[b] || c->kern->count(x, *len, c->store->cut) == *len)
        return x;
    cand_copy_block(c, b, tmp);
    return tmp;
}

void cand_unshare_block(struct cand *c, size_t b)
{
    if (!c->store->copied[b])
        cand_copy_block(c, b, c->logit + b * KERN_BLOCK);
    c->store->copied[b] = true;
    c->store->cached = false;
}

float cand_logit(const struct cand *c, size_t at)
{
    const struct cand_store *const s = c->store;
    if (!c->dense || s->copied[at / KERN_BLOCK])
        return c->logit[at];
    float x = row_element(s->row, s->type, at);
    if (s->round)
        x = f32_of_f16(f16_of_f32(x));
    return x < s->cut ? -INFINITY : x;
}

void cand_set_logit(struct cand *c, size_t at, float old, float x)
{
    const size_t b = at / KERN_BLOCK;
    c->state = CAND_LOGITS;
    if (!c->dense) {
        c->logit[at] = x;
        return;
    }
    cand_unshare_block(c, b);
    c->logit[at] = x;
    if (x >= c->store->block_max[b]) {
        c->store->block_max[b] = x;
    } else if (old == c->store->block_max[b]) {
        c->store->block_max[b] = c->kern->max(c->logit + b * KERN_BLOCK, cand_block_len(c, b));
    }
}

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

bool cand_listed(const struct cand *c, uint32_t id) { return cand_row_place(c, id) < c->n_row; }
