// SPDX-License-Identifier: MIT
#include "trace/agreement.h"

#include "base/mem.h"
#include "kern/libm.h"

#include <assert.h>
#include <stdlib.h>

enum { BEST = 10 };

void agreement_free(struct agreement_scratch *s)
{
    free(s->x);
    free(s->id);
}

// ---- the tokens of both rows

static uint32_t id_at(const struct row *r, size_t place) { return r->ids ? r->ids[place] : (uint32_t)place; }

// Spreads the logits of both rows over the ids that either has. x and y hold the logits of the rows in front: the loop
// runs from the end, and writes behind what it has still to read.
static size_t spread(struct agreement_scratch *s, const struct row *base, const struct row *other, size_t n)
{
    size_t i = base->n, k = other->n, at = n;
    while (i || k) {
        const bool has_x = i && (!k || id_at(base, i - 1) >= id_at(other, k - 1)),
                   has_y = k && (!i || id_at(other, k - 1) >= id_at(base, i - 1));
        at--;
        s->id[at] = has_x ? id_at(base, i - 1) : id_at(other, k - 1);
        s->x[at] = has_x ? s->x[--i] : -INFINITY;
        s->y[at] = has_y ? s->y[--k] : -INFINITY;
    }
    return at;
}

// Reads both rows. Returns the number of tokens, and the index of the first; 0 if memory is short.
static size_t load_both(struct agreement_scratch *s, const struct kern *kern, const struct row *base,
                        const struct row *other, size_t *first)
{
    const bool alike = !base->ids && !other->ids && base->n == other->n;
    const size_t n = alike ? base->n : base->n + other->n;
    *first = 0;
    if (!mem_grow(&s->x, &s->cap, 2 * n, sizeof *s->x) || !mem_grow(&s->id, &s->id_cap, n, sizeof *s->id))
        return 0;
    s->y = s->x + n;
    row_logits(kern, base, 0, base->n, s->x);
    row_logits(kern, other, 0, other->n, s->y);
    if (!alike)
        *first = spread(s, base, other, n);
    for (size_t i = 0; alike && i < n; i++)
        s->id[i] = (uint32_t)i;
    return n;
}

// ---- distributions

// ln(sum e^x) of a row's logits. The unlisted tokens of a partial row add the row's weight.
static double log_sum(const float *x, size_t n, const struct row_rest *rest)
{
    double max = -INFINITY, sum = 0.0;
    for (size_t i = 0; i < n; i++)
        max = fmax(max, (double)x[i]);
    assert(max > -INFINITY);
    for (size_t i = 0; i < n; i++)
        sum += libm_exp((double)x[i] - max);
    return max + libm_log(sum + (rest->partial ? libm_exp(rest->sum - max) : 0.0));
}

// The places of the likeliest tokens, the likeliest first.
struct best {
    size_t at[BEST], n;
};

static struct best best_of(const float *x, size_t n)
{
    struct best b = {.n = 0};
    for (size_t i = 0; i < n; i++) {
        if (!(x[i] > -INFINITY) || (b.n == BEST && !(x[i] > x[b.at[BEST - 1]])))
            continue;
        size_t k = b.n < BEST ? b.n++ : BEST - 1;
        for (; k && x[i] > x[b.at[k - 1]]; k--)
            b.at[k] = b.at[k - 1];
        b.at[k] = i;
    }
    return b;
}

// The share of a's `most` likeliest tokens that are among b's. A row with fewer tokens has all of its tokens.
static double shared(const struct best *a, const struct best *b, size_t most)
{
    const size_t n = a->n < most ? a->n : most, m = b->n < most ? b->n : most;
    size_t both = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++)
            both += a->at[i] == b->at[k];
    return (double)both / (double)n;
}

// Does a row tell its k likeliest tokens? b: the likeliest ones that it lists. An unlisted token may have the logit of
// the ceiling. If exactly k listed tokens reach the ceiling, the server chose them as the k likeliest.
static bool knows_best(const float *x, size_t n, const struct best *b, size_t k, const struct row_rest *rest)
{
    size_t head = 0;
    if (!rest->partial)
        return true;
    for (size_t i = 0; i < n; i++)
        head += x[i] >= rest->ceiling;
    return k <= rest->ranked || (rest->scale == SCALE_LOGPROBS && head == k) ||
           (b->n >= k && x[b->at[k - 1]] > rest->ceiling);
}

// Sums the squares of centred logits, and of their differences.
static void compare_logits(const float *x, const float *y, size_t n, struct agreement *a)
{
    double x_mean = 0.0, y_mean = 0.0, both = 0.0;
    for (size_t i = 0; i < n; i++)
        if (x[i] > -INFINITY && y[i] > -INFINITY) {
            x_mean += (double)x[i];
            y_mean += (double)y[i];
            both++;
        }
    x_mean /= both;
    y_mean /= both;
    for (size_t i = 0; i < n; i++)
        if (x[i] > -INFINITY && y[i] > -INFINITY) {
            const double u = (double)x[i] - x_mean, v = (double)y[i] - y_mean;
            a->power += u * u;
            a->error += (u - v) * (u - v);
        }
}

