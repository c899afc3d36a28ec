// SPDX-License-Identifier: MIT
#include "sample/unlisted.h"

#include "kern/expf.h"
#include "kern/libm.h"
#include "sample/cand_private.h"
#include "sample/listed.h"

#include <math.h>
#include <stdlib.h>

bool unlisted_may_hold(const struct cand *c, uint32_t token)
{
    return !unlisted_exact(&c->unlisted) && !cand_listed(c, token);
}

double listed_within(const struct unlisted *r)
{
    const double slack = list_is_coarse(r) ? (double)r->slack : (double)r->slack * fmax(1.0, (double)r->stretch);
    if (!(slack < INFINITY) || !(r->stretch < INFINITY))
        return INFINITY;
    const double e = libm_exp(-slack / 2.0);
    return (1.0 - e) / (1.0 + e);
}

bool list_is_open(const struct cand *c)
{
    const struct unlisted *const r = &c->unlisted;
    return r->state == UNLISTED_LIVE || (list_is_coarse(r) && unlisted_exact(r) && (c->n > 1 || r->left != LEFT_NONE));
}

void list_stretch(struct cand *c, double by)
{
    struct unlisted *const r = &c->unlisted;
    const double before = r->stretch;
    if (!list_is_rounded(r))
        return;
    r->stretch = (float)(before * by);
    if (list_is_coarse(r)) // rounded up
        r->slack = nextafterf(
            (float)((r->slack - LIST_SLACK * fmax(1.0, before)) * by + LIST_SLACK * fmax(1.0, (double)r->stretch)),
            INFINITY);
}

size_t listed_head(const struct cand *c)
{
    const double slack = list_is_coarse(&c->unlisted) ? 0.5 * (double)c->unlisted.slack : 0.0;
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        n += (double)cand_logit(c, i) - slack >= (double)c->unlisted.ceiling;
    return n;
}

bool full_best_known(struct cand *c, size_t k)
{
    const size_t head = listed_head(c);
    if (k <= c->unlisted.ranked)
        return true;
    if (list_is_coarse(&c->unlisted))
        return listed_best_known(c, k);
    if (k > head)
        return false;
    const struct ranks best = cand_rank(c, k < c->n ? k + 1 : k);
    const float last = cand_logit(c, best.at[k - 1]);
    const float next = best.n > k ? cand_logit(c, best.at[k]) : -INFINITY;
    return last > c->unlisted.ceiling || (list_is_rounded(&c->unlisted) && k == head && next < last);
}

void unlisted_remove(struct cand *c, bool known)
{
    unlisted_mask(c, known);
    c->unlisted.left = known ? LEFT_NONE : LEFT_SOME;
}

void unlisted_mask(struct cand *c, bool known)
{
    struct unlisted *const r = &c->unlisted;
    r->state = known ? UNLISTED_GONE : UNLISTED_INEXACT;
    if (known && list_is_coarse(r)) { // whose stages go on to work by these bounds
        r->ceiling = -INFINITY;
        r->low = r->high = -INFINITY;
        r->most = 0.0;
    }
}

// Returns whether the candidates of the list are those of the full row.
static bool lists_all(const struct unlisted *r)
{
    return r->state == UNLISTED_NONE || (r->state == UNLISTED_GONE && r->left == LEFT_NONE);
}

bool full_has_two_known(const struct cand *c)
{
    const struct unlisted *const r = &c->unlisted;
    return lists_all(r) ||
           (r->state != UNLISTED_INEXACT && (r->left == LEFT_ALL || (r->low_unsure ? listed_head(c) : c->n) >= 2));
}

bool full_has_two(struct cand *c)
{
    struct unlisted *const r = &c->unlisted;
    r->draw_unsure = r->draw_unsure || !full_has_two_known(c);
    return c->n >= 2 || (!lists_all(r) && r->state != UNLISTED_INEXACT);
}

void unlisted_needs_logits(struct cand *c)
{
    if (c->unlisted.scale == SCALE_LOGPROBS)
        unlisted_remove(c, false);
}

