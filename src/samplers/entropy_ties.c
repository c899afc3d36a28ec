// SPDX-License-Identifier: MIT
// The two filters of the engine transformers that measure candidates by the entropy. Formulas: sampl-engines(7).
#include "kern/libm.h"
#include "sample/cand_private.h"
#include "sample/sampler.h"
#include "sample/softmax_wide.h"

#include <string.h>

static const struct param top_h[] = {{"top-h", FLOAT_AT(value_params, value)}, {NULL}};
static const struct param typical[] = {{"typical", FLOAT_AT(value_params, value)}, {NULL}};

// Writes the positions of the candidates by rising value, of equal values the lower position first, to rank[0..n).
// value is not negative.
static const uint32_t *rank_rising(struct cand *c, const float *value)
{
    struct cand_store *const s = c->store;
    for (size_t i = 0; i < c->n; i++)
        s->key[i] = (uint64_t)~order_bits(value[i]) << 32 | (uint32_t)~i;
    c->kern->sort(s->key, c->n, c->n, s->key_tmp);
    for (size_t i = 0; i < c->n; i++)
        s->rank[i] = rank_id(s->key[i]);
    return s->rank;
}

// typ_p_ties: the candidates whose surprise is nearest to the entropy, up to cumulative probability M; all that are as
// near as the last stay, too.
static void typ_p_ties(void *self, struct cand *c, const struct stage *stage)
{
    const float share = ((const struct value_params *)stage->params)->value;
    const struct normaliser z = cand_softmax_wide(c);
    float *const distance = cand_scratch(c, c->n, sizeof *distance);
    unsigned char *const keep = cand_scratch(c, c->n, 1);
    double sum = 0.0;
    size_t last = 0;
    if (c->fault.code)
        return;
    const float entropy = entropy_wide(c, &z);
    c->kern->log_shares(distance, c->logit, c->n, z.max, z.log);
    for (size_t i = 0; i < c->n; i++)
        distance[i] = fabsf(-distance[i] - entropy);
    const uint32_t *const rank = rank_rising(c, distance);
    while (last + 1 < c->n && (float)(sum += c->p[rank[last]]) < share)
        last++;
    for (size_t i = 0; i < c->n; i++)
        keep[i] = distance[i] <= distance[rank[last]];
    cand_keep_marked(c, keep);
}

// top_h_ties: of the 100 best those whose terms of the entropy, added up from the best on, stay within share h of it;
// and the best.
static void top_h_ties(void *self, struct cand *c, const struct stage *stage)
{
    enum { BEST = 100 };
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
                                           .apply = typ_p_ties};
const struct sampler sampler_top_h_ties = {.name = "top_h_ties",
                                           .limits = LIMITS_OTHERWISE,
                                           PARAMS(top_h, value_params),
                                           .runs = {ABOVE, 0},
                                           .apply = top_h_ties};
