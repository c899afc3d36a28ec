// SPDX-License-Identifier: MIT
#include "sample/listed.h"

#include "kern/libm.h"
#include "sample/cand_load.h"
#include "sample/cand_private.h"

#include <math.h>

double listed_off(const struct cand *c, size_t i)
{
    const struct unlisted *const r = &c->unlisted;
    if (!list_is_coarse(r))
        return 0.0;
    const uint32_t id = cand_id(c, i);
    const size_t place = c->row_id ? cand_row_place(c, id) : id;
    const double half = list_unit_half(&r->unit, (double)row_element(c->store->row, c->store->type, place));
    return half * r->stretch + 0.5 * LIST_SLACK * fmax(1.0, r->stretch);
}

void listed_top(const struct cand *c, double *low, double *high)
{
    const float max = cand_max(c);
    *low = *high = 0.0;
    for (size_t i = 0; i < c->n; i++) {
        const double x = (double)cand_logit(c, i) - max, off = listed_off(c, i);
        *low = fmax(*low, libm_exp(x - off));
        *high = fmax(*high, libm_exp(x + off));
    }
}

bool listed_best_known(struct cand *c, size_t k)
{
    double least = INFINITY, next = (double)c->unlisted.ceiling;
    if (k > c->n)
        return next == -INFINITY;
    const struct ranks all = cand_rank(c, c->n);
    for (size_t i = 0; i < all.n; i++) {
        const double x = cand_logit(c, all.at[i]), off = listed_off(c, all.at[i]);
        if (i < k)
            least = fmin(least, x - off);
        else
            next = fmax(next, x + off);
    }
    return least > next || next == -INFINITY; // the others are masked
}

size_t listed_reach(const struct cand *c, double log_share, bool *others)
{
    double low = -INFINITY, high = c->unlisted.ceiling, second = -INFINITY; // upper ends: the largest, the next
    size_t n = 0, highest = SIZE_MAX;
    for (size_t i = 0; i < c->n; i++) {
        const double x = cand_logit(c, i), off = listed_off(c, i);
        low = fmax(low, x - off);
        if (x + off > high) {
            second = high;
            high = x + off;
            highest = i;
        } else {
            second = fmax(second, x + off);
        }
    }
    *others = (double)c->unlisted.ceiling >= low + log_share;
    for (size_t i = 0; i < c->n; i++) {
        const double x = cand_logit(c, i), off = listed_off(c, i);
        if (x - off >= (i == highest ? second : high) + log_share)
            n++;
        else if (!(x + off < low + log_share))
            return SIZE_MAX;
    }
    return n;
}

size_t listed_nucleus(struct cand *c, double limit, double error)
{
    const struct unlisted *const r = &c->unlisted;
    const double max = cand_max(c), fewer = 1.0 - error, more = 1.0 + error;
    const double unlisted_low = r->low > -INFINITY ? libm_exp(r->low - max) : 0.0;
    const double unlisted_high = r->high < 700.0 + max ? libm_exp(r->high - max) : INFINITY;
    double *const low = cand_scratch(c, c->n, sizeof *low), *const high = cand_scratch(c, c->n, sizeof *high);
    double *const behind_low = cand_scratch(c, c->n + 1, sizeof *low), *const behind_high = cand_scratch(
                                                                           c, c->n + 1,
                                                                           sizeof *high); // sums from a rank on
    if (!low || !high || !behind_low || !behind_high)
        return SIZE_MAX;
    const struct ranks all = cand_rank(c, c->n);
    const size_t n = all.n; // without masked candidates
    behind_low[n] = unlisted_low;
    behind_high[n] = unlisted_high;
    for (size_t i = n; i--;) {
        const double x = (double)cand_logit(c, all.at[i]), off = listed_off(c, all.at[i]);
        const bool doubtful = r->low_unsure && x - off < r->ceiling;
        low[i] = doubtful ? 0.0 : libm_exp(x - max - off);
        high[i] = libm_exp(x - max + off);
        behind_low[i] = behind_low[i + 1] + low[i];
        behind_high[i] = behind_high[i + 1] + high[i];
    }
    double head_low = 0.0, head_high = 0.0, least = INFINITY; // least: of the upper ends
    size_t m = 0;
    for (bool reached = false; m < n && !reached; m++) {
        head_low += low[m];
        head_high += high[m];
        least = fmin(least, high[m]);
        reached = head_low * fewer >= limit * (head_low + behind_high[m + 1]) * more;
        if (reached)
            break;
    }
    if (m == n)
        return head_high * more < limit * (head_high + unlisted_low) * fewer ? 0 : SIZE_MAX;
    for (size_t i = 0; i <= m && m; i++) {
        const double others = head_high - high[i];
        if (low[i] <= least && !(others * more < limit * (others + low[i] + behind_low[m + 1]) * fewer))
            return SIZE_MAX;
    }
    return listed_best_known(c, m + 1) ? m + 1 : SIZE_MAX;
}

bool listed_order_known(const struct cand *c)
{
    if (c->order == CAND_UNSORTED)
        return c->n < 2;
    for (size_t i = 1; c->order == CAND_SORTED && i < c->n; i++)
        if (!((double)cand_logit(c, i - 1) - listed_off(c, i - 1) > (double)cand_logit(c, i) + listed_off(c, i)) &&
            cand_logit(c, i) > -INFINITY)
            return false;
    return true;
}

bool listed_draw_known(const struct cand *c, const float *w, double u)
{
    const double max = cand_max(c), doubt = LIST_SLACK / 4.0;
    double before_low = 0.0, before_high = 0.0, after_low = 0.0, after_high = 0.0, own = 0.0;
    size_t at = 0;
    while (at < c->n && cand_id(c, at) != c->chosen)
        at++;
    if (c->n < 2)
        return true;
    if (at == c->n || c->order == CAND_UNSORTED)
        return false;
    const double own_x = cand_logit(c, at), own_off = listed_off(c, at);
    for (size_t i = 0; i < c->n; i++) {
        const double x = cand_logit(c, i), off = listed_off(c, i);
        const double weight = w ? (double)w[i] : libm_exp(x - max);
        if (i == at)
            own = weight * libm_exp(-off);
        else if (c->order == CAND_SORTED && weight > 0.0 && fabs(x - own_x) <= off + own_off)
            return false; // either of the two may come first
        *(i < at ? &before_low : &after_low) += i == at ? 0.0 : weight * libm_exp(-off);
        *(i < at ? &before_high : &after_high) += i == at || !(weight > 0.0) ? 0.0 : weight * libm_exp(off);
    }
    const double begin = before_high / (before_high + own + after_low),
                 end = (before_low + own) / (before_low + own + after_high);
    return (before_high == 0.0 || u >= begin + doubt) && (after_high == 0.0 || u < end - doubt);
}