void unlisted_needs_count(struct cand *c)
{
    if (c->unlisted.state == UNLISTED_GONE && c->unlisted.left != LEFT_NONE && cand_alive(c, 2) > 1)
        unlisted_remove(c, false);
}

void unlisted_writes_logs(struct cand *c)
{
    if (unlisted_exact(&c->unlisted))
        c->unlisted.scale = SCALE_LOGITS;
}

void unlisted_may_shrink(struct cand *c)
{
    if (c->unlisted.state != UNLISTED_LIVE) // of a coarse list, there are none
        return;
    c->unlisted.low = -INFINITY;
    c->unlisted.left = LEFT_SOME;
    unlisted_touch(&c->unlisted);
}

bool listed_is_near(const struct cand *c, float floor)
{
    for (size_t i = 0; i < c->n; i++)
        if (fabs((double)cand_logit(c, i) - floor) < c->unlisted.slack)
            return true;
    return false;
}

// unlisted_cut_below for a coarse list.
static void cut_coarse(struct cand *c, float floor, size_t least)
{
    bool others;
    const size_t reach = listed_reach(c, (double)floor - cand_max(c), &others);
    if (reach == SIZE_MAX || (least > 1 && !listed_best_known(c, least)))
        unlisted_remove(c, false);
    else if (!others)
        unlisted_remove(c, true);
    else
        unlisted_may_shrink(c);
}

void unlisted_cut_below(struct cand *c, float floor, size_t least)
{
    if (list_is_coarse(&c->unlisted)) {
        cut_coarse(c, floor, least);
        return;
    }
    if (!listed_head(c) || (least > 1 && !full_best_known(c, least)) || listed_is_near(c, floor))
        unlisted_remove(c, false);
    else if (floor > c->unlisted.ceiling + c->unlisted.slack)
        unlisted_remove(c, true);
    else
        unlisted_may_shrink(c);
}

// At a power b > 1 of all weights, the sum is largest if as many weights as possible are at the ceiling, and smallest
// if all weights are equal. Below 1 it is the other way round. Both functions take and return logarithms of sums.
static double power_packed(double sum, double ceiling, double b)
{
    const double units = sum - ceiling; // the sum as a multiple of the ceiling's weight
    if (!(units > 0.0))
        return b * sum;
    if (units > 40.0) // the fraction of that many units is below f64
        return b * ceiling + units + 0x1p-40;
    const double x = libm_exp(units), whole = floor(x), part = x - whole;
    return b * ceiling + libm_log(whole + (part > 0.0 ? libm_pow(part, b) : 0.0));
}

static double power_spread(double sum, double most, double b)
{
    const double log_most = most > 0.0 && most < INFINITY ? libm_log(most) : INFINITY;
    if (!(sum > -INFINITY) || !(most > 0.0))
        return -INFINITY;
    return most < INFINITY ? log_most + b * (sum - log_most) : b > 1.0 ? -INFINITY : INFINITY;
}

void unlisted_divide(struct cand *c, float temp)
{
    struct unlisted *const r = &c->unlisted;
    const double b = 1.0 / temp, ceiling = r->ceiling, slack = 0x1p-20; // of f32 logits, which the division rounds
    const struct row_moments before = unlisted_moments(c);
    const double low = b > 1.0 ? power_spread(r->low, r->most, b) : power_packed(r->low, ceiling, b);
    r->high = (b > 1.0 ? power_packed(r->high, ceiling, b) : power_spread(r->high, r->most, b)) + slack;
    r->low = low - slack;
    r->ceiling /= temp;
    unlisted_scale(c, &before, temp);
}

void unlisted_top_k(struct cand *c, size_t k)
{
    struct unlisted *const r = &c->unlisted;
    const size_t head = listed_head(c);
    if (k <= head) {
        unlisted_remove(c, full_best_known(c, k));
        return;
    }
    if (k < c->n && list_is_coarse(r)) { // which of the listed ones stay is not known
        unlisted_remove(c, false);
        return;
    }
    unlisted_may_cut(c);
    r->most = fmin(r->most, (double)(k - head));
    if (r->most > 0.0)
        r->high = fmin(r->high, libm_log(r->most) + r->ceiling);
}

