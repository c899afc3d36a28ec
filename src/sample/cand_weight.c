// SPDX-License-Identifier: MIT
// The candidate store's weights, expf(logit - m) with m the largest logit: their sums, the softmax, selection by
// weight.
#include "base/bits.h"
#include "kern/expf.h"
#include "sample/cand_private.h"
#include "sample/row_cache.h"

#include <float.h>
#include <math.h>
#include <string.h>

const float *cand_exponents(const struct cand *c, size_t b, float max, float tmp[KERN_BLOCK], size_t *len)
{
    const float *const x = cand_block(c, b, tmp, len);
    const bool divided = c->pending_divisor != 1.0f;
    if (!c->dense && !divided)
        return x;
    if (c->dense && c->store->block_max[b] == -INFINITY)
        return NULL;
    // If the cut is far below the largest logit, masked elements have weight 0 whether they are numbers or -inf.
    if (!divided && !(c->store->cut - max > EXPF_UNDERFLOW))
        return x;
    if (c->dense)
        cand_copy_block(c, b, tmp);
    else
        memcpy(tmp, x, *len * sizeof *tmp);
    if (divided)
        c->kern->divide(tmp, *len, c->pending_divisor);
    return tmp;
}

float cand_exp_max(struct cand *c)
{
    const float max = cand_max(c) / c->pending_divisor;
    if (max == -INFINITY)
        cand_fail(c, FAULT_NOTHING_LEFT, 0);
    else if (!(max < INFINITY))
        cand_fail(c, FAULT_OVERFLOW, cand_id(c, cand_argmax(c)));
    return max;
}

void cand_weigh_ranked(const struct cand *c, struct ranks best, size_t from, float max, float *w)
{
    for (size_t i = from; i < best.n; i++)
        w[i] = cand_logit(c, best.at[i]) / c->pending_divisor;
    c->kern->exp_sub(w + from, w + from, max, best.n - from);
}

void cand_exp(struct cand *c)
{
    const float max = cand_exp_max(c);
    const bool dense = c->dense && !c->fault.code;
    c->state = CAND_WEIGHTS;
    if (c->fault.code)
        memset(c->p, 0, c->n * sizeof *c->p);
    else if (!dense)
        c->kern->exp_sub(c->p, c->logit, max, c->n);
    for (size_t b = 0; dense && b < cand_blocks(c); b++) {
        float *const p = c->p + b * KERN_BLOCK;
        size_t len;
        const float *const x = cand_exponents(c, b, max, p, &len);
        if (x)
            c->kern->exp_sub(p, x, max, len);
        else
            memset(p, 0, len * sizeof *p);
    }
}

float cand_softmax(struct cand *c)
{
    cand_exp(c);
    c->state = CAND_PROBABILITIES;
    if (c->fault.code)
        return 1.0f;
    const float sum = c->kern->sum(c->p, c->n, 0.0f);
    c->kern->divide(c->p, c->n, sum);
    return sum;
}

// ---- sums

struct mass cand_mass(struct cand *c, double *before, bool rough)
{
    return cand_mass_from(c, cand_exp_max(c), before, rough);
}

struct mass cand_mass_from(const struct cand *c, float max, double *before, bool rough)
{
    const float floor = rough ? -20.0f : EXPF_UNDERFLOW;
    struct mass m = {.max = max, .error = 0x1p-50 * (double)c->n};
    for (size_t b = 0; !c->fault.code && b < cand_blocks(c); b++) {
        float tmp[KERN_BLOCK];
        size_t len;
        double lanes[2 * KERN_LANES] = {0};
        if (before)
            before[b] = m.sum;
        const float *const x = cand_exponents(c, b, m.max, tmp, &len);
        if (!x)
            continue;
        const size_t weighed = c->kern->weigh(lanes, x, len, m.max, floor);
        const double sum = kern_lanes_total(lanes);
        m.sum += sum;
        m.squares += kern_lanes_total(lanes + KERN_LANES);
        m.error += rough ? 0x1p-28 * (double)(len - weighed) : 0.0; // 2^-28 is above e^-20
        // An addition in f32 is off by half an ulp of a sum of at least 1, or by what is added, at most.
        m.error_f32 += 2 * fmin(sum, 0x1p-24 * (double)len);
    }
    m.error_f32 += m.error;
    return m;
}

