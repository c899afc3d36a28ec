// SPDX-License-Identifier: MIT
// The candidate store's dense form: a row as it lies in memory, block by block. Edits of single logits, in either form.
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
#include "kern/libm.h"
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

static void edit_logit(struct cand *c, size_t at, size_t j, cand_edit_fn *f, const void *arg)
{
    const float old = cand_logit(c, at), x = f(old, j, arg);
    if (!(x < INFINITY))
        cand_fail(c, FAULT_OVERFLOW, cand_id(c, at));
    else if (bits_of_f32(x) != bits_of_f32(old)) {
        rest_change(&c->rest);
        cand_set_logit(c, at, old, x);
    }
}

// ln(e^a + e^b), or with a negative sign ln(e^a - e^b), which is -inf if the difference is not positive.
static double log_add(double a, double b, double sign)
{
    const double top = fmax(a, b);
    if (!(top > -INFINITY) || top == INFINITY)
        return top;
    const double sum = libm_exp(a - top) + sign * libm_exp(b - top);
    return (sum > 0.0 ? top + libm_log(sum) : -INFINITY);
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

// Updates the rest for an edit. f(0, j, arg) is the shift of token ids->id[j].
static void shift_rest(struct cand *c, const struct idmap *ids, cand_edit_fn *f, const void *arg)
{
    struct unlisted *const r = &c->rest;
    const double ceiling = r->ceiling; // of each shifted token before the stage
    float raised = 0.0f;
    for (size_t j = 0; j < ids->n; j++) {
        const float by = f(0.0f, j, arg);
        if (by != 0.0f)
            rest_change(r);
        if (cand_listed(c, ids->id[j])) {
            if (by > 0.0f && r->doubtful) // the token may be missing from the full row
                r->state = REST_INEXACT;
        } else if (by < 0.0f) {
            r->low = log_add(r->low, log_add(ceiling, ceiling + by, -1), -1);
        } else if (by > 0.0f) {
            r->high = log_add(r->high, log_add(ceiling + by, ceiling, -1), 1);
            raised = fmaxf(raised, by);
        }
    }
    if (raised > 0.0f) // and a few roundings: an unlisted token may tie with a listed one in the full row
        r->ceiling += raised + 0x1p-22f * (fabsf(r->ceiling) + raised);
}

void cand_edit(struct cand *c, const struct idmap *ids, cand_edit_fn *f, const void *arg)
{
    if (c->rest.state == REST_LIVE)
        shift_rest(c, ids, f, arg);
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
