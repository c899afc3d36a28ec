// SPDX-License-Identifier: MIT
// typ_p (locally typical sampling; Meister et al. 2022, arXiv 2202.00666): the candidates whose surprise is nearest to the entropy, up to
// cumulative probability p.
#include "base/bits.h"
#include "base/mem.h"
#include "sample/sampler.h"
#include "sample/sort.h"

#include <math.h>
#include <stdlib.h>

struct state {
    float *score;              // [n] by rank: distance of a candidate's surprise from the entropy
    uint64_t *order, *scratch; // [n] score above rank, to be sorted
    size_t score_cap, order_cap, scratch_cap;
};

static bool enabled(const struct params *p)
{
    return p->typical < 1.0f;
}

static struct fault need(struct state *s, size_t n)
{
    if (!mem_grow(&s->score, &s->score_cap, n, sizeof *s->score) || !mem_grow(&s->order, &s->order_cap, n, sizeof *s->order) ||
        !mem_grow(&s->scratch, &s->scratch_cap, n, sizeof *s->scratch))
        return fault_memory();
    return fault_none();
}

// Fills score and sorts the ranks by it; returns the entropy, its terms added by rank.
static float order_by_score(struct state *s, const struct head *head)
{
    float entropy = 0.0f;
    for (size_t i = 0; i < head->n; i++) {
        s->score[i] = -logf(head->p[i]); // the surprise
        if (head->p[i] > 0.0f)
            entropy += head->p[i] * s->score[i];
    }
    for (size_t i = 0; i < head->n; i++) {
        s->score[i] = fabsf(s->score[i] - entropy);
        s->order[i] = (uint64_t)order_bits(s->score[i]) << 32 | i;
    }
    sort_rising(s->order, head->n, s->scratch);
    return entropy;
}

// The score below which no candidate outside the head can be: their surprise is at least that of tail_p. -inf when their terms,
// at most -p ln p each, might change the entropy.
static float safe_score(const struct head *head, float entropy)
{
    const float surprise = -logf(head->tail_p), half_ulp = (nextafterf(entropy, INFINITY) - entropy) / 2;
    const bool negligible = head->tail_p < 0.1f && head->tail_p * surprise < 0.9f * half_ulp;
    return negligible ? surprise * 0.999f - entropy : -INFINITY;
}

// How many to keep of the head in the order of scores; 0 when the head is too short to tell.
static size_t count(struct state *s, const struct cand *c, const struct head *head, const struct params *p)
{
    const bool part = head->n < c->n;
    const float entropy = order_by_score(s, head), safe = part ? safe_score(head, entropy) : INFINITY;
    float sum = 0.0f;
    for (size_t i = 0; i < head->n; i++) {
        const uint32_t rank = (uint32_t)s->order[i];
        if (part && !(s->score[rank] < safe))
            return 0;
        sum += head->p[rank];
        if (sum > p->typical && i + 1 >= MIN_KEEP(p))
            return i + 1;
    }
    return part ? 0 : c->n;
}

// Keeps the candidates of the ranks order[0..n).
static struct fault keep_ranks(struct state *s, struct cand *c, size_t n)
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

static struct fault apply(void *self, struct cand *c, const struct params *p, const struct history *h)
{
    static const float ranges[] = {20.0f, INFINITY}; // the head that mostly suffices; everything
    struct state *const s = self;
    size_t keep = 0;
    (void)h;
    for (size_t i = 0; i < 2 && !keep; i++) {
        struct head head;
        struct fault fault = cand_softmax_head(c, ranges[i], 1, &head);
        if (!fault.code)
            fault = need(s, head.n);
        if (fault.code)
            return fault;
        keep = count(s, c, &head, p);
    }
    return keep_ranks(s, c, keep);
}

static void release(void *self)
{
    struct state *const s = self;
    free(s->score);
    free(s->order);
    free(s->scratch);
}

const struct sampler sampler_typ_p = {.size = sizeof(struct state), .enabled = enabled, .apply = apply, .release = release};
