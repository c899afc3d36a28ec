// SPDX-License-Identifier: MIT
// The candidate store's softmax by rank without all the ranks: its sum, its entropy, the best of it.
#include "kern/expf.h"
#include "kern/libm.h"
#include "sample/cand.h"

#include <math.h>

// Weights of candidates that are further from the largest are less than half an ulp of a sum that has 1, the largest's.
#define WEIGHTY 16.7f

static bool sorted(const struct cand *c)
{
    return !c->dense && c->order == CAND_SORTED;
}

size_t cand_weigh(const struct cand *c, float max, float floor, float *w, uint32_t *before)
{
    size_t n = 0;
    for (size_t b = 0; b < cand_blocks(c); b++) {
        float tmp[KERN_BLOCK];
        size_t len;
        if (before)
            before[b] = (uint32_t)n;
        if (c->dense && c->block_max[b] - max < floor)
            continue;
        const float *const x = cand_exponents(c, b, max, tmp, &len);
        if (x)
            n += c->kern->pack(w + n, x, len, max, floor);
    }
    c->kern->exp_sub(w, w, max, n);
    return n;
}

float cand_rank_sum(struct cand *c)
{
    if (!sorted(c) && cand_within(c, 7.0f) > c->n / 4) { // what weighs less, sum_falling hardly notices
        cand_settle(c);
        cand_sort(c);
    }
    if (sorted(c)) // whose order need not be that of the logits any more
        return cand_softmax_as_is(c);
    const float max = cand_exp_max(c);
    if (c->fault.code)
        return 1.0f;
    const size_t n = cand_weigh(c, max, -WEIGHTY, c->spare, NULL);
    return c->kern->sum_falling(c->spare, c->spare, n, 0.0f, c->key, c->key_tmp);
}

// Might -p ln p be half an ulp of the entropy, of candidates beyond this range?
static bool matters(float range, float sum, float entropy)
{
    const float p = kern_expf(-range) / sum, half_ulp = (nextafterf(entropy, INFINITY) - entropy) / 2;
    return range < -EXPF_UNDERFLOW && !(p * -libm_logf(p) < 0.9f * half_ulp);
}

// The near ones tell how far to go: with more terms the entropy, and so its ulp, only becomes larger.
float cand_rank_entropy(struct cand *c, float sum, float *log)
{
    enum { STEP = 10 };
    float *const p = c->spare, *const term = log, max = cand_exp_max(c), range = STEP;
    if (!c->fault.code && sorted(c)) {
        c->kern->log(log, c->p, c->n);
        c->kern->entropy_terms(c->spare, c->p, log, c->n);
        return c->kern->sum(c->spare, c->n, 0.0f);
    }
    while (!c->fault.code) {
        const size_t n = cand_weigh(c, max, -range, p, NULL);
        c->kern->divide(p, n, sum);
        c->kern->log(log, p, n);
        c->kern->entropy_terms(term, p, log, n);
        const float least = c->kern->sum(term, n, 0.0f) * (1.0f - 0x1p-22f * (float)n),
                    last = range; // whatever was rounded
        while (range < last + STEP && matters(range, sum, least))
            range += 0.125f;
        if (range == last)
            return c->kern->sum_falling(p, term, n, 0.0f, c->key, c->key_tmp);
    }
    return 0.0f;
}

struct head cand_rank_head(struct cand *c, float sum, float range, size_t least)
{
    const float max = cand_exp_max(c);
    if (c->fault.code)
        return (struct head){0};
    if (sorted(c))
        return (struct head){c->n, c->p, 0.0f};
    const bool by_id = c->dense || c->order == CAND_BY_ID;
    float tail = -range;
    size_t n = by_id ? cand_collect(c, max - range, c->n) : c->n;
    least = least < 1 ? 1 : least < c->n ? least : c->n;
    if (n >= least && n <= c->n / 2) {
        cand_rank_collected(c, n, n);
    } else {
        n = n < least ? least : c->n;
        cand_rank(c, n);
        tail = cand_logit(c, c->key[n - 1]) - max;
    }
    for (size_t i = 0; i < n; i++)
        c->spare[i] = cand_logit(c, c->key[i]);
    c->kern->exp_sub(c->spare, c->spare, max, n);
    c->kern->divide(c->spare, n, sum);
    return (struct head){n, c->spare, n < c->n ? kern_expf(tail) / sum : 0.0f};
}

struct head cand_softmax_head(struct cand *c, float range, size_t least)
{
    return cand_rank_head(c, cand_rank_sum(c), range, least);
}

void cand_cut(struct cand *c, float range, size_t least, cand_cut_fn *f, const void *arg)
{
    struct head head = cand_softmax_head(c, range, 1);
    size_t keep = c->fault.code ? 0 : f(c, &head, arg);
    if (!keep && !c->fault.code) {
        cand_sort(c); // whose head is all
        head = cand_softmax_head(c, range, 1);
        keep = f(c, &head, arg);
    }
    if (keep)
        cand_top_k(c, keep > least ? keep : least);
}

// ---- what is put off

bool cand_put_off(struct cand *c, float temp)
{
    const float max = cand_max(c);
    if (c->may_put_off && (c->dense || c->order == CAND_BY_ID) && c->n > KERN_BLOCK && c->later_temp == 1.0f &&
        temp > 0x1p-20f && temp < 0x1p20f &&
        fabsf(max) < 1e30f) { // fewer are soon sorted; with others there may be faults
        c->later = true;
        c->later_temp = temp;
        return true;
    }
    cand_settle(c);
    return false;
}

static void divide(const struct kern *kern, float *x, size_t n, const void *temp)
{
    kern->divide(x, n, *(const float *)temp);
}

void cand_settle(struct cand *c)
{
    const float temp = c->later_temp;
    if (!c->later)
        return;
    c->later = false;
    c->later_temp = 1.0f;
    cand_sort(c);
    if (temp != 1.0f)
        cand_map(c, divide, &temp);
}
