// SPDX-License-Identifier: MIT
#include "trace/agreement.h"

#include "base/mem.h"
#include "kern/expf.h"
#include "kern/libm.h"
#include "trace/record.h"

#include <assert.h>
#include <stdlib.h>

enum { BEST = 10, RANKED = BEST + 1 }; // one more tells whether the last is apart from the next

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

// Reads a row. The clipped tokens of a kld file have the number that is stored for them.
static void load_one(const struct kern *kern, const struct row *r, float *x)
{
    row_logits(kern, r, 0, r->n, x);
    for (size_t i = 0; r->unlisted.scale == SCALE_STORED && i < r->n; i++)
        x[i] = fmaxf(x[i], r->clipped.low);
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
    load_one(kern, base, s->x);
    load_one(kern, other, s->y);
    if (!alike)
        *first = spread(s, base, other, n);
    for (size_t i = 0; alike && i < n; i++)
        s->id[i] = (uint32_t)i;
    return n;
}

// ---- distributions

// One of the two rows: its logits for the tokens that either row has.
struct side {
    const float *x; // [n]
    size_t n;
    const struct row_unlisted *unlisted;
    double log_sum;       // ln(sum e^x); the unlisted tokens of a partial row add the row's weight; of a kld file 0
    double others, error; // probability of its unlisted tokens, and how far that may be off, as lists are rounded
    struct ranked best[RANKED]; // the likeliest tokens, the likeliest first: id is the place, p the logit
    size_t n_best;
};

static double log_sum(const float *x, size_t n, const struct row_unlisted *unlisted)
{
    double max = -INFINITY, sum = 0.0;
    if (unlisted->scale == SCALE_STORED)
        return 0.0;
    for (size_t i = 0; i < n; i++)
        max = fmax(max, (double)x[i]);
    assert(max > -INFINITY);
    for (size_t i = 0; i < n; i++)
        sum += libm_exp((double)x[i] - max);
    return max + libm_log(sum + (unlisted->partial ? libm_exp(unlisted->sum - max) : 0.0));
}

static struct side side_of(const float *x, size_t n, const struct row_unlisted *unlisted)
{
    struct side s = {.x = x, .n = n, .unlisted = unlisted, .log_sum = log_sum(x, n, unlisted)};
    if (unlisted->partial) {
        s.others = libm_exp(unlisted->sum - s.log_sum);
        s.error = libm_exp(unlisted->high - s.log_sum) - s.others;
    }
    for (size_t i = 0; i < n; i++)
        if (x[i] > -INFINITY)
            ranked_insert(s.best, &s.n_best, RANKED, (uint32_t)i, (double)x[i]);
    s.n_best = s.n_best < RANKED ? s.n_best : RANKED;
    return s;
}

// Returns true if no rounding of the row's numbers can have put the k-th likeliest token before the next.
static bool tells_apart(const struct side *s, size_t k)
{
    const struct list_unit *const unit = &s->unlisted->unit;
    if (!list_unit_coarse(unit) || s->n_best <= k)
        return true;
    const double last = s->best[k - 1].p, next = s->best[k].p;
    // The numbers and their unit are rounded to f32, so that a whole step may be a little less.
    return last - next >= 0.99 * (list_unit_half(unit, last) + list_unit_half(unit, next));
}

// Returns whether a row tells its k likeliest tokens. An unlisted token may have the logit of the ceiling. If exactly k
// listed tokens reach the ceiling, the server chose them as the k likeliest.
static bool knows_best(const struct side *s, size_t k)
{
    const struct row_unlisted *const unlisted = s->unlisted;
    size_t head = 0;
    for (size_t i = 0; unlisted->partial && i < s->n; i++)
        head += s->x[i] >= unlisted->ceiling;
    if (unlisted->partial && unlisted->scale == SCALE_LOGPROBS && head == k)
        return true;
    return tells_apart(s, k) &&
           (!unlisted->partial || k <= unlisted->ranked || (s->n_best >= k && s->best[k - 1].p > unlisted->ceiling));
}

// The share of a's `most` likeliest tokens that are among b's; NaN if a row does not tell them. A row with fewer tokens
// has all of its tokens.
static double shared(const struct side *a, const struct side *b, size_t most)
{
    const size_t n = a->n_best < most ? a->n_best : most, m = b->n_best < most ? b->n_best : most;
    size_t both = 0;
    if (!knows_best(a, most) || !knows_best(b, most))
        return NAN;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++)
            both += a->best[i].id == b->best[k].id;
    return (double)both / (double)n;
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

// Returns whether the row lists all tokens with a probability above AGREEMENT_LIKELY. Probabilities are e^(x -
// log_sum).
static bool lists_likely(const struct side *s)
{
    return !s->unlisted->partial || libm_exp((double)s->unlisted->ceiling - s->log_sum) <= AGREEMENT_LIKELY;
}

