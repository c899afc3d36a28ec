// SPDX-License-Identifier: MIT
// The candidate store's sorted softmax, without sorting all candidates: its sum, its entropy, its head.
//
// Plain algorithm: sort all n candidates, exponentiate, add the weights by rank in f32, divide. Too slow: the sort
// costs ten times what everything else does, and a sampler mostly needs the sum and a few of the best probabilities.
//
// Idea: the f32 sum begins with weight 1, the largest logit's, and only grows. Adding a weight below half an ulp of the
// sum returns the same sum. An ulp of a sum of at least 1 is at least 2^-23, so that a weight below 2^-24 changes
// nothing, whatever the sum has grown to. WEIGHTY is the range of such weights: expf(-16.7) < 2^-24. By rank, the
// weights fall, so all that do not count come last. The sum of the other weights in falling order is therefore the sum
// of all: the same bits.
//
// Equal weights may stand in any order among themselves. The weights in range are therefore packed (cand_pack_weights)
// and added in falling order by value (kern->sum_falling), and no candidate is ranked for the sum.
//
// The entropy's terms -p ln p rise up to p = 1/e and fall for smaller p, so that beyond a few ranks the same holds: a
// term below half an ulp of the entropy changes nothing. How far that is depends on the entropy, which is not known;
// but it is at least what the terms within any range add up to. cand_rank_entropy adds the terms within a range of 10,
// widens the range until no term beyond can be half an ulp of that lower bound, and adds again if it had to be widened.
//
// A head (cand_rank_head) ranks only the candidates within a range. Their probabilities are weights over the same sum,
// hence the same bits.
#include "kern/expf.h"
#include "kern/libm.h"
#include "sample/cand_private.h"

#include <math.h>

#define WEIGHTY 16.7f

float cand_rank_sum(struct cand *c)
{
    struct cand_store *const s = c->store;
    cand_sort_if_flat(c, 7.0f, 4); // if most weights count, sorting costs less than sum_falling
    if (c->order == CAND_SORTED)   // the order need not be that of the logits any more
        return cand_softmax(c);
    const float max = cand_exp_max(c);
    if (c->fault.code)
        return 1.0f;
    const size_t n = cand_pack_weights(c, max, -WEIGHTY, s->spare, NULL);
    return c->kern->sum_falling(s->spare, s->spare, n, 0.0f, s->key, s->key_tmp);
}

// Returns whether -p ln p can be half an ulp of the entropy for candidates beyond this range.
static bool matters(float range, float sum, float entropy)
{
    const float p = kern_expf(-range) / sum, half_ulp = (nextafterf(entropy, INFINITY) - entropy) / 2;
    return range < -EXPF_UNDERFLOW && !(p * -libm_logf(p) < 0.9f * half_ulp);
}

// The bound `least` is below the entropy of the terms in range whatever was rounded.
float cand_rank_entropy(struct cand *c, float sum, float *log)
{
    enum { STEP = 10 };
    float *const p = c->store->spare, max = cand_exp_max(c), range = STEP;
    if (!c->fault.code && c->order == CAND_SORTED) {
        c->kern->log(log, c->p, c->n);
        c->kern->entropy_terms(p, c->p, log, c->n);
        return c->kern->sum(p, c->n, 0.0f);
    }
    while (!c->fault.code) {
        const size_t n = cand_pack_weights(c, max, -range, p, NULL);
        c->kern->divide(p, n, sum);
        c->kern->log(log, p, n);
        c->kern->entropy_terms(log, p, log, n);
        const float least = c->kern->sum(log, n, 0.0f) * (1.0f - 0x1p-22f * (float)n), last = range;
        while (range < last + STEP && matters(range, sum, least))
            range += 0.125f;
        if (range == last)
            return c->kern->sum_falling(p, log, n, 0.0f, c->store->key, c->store->key_tmp);
    }
    return 0.0f;
}

// A weight of expf(-80) is above 0 over any sum of 2^32 weights, so that most rows need no exact answer.
void cand_find_zero(struct cand *c, float sum)
{
    const float max = cand_max(c);
    c->store->met_zero = cand_count(c, max - 80.0f, c->n) < c->n &&
                         (cand_alive(c, c->n) < c->n || !(kern_expf(cand_least(c) - max) / sum > 0.0f));
}

bool cand_met_zero(const struct cand *c) { return c->store->met_zero; }

struct head cand_rank_head(struct cand *c, float sum, float range, size_t least)
{
    float *const p = c->store->spare, max = cand_exp_max(c), tail = -range;
    if (c->fault.code)
        return (struct head){{NULL, 0}, NULL, 0.0f};
    if (c->order == CAND_SORTED)
        return (struct head){{NULL, c->n}, c->p, 0.0f};
    struct ranks best;
    const size_t found = c->order == CAND_BY_ID ? cand_collect(c, max - range, c->n) : c->n;
    least = least < 1 ? 1 : least < c->n ? least : c->n;
    if (found >= least && found <= c->n / 2) {
        best = cand_rank_collected(c, found, found);
    } else {
        best = cand_rank(c, found < least ? least : c->n);
        tail = cand_logit(c, best.at[best.n - 1]) - max;
    }
    cand_weigh_ranked(c, best, 0, max, p);
    c->kern->divide(p, best.n, sum);
    return (struct head){best, p, best.n < c->n ? kern_expf(tail) / sum : 0.0f};
}

void cand_cut(struct cand *c, float range, size_t least, cand_cut_fn *f, const void *arg)
{
    size_t keep = 0;
    for (bool all = false; !keep && !c->fault.code; all = true) {
        if (all)
            cand_sort(c); // of a sorted list the head is all
        const float sum = cand_rank_sum(c);
        const struct head head = cand_rank_head(c, sum, range, 1);
        keep = c->fault.code ? 0 : f(c, &head, arg);
    }
    if (keep)
        cand_top_k(c, keep > least ? keep : least);
}
