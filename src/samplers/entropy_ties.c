// SPDX-License-Identifier: MIT
// The two filters of the engine transformers that measure candidates by the entropy. Formulas: sampl-spec(7).
#include "kern/libm.h"
#include "sample/cand_private.h"
#include "sample/sampler.h"
#include "sample/softmax_wide.h"

#include <string.h>

static const struct param top_h[] = {{"top-h", FLOAT_AT(value_params, value)}, {NULL}};
static const struct param typical[] = {{"typical", FLOAT_AT(value_params, value)}, {NULL}};

// Returns the distance of the last candidate that typ_p_ties keeps; -1 if the sums do not tell.
//
// Plain algorithm: plain_last, which sorts all candidates by distance and adds up their probabilities until they reach
// the share. Too slow: the sort costs more than all else. Idea: only the candidates near the last one need an order.
// One pass adds up the probabilities of buckets of equal width. A bucket's number never falls when the distance rises,
// so that only the candidates of the bucket in which the sum reaches the share are sorted. Sums in another order differ
// by a share of 2^-36 at most, and plain_last rounds its sum to f32, by 2^-24. If no sum lies within 2^-22 of the
// share, each comparison is that of plain_last.
static float last_distance(struct cand *c, const float *distance, float share)
{
    enum { BUCKETS = 2048 };
    const float scale = 64.0f, top = BUCKETS - 1;
    const double low = (double)share * (1.0 - 0x1p-22), high = (double)share * (1.0 + 0x1p-22);
    struct cand_store *const s = c->store;
    double mass[BUCKETS] = {0}, sum = 0.0;
    size_t last = 0, n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const float at = distance[i] * scale;
        mass[(int32_t)(at < top ? at : top)] += (double)c->p[i];
    }
    while (last + 1 < BUCKETS && sum + mass[last] < low)
        sum += mass[last++];
    for (size_t i = 0; i < c->n; i++) {
        const float at = distance[i] * scale;
        s->key[n] = (uint64_t)~order_bits(distance[i]) << 32 | (uint32_t)~i;
        n += (int32_t)(at < top ? at : top) == (int32_t)last;
    }
    c->kern->sort(s->key, n, n, s->key_tmp);
    for (size_t i = 0; i < n && !(sum > low); i++) {
        const uint32_t at = rank_id(s->key[i]);
        sum += (double)c->p[at];
        if (sum >= high)
            return distance[at];
    }
    return -1.0f;
}

// Returns that distance by the plain algorithm.
static float plain_last(struct cand *c, const float *distance, float share)
{
    const uint32_t *const rank = cand_rank_rising(c, distance);
    double sum = 0.0;
    size_t last = 0;
    while (last + 1 < c->n && (float)(sum += c->p[rank[last]]) < share)
        last++;
    return distance[rank[last]];
}

// typ_p_ties: the candidates whose surprise is nearest to the entropy, up to cumulative probability M; all that are as
// near as the last stay, too.
static void typ_p_ties(void *self, struct cand *c, const struct stage *stage)
{
    const float share = ((const struct value_params *)stage->params)->value;
    unlisted_check_typical(c, (double)share, 1);
    const struct normaliser z = cand_softmax_wide(c);
    float *const distance = cand_scratch(c, c->n, sizeof *distance);
    unsigned char *const keep = cand_scratch(c, c->n, 1);
    if (c->fault.code)
        return;
    const float entropy = entropy_wide(c, &z);
    c->kern->log_shares(distance, c->logit, c->n, z.max, z.log);
    for (size_t i = 0; i < c->n; i++)
        distance[i] = fabsf(-distance[i] - entropy);
    float last = last_distance(c, distance, share);
    if (last < 0.0f)
        last = plain_last(c, distance, share);
    for (size_t i = 0; i < c->n; i++)
        keep[i] = distance[i] <= last;
    cand_keep_marked(c, keep);
}

enum { BEST = 100 };

// top_h_ties: of the 100 best those whose terms of the entropy, added up from the best on, stay within share h of it;
// and the best.
static void top_h_ties(void *self, struct cand *c, const struct stage *stage)
{
    const float share = ((const struct value_params *)stage->params)->value;
    cand_top_k(c, BEST); // sorted: equal logits by rising id
    const size_t n = c->n;
    uint32_t by_rank[BEST];
    memcpy(by_rank, c->id, n * sizeof *by_rank);
    const struct normaliser z = cand_softmax_wide(c);
    unsigned char keep[BEST] = {0};
    double sum = 0.0;
    if (c->fault.code)
        return;
    const float most = entropy_wide(c, &z) * share;
    for (size_t i = 0; i < c->n; i++) {
        size_t at = 0;
        while (c->id[at] != by_rank[i])
            at++;
        const float p = c->p[at];
        if (!(p > 0.0f))
            break;
        sum += (double)(-p * libm_logf(p));
        if (i && !((float)sum <= most))
            break;
        keep[at] = 1;
    }
    cand_keep_marked(c, keep);
}

const struct sampler sampler_typ_p_ties = {.name = "typ_p_ties",
                                           .limits = LIMITS_OTHERWISE,
                                           PARAMS(typical, value_params),
                                           .runs = {BELOW, 1},
                                           .apply = typ_p_ties,
                                           .explain = explain_typical,
                                           .distance = compares_typical};
const struct sampler sampler_top_h_ties = {.name = "top_h_ties",
                                           .limits = LIMITS_OTHERWISE,
                                           PARAMS(top_h, value_params),
                                           .runs = {ABOVE, 0},
                                           .apply = top_h_ties,
                                           .distance = compares_terms,
                                           .explain = explain_terms,
                                           .partial = {keep_best_partial, stage_always, BEST}};