// The divergence of the tokens that not both rows list, as one token with the probabilities p and q. KL divergence does
// not rise if tokens are joined to one (the log-sum inequality). A list's probabilities are rounded, so that p and q
// may be 0 by mistake; the larger q gives the smaller bound.
static double others_kld(double p, double p_error, double q, double q_error)
{
    q = fmax(q, q_error);
    return p > p_error && q > 0.0 ? p * libm_log(p / q) : 0.0;
}

// The log-probabilities of a kld file's row count in KLD if they are above this (perplexity.cpp, kl_divergence).
#define STORED_LEAST -16.0

// Computes kld, and nll_base, nll_q and dp of the token at place `at`, as llama-perplexity does: each term in f32, the
// sums in f64 by id. x: the stored log-probabilities. y: logits or, if `stored`, log-probabilities, too.
static void measure_stored(const float *x, const float *y, size_t n, bool stored, size_t at, struct agreement *a)
{
    float max = -INFINITY, top = 0.0f; // top: ln of the sum of e^y
    double sum = 0.0;
    a->kld = 0.0;
    for (size_t i = 0; i < n; i++)
        max = fmaxf(max, y[i]);
    for (size_t i = 0; !stored && i < n; i++)
        sum += (double)kern_expf(y[i] - max);
    if (!stored)
        top = max + (float)libm_log(sum);
    for (size_t i = 0; i < n; i++)
        if (x[i] > (float)STORED_LEAST)
            a->kld += (double)(kern_expf(x[i]) * (x[i] - y[i] + top));
    if (at == n)
        return;
    const float nll_q = top - y[at];
    a->nll_q = (double)nll_q;
    a->nll_base = -(double)x[at];
    a->dp = (double)(kern_expf(-nll_q) - kern_expf(x[at]));
}

bool agreement_measure(struct agreement_scratch *s, const struct kern *kern, const struct row *base,
                       const struct row *other, int64_t token, struct agreement *a)
{
    const double least = base->unlisted.scale == SCALE_STORED ? STORED_LEAST : -INFINITY;
    size_t first, at = SIZE_MAX;
    const size_t end = load_both(s, kern, base, other, &first), n = end - first;
    *a = (struct agreement){.kld = 0.0};
    if (!end)
        return false;
    const struct side x = side_of(s->x + first, n, &base->unlisted), y = side_of(s->y + first, n, &other->unlisted);
    bool likely = lists_likely(&x) && lists_likely(&y);
    double p = 0.0, q = 0.0, others_p = x.others, others_q = y.others;
    a->lists = x.unlisted->partial || y.unlisted->partial;
    a->nll_base = a->nll_q = INFINITY;
    for (size_t i = 0; i < n; i++) {
        const double log_p = (double)x.x[i] - x.log_sum, log_q = (double)y.x[i] - y.log_sum;
        const double p_i = libm_exp(log_p), q_i = libm_exp(log_q);
        const bool is_likely = p_i > AGREEMENT_LIKELY || q_i > AGREEMENT_LIKELY;
        const bool unlisted = (x.unlisted->partial && p_i == 0.0) || (y.unlisted->partial && q_i == 0.0);
        if (unlisted) {
            others_p += p_i;
            others_q += q_i;
            likely = likely && !is_likely;
        } else if (p_i > 0.0 && log_p > least) {
            a->kld += p_i * (log_p - log_q);
        }
        if (is_likely && !unlisted) {
            const double d = fabs(log_p - log_q);
            a->dlogp += d;
            a->dlogp_most = fmax(a->dlogp_most, d);
            a->dlogp_n++;
        }
        if (token >= 0 ? s->id[first + i] == (uint64_t)token : i == x.best[0].id) {
            at = i;
            p = p_i;
            q = q_i;
            a->nll_base = -log_p;
            a->nll_q = -log_q;
        }
    }
    a->dp = q - p;
    a->same = shared(&x, &y, 1);
    a->top5 = shared(&x, &y, 5);
    a->top10 = shared(&x, &y, 10);
    if (!a->lists && base->unlisted.scale == SCALE_STORED) {
        a->stored = true;
        measure_stored(x.x, y.x, n, other->unlisted.scale == SCALE_STORED, at < n ? at : n, a);
    }
    if (!a->lists) {
        compare_logits(x.x, y.x, n, a);
        return true;
    }
    a->kld = fmax(0.0, a->kld + others_kld(others_p, x.error, others_q, y.error));
    a->error = a->power = NAN; // the mean of the logits is not known
    if (!likely)
        a->dlogp = a->dlogp_most = NAN;
    if ((x.unlisted->partial && p == 0.0) || (y.unlisted->partial && q == 0.0) || (token < 0 && !knows_best(&x, 1)))
        a->dp = a->nll_base = a->nll_q = NAN;
    return true;
}
