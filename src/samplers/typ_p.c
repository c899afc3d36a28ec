// SPDX-License-Identifier: MIT
// typ_p (locally typical sampling; Meister et al. 2022, arXiv 2202.00666): the candidates whose surprise is nearest to the entropy, up to
// cumulative probability p.
#include "base/bits.h"
#include "base/mem.h"
#include "sample/sampler.h"

#include <math.h>
#include <stdlib.h>

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

struct typ_p_state {
    float *surprise, *term; // [n] by rank: -ln p, and what it adds to the entropy
    uint64_t *order;        // [n] ranks by score, the distance of a candidate's surprise from the entropy
    size_t surprise_cap, term_cap, order_cap;
};

static bool enabled(const struct stage *stage)
{
    const struct typ_p_params *const p = stage->params;
    return p->p < 1.0f;
}

static struct fault need(struct typ_p_state *s, size_t n)
{
    if (!mem_grow(&s->surprise, &s->surprise_cap, n, sizeof *s->surprise) ||
        !mem_grow(&s->term, &s->term_cap, n, sizeof *s->term) || !mem_grow(&s->order, &s->order_cap, n, sizeof *s->order))
        return fault_memory();
    return fault_none();
}

// Fills surprise; returns the entropy, its terms added by rank.
static float entropy_of(struct typ_p_state *s, const struct kern *kern, const struct head *head)
{
    for (size_t i = 0; i < head->n; i++) {
        s->surprise[i] = -logf(head->p[i]);
        s->term[i] = head->p[i] > 0.0f ? head->p[i] * s->surprise[i] : 0.0f;
    }
    return kern->sum(s->term, head->n, 0.0f);
}

// The score below which no candidate outside the head can be: their surprise is at least that of tail_p. -inf when their terms,
// at most -p ln p each, might change the entropy.
static float safe_score(const struct head *head, float entropy)
{
    const float surprise = -logf(head->tail_p), half_ulp = (nextafterf(entropy, INFINITY) - entropy) / 2;
    const bool negligible = head->tail_p < 0.1f && head->tail_p * surprise < 0.9f * half_ulp;
    return negligible ? surprise * 0.999f - entropy : -INFINITY;
}

// Ranks by score without a sort: as the surprise rises from rank to rank (logf never falls: make prove-expf), the scores fall down to
// the entropy and rise behind it, so the order is a merge of the two sides. Equal scores keep the order of ranks, so runs of them on the
// left are taken from their start.
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

static struct typ_p_merge merge_begin(const float *surprise, size_t n, float entropy)
{
    struct typ_p_merge m = {surprise, n, entropy, 0, 0, 0, 0};
    while (m.left < n && surprise[m.left] < entropy)
        m.left++;
    m.right = m.left;
    return m;
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

// Fills order with the ranks to keep and returns how many; 0 when the head is too short to tell.
static size_t choose(struct typ_p_state *s, const struct cand *c, const struct head *head, const struct typ_p_params *p)
{
    const bool part = head->n < c->n;
    const float entropy = entropy_of(s, c->kern, head), safe = part ? safe_score(head, entropy) : INFINITY;
    struct typ_p_merge m = merge_begin(s->surprise, head->n, entropy);
    float sum = 0.0f;
    for (size_t i = 0; i < head->n; i++) {
        const size_t rank = merge_next(&m);
        if (part && !(score(&m, rank) < safe))
            return 0;
        s->order[i] = rank;
        sum += head->p[rank];
        if (sum > p->p && i + 1 >= (size_t)p->min_keep)
            return i + 1;
    }
    return part ? 0 : c->n;
}

// Keeps the candidates of the ranks order[0..n).
static struct fault keep_ranks(struct typ_p_state *s, struct cand *c, size_t n)
{
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = (uint32_t)s->order[i] > most ? (uint32_t)s->order[i] : most;
    const struct fault fault = cand_rank(c, most + 1);
    if (fault.code)
        return fault;
    for (size_t i = 0; i < n; i++)
        s->order[i] = c->key[(uint32_t)s->order[i]];
    memcpy(c->key, s->order, n * sizeof *c->key);
    return cand_gather(c, n, CAND_UNSORTED);
}

static struct fault apply(void *self, struct cand *c, const struct stage *stage, const struct history *h)
{
    const struct typ_p_params *const p = stage->params;
    static const float ranges[] = {20.0f, INFINITY}; // the head that mostly suffices; everything
    struct typ_p_state *const s = self;
    size_t keep = 0;
    for (size_t i = 0; i < 2 && !keep; i++) {
        struct head head;
        struct fault fault = cand_softmax_head(c, ranges[i], 1, &head);
        if (!fault.code)
            fault = need(s, head.n);
        if (fault.code)
            return fault;
        keep = choose(s, c, &head, p);
    }
    return keep_ranks(s, c, keep);
}

static void release(void *self)
{
    struct typ_p_state *const s = self;
    free(s->surprise);
    free(s->term);
    free(s->order);
}

const struct sampler sampler_typ_p = {.name = "typ_p",
                                      .aliases = "typ,typical,typical_p",
                                      .letter = 'y',
                                      PARAMS(params, typ_p_params),
                                      .size = sizeof(struct typ_p_state),
                                      .enabled = enabled,
                                      .apply = apply,
                                      .release = release};