// Relative distance, at most, of a sum of all weights in f32 from the true one. A sum of n numbers that are not
// negative is off by at most (n - 1) 2^-24 of itself, in any order (Jeannerod and Rump 2013, "Improved error bounds for
// inner products in floating-point arithmetic"); 8 more are for the rounding of the weights. A bound that is proven for
// an unknown size would be that of the largest vocabulary, 2^20: a sixteenth, which would tell nothing of most rows.
// Rounding errors of either sign cancel: the number for such rows is measured, not proven.
static double sum_error(const struct cand *c)
{
    enum { LARGE = 1 << 14 }; // twice the largest error of rows of 151,936 logits
    if (lists_all(&c->unlisted))
        return ((double)c->n + 8.0) * 0x1p-24;
    return ((double)(c->n_vocab ? c->n_vocab : LARGE) + 8.0) * 0x1p-24;
}

struct unlisted_sum unlisted_sum(const struct cand *c)
{
    const struct unlisted *const r = &c->unlisted;
    struct unlisted_sum s = {.max = cand_max(c)};
    double doubtful = 0.0, less = 0.0, more = 0.0; // less, more: how far the listed weights may be off
    for (size_t i = 0; i < c->n; i++) {
        const float x = cand_logit(c, i);
        const double off = listed_off(c, i), w = libm_exp((double)x - s.max);
        if (r->low_unsure && (double)x - off < (double)r->ceiling) {
            doubtful += off > 0.0 && w > 0.0 ? w * libm_exp(off) : w;
        } else {
            s.listed += w;
            less += off > 0.0 ? w - w * libm_exp(-off) : 0.0;
            more += off > 0.0 && w > 0.0 ? w * libm_exp(off) - w : 0.0;
        }
    }
    s.low = r->low > -INFINITY ? libm_exp(r->low - s.max) : 0.0;
    s.high = doubtful + (r->high < 700.0 + s.max ? libm_exp(r->high - s.max) : INFINITY);
    if (list_is_coarse(r)) {
        s.low = (s.listed - less + s.low) * (1.0 - sum_error(c)) - s.listed;
        s.high = (s.listed + more + s.high) * (1.0 + sum_error(c)) - s.listed;
        return s;
    }
    // Tiny weights may be lost altogether, or rounded up to twice as much.
    const double error = sum_error(c);
    s.low = fmax(-LIST_SLACK * s.listed, (s.listed + s.low) * (1.0 - error) - s.listed);
    s.high = fmin(2.0 * s.high + LIST_SLACK * (s.listed + s.high), (s.listed + s.high) * (1.0 + error) - s.listed);
    return s;
}

bool unlisted_cut_between(struct cand *c, double low, double high, size_t least)
{
    const float max = cand_max(c);
    const double ceiling = libm_exp((double)c->unlisted.ceiling - max);
    const bool head = listed_head(c) > 0;
    size_t at_low = 0, at_high = 0;
    low *= 1.0 - LIST_SLACK;
    high *= 1.0 + LIST_SLACK;
    for (size_t i = 0; i < c->n; i++) {
        const double x = (double)cand_logit(c, i) - max, off = listed_off(c, i);
        at_low += libm_exp(x + off) >= low;
        at_high += libm_exp(x - off) >= high;
    }
    if (head && high <= ceiling) {
        unlisted_may_cut(c);
        return true;
    }
    const size_t kept = at_low > least ? at_low : least > 1 ? least : 1;
    unlisted_remove(c, low > ceiling && at_low == at_high && full_best_known(c, kept));
    if (c->unlisted.state == UNLISTED_INEXACT)
        return false;
    const struct ranks best = cand_rank(c, at_low ? at_low : 1);
    const float floor = at_low ? cand_logit(c, best.at[at_low - 1]) : INFINITY;
    cand_keep_from(c, floor, least > 1 ? least : 1);
    return true;
}

