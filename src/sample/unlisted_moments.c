// SPDX-License-Identifier: MIT
// Bounds of the full row's deviation, which top_n_sigma cuts by, of a list of logits.
//
// The list tells the full row's cand_deviation, sd, of the logits as they came. That number and the one that is wanted
// come from sums of n numbers in f32. With u = 2^-24, a sum of n numbers in f32 is off by at most n u times the sum of
// their sizes, in any order. `size` below bounds the mean size of a logit: |mean| + deviation. Then
//
// - the f32 mean is off from the true one by d = e * size at most, with e = (n + 8) u. The 8 is for the roundings of a
//   term, the quotients and the root, and for these bounds, which are f64.
// - the f32 sum of squares about that mean is S + n d^2 at most and S at least, times 1 - e to 1 + e. S is the true sum
//   of squares about the true mean.
//
// Hence sd bounds S. Each change of the logits moves the bounds of S and of the mean, which bound the wanted number.
//
// The list does not tell the mean. The listed logits have the mean a and, about a, the squares W; the m unlisted ones
// have the mean b. Between both groups lies l m / n (a - b)^2, which is at most S - W. Hence
// mean = a - (m / n) (a - b) >= a - sqrt((S - W) m / (l n)). For the upper bound, b is at most the ceiling and, since
// e^x is convex, at most ln(weight / m).
#include "kern/libm.h"
#include "sample/cand_private.h"

#include <math.h>

#define ULP 0x1p-24

// The largest mean size of a logit.
static double size_of(const struct row_moments *s)
{
    return fmax(fabs(s->mean_low), fabs(s->mean_high)) + sqrt(s->high / s->n);
}

// Relative distance, at most, of a sum in f32.
static double error_of(double n) { return (n + 8.0) * ULP; }

// No bounds, if they are too wide, or if numbers are so small or so large that the errors above are not relative.
static struct row_moments usual(struct row_moments s)
{
    const bool known = error_of(s.n) < 0.1 && s.low >= s.n * 0x1p-80 && s.high < 0x1p100 && size_of(&s) < 0x1p100;
    return known ? s : (struct row_moments){0};
}

struct row_moments unlisted_moments(const struct cand *c)
{
    const struct unlisted *const r = &c->unlisted;
    const double sd = (double)r->deviation;
    double listed = 0.0, sum = 0.0, within = 0.0;
    if (r->state != UNLISTED_LIVE || !(sd > 0.0))
        return r->moments;
    for (size_t i = 0; i < c->n; i++) {
        const float x = cand_logit(c, i);
        listed += x > -INFINITY;
        sum += x > -INFINITY ? (double)x : 0.0;
    }
    const double mean = sum / listed, n = listed + r->most, e = error_of(n);
    for (size_t i = 0; i < c->n; i++) {
        const double from = (double)cand_logit(c, i) - mean;
        within += from > -INFINITY ? from * from : 0.0;
    }
    struct row_moments s = {.n = n, .high = n * sd * sd / (1.0 - e)};
    const double unlisted = fmin((double)r->ceiling, r->high - libm_log(r->most)), slack = 0x1p-40 * (fabs(mean) + sd);
    s.mean_low = mean - sqrt(fmax(0.0, s.high - within * (1.0 - e)) * r->most / (listed * n)) - slack;
    s.mean_high = (listed * mean + r->most * unlisted) / n + slack;
    const double d = e * size_of(&s);
    s.low = n * (sd * sd / (1.0 + e) - d * d);
    return usual(s);
}

bool unlisted_deviation(const struct cand *c, float *low, float *high)
{
    const struct row_moments s = c->unlisted.moments;
    *low = *high = c->unlisted.deviation;
    if (s.n > 0.0) {
        const double e = error_of(s.n), d = e * size_of(&s);
        *low = nextafterf((float)sqrt(s.low / s.n * (1.0 - e)), 0.0f);
        *high = nextafterf((float)sqrt((s.high / s.n + d * d) * (1.0 + e)), INFINITY);
    }
    return *high > 0.0f;
}

// With z = from - mean and d = to - from, the squares grow by 2 d z + d^2 (1 - 1/n), and the mean by d / n.
void unlisted_move(struct cand *c, float from, float to)
{
    const bool listed = c->unlisted.state != UNLISTED_NONE;
    struct row_moments s = listed ? unlisted_moments(c) : (struct row_moments){0};
    unlisted_change(&c->unlisted);
    if (!(s.n > 0.0))
        return;
    const double d = (double)to - (double)from, more = d * d * (1.0 - 1.0 / s.n), slack = 0x1p-48 * (s.high + d * d);
    const double at_low = 2.0 * d * ((double)from - s.mean_low), at_high = 2.0 * d * ((double)from - s.mean_high);
    s.low += fmin(at_low, at_high) + more - slack;
    s.high += fmax(at_low, at_high) + more + slack;
    s.mean_low += d / s.n;
    s.mean_high += d / s.n;
    c->unlisted.moments = usual(s);
}

// The change is a vector v. Its length is at most factor |x| + the length of the amounts, x being the vector of these k
// logits, which is no longer than sqrt(S) + |mean| sqrt(k). As the distance of a vector from the vector of its mean is
// a seminorm, v moves sqrt(S) by its own length at most. It moves the mean by at most |v| sqrt(k) / n. An unlisted
// token that is masked does not change.
void unlisted_stray(struct cand *c, const struct row_moments *before, double k, double factor, double squares)
{
    struct row_moments s = *before;
    unlisted_change(&c->unlisted);
    if (!(s.n > 0.0))
        return;
    factor += 0x1p-20; // roundings
    const double mean = fmax(fabs(s.mean_low), fabs(s.mean_high));
    const double length = factor * (sqrt(s.high) + mean * sqrt(k)) + sqrt(squares) * (1.0 + 0x1p-20);
    const double low = fmax(0.0, sqrt(s.low) - length), high = sqrt(s.high) + length;
    s.mean_low -= length * sqrt(k) / s.n;
    s.mean_high += length * sqrt(k) / s.n;
    s.low = low * low * (1.0 - 0x1p-48);
    s.high = high * high * (1.0 + 0x1p-48);
    c->unlisted.moments = usual(s);
}

// Rounding moves each of the n quotients by a share of itself, as unlisted_stray allows for.
void unlisted_scale(struct cand *c, const struct row_moments *before, double temp)
{
    unlisted_stray(c, before, before->n, 0.0, 0.0);
    struct row_moments s = c->unlisted.moments;
    s.mean_low /= temp;
    s.mean_high /= temp;
    s.low /= temp * temp;
    s.high /= temp * temp;
    c->unlisted.moments = s.n > 0.0 ? usual(s) : s;
}
