// SPDX-License-Identifier: MIT
// The candidate store's dense form: a row as it lies in memory, block by block. Edits of single logits, in either form.
//
// The plain way is to copy the row into an array of f32 when it is loaded, and to edit and search that array. Too slow:
// most chains read all logits once, change a few and look again at a few hundred, so that the copy costs more than the
// sampling. Instead, the row stays where it is, and a block of it has one of three states:
//
//   IN_ROW  Its logits are the row's elements: widened, rounded to f16 if store->round, and masked below store->cut.
//   EDITED  Elements whose bit in store->edited is set have their logit in c->logit; the others are as IN_ROW.
//   OWN     All logits of the block are in c->logit.
//
// store->block_max has the largest logit of every block, exactly: widening, rounding and masking are monotone, so that
// the maximum of the changed elements is the changed maximum; an edit that lowers the largest element looks at the
// whole block again. A reader therefore gets the same bits as from the array of the plain way.
#include "base/bits.h"
#include "sample/cand_private.h"

#include <assert.h>
#include <math.h>
#include <string.h>

// Values of store->copied.
enum { IN_ROW, EDITED, OWN };

// The word with the bits of element i and its 63 neighbours.
static uint64_t *edited_bits(const struct cand *c, size_t i)
{
    return &c->store->edited[i / 64];
}

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
    const float *const logit = c->logit + b * KERN_BLOCK;
    *len = cand_block_len(c, b);
    if (!c->dense || c->store->copied[b] == OWN)
        return logit;
    const float *const x = block_in_row(c, b, tmp, *len);
    if (c->store->copied[b] == IN_ROW)
        return x;
    c->kern->mask_below(tmp, x, *len, c->store->cut);
    for (size_t i = 0; i < KERN_BLOCK; i += 64)
        for (uint64_t left = *edited_bits(c, b * KERN_BLOCK + i); left; left &= left - 1) {
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
    if (c->store->copied[b] == IN_ROW)
        c->kern->mask_below(dst, x, len, c->store->cut);
    else if (x != dst)
        memcpy(dst, x, len * sizeof *dst);
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
    float *const logit = c->logit + b * KERN_BLOCK, tmp[KERN_BLOCK];
    if (c->store->copied[b] == IN_ROW)
        cand_copy_block(c, b, logit);
    if (c->store->copied[b] == EDITED) {
        cand_copy_block(c, b, tmp);
        memcpy(logit, tmp, cand_block_len(c, b) * sizeof *logit);
    }
    c->store->copied[b] = OWN;
    c->store->cached = false;
}

float cand_logit(const struct cand *c, size_t at)
{
    const struct cand_store *const s = c->store;
    const int copied = c->dense ? s->copied[at / KERN_BLOCK] : OWN;
    if (copied == OWN || (copied == EDITED && *edited_bits(c, at) >> at % 64 & 1))
        return c->logit[at];
    float x = row_element(s->row, s->type, at);
    if (s->round)
        x = f32_of_f16(f16_of_f32(x));
    return x < s->cut ? -INFINITY : x;
}

// Marks an element of a dense row as edited. Few edited blocks are read again, so that copying them would be waste. A
// block is copied once 64 neighbours have more than two edits.
static void mark_edited(struct cand *c, size_t at)
{
    const size_t b = at / KERN_BLOCK;
    if (c->store->copied[b] == OWN)
        return;
    if (c->store->copied[b] == IN_ROW)
        memset(edited_bits(c, b * KERN_BLOCK), 0, KERN_BLOCK / 8);
    c->store->copied[b] = EDITED;
    c->store->cached = false;
    uint64_t *const word = edited_bits(c, at), old = *word;
    *word |= UINT64_C(1) << at % 64;
    if (old & (old - 1))
        cand_unshare_block(c, b);
}

void cand_set_logit(struct cand *c, size_t at, float old, float x)
{
    const size_t b = at / KERN_BLOCK;
    c->state = CAND_LOGITS;
    if (!c->dense) {
        c->logit[at] = x;
        return;
    }
    mark_edited(c, at);
    c->logit[at] = x;
    if (x >= c->store->block_max[b]) {
        c->store->block_max[b] = x;
    } else if (old == c->store->block_max[b]) {
        cand_unshare_block(c, b);
        c->store->block_max[b] = c->kern->max(c->logit + b * KERN_BLOCK, cand_block_len(c, b));
    }
}

static void edit_logit(struct cand *c, size_t at, size_t j, cand_edit_fn *f, const void *arg)
{
    const float old = cand_logit(c, at), x = f(old, j, arg);
    if (!(x < INFINITY))
        cand_fail(c, FAULT_OVERFLOW, cand_id(c, at));
    else if (bits_of_f32(x) != bits_of_f32(old))
        cand_set_logit(c, at, old, x);
}

void cand_edit(struct cand *c, const struct idmap *ids, cand_edit_fn *f, const void *arg)
{
    if (c->order == CAND_SORTED)
        c->order = CAND_UNSORTED;
    for (size_t j = 0; c->dense && j < ids->n; j++)
        if (ids->id[j] < c->n)
            edit_logit(c, ids->id[j], j, f, arg);
    for (size_t i = 0; !c->dense && i < c->n; i++) {
        const size_t j = idmap_find(ids, c->id[i]);
        if (j != IDMAP_NONE)
            edit_logit(c, i, j, f, arg);
    }
}