void unlisted_cut_likely(struct cand *c, float floor, size_t least)
{
    const float sum = c->unlisted.exp_sum, max = cand_max(c);
    const size_t most = least > 1 ? least : 1;
    size_t reach = 0;
    if (kern_expf(c->unlisted.ceiling - max) / sum >= floor) {
        unlisted_may_cut(c);
        return;
    }
    cand_exp(c);
    c->kern->divide(c->p, c->n, sum);
    c->state = CAND_PROBABILITIES;
    for (size_t i = 0; i < c->n; i++)
        reach += c->p[i] >= floor;
    unlisted_remove(c, full_best_known(c, reach > most ? reach : most));
    cand_keep_likely(c, floor, most);
}

size_t unlisted_nucleus(struct cand *c, double limit)
{
    if (list_is_coarse(&c->unlisted))
        return listed_nucleus(c, limit, sum_error(c));
    const struct unlisted_sum s = unlisted_sum(c);
    const double at_low = limit * (s.listed + s.low), at_high = limit * (s.listed + s.high);
    const struct ranks best = cand_rank(c, c->n);
    double sum = 0.0;
    size_t low = 0;
    for (size_t i = 0; i < best.n; i++) {
        const float x = cand_logit(c, best.at[i]);
        if (x < c->unlisted.ceiling)
            break;
        sum += libm_exp((double)x - s.max);
        low = !low && sum >= at_low ? i + 1 : low;
        if (sum >= at_high)
            return low == i + 1 && full_best_known(c, low) ? low : SIZE_MAX;
    }
    return low ? SIZE_MAX : 0;
}

bool unlisted_keep_best(struct cand *c, size_t count, size_t least)
{
    const size_t kept = count > least ? count : least;
    const bool known = count && kept < SIZE_MAX && full_best_known(c, kept);
    if (!count && listed_head(c)) {
        unlisted_may_cut(c);
        cand_sort(c);
        return true;
    }
    unlisted_remove(c, known);
    if (known)
        cand_top_k(c, kept);
    return known;
}

// Returns whether this token is among the candidates.
static bool is_candidate(const struct cand *c, uint32_t id)
{
    size_t i = 0;
    while (i < c->n && cand_id(c, i) != id)
        i++;
    return i < c->n;
}

void unlisted_multiply(struct cand *c, const struct idmap *tokens, const uint32_t *count, double by)
{
    const struct unlisted *const r = &c->unlisted;
    const struct row_moments before = unlisted_moments(c);
    double strays = 0.0;
    for (size_t j = 0; row_is_list(r) && by != 1.0 && r->state != UNLISTED_INEXACT && j < tokens->n; j++) {
        if (count && !count[j])
            continue;
        if (cand_listed(c, tokens->id[j])) {
            if (r->scale == SCALE_LOGPROBS && is_candidate(c, tokens->id[j]))
                unlisted_remove(c, false);
        } else if (r->state == UNLISTED_LIVE && by < 1.0) {
            unlisted_remove(c, false);
        } else {
            c->unlisted.low = -INFINITY;
            strays++;
        }
    }
    if (strays > 0.0)
        unlisted_stray(c, &before, strays, by - 1.0, 0.0);
}

void unlisted_map(struct cand *c, float ceiling)
{
    struct unlisted *const r = &c->unlisted;
    if (list_is_coarse(r)) {
        unlisted_remove(c, false);
        return;
    }
    unlisted_change(r);
    r->ceiling = ceiling + (float)LIST_SLACK; // the map is rounded
    r->low = -INFINITY;
    r->high = r->most < INFINITY ? libm_log(r->most) + r->ceiling : INFINITY;
}

