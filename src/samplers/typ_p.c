// SPDX-License-Identifier: MIT
// typ_p (locally typical sampling; Meister et al. 2022, arXiv 2202.00666): the candidates whose surprise is nearest to the entropy, up to
// cumulative probability p.
#include "kern/libm.h"
#include "sample/sampler.h"

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
// scores keep the order of ranks, so runs of them on the left are taken from their start.
struct typ_p_merge {
    const float *surprise;
    size_t n;
    float entropy;
    size_t left, right;  // what is not taken yet: [0, left) and [right, n)
    size_t run, run_end; // a run on the left being taken
};

static float score(const struct typ_p_merge *m, size_t rank)
{
    return fabsf(m->surprise[rank] - m->entropy);
}

static size_t merge_next(struct typ_p_merge *m)
{
    if (m->run < m->run_end)
        return m->run++;
    if (!m->left || (m->right < m->n && score(m, m->right) < score(m, m->left - 1)))
        return m->right++;
    m->run_end = m->left;
    do
        m->left--;
    while (m->left && score(m, m->left - 1) == score(m, m->run_end - 1));
    m->run = m->left;
    return m->run++;
}

// Fills order with the ranks to keep and returns how many; 0 when the head is too short to tell. surprise has room for the head.
static size_t choose(const struct cand *c, const struct head *head, float entropy, const struct typ_p_params *p, float *surprise,
                     uint32_t *order)
{
    const bool part = head->n < c->n;
    const float beyond = part ? -libm_logf(head->tail_p) - entropy : INFINITY; // no score outside the head is below
    struct typ_p_merge m = {surprise, head->n, entropy, 0, 0, 0, 0};
    float sum = 0.0f;
    c->kern->log(surprise, head->p, head->n);
    for (size_t i = 0; i < head->n; i++)
        surprise[i] = -surprise[i];
    while (m.left < head->n && surprise[m.left] < entropy)
        m.left++;
    m.right = m.left;
    for (size_t i = 0; i < head->n; i++) {
        const size_t rank = merge_next(&m);
        if (part && !(score(&m, rank) < beyond))
            return 0;
        order[i] = (uint32_t)rank;
        sum += head->p[rank];
        if (sum > p->p && i + 1 >= (size_t)p->min_keep)
            return i + 1;
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
    uint32_t *const order = cand_scratch(c, c->n, sizeof *order); // ranks by score
    float *const surprise = cand_scratch(c, c->n, sizeof *surprise), sum = cand_rank_sum(c), entropy = cand_rank_entropy(c, sum);
    const size_t first = sum > (float)c->n / 64 ? c->n : 256; // of a flat row, few have a small share
    for (size_t least = first, keep = 0; !keep && !c->fault.code; least = least < c->n / 64 ? least * 16 : c->n) {
        const struct head head = cand_rank_head(c, sum, 0.0f, least);
        keep = choose(c, &head, entropy, stage->params, surprise, order);
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
