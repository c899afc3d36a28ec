// SPDX-License-Identifier: MIT
#include "kern/ordered.h"

#include "base/bits.h"
#include "kern/kern.h"

#include <math.h>
#include <stdbool.h>

enum { SHORT_RUN = ORDERED_TIES, LONG_RUN = 1024 };

// Does no element move the sum towards 0?
static bool none_against(const float *x, size_t n, double s)
{
    const uint32_t sign = bits_of_f32(s < 0 ? -0.0f : 0.0f);
    uint32_t any = 0;
    for (size_t i = 0; i < n; i++)
        any |= bits_of_f32(x[i]) ^ sign;
    return !(any >> 31);
}

// Does the sum stay in [low, 2 low) at every element? drift: how far ties can take it. At the lower end a sum of exactly low is in
// danger although q is 0, as the floats below it are closer; a sum above it is not. The comparisons hold for rounded operands too, as
// rounding is monotone, and fail for NaN.
static bool stays(const struct ordered_run *r, double low, double drift, const float *x, size_t n, bool squares, double s)
{
    if (!(r->size < low / 2))
        return false;
    const double up = (r->size + r->sum) / 2, down = (r->size - r->sum) / 2;
    const double away = s > 0 ? up : down, back = s > 0 ? down : up;
    return fabs(s) + away + drift < 2 * low && (fabs(s) - back - drift > low || squares || none_against(x, n, s));
}

// Adds n elements to *s if they can be had side by side.
static bool add_run(const struct ordered *o, const float *x, size_t n, float mean, double *s)
{
    const double low = f64_of_bits(bits_of_f64(fabs(*s)) & ~((UINT64_C(1) << 52) - 1));
    const bool squares = o->plain == plain_sum_squares;
    if (!(low > 0x1p-90 && low < 0x1p90) || (squares && *s < 0)) // far from where the ulp, or the sum, is no normal float
        return false;
    const struct ordered_run r = o->run(x, n, mean, low);
    const double ulp = low * o->ulp;
    const bool tie = r.rest >= ulp / 2;
    if (!stays(&r, low, tie ? (double)n * ulp : 0, x, n, squares, *s))
        return false;
    const double sum = *s + r.sum;
    *s = tie ? sum + o->steps(x, n, mean, low, (unsigned)((int64_t)(*s / ulp) & 1)) * ulp : sum;
    return true;
}

// Runs grow while they can be had, and shrink when not; where none can, the plain stretches between two attempts grow.
double ordered_sum(const struct ordered *o, const float *x, size_t n, float mean, double s)
{
    size_t i = 0, len = SHORT_RUN, stretch = SHORT_RUN;
    while (n - i >= SHORT_RUN) {
        while (len > n - i)
            len /= 2;
        if (add_run(o, x + i, len, mean, &s)) {
            i += len;
            len = len < LONG_RUN ? len * 2 : len;
            stretch = SHORT_RUN;
        } else if (len > SHORT_RUN) {
            len /= 2;
        } else {
            const size_t plain = stretch < n - i ? stretch : n - i;
            s = o->plain(x + i, plain, mean, s);
            i += plain;
            stretch = stretch < LONG_RUN ? stretch * 2 : stretch;
        }
    }
    return i < n ? o->plain(x + i, n - i, mean, s) : s;
}

double plain_sum(const float *x, size_t n, float mean, double s)
{
    (void)mean;
    return kern_scalar.sum(x, n, (float)s);
}

double plain_sum_wide(const float *x, size_t n, float mean, double s)
{
    (void)mean;
    return kern_scalar.sum_wide(x, n, s);
}

double plain_sum_squares(const float *x, size_t n, float mean, double s)
{
    return kern_scalar.sum_squares(x, n, mean, (float)s);
}