// Are all tokens with a probability above AGREEMENT_LIKELY in any row listed by both? Probabilities are e^(x - x_log).
static bool lists_likely(const struct row_rest *rest, double log_sum_of_row)
{
    return !rest->partial || libm_exp((double)rest->ceiling - log_sum_of_row) <= AGREEMENT_LIKELY;
}

// The tokens that not both rows list, as one token: their probabilities in both rows.
struct others {
    double p, q;
    double p_error, q_error; // at most, as lists are rounded
};

// The probability of a row's unlisted tokens, and how far it may be off. log_sum_of_row: of all tokens.
static double unlisted_prob(const struct row_rest *rest, double log_sum_of_row, double *error)
{
    const double p = rest->partial ? libm_exp(rest->sum - log_sum_of_row) : 0.0;
    *error = rest->partial ? libm_exp(rest->high - log_sum_of_row) - p : 0.0;
    return p;
}

// KL divergence does not rise if tokens are joined to one (the log-sum inequality). A list's probabilities are rounded,
// so that the others' may be 0 by mistake; the larger q gives the smaller bound.
static double others_kld(const struct others *o)
{
    const double q = fmax(o->q, o->q_error);
    return o->p > o->p_error && q > 0.0 ? o->p * libm_log(o->p / q) : 0.0;
}

bool agreement_measure(struct agreement_scratch *s, const struct kern *kern, const struct row *base,
                       const struct row *other, int64_t token, double least, struct agreement *a)
{
    size_t first;
    const size_t end = load_both(s, kern, base, other, &first), n = end - first;
    *a = (struct agreement){.kld = 0.0};
    if (!end)
        return false;
    const float *const x = s->x + first, *const y = s->y + first;
    const struct row_rest *const x_rest = &base->rest, *const y_rest = &other->rest;
    const double x_log = log_sum(x, n, x_rest), y_log = log_sum(y, n, y_rest);
    const struct best of_x = best_of(x, n), of_y = best_of(y, n);
    const bool knows_top = knows_best(x, n, &of_x, 1, x_rest);
    struct others others;
    others.p = unlisted_prob(x_rest, x_log, &others.p_error);
    others.q = unlisted_prob(y_rest, y_log, &others.q_error);
    bool likely = lists_likely(x_rest, x_log) && lists_likely(y_rest, y_log);
    double p = 0.0, q = 0.0;
    a->lists = x_rest->partial || y_rest->partial;
    a->nll_base = a->nll_q = INFINITY;
    for (size_t i = 0; i < n; i++) {
        const double log_p = (double)x[i] - x_log, log_q = (double)y[i] - y_log;
        const double p_i = libm_exp(log_p), q_i = libm_exp(log_q);
        const bool is_likely = p_i > AGREEMENT_LIKELY || q_i > AGREEMENT_LIKELY;
        const bool unlisted = (x_rest->partial && p_i == 0.0) || (y_rest->partial && q_i == 0.0);
        if (unlisted) {
            others.p += p_i;
            others.q += q_i;
            likely = likely && !is_likely;
        } else if (p_i > 0.0 && log_p >= least) {
            a->kld += p_i * (log_p - log_q);
        }
        if (is_likely && !unlisted) {
            const double d = fabs(log_p - log_q);
            a->dlogp += d;
            a->dlogp_most = fmax(a->dlogp_most, d);
            a->dlogp_n++;
        }
        if (token >= 0 ? s->id[first + i] == (uint64_t)token : i == of_x.at[0]) {
            p = p_i;
            q = q_i;
            a->nll_base = -log_p;
            a->nll_q = -log_q;
        }
    }
    a->dp = q - p;
    a->same = of_x.at[0] == of_y.at[0];
    a->top5 = shared(&of_x, &of_y, 5);
    a->top10 = shared(&of_x, &of_y, 10);
    if (!a->lists) {
        compare_logits(x, y, n, a);
        return true;
    }
    a->kld = fmax(0.0, a->kld + others_kld(&others));
    a->error = a->power = NAN; // the mean of the logits is not known
    if (!likely)
        a->dlogp = a->dlogp_most = NAN;
    if ((x_rest->partial && p == 0.0) || (y_rest->partial && q == 0.0) || (token < 0 && !knows_top))
        a->dp = a->nll_base = a->nll_q = NAN;
    if (!knows_top || !knows_best(y, n, &of_y, 1, y_rest))
        a->same = NAN;
    if (!knows_best(x, n, &of_x, 5, x_rest) || !knows_best(y, n, &of_y, 5, y_rest))
        a->top5 = NAN;
    if (!knows_best(x, n, &of_x, 10, x_rest) || !knows_best(y, n, &of_y, 10, y_rest))
        a->top10 = NAN;
    return true;
}
