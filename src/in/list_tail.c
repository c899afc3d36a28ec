// SPDX-License-Identifier: MIT
#include "in/list_tail.h"

#include "kern/libm.h"

#include <inttypes.h>
#include <math.h>

const char *const tail_names[TAIL_MEMBERS] = {"n", "masked", "lse", "max", "sum", "sd", "xmean"};

#define ROUNDING 1e-9 // of members in f64, relative to their size

// Returns whether a member, if it is known, is in its range.
static bool in_range(const struct list_tail *t, enum tail_member i, double low, double high, struct err *e)
{
    const double x = t->value[i];
    const double slack = isfinite(x) ? ROUNDING * (1.0 + fabs(x)) : 0.0;
    return isnan(x) || (x >= low - slack && x <= high + slack) ||
           err_set(e, STATUS_DATA, "%s%s is %.9g, but the other members allow %.9g to %.9g", t->prefix, tail_names[i],
                   x, low, high);
}

static bool is_count(const struct list_tail *t, enum tail_member i, struct err *e)
{
    const double x = t->value[i];
    return isnan(x) || (x >= 0.0 && x <= INT32_MAX && x == floor(x)) ||
           err_set(e, STATUS_DATA, "%s%s is %g, which is not a number of tokens", t->prefix, tail_names[i], x);
}

// Fills in the numbers of tokens that follow from the others. *n_vocab stays 0 if it is not known; n is then infinite,
// unless it is given.
static bool count_tail(struct list_tail *t, size_t listed, size_t *n_vocab, struct err *e)
{
    double *const n = &t->value[TAIL_N], *const masked = &t->value[TAIL_MASKED];
    if (!is_count(t, TAIL_N, e) || !is_count(t, TAIL_MASKED, e))
        return false;
    if (!*n_vocab && !isnan(*n) && !isnan(*masked))
        *n_vocab = listed + (size_t)(*n + *masked);
    const double others = *n_vocab ? (double)*n_vocab - (double)listed : INFINITY;
    if (isnan(*n))
        *n = others - (isnan(*masked) ? 0.0 : *masked);
    if (isnan(*masked))
        *masked = *n_vocab ? others - *n : 0.0;
    return !*n_vocab || (*n + *masked == others && *n >= 0.0 && *masked >= 0.0) ||
           err_set(e, STATUS_DATA, "%sn %.0f, %smasked %.0f and %zu listed tokens are not a vocabulary of %zu",
                   t->prefix, *n, t->prefix, *masked, listed, *n_vocab);
}

// ln n, -inf if it is 0.
static double log_count(double n) { return n > 0.0 && n < INFINITY ? libm_log(n) : n > 0.0 ? INFINITY : -INFINITY; }

// The sum of e^(x - to) over the tokens of s.
static double weigh(const struct sparse *s, double to)
{
    double sum = 0.0;
    for (size_t i = 0; i < s->n; i++)
        sum += libm_exp((double)s->x[i] - to);
    return sum;
}

// Returns whether the members fit the list and each other.
static bool check(struct list_tail *t, const struct sparse *s, size_t n_vocab, struct err *e)
{
    double *const v = t->value, least = INFINITY, top = -INFINITY;
    for (size_t i = 0; i < s->n; i++) {
        least = fmin(least, (double)s->x[i]);
        top = fmax(top, (double)s->x[i]);
    }
    const bool none = v[TAIL_N] == 0.0, all_masked = top == -INFINITY;
    const double many = log_count(v[TAIL_N]);
    const double max = v[TAIL_MAX];
    if (all_masked)
        return true; // loading the row finds that
    if (!in_range(t, TAIL_MAX, none ? -INFINITY : -0x1.fffffep127, none ? -INFINITY : least, e))
        return false;
    v[TAIL_MAX] = isnan(v[TAIL_MAX]) ? none ? -INFINITY : least : v[TAIL_MAX];
    if (!in_range(t, TAIL_LSE, isnan(max) ? -INFINITY : max, v[TAIL_MAX] + many, e))
        return false;
    const double sum = weigh(s, top) + (none ? 0.0 : libm_exp(v[TAIL_LSE] - top));
    const double error = sum * ((double)n_vocab + 8.0) * 0x1p-23;
    return in_range(t, TAIL_XMEAN, none ? -INFINITY : v[TAIL_LSE] - many, v[TAIL_MAX], e) &&
           (isnan(sum) || !n_vocab || in_range(t, TAIL_SUM, sum - error, sum + error, e)) &&
           in_range(t, TAIL_SD, 0.0, 0x1.fffffep127, e);
}

// ln(e^a - e^b); -inf if that is not positive.
static double log_less(double a, double b)
{
    const double part = libm_exp(b - a);
    return part < 1.0 ? a + libm_log(1.0 - part) : -INFINITY;
}

// The place of a token in the list; s->n if it is not listed.
static size_t place_of(const struct sparse *s, int64_t token)
{
    size_t i = 0;
    while (i < s->n && s->ids[i] != token)
        i++;
    return i;
}