void unlisted_check_order(struct cand *c, const float *before)
{
    if (!list_is_rounded(&c->unlisted) || c->fault.code)
        return;
    const struct ranks all = cand_rank(c, c->n);
    for (size_t i = 1; i < all.n; i++) {
        const size_t a = all.at[i - 1], b = all.at[i];
        if (!(before && before[a] == before[b]) && (double)cand_logit(c, a) - cand_logit(c, b) < LIST_SLACK)
            unlisted_remove(c, false);
    }
}

struct typical {
    double p, distance; // of the surprise from the entropy
};

static int by_gap(const void *a, const void *b)
{
    const struct typical *const x = a, *const y = b;
    return (x->distance > y->distance) - (x->distance < y->distance);
}

void unlisted_check_typical(struct cand *c, double share, size_t least)
{
    const float max = list_is_rounded(&c->unlisted) ? cand_max(c) : INFINITY;
    struct typical *const t = isfinite(max) ? cand_scratch(c, c->n, sizeof *t) : NULL;
    double sum = 0.0, entropy = 0.0;
    if (!t)
        return;
    for (size_t i = 0; i < c->n; i++) {
        t[i].distance = max - (double)cand_logit(c, i);
        t[i].p = libm_exp(-t[i].distance);
        sum += t[i].p;
    }
    for (size_t i = 0; i < c->n; i++) {
        t[i].distance += libm_log(sum); // the surprise
        t[i].p /= sum;
        entropy += t[i].p > 0.0 ? t[i].p * t[i].distance : 0.0;
    }
    for (size_t i = 0; i < c->n; i++)
        t[i].distance = fabs(t[i].distance - entropy);
    qsort(t, c->n, sizeof *t, by_gap);
    sum = 0.0;
    for (size_t i = 0; i < c->n; i++) {
        sum += t[i].p;
        const double further = i + 1 < c->n ? t[i + 1].distance - t[i].distance : INFINITY;
        if ((further != 0.0 && further < 4.0 * LIST_SLACK) || (i + 1 >= least && fabs(sum - share) < LIST_SLACK))
            unlisted_remove(c, false);
        if (sum > share && i + 1 >= least)
            return;
    }
}

void unlisted_shift(struct cand *c, double by, float ceiling)
{
    const double slack = 0x1p-20 * (fabs(by) + 1.0); // of f32 logits
    unlisted_change(&c->unlisted);
    if (!list_is_rounded(&c->unlisted)) // the full row's ln p may have other bits
        unlisted_remove(c, false);
    c->unlisted.ceiling = ceiling;
    c->unlisted.low -= by + slack;
    c->unlisted.high -= by - slack;
}

void unlisted_may_cut(struct cand *c)
{
    if (c->unlisted.state != UNLISTED_LIVE)
        return;
    unlisted_may_shrink(c);
    c->unlisted.low_unsure = c->unlisted.low_unsure || listed_head(c) < c->n;
}

void unlisted_draw(struct cand *c, const float *w, double u)
{
    if (list_is_coarse(&c->unlisted)) {
        if (!unlisted_exact(&c->unlisted) || !listed_draw_known(c, w, u))
            unlisted_remove(c, false);
        return;
    }
    double before = 0.0, own = 0.0, sum = 0.0;
    if (c->unlisted.state == UNLISTED_LIVE)
        unlisted_remove(c, false);
    if (!list_is_rounded(&c->unlisted) || !unlisted_exact(&c->unlisted))
        return;
    const float max = cand_max(c);
    for (size_t i = 0; i < c->n; i++) {
        const double x = w ? (double)w[i] : libm_exp((double)cand_logit(c, i) - max);
        if (cand_id(c, i) == c->chosen) {
            before = sum;
            own = x;
        }
        sum += x;
    }
    const double margin = LIST_SLACK / 4.0 * sum, at = u * sum; // a sum of many is off by less than one of them
    if ((before > 0.0 && at - before < margin) || (before + own < sum && before + own - at < margin))
        unlisted_remove(c, false);
}

void unlisted_choose(struct cand *c, double distance)
{
    if (c->unlisted.state == UNLISTED_LIVE || distance < c->unlisted.slack)
        unlisted_remove(c, false);
}
