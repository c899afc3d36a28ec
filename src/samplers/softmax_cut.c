// SPDX-License-Identifier: MIT
// softmax_cut (the engine sglang): one softmax, then top-k, top-p and min-p cut the candidates in place by their
// probabilities of the whole vocabulary. Nothing is renormalised between the cuts: P is a share of all candidates, not
// of those that top-k left. Formulas: sampl-spec(7).
#include "kern/expf.h"
#include "kern/libm.h"
#include "sample/cand_private.h"
#include "sample/listed.h"
#include "sample/nucleus.h"
#include "sample/sampler.h"
#include "sample/softmax_wide.h"

#include <string.h>

struct cut_params {
    int32_t k;
    float top_p, min_p;
};

static const struct param params[] = {{"top-k", INT_AT(cut_params, k)},
                                      {"top-p", FLOAT_AT(cut_params, top_p)},
                                      {"min-p", FLOAT_AT(cut_params, min_p)},
                                      {NULL}};

static bool cuts(const struct cut_params *p) { return p->k > 0 || p->top_p < 1.0f || p->min_p > 0.0f; }

// The ranks that top-k leaves.
static size_t most_kept(const struct cand *c, const struct cut_params *cut)
{
    return cut->k > 0 && (size_t)cut->k < c->n ? (size_t)cut->k : c->n;
}

// Counts the ranks that stay, of n with the probabilities p[0..n), which fall. A rank stays if the sum before it is at
// most P, so that a P that is met exactly keeps one more. A candidate whose p is 0 in f32 goes: no draw chooses it.
static size_t count_staying(const struct cut_params *cut, const float *p, size_t n)
{
    const float floor = p[0] * cut->min_p;
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += p[i];
        if (p[i] < floor || !(p[i] > 0.0f) || (cut->top_p < 1.0f && (float)sum - p[i] > cut->top_p))
            return i;
    }
    return n;
}

// Sorts positions, rising.
static void sort_positions(struct cand *c, uint32_t *at, size_t n)
{
    uint64_t *const key = c->store->key;
    for (size_t i = 0; i < n; i++)
        key[i] = (uint64_t)~at[i] << 32;
    c->kern->sort(key, n, n, c->store->key_tmp);
    for (size_t i = 0; i < n; i++)
        at[i] = ~(uint32_t)(key[i] >> 32);
}

// Writes the m best by logit to at[] and their probabilities to p[]; equal probabilities by rising position. Returns
// how many of these ranks are ranks by p, too: all but the last run of equal p, to which other candidates may belong.
static size_t rank_by_p(struct cand *c, const struct normaliser *z, size_t m, uint32_t *at, float *p)
{
    const struct ranks best = cand_rank(c, m);
    size_t last = 0;
    memcpy(at, best.at, m * sizeof *at);
    cand_weigh_ranked(c, best, 0, z->max, p);
    c->kern->divide_wide(p, m, z->sum);
    for (size_t i = 0, end; i < m; i = end) {
        bool rising = true;
        for (end = i + 1; end < m && p[end] == p[i]; end++)
            rising &= at[end - 1] < at[end];
        if (!rising)
            sort_positions(c, at + i, end - i);
        last = i;
    }
    return last;
}

// Keeps what cut_all keeps. Returns false, and leaves all candidates, if the best candidates do not tell.
//
// Plain algorithm: cut_all, which sorts all candidates by p. Too slow: the candidates that stay are few. Idea: the sum
// of the softmax needs no array of probabilities, and the cuts need only the ranks up to the first one that goes.
// cut_head ranks the best by logit: as many as top-k and min-p can leave, and as many as a sample of the row says for
// top-p. Why the bits are the same: neither expf nor the quotient falls when the logit rises (make prove-expf). The
// order by logit is therefore the order by p, except among equal p. Those are ordered by position, and the last run of
// them is not used. Probabilities and their sum in order do not depend on how many candidates are ranked.
static bool cut_head(struct cand *c, const struct cut_params *cut, const struct normaliser *z)
{
    enum { MORE = 16 }; // ranked beyond what may stay, so that the last run of equal p lies there
    uint32_t *const at = cand_scratch(c, c->n, sizeof *at);
    float *const p = cand_scratch(c, c->n, sizeof *p);
    const size_t most = most_kept(c, cut);
    struct nucleus likely = {.limit = cut->top_p};
    struct ranks ranked = {NULL, 0};
    size_t bound = most;
    if (cut->min_p > 0.0f) {
        const float floor = z->max + libm_logf(cut->min_p) - 0x1p-10f;
        const size_t reach = cand_collect(c, floor, c->n);
        bound = bound < reach ? bound : reach;
    }
    while (!c->fault.code) {
        const size_t needed = cut->top_p < 1.0f ? nucleus_to_rank(c, ranked, (float)z->sum, &likely) : c->n,
                     m = needed < bound + MORE ? needed : bound + MORE;
        if (m >= c->n || m <= ranked.n)
            return false;
        const size_t whole = rank_by_p(c, z, m, at, p), n = whole < most ? whole : most,
                     staying = n ? count_staying(cut, p, n) : 0;
        if (n && (staying < n || n == most)) {
            c->state = CAND_LOGITS;
            cand_gather(c, (struct ranks){at, staying}, CAND_SORTED);
            memcpy(c->p, p, staying * sizeof *p);
            c->state = CAND_PROBABILITIES;
            return true;
        }
        ranked = (struct ranks){at, m};
        likely.sum = (float)c->kern->sum_wide(p, m, 0.0);
    }
    return false;
}

