// SPDX-License-Identifier: MIT
#include "trace/drawn.h"

#include "base/mem.h"
#include "kern/expf.h"
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXPECTED_LEAST = 5 }; // draws that a class of Pearson's test expects at least

const double betas[BETAS] = {0.25, 0x1.6a09e667f3bcdp-2, 0.5, 0x1.6a09e667f3bcdp-1, 1.0, 0x1.6a09e667f3bcdp+0,
                             2.0,  0x1.6a09e667f3bcdp+1, 4.0};

// A candidate of the kept set.
struct kept_token {
    double d; // its logit less the largest
    double p;
    uint64_t n; // draws
    uint32_t id;
};

static int by_rank(const void *a, const void *b)
{
    const struct kept_token *const x = a, *const y = b;
    if (x->d != y->d)
        return x->d < y->d ? 1 : -1;
    return x->id < y->id ? -1 : 1;
}

// Returns the class of a rank, from 1. Each power of two above 4 has two classes.
static size_t rank_class(size_t rank)
{
    size_t power = 2;
    if (rank <= 4)
        return rank - 1;
    while ((rank - 1) >> (power + 1))
        power++;
    return 2 * power + ((rank - 1) >> (power - 1) & 1);
}

// ---- outside of the kept set

// Counts n draws of a token outside of the kept set, and names what removed it.
static void add_outside(const struct log *l, const struct cand *c, uint32_t id, uint64_t n, double tolerance,
                        struct row_draws *d)
{
    const bool names = d->n_first < OUTSIDE_MOST;
    struct expected x = {.id = id, .margin = INFINITY};
    const bool masked = cand_listed(c, id) && log_find(l, l->step, id) == SIZE_MAX;
    if ((names || tolerance >= 0.0) && !masked)
        trace_expected(l, c, &x);
    if (x.removed_by && x.margin <= tolerance) {
        d->near += n;
        return;
    }
    d->outside += n;
    if (!names)
        return;
    struct outside *const to = &d->first[d->n_first++];
    *to = (struct outside){.id = id, .n = n, .listed = x.listed || masked, .rank = x.rank, .next = x.next};
    strcpy(to->stage, x.removed_by ? x.removed_by : "");
}

// Counts the draws of each kept token; draw[0..n) rises, as the ids of the tokens do.
static void count_draws(const struct log *l, const struct cand *c, const uint32_t *draw, size_t n, double tolerance,
                        struct kept_token *token, struct row_draws *d)
{
    size_t k = 0;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && draw[end] == draw[i];)
            end++;
        while (k < d->kept && token[k].id < draw[i])
            k++;
        if (k < d->kept && token[k].id == draw[i]) {
            token[k].n = end - i;
            d->inside += end - i;
        } else {
            add_outside(l, c, draw[i], end - i, tolerance, d);
        }
    }
}

// ---- inside; the tokens lie by rank

static void by_classes(const struct kept_token *token, struct row_draws *d)
{
    d->n_ranks = rank_class(d->kept) + 1;
    for (size_t i = 0; i < d->kept; i++) {
        const size_t class = rank_class(i + 1);
        d->share[class] += token[i].p;
        d->by_rank[class] += token[i].n;
    }
}

// Pearson's test. The tokens that expect too few draws are one class; if that expects too few, too, the class joins the
// last of the other tokens.
static void by_token(const struct kept_token *token, struct row_draws *d)
{
    const double all = (double)d->inside;
    double expected_rest = 0.0, n_rest = 0.0;
    size_t classes = 0;
    while (classes < d->kept && token[classes].p * all >= EXPECTED_LEAST)
        classes++;
    if (classes < 2)
        return;
    for (size_t i = d->kept; i-- > classes;) {
        expected_rest += token[i].p * all;
        n_rest += (double)token[i].n;
    }
    const bool own = expected_rest >= EXPECTED_LEAST;
    d->df = (double)(classes - !own);
    for (size_t i = 0; i < classes + own; i++) {
        const bool rest = i == classes, joined = !own && i + 1 == classes;
        const double expected = rest ? expected_rest : token[i].p * all + (joined ? expected_rest : 0.0);
        const double n = rest ? n_rest : (double)token[i].n + (joined ? n_rest : 0.0);
        d->chi2 += (n - expected) * (n - expected) / expected;
        d->ratio = fmax(d->ratio, n / expected);
    }
}

// Sums up the derivatives of the log-likelihood at every beta. p^beta is proportional to exp(beta * d). Two
// exponentials suffice, as each beta is twice the beta two places before.
static void by_beta(const struct kept_token *token, struct row_draws *d)
{
    double z[BETAS] = {0}, mean[BETAS] = {0}, square[BETAS] = {0}, drawn = 0.0;
    const double n = (double)d->inside;
    for (size_t i = 0; i < d->kept; i++) {
        const double x = token[i].d;
        double w[BETAS] = {kern_exp(x * betas[0]), kern_exp(x * betas[1])};
        drawn += (double)token[i].n * x;
        for (size_t k = 0; k < BETAS; k++) {
            w[k] = k < 2 ? w[k] : w[k - 2] * w[k - 2];
            z[k] += w[k];
            mean[k] += w[k] * x;
            square[k] += w[k] * x * x;
        }
    }
    for (size_t k = 0; k < BETAS; k++) {
        mean[k] /= z[k];
        d->score[k] = drawn - n * mean[k];
        d->information[k] = n * fmax(0.0, square[k] / z[k] - mean[k] * mean[k]);
    }
}

bool trace_drawn(const struct log *l, const struct cand *c, const uint32_t *id, size_t n, double tolerance,
                 struct result *res)
{
    const struct log_step *const left = &l->step[l->n_steps - 1];
    const size_t kept = left->n;
    if (!mem_grow(&res->memory, &res->memory_cap,
                  sizeof(struct row_draws) + kept * sizeof(struct kept_token) + n * sizeof *id, 1))
        return false;
    struct row_draws *const d = res->memory;
    struct kept_token *const token = (struct kept_token *)(void *)(d + 1);
    uint32_t *const draw = (uint32_t *)(void *)(token + kept);
    float max = -INFINITY;
    double sum = 0.0;
    *d = (struct row_draws){.kept = kept};
    for (size_t i = 0; i < kept; i++)
        max = fmaxf(max, l->logit[left->at + i]);
    for (size_t i = 0; i < kept; i++) {
        const double x = (double)l->logit[left->at + i] - max;
        token[i] = (struct kept_token){.d = x, .p = kern_exp(x), .id = l->id[left->at + i]};
        sum += token[i].p;
    }
    for (size_t i = 0; i < kept; i++)
        token[i].p /= sum;
    if (n)
        memcpy(draw, id, n * sizeof *id);
    qsort(draw, n, sizeof *draw, order_u32);
    count_draws(l, c, draw, n, tolerance, token, d);
    if (d->inside) {
        qsort(token, kept, sizeof *token, by_rank);
        by_classes(token, d);
        by_token(token, d);
        by_beta(token, d);
        d->last = token[kept - 1].n;
        d->last_p = token[kept - 1].p;
    }
    res->record.drawn = d;
    return true;
}
