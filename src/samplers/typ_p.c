// SPDX-License-Identifier: MIT
// typ_p (locally typical sampling; Meister et al. 2022, arXiv 2202.00666): the candidates whose surprise is nearest to
// the entropy, up to cumulative probability p.
#include "kern/libm.h"
#include "sample/nucleus.h"
#include "sample/sampler.h"

enum { BLOCK = 1024, STEP = 16 }; // candidates that are looked at in one go, or have room behind those there are

static const struct param params[] = {
    {"typical", "keep the most typical tokens up to the sum P; 1: all", FLOAT_AT(value_params, value), FINITE, .def = 1,
     .metavar = "P", .also = "typical-p", .server = "typical_p", SLIDER(0, 1, 0.01)},
    MIN_KEEP,
    {NULL},
};

// Orders ranks by score, the distance of a candidate's surprise from the entropy.
//
// Plain algorithm: compute all scores, sort. Too slow: it would be the second sort of the row.
//
// Idea: by rank, probabilities fall, and so the surprises rise (logf never falls: make prove-expf). The scores
// therefore fall down to the rank `split`, where the surprise reaches the entropy, and rise behind it. Their order is a
// merge of two sorted sides: the ranks from split - 1 down to 0, and the ranks from split up.
//
// A sort by score keeps equal scores in the order of ranks. The left side is read backwards, so that runs of equal
// scores must be turned round: mirror[i] is the rank whose turn it is when the merge comes to rank i. Between the
// sides, the left one, with lower ranks, comes first on ties. The order is therefore the stable sort's, and the sums
// over it have the same bits.
//
// The merge stops when the cumulative probability is reached. If the ranks are only a head of the row, no candidate
// outside it may have a score below the last one: choose_ranks checks that against the tail's largest probability, and
// asks for a longer head otherwise.
struct typ_p_merge {
    const float *score;
    const uint32_t *mirror;       // of a rank on the left: the one whose turn it is when the merge comes there
    size_t n, split;              // the left side: ranks below split
    size_t from_left, from_right; // how many are taken
};

// The bits of a score, which is not negative, so that bits and scores have the same order.
static inline uint32_t bits(const float *score, size_t rank) { return bits_of_f32(score[rank]); }

// Fills mirror[0..split). Branches on the ends of runs could not be predicted, so there are none: one pass finds the
// first rank of each run, another adds the distance from its last.
static void mirror_runs(uint32_t *mirror, const float *score, size_t split)
{
    uint32_t first = 0, last = (uint32_t)split - 1, before = split ? bits(score, 0) : 0;
    for (uint32_t i = 0; i < split; i++) {
        const uint32_t here = bits(score, i);
        first = here == before ? first : i;
        before = here;
        mirror[i] = first;
    }
    for (uint32_t i = (uint32_t)split; i--;) {
        const uint32_t here = bits(score, i);
        last = here == before ? last : i;
        before = here;
        mirror[i] += last - i;
    }
}

// Writes the next BLOCK ranks, or as many as there are. Returns how many.
static size_t merge_ranks(struct typ_p_merge *m, uint32_t *order)
{
    size_t i = 0, left = m->from_left, right = m->split + m->from_right;
    for (; i < BLOCK && left < m->split && right < m->n; i++) {
        const bool from_right = m->score[right] < m->score[m->split - 1 - left];
        order[i] = from_right ? (uint32_t)right : m->mirror[m->split - 1 - left];
        right += from_right;
        left += !from_right;
    }
    while (i < BLOCK && left < m->split)
        order[i++] = m->mirror[m->split - 1 - left++];
    while (i < BLOCK && right < m->n)
        order[i++] = (uint32_t)right++;
    m->from_left = left;
    m->from_right = right - m->split;
    return i;
}

// Returns the first rank whose surprise is not below the entropy.
static size_t split_at(const float *log, size_t n, float entropy)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (-log[middle] < entropy)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Writes the ranks to keep to order and returns how many; 0 if the head is too short to tell. score holds the
// logarithms of the head's probabilities, which are overwritten, and has room for STEP more. mirror and order have room
// for the head.
static size_t choose_ranks(const struct cand *c, const struct head *head, float entropy, const struct value_params *p,
                           float *score, uint32_t *mirror, uint32_t *order)
{
    const bool part = head->best.n < c->n;
    const float beyond = part ? -libm_logf(head->tail_p) - entropy : INFINITY; // no score outside the head is below
    struct typ_p_merge m = {score, mirror, head->best.n, split_at(score, head->best.n, entropy), 0, 0};
    struct nucleus kept = {p->value, true, (size_t)p->min_keep, 0};
    float share[BLOCK];
    for (size_t i = 0; i < head->best.n; i += STEP)
        for (size_t k = 0; k < STEP; k++) // of constant length, which compilers unroll
            score[i + k] = fabsf(score[i + k] + entropy);
    mirror_runs(mirror, score, m.split);
    for (size_t i = 0, len; i < head->best.n; i += len) {
        len = merge_ranks(&m, order + i);
        for (size_t k = 0; k < len; k++)
            share[k] = head->p[order[i + k]];
        nucleus_add(&kept, c->kern, share, len);
        if (part && !(score[order[kept.n - 1]] < beyond))
            return 0;
        if (kept.full)
            return kept.n;
    }
    return part ? 0 : c->n;
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    unlisted_check_typical(c, (double)p->value, (size_t)p->min_keep);
    cand_sort_if_flat(c, 7.0f, 64); // most candidates are needed
    uint32_t *const mirror = cand_scratch(c, c->n, sizeof *mirror), *const order = cand_scratch(c, c->n, sizeof *order);
    float *const score = cand_scratch(c, c->n + STEP, sizeof *score), sum = cand_rank_sum(c),
                 entropy = cand_rank_entropy(c, sum, score);
    cand_find_zero(c, sum);
    const bool sorted = c->order == CAND_SORTED; // then ranks are positions
    struct head head = {.best = {NULL, 0}};
    size_t keep = 0;
    for (size_t least = 256; !keep && !c->fault.code; least = least < c->n / 64 ? least * 16 : c->n) {
        head = cand_rank_head(c, sum, 0.0f, least);
        if (!sorted)
            c->kern->log(score, head.p, head.best.n);
        keep = choose_ranks(c, &head, entropy, p, score, mirror, order);
    }
    if (!keep)
        return;
    for (size_t i = 0; !sorted && i < keep; i++)
        order[i] = head.best.at[order[i]];
    c->state = CAND_LOGITS; // the probabilities of the candidates that are left would be others
    cand_gather(c, (struct ranks){order, keep}, CAND_UNSORTED);
}

const struct sampler sampler_typ_p = {.limits = LIMITS_OTHERWISE,
                                      .distance = compares_typical,
                                      .name = "typ_p",
                                      .aliases = "typ,typical,typical_p",
                                      .letter = 'y',
                                      PARAMS(params, value_params),
                                      .apply = apply,
                                      .explain = explain_typical,
                                      .runs = {BELOW, 1}};