static void cut_all(struct cand *c, const struct cut_params *cut)
{
    cand_softmax_wide(c);
    if (c->fault.code)
        return;
    cand_top_k_by_p(c, c->n);
    c->n = count_staying(cut, c->p, most_kept(c, cut));
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct cut_params *const cut = stage->params;
    if (!cuts(cut)) {
        cand_softmax_wide(c);
        return;
    }
    const struct normaliser z = cand_normaliser_wide(c);
    if (!c->fault.code && !cut_head(c, cut, &z))
        cut_all(c, cut);
}

// Lowers *kept to the candidates that a cut keeps, if that is known: 0 stands for all of the head.
static bool lower_kept(size_t *kept, size_t known)
{
    if (known && known < *kept)
        *kept = known;
    return known < SIZE_MAX;
}

// Returns how many candidates min-p keeps; 0 if the limit is not above the ceiling, SIZE_MAX if
// rounding decides.
static size_t count_above(const struct cand *c, float min_p)
{
    const float floor = cand_max(c) + libm_logf(min_p);
    size_t n = 0;
    if (list_is_coarse(&c->unlisted)) {
        bool others;
        const size_t reach = listed_reach(c, (double)floor - cand_max(c), &others);
        return reach < SIZE_MAX && others ? 0 : reach;
    }
    for (size_t i = 0; i < c->n; i++)
        n += cand_logit(c, i) >= floor;
    if (listed_is_near(c, floor))
        return SIZE_MAX;
    return floor > c->unlisted.ceiling + (float)LIST_SLACK ? n : 0;
}

// Each cut keeps a number of the best of the full row, so that the least of these numbers stays.
static void partial(void *self, struct cand *c, const struct stage *stage)
{
    const struct cut_params *const cut = stage->params;
    const size_t head = listed_head(c);
    size_t kept = SIZE_MAX;
    bool known = head > 0 || !cuts(cut);
    if (cut->k > 0)
        known = known && lower_kept(&kept, (size_t)cut->k <= head ? (size_t)cut->k : 0);
    if (cut->min_p > 0.0f)
        known = known && lower_kept(&kept, count_above(c, cut->min_p));
    if (cut->top_p < 1.0f)
        known = known && lower_kept(&kept, unlisted_nucleus(c, cut->top_p));
    if (known && kept == SIZE_MAX) { // all of the head stays
        cand_softmax_wide(c);
        if (cuts(cut)) {
            unlisted_may_cut(c);
            cand_top_k_by_p(c, c->n);
        }
        return;
    }
    unlisted_remove(c,
                    known && list_is_rounded(&c->unlisted) && full_best_known(c, kept)); // bits of p need the full row
    if (c->unlisted.state == UNLISTED_INEXACT) {
        apply(self, c, stage);
        return;
    }
    cand_top_k(c, kept);
    cand_softmax_wide(c);
    cand_top_k_by_p(c, c->n);
}

static bool ends_partial(const struct stage *stage) { return cuts(stage->params); }

// A candidate stays if it exceeds no limit: the number that exceeds its limit most, or comes nearest to it, decides.
static double distance(const struct stage *stage, const struct compared *of)
{
    const struct cut_params *const cut = stage->params;
    const double to_rank = cut->k > 0 ? distance_of_rank(of, (size_t)cut->k) : INFINITY;
    double before = 0.0, excess = -INFINITY;
    int32_t rank = 0;
    for (size_t i = 0; i < of->n; i++)
        if (of->logit[i] > of->own) {
            before += softmax_prob(of->softmax, of->logit[i]);
            rank++;
        }
    if (to_rank < INFINITY)
        excess = rank < cut->k ? -to_rank : to_rank;
    if (cut->top_p < 1.0f)
        excess = fmax(excess, before / cut->top_p - 1.0);
    if (cut->min_p > 0.0f)
        excess = fmax(excess, 1.0 - kern_exp((double)of->own - of->softmax->max) / cut->min_p);
    return fabs(excess);
}

// Each filter that is on kept all.
static void explain(struct account *a)
{
    const struct cut_params *const cut = a->stage->params;
    const double least = softmax_prob(a->of.softmax, a->of.own), rank = (double)a->before.n;
    const double ratio = kern_exp((double)a->of.own - a->of.softmax->max);
    const char *between = ": ";
    if (!a->unchanged)
        return;
    account_say(a, "kept all");
    if (!cuts(cut)) {
        account_say(a, ": no filter is on");
        return;
    }
    if (a->whole && cut->k > 0 && rank <= cut->k) {
        account_say(a, "%s%.0f candidate%s, at most %d", between, rank, rank > 1.0 ? "s" : "", (int)cut->k);
        between = "; ";
    }
    if (a->whole && cut->top_p < 1.0f && 1.0 - least < cut->top_p) {
        account_say(a, "%s", between);
        account_compare(a, "without the last they have ", 1.0 - least, ", not above ", cut->top_p);
        between = "; ";
    }
    if (a->whole && cut->min_p > 0.0f && ratio > cut->min_p) {
        account_say(a, "%s", between);
        account_compare(a, "the least likely has ", ratio, " of the largest probability, at least ", cut->min_p);
    }
}

const struct sampler sampler_softmax_cut = {.name = "softmax_cut",
                                            PARAMS(params, cut_params),
                                            .apply = apply,
                                            .distance = distance,
                                            .explain = explain,
                                            .partial = {partial, ends_partial}};