// Returns whether the rank of the token that follows the row fits the list and the tail. given: the members as given.
static bool check_rank(const struct list_tail *t, const struct list_tail *given, const struct sparse *s, size_t n_vocab,
                       struct err *e)
{
    const size_t place = place_of(s, t->token);
    const bool listed = place < s->n;
    const double x = listed ? (double)s->x[place] : t->token_logit, n = t->value[TAIL_N];
    double before = 0.0, most = n_vocab ? (double)n_vocab : INT32_MAX;
    if (t->token < 0 || isnan(t->token_rank))
        return true;
    for (size_t i = 0; i < s->n; i++) // an unlisted token without a logit ranks behind all
        before += !(x >= s->x[i]) || (x == s->x[i] && s->ids[i] < t->token);
    if (listed)
        most = before + 1.0;
    else if (x > -INFINITY)
        most = fmin(most, before + n);
    else if (x == -INFINITY && n < INFINITY)
        before += n;
    const double least = before + (!listed && x > -INFINITY && x < given->value[TAIL_MAX] ? 2.0 : 1.0);
    return (t->token_rank >= least && t->token_rank <= most && t->token_rank == floor(t->token_rank)) ||
           err_set(e, STATUS_DATA, "%s of token %" PRId64 " is %.10g, but the other members allow %.10g to %.10g",
                   t->rank_name, t->token, t->token_rank, least, most);
}

// Lists a token that the tail has: *r has the sums of the tail. Its weight leaves the tail.
static bool list_token(struct sparse *s, struct list_tail *t, struct row_unlisted *r, struct err *e)
{
    const double x = t->token_logit;
    double *const count = &t->value[x > -INFINITY ? TAIL_N : TAIL_MASKED];
    if (x > t->value[TAIL_MAX] || *count < 1.0)
        return err_set(e, STATUS_DATA, "the token that follows the row has the logit %.9g, which the tail excludes", x);
    --*count;
    if (x > -INFINITY) {
        const double high = log_less(r->high, x), sum = log_less(r->sum, x), share = libm_exp(x - r->sum);
        r->low = log_less(r->low, x);
        r->mean = sum > -INFINITY ? (r->mean - share * x) / (1.0 - share) : r->mean;
        r->high = fmax(high, r->high - 36.0); // what rounding may hide
        r->sum = sum;
    }
    return sparse_add(s, (uint32_t)t->token, (float)x, e);
}

// Lists the masked tokens, too: the row is then complete.
static bool list_masked(struct sparse *s, size_t n_vocab, struct err *e)
{
    enum { MOST = 1 << 24 };
    struct row sorted;
    if (!sparse_row(s, n_vocab, &sorted, e))
        return false;
    if (n_vocab > MOST)
        return err_set(e, STATUS_DATA, "a list without a tail has a vocabulary of at most %d", MOST);
    const size_t listed = s->n;
    for (size_t id = 0, at = 0; id < n_vocab; id++) {
        const bool known = at < listed && s->ids[at] == id;
        at += known;
        if (!known && !sparse_add(s, (uint32_t)id, -INFINITY, e))
            return false;
    }
    return true;
}

bool list_tail_row(struct sparse *s, const struct list_tail *tail, size_t n_vocab, struct row *row, struct err *e)
{
    struct list_tail t = *tail;
    double *const v = t.value;
    if (!s->n)
        return err_set(e, STATUS_DATA, "the row is empty");
    if (!count_tail(&t, s->n, &n_vocab, e) || !check(&t, s, n_vocab, e) || !check_rank(&t, tail, s, n_vocab, e))
        return false;
    const bool known = !isnan(v[TAIL_LSE]), counted = !isnan(tail->value[TAIL_N]) || !isnan(tail->value[TAIL_MASKED]);
    const double slack = known ? 1e-12 * (1.0 + fabs(v[TAIL_LSE])) : 0.0;
    struct row_unlisted r = {.partial = true,
                             .ceiling = (float)v[TAIL_MAX],
                             .sum = v[TAIL_LSE],
                             .low = known ? v[TAIL_LSE] - slack : -INFINITY,
                             .high = known ? v[TAIL_LSE] + slack : v[TAIL_MAX] + log_count(v[TAIL_N]),
                             .mean = isnan(v[TAIL_XMEAN]) ? v[TAIL_LSE] : v[TAIL_XMEAN],
                             .ranked = s->n,
                             .exp_sum = (float)v[TAIL_SUM],
                             .deviation = counted ? (float)v[TAIL_SD] : NAN}; // its bounds need the number of logits
    if (t.token >= 0 && !isnan(t.token_logit) && place_of(s, t.token) == s->n) {
        r.extra_token = (size_t)t.token + 1;
        r.extra_rank = isnan(t.token_rank) ? 0 : (size_t)t.token_rank;
        if (!list_token(s, &t, &r, e))
            return false;
    }
    r.most = v[TAIL_N];
    r.weight = v[TAIL_N] > 0.0 ? 1.0 / (1.0 + weigh(s, r.sum)) : 0.0;
    if (v[TAIL_N] == 0.0 && v[TAIL_MASKED] > 0.0 && !list_masked(s, n_vocab, e))
        return false;
    if (!sparse_row(s, n_vocab, row, e))
        return false;
    if (v[TAIL_N] > 0.0)
        row->unlisted = r;
    return true;
}
