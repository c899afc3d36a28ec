// SPDX-License-Identifier: MIT
#include "sample/nucleus.h"

#include "sample/cand_private.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static bool is_full(const struct nucleus *x, float sum, size_t n)
{
    return n >= x->least && (x->past ? sum > x->limit : sum >= x->limit);
}

// Sums never fall. If a whole block does not fill the set, no part of it does, and the block's sum in order, which a
// kernel has quickly, is all that is needed.
void nucleus_add(struct nucleus *x, const struct kern *kern, const float *p, size_t n)
{
    enum { BLOCK = 512 };
    for (size_t at = 0, len; at < n && !x->full; at += len) {
        len = n - at < BLOCK ? n - at : BLOCK;
        const float through = kern->sum(p + at, len, x->sum);
        if (!is_full(x, through, x->n + len)) {
            x->n += len;
            x->sum = through;
            continue;
        }
        for (size_t i = at; !x->full; i++) {
            x->sum += p[i];
            x->full = is_full(x, x->sum, ++x->n);
        }
    }
}

// Estimates from a sample of the row how many of the best the nucleus needs: those whose logit is at least `from`, and
// of the next ones as many as have this share of the remaining weight. Rather too many than too few; at most n.
static size_t likely_needed(struct cand *c, float from, float share)
{
    enum { FEW = 16 * KERN_BLOCK, STEPS = 10, STRIDE = CAND_SAMPLE_STRIDE };
    if (c->n < FEW)
        return c->n;
    const float max = cand_max(c), *const x = c->store->spare;
    const size_t m = cand_sample(c);
    float high = from - max, low = fminf(high, -20.0f); // what is searched for lies between
    double head[2 * KERN_LANES] = {0}, all[2 * KERN_LANES] = {0};
    c->kern->weigh(head, x, m, max, high);
    size_t count = c->kern->weigh(all, x, m, max, low);
    const double want = kern_lanes_total(head) + (double)share * (kern_lanes_total(all) - kern_lanes_total(head));
    for (int i = 0; i < STEPS; i++) {
        const float middle = low + (high - low) / 2;
        double sum[2 * KERN_LANES] = {0};
        const size_t here = c->kern->weigh(sum, x, m, max, middle);
        if (kern_lanes_total(sum) < want) {
            high = middle;
        } else {
            low = middle;
            count = here;
        }
    }
    const size_t needed = count * STRIDE + count * (STRIDE / 8) + FEW / 16;
    return needed < c->n ? needed : c->n;
}

// 128 at first, then as many as a sample says, then all. No weight is above 1, so that at least limit *
// total candidates are needed.
size_t nucleus_to_rank(struct cand *c, struct ranks ranked, float total, const struct nucleus *x)
{
    enum { FIRST = 128 };
    size_t n = !ranked.n && x->limit * total < (float)c->n / 8 ? FIRST : c->n;
    assert(ranked.at || !ranked.n);
    if (ranked.n == FIRST)
        n = likely_needed(c, cand_logit(c, ranked.at[FIRST - 1]), (x->limit - x->sum) / (1 - x->sum));
    n = n > x->least ? n : x->least;
    return ranked.n < n && n < c->n ? n : c->n;
}

// Plain algorithm: sort, softmax, add up the probabilities until they reach the limit. Too slow: most rows need few of
// n sorted candidates. Idea: the denominator `total` needs no order (cand_exp_sum takes it by position, as llama.cpp's
// softmax of a row that is not sorted does), and the nucleus needs only the ranks up to its end. So more and more of
// the best are ranked until it is full. Ranks, weights, quotients and their sums in order do not depend on how many are
// ranked at a time: the same bits.
bool cand_keep_nucleus(struct cand *c, struct nucleus kept)
{
    enum { BLOCK = 1024 };
    const float max = cand_max(c), total = cand_exp_sum(c);
    struct ranks ranked = {NULL, 0};
    float share[BLOCK];
    c->state = CAND_LOGITS;
    while (!c->fault.code && !kept.full && ranked.n < c->n) {
        const size_t n = nucleus_to_rank(c, ranked, total, &kept);
        const float *logit = c->store->spare;
        if (n == c->n) {
            cand_sort(c);
            logit = c->logit;
            ranked.n = n;
        } else {
            const size_t from = ranked.n;
            ranked = cand_rank(c, n);
            for (size_t i = from; i < n; i++)
                c->store->spare[i] = cand_logit(c, ranked.at[i]);
        }
        while (kept.n < ranked.n && !kept.full) {
            const size_t len = ranked.n - kept.n < BLOCK ? ranked.n - kept.n : BLOCK;
            float *const weight = c->p + kept.n;
            c->kern->exp_sub(weight, logit + kept.n, max, len);
            memcpy(share, weight, len * sizeof *share);
            c->kern->divide(share, len, total);
            nucleus_add(&kept, c->kern, share, len);
        }
    }
    if (c->fault.code)
        return false;
    if (c->order == CAND_SORTED)
        c->n = kept.n;
    else
        cand_gather(c, (struct ranks){ranked.at, kept.n}, CAND_SORTED);
    c->state = CAND_WEIGHTS;
    return kept.full;
}