enum { RUN = 16 }; // blocks that are added in one call of the kernel, which costs less

// The logits of up to RUN blocks from b on, *len of them, in place or in tmp: as cand_exponents has them, if their
// weights are wanted; else as cand_masked_block has them.
static const float *run_of_blocks(const struct cand *c, size_t b, bool weights, float max, float tmp[RUN * KERN_BLOCK],
                                  size_t *len)
{
    const float *run = tmp;
    size_t n;
    *len = 0;
    for (size_t end = b + RUN < cand_blocks(c) ? b + RUN : cand_blocks(c); b < end; b++) {
        const float *const x =
            weights ? cand_exponents(c, b, max, tmp + *len, &n) : cand_masked_block(c, b, tmp + *len, &n);
        if (!x)
            continue;
        run = *len ? run : x;
        if (x != run + *len) { // a copied block beside one in place
            memmove(tmp, run, *len * sizeof *tmp);
            memmove(tmp + *len, x, n * sizeof *tmp);
            run = tmp;
        }
        *len += n;
    }
    return run;
}

float cand_exp_sum(struct cand *c)
{
    struct row_cache *const cache = c->dense && c->store->cached ? c->cache : NULL;
    if (cand_knows_sum(c))
        return c->unlisted.exp_sum;
    if (cache && cache->exp_sum > 0.0f)
        return cache->exp_sum;
    const float max = cand_exp_max(c);
    float tmp[RUN * KERN_BLOCK], sum = 0.0f;
    size_t len;
    for (size_t b = 0; !c->fault.code && b < cand_blocks(c); b += RUN) {
        const float *const x = run_of_blocks(c, b, true, max, tmp, &len);
        sum = c->kern->exp_sum(x, len, max, sum);
    }
    if (cache && !c->fault.code)
        cache->exp_sum = sum;
    return sum;
}

float cand_deviation(struct cand *c)
{
    float tmp[RUN * KERN_BLOCK], sum = 0.0f, squares = 0.0f;
    size_t len, alive = 0;
    for (size_t b = 0; b < cand_blocks(c); b += RUN) {
        const float *const x = run_of_blocks(c, b, false, 0.0f, tmp, &len);
        sum = c->kern->sum(x, len, sum);
        alive += c->kern->count(x, len, -FLT_MAX);
    }
    const float mean = sum / (float)alive;
    for (size_t b = 0; b < cand_blocks(c); b += RUN) {
        const float *const x = run_of_blocks(c, b, false, 0.0f, tmp, &len);
        squares = c->kern->sum_squares(x, len, mean, squares);
    }
    return sqrtf(squares / (float)alive);
}

size_t cand_pack_weights(const struct cand *c, float max, float floor, float *w, uint32_t *before)
{
    size_t n = 0;
    for (size_t b = 0; b < cand_blocks(c); b++) {
        float tmp[KERN_BLOCK];
        size_t len;
        if (before)
            before[b] = (uint32_t)n;
        if (c->dense && c->store->block_max[b] - max < floor)
            continue;
        const float *const x = cand_exponents(c, b, max, tmp, &len);
        if (x)
            n += c->kern->pack(w + n, x, len, max, floor);
    }
    c->kern->exp_sub(w, w, max, n);
    return n;
}

// ---- selection by weight

// The smallest logit whose weight is at least t, found by bisection over all floats: expf never falls (make
// prove-expf).
static float logit_of_weight(float max, double t)
{
    uint32_t low = order_bits(-INFINITY), high = order_bits(max) + 1; // it lies in [low, high]
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if ((double)kern_expf(order_value(middle) - max) < t)
            low = middle + 1;
        else
            high = middle;
    }
    return order_value(low);
}

bool cand_keep_by_weight(struct cand *c, double low, double high, size_t least)
{
    const float max = cand_max(c);
    if (c->fault.code || !(low > 0x1p-100)) // above that rounded quotients and weights have their full precision
        return false;
    const size_t found = cand_collect(c, logit_of_weight(max, low), c->n);
    const uint32_t sure = order_bits(logit_of_weight(max, high));
    for (size_t i = 0; i < found; i++)
        if (c->store->key[i] >> 32 < sure)
            return false;
    cand_keep_collected(c, found, least < c->n ? least : c->n);
    return true;
}
