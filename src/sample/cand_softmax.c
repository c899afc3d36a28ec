// SPDX-License-Identifier: MIT
// The candidate store's probabilities.
#include "base/bits.h"
#include "kern/expf.h"
#include "sample/cand.h"
#include "sample/sort.h"

#include <math.h>

// The largest logit; a fault unless it is finite.
static float finite_max(struct cand *c)
{
    const float max = cand_max(c);
    if (max == -INFINITY)
        cand_fail(c, FAULT_NOTHING_LEFT, 0);
    else if (!(max < INFINITY))
        cand_fail(c, FAULT_OVERFLOW, c->id[cand_argmax(c)]);
    return max;
}

// p of a dense row's block.
static void exp_block(struct cand *c, size_t b, float max)
{
    float *const p = c->p + b * KERN_BLOCK;
    size_t len;
    const float *x = cand_block(c, b, p, &len);
    if (c->block_max[b] == -INFINITY) {
        memset(p, 0, len * sizeof *p);
        return;
    }
    if (c->cut - max > EXPF_UNDERFLOW) { // edits drove the largest down to where a finite mask is not far below it
        cand_copy_block(c, b, p);
        x = p;
    }
    c->kern->exp_sub(p, x, max, len);
}

void cand_exp(struct cand *c)
{
    const float max = finite_max(c);
    c->has_p = true;
    if (c->fault.code)
        memset(c->p, 0, c->n * sizeof *c->p);
    else if (c->dense)
        for (size_t b = 0; b < cand_blocks(c); b++)
            exp_block(c, b, max);
    else
        c->kern->exp_sub(c->p, c->logit, max, c->n);
}

void cand_softmax(struct cand *c, bool sort)
{
    cand_list(c);
    if (sort)
        cand_sort(c);
    cand_exp(c);
    if (!c->fault.code)
        c->kern->divide(c->p, c->n, c->kern->sum(c->p, c->n, 0.0f));
}

void cand_choose(struct cand *c, size_t at)
{
    c->chosen = c->id[at];
    c->chosen_p = c->p[at];
}

// Writes the n logits of which value holds the complements of the order bits to spare, in rank order.
static void sort_logits(struct cand *c, uint32_t *value, size_t n)
{
    sort_values(value, value + n, n);
    for (size_t i = 0; i < n; i++)
        c->spare[i] = order_value(~value[i]);
}

// Writes the logits that are at least *floor to spare, in rank order; when they are too few or most, all, and *floor says so. Returns how
// many.
static size_t best_logits(struct cand *c, float *floor, size_t least)
{
    uint32_t *const value = (uint32_t *)c->key_tmp;
    const size_t found = *floor > -INFINITY ? cand_collect(c, *floor, c->n) : 0;
    if (found >= least && found <= c->n / 2) {
        for (size_t i = 0; i < found; i++)
            value[i] = ~(uint32_t)(c->key[i] >> 32);
        sort_logits(c, value, found);
        return found;
    }
    cand_list(c);
    *floor = -INFINITY;
    for (size_t i = 0; i < c->n; i++)
        value[i] = ~order_bits(c->logit[i]);
    sort_logits(c, value, c->n);
    return c->n;
}

struct head cand_softmax_head(struct cand *c, float range, size_t least)
{
    if (!c->dense && c->order == CAND_SORTED) { // whose order need not be that of the logits any more
        cand_softmax(c, true);
        return (struct head){c->n, c->p, 0.0f};
    }
    const float max = finite_max(c);
    if (c->fault.code)
        return (struct head){0};
    float floor = max - range;
    const size_t n = best_logits(c, &floor, least);
    float tail = floor - max;
    c->kern->exp_sub(&tail, &tail, 0.0f, 1);
    c->kern->exp_sub(c->spare, c->spare, max, n);
    const float sum = c->kern->sum(c->spare, n, 0.0f);
    c->kern->divide(c->spare, n, sum);
    return (struct head){n, c->spare, tail / sum};
}
