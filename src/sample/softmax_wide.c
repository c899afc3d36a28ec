// SPDX-License-Identifier: MIT
#include "sample/softmax_wide.h"

#include "kern/libm.h"
#include "sample/cand_private.h"

#include <assert.h>
#include <float.h>

void cand_list_by_id(struct cand *c)
{
    cand_list(c);
    if (c->order == CAND_BY_ID)
        return;
    cand_gather(c, cand_rank_by_id(c), CAND_BY_ID);
}

const uint32_t *cand_rank_rising(struct cand *c, const float *value)
{
    struct cand_store *const s = c->store;
    for (size_t i = 0; i < c->n; i++)
        s->key[i] = (uint64_t)~order_bits(value[i]) << 32 | (uint32_t)~i;
    c->kern->sort(s->key, c->n, c->n, s->key_tmp);
    for (size_t i = 0; i < c->n; i++)
        s->rank[i] = rank_id(s->key[i]);
    return s->rank;
}

float cand_max_wide(struct cand *c)
{
    const float max = cand_max(c);
    if (!(max < INFINITY))
        cand_fail(c, FAULT_OVERFLOW, 0);
    if (max == -INFINITY)
        cand_fail(c, FAULT_NOTHING_LEFT, 0);
    return max;
}

static void drop_masked(struct cand *c)
{
    if (cand_alive(c, c->n) < c->n)
        cand_keep_from(c, -FLT_MAX, 1);
}

// Adds the weights of one block after the other in f64, in the order of cand_softmax_wide's sum: the same bits.
struct normaliser cand_normaliser_wide(struct cand *c)
{
    const float max = cand_max_wide(c);
    double sum = 0.0;
    if (c->fault.code)
        return (struct normaliser){0.0f, 1.0, 0.0};
    drop_masked(c);
    if (c->order != CAND_BY_ID)
        cand_list_by_id(c);
    for (size_t b = 0; b < cand_blocks(c); b++) {
        float weight[KERN_BLOCK];
        size_t len;
        const float *const x = cand_block(c, b, weight, &len);
        c->kern->exp_sub(weight, x, max, len);
        sum = c->kern->sum_wide(weight, len, sum);
    }
    return (struct normaliser){max, sum, libm_log(sum)};
}

struct normaliser cand_softmax_wide(struct cand *c)
{
    const float max = cand_max_wide(c);
    if (c->fault.code)
        return (struct normaliser){0.0f, 1.0, 0.0};
    drop_masked(c);
    cand_list_by_id(c);
    c->kern->exp_sub(c->p, c->logit, max, c->n);
    const double sum = c->kern->sum_wide(c->p, c->n, 0.0);
    c->kern->divide_wide(c->p, c->n, sum);
    c->state = CAND_PROBABILITIES;
    return (struct normaliser){max, sum, libm_log(sum)};
}

float entropy_wide(struct cand *c, const struct normaliser *z)
{
    float *const term = c->store->spare;
    c->kern->log_shares(term, c->logit, c->n, z->max, z->log);
    c->kern->entropy_terms(term, c->p, term, c->n);
    return (float)c->kern->sum_wide(term, c->n, 0.0);
}

// Plain algorithm: a softmax of all candidates; keep p >= floor, and what ties with the largest logit. Too
// slow: a list,
// a sum in order, and a quotient for each candidate. Idea: p is the weight over a sum, so that p >= floor where the
// weight is at least t = floor * sum. If all t that are possible within the errors of an estimate keep the same
// candidates, those are the ones of the plain algorithm. If t is above 1, the largest weight, ties with the largest
// logit are all that is left.
bool cand_keep_share(struct cand *c, double low, double high)
{
    if (c->fault.code || c->order != CAND_BY_ID)
        return false;
    c->state = CAND_LOGITS;
    if (low > 1.0) {
        cand_keep_from(c, cand_max(c), 1);
        return true;
    }
    return high <= 1.0 && cand_keep_by_weight(c, low, high, 1);
}

struct spread cand_spread(struct cand *c, float max)
{
    double sum[2 * KERN_LANES] = {0};
    for (size_t b = 0; b < cand_blocks(c); b++) {
        float tmp[KERN_BLOCK];
        size_t len;
        const float *const x = cand_exponents(c, b, max, tmp, &len);
        if (x)
            c->kern->softmax_sums(sum, x, max, NULL, 0, len);
    }
    const double total = kern_lanes_total(sum);
    return (struct spread){total, libm_log(total) - kern_lanes_total(sum + KERN_LANES) / total};
}

void cand_keep_marked(struct cand *c, const unsigned char *keep)
{
    size_t n = 0;
    assert(!c->dense);
    for (size_t i = 0; i < c->n; i++)
        if (keep[i]) {
            c->id[n] = c->id[i];
            c->logit[n++] = c->logit[i];
        }
    assert(n);
    c->n = n;
    c->state = CAND_LOGITS;
}
