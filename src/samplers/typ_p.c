// SPDX-License-Identifier: MIT
// typ_p (locally typical sampling; Meister et al. 2022, arXiv 2202.00666): the candidates whose surprise is nearest to the entropy, up to
// cumulative probability p.
#include "kern/libm.h"
#include "sample/nucleus.h"
#include "sample/sampler.h"

enum { BLOCK = 256 }; // candidates that are looked at in one go

struct typ_p_params {
    float p;
    int32_t min_keep;
};

static const struct param params[] = {
    {"typical", "keep the most typical up to cumulative probability P; 1: all", FLOAT_AT(typ_p_params, p), RANGE(0, FLT_MAX),
     .def = 1, .metavar = "P", .also = "typical-p", .server = "typical_p"},
    {"min-keep", INT_AT(typ_p_params, min_keep)},
    {NULL},
};

// Ranks by score, the distance of a candidate's surprise from the entropy, without a sort: as the surprise rises from rank to rank (logf
// never falls: make prove-expf), the scores fall down to the entropy and rise behind it, so the order is a merge of the two sides. Equal
// scores keep the order of ranks.
struct typ_p_merge {
    const float *score;
    const uint32_t *fall;         // ranks of the left side by score
    size_t n, split;              // the left side: ranks below split
    size_t from_left, from_right; // how many are taken
};

// Which side is next, or where a run of equal scores ends, cannot be foreseen: no branch here looks at it. start is scratch.
static void order_left(uint32_t *fall, uint32_t *start, const float *score, size_t split)
{
    size_t run = 0, end = split;
    for (size_t i = 0; i < split; i++) {
        run += (i && score[i] != score[i - 1]) * (i - run);
        start[i] = (uint32_t)run;
    }
    for (size_t i = split; i--;) {
        fall[i + split - end - start[i]] = (uint32_t)i;
        end -= (i && score[i] != score[i - 1]) * (end - i);
    }
}

// The next n ranks, or what there is. Returns how many.
static size_t merge(struct typ_p_merge *m, uint32_t *order, size_t n)
{
    const float *const score = m->score;
    size_t i = 0, left = m->from_left, right = m->split + m->from_right;
    for (; i < n && left < m->split && right < m->n; i++) {
        const bool from_right = score[right] < score[m->split - 1 - left];
        const uint32_t rank = m->fall[left];
        order[i] = rank + from_right * ((uint32_t)right - rank);
        right += from_right;
        left += !from_right;
    }
    while (i < n && left < m->split)
        order[i++] = m->fall[left++];
    while (i < n && right < m->n)
        order[i++] = (uint32_t)right++;
    m->from_left = left;
    m->from_right = right - m->split;
    return i;
}

// Fills order with the ranks to keep and returns how many; 0 when the head is too short to tell. score and fall have room for the head.
static size_t choose(const struct cand *c, const struct head *head, float entropy, const struct typ_p_params *p, float *score,
                     uint32_t *fall, uint32_t *order)
{
    const bool part = head->n < c->n;
    const float beyond = part ? -libm_logf(head->tail_p) - entropy : INFINITY; // no score outside the head is below
    struct typ_p_merge m = {score, fall, head->n, 0, 0, 0};
    struct nucleus kept = {p->p, true, (size_t)p->min_keep, 0};
    float share[BLOCK];
    c->kern->log(score, head->p, head->n);
    while (m.split < head->n && -score[m.split] < entropy)
        m.split++;
    for (size_t i = 0; i < head->n; i++)
        score[i] = fabsf(-score[i] - entropy);
    order_left(fall, order, score, m.split);
    for (size_t i = 0, len; i < head->n; i += len) {
        len = merge(&m, order + i, BLOCK);
        for (size_t k = 0; k < len; k++)
            share[k] = head->p[order[i + k]];
        nucleus_take(&kept, c->kern, share, len);
        if (part && !(score[order[kept.n - 1]] < beyond))
            return 0;
        if (kept.full)
            return kept.n;
    }
    return part ? 0 : c->n;
}

// Keeps the candidates of the ranks order[0..n), which are in the head.
static void keep_ranks(struct cand *c, uint32_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)c->key[order[i]];
    for (size_t i = 0; i < n; i++)
        c->key[i] = order[i];
    cand_gather(c, n, CAND_UNSORTED);
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    if (cand_within(c, 7.0f) > c->n / 64) // most of these are needed
        cand_sort(c);
    uint32_t *const order = cand_scratch(c, c->n, sizeof *order); // ranks by score
    uint32_t *const fall = cand_scratch(c, c->n, sizeof *fall);
    float *const score = cand_scratch(c, c->n, sizeof *score), sum = cand_rank_sum(c), entropy = cand_rank_entropy(c, sum);
    for (size_t least = 256, keep = 0; !keep && !c->fault.code; least = least < c->n / 64 ? least * 16 : c->n) {
        const struct head head = cand_rank_head(c, sum, 0.0f, least);
        keep = choose(c, &head, entropy, stage->params, score, fall, order);
        if (keep)
            keep_ranks(c, order, keep);
    }
}

const struct sampler sampler_typ_p = {.limits = true,
                                      .name = "typ_p",
                                      .aliases = "typ,typical,typical_p",
                                      .letter = 'y',
                                      PARAMS(params, typ_p_params),
                                      .apply = apply,
                                      .runs = {BELOW, 1}};
