// SPDX-License-Identifier: MIT
// Sums in order: kern.h's sum, sum_wide and sum_squares. A part of kern_template.h, with the same parameters.
//
// Plain algorithm: add one element after the other; each addition rounds to nearest, ties to even.
// Why it is too slow: each addition waits for the one before it, four cycles an element, and cannot use vectors.
// Idea: let the sum s lie in the binade [2^e, 2^(e+1)), where floats are multiples of one ulp u. As long as the sum
// stays in the binade, adding x moves s by q(x), which is x rounded to a multiple of u, whatever s is. So a run of
// elements is rounded and added in vectors: (magic + x) - magic is q(x) if magic has the ulp u.
// Why the bits are the same: sums of multiples of u below 2^(e+1) are exact, so their order does not matter. Two things
// remain to be checked. The sum must stay in the binade at every element: that holds if even all positive q, or all
// negative ones, do not take it out (`stays`). And no x may be a tie, halfway between two multiples of u, for then q
// depends on s: s + x goes to the even neighbour. Let q(x) go to the even one of x's own two neighbours. Then s follows
// q if s is even, and goes one u the other way if s is odd. After a tie s is even. So the parity that a tie meets is
// that of the sum of the q since the tie before it, and tie_steps finds it for 64 elements from three words of bits. A
// run that fails a check is halved, and the shortest such run is left to the scalar tier.
//
// In sum_squares, x is the square. The plain algorithm rounds it to f64 when it adds s in f64. That rounding does not
// depend on s, which is an even multiple of the finer ulp; so x + low, low being 2^e, is rounded in the same way.
#ifndef SAMPL_KERN_ORDERED_TEMPLATE_H
#define SAMPL_KERN_ORDERED_TEMPLATE_H

#include "base/bits.h"
#include "kern/kern.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

enum {
    SHORT_RUN = 64,
    LONG_RUN = 1024
}; // a bit an element of a short one fits a word; long ones are made of short ones

enum ordered_sum { SUM, SUM_WIDE, SUM_SQUARES }; // kern.h's; only SUM_SQUARES looks at mean

// The sum of a run of elements, in which the elements left out count as 0. The numbers are exact when size is less
// than low/2, low being 2^e. When some |x| is low/2 or more, size is not less than low/2, or NaN, and nothing else is
// promised.
struct ordered_run {
    double sum;  // of q
    double size; // of |q|
    bool tied;   // some x is a tie
    bool rising; // no x is negative, nor -0, as was found out
};

// A short run's ties, one bit an element, the first element lowest.
struct ordered_ties {
    uint64_t up;   // x = q + u/2
    uint64_t down; // x = q - u/2
    uint64_t odd;  // q is an odd multiple of u
};

// By how many ulps a sum departs from the sum of q at these ties; *odd is its parity before the elements, and then
// after them.
static inline int tie_steps(struct ordered_ties t, unsigned *odd)
{
    uint64_t tied = t.up | t.down;   // here, or in the span of elements before that has been looked at
    uint64_t parity = t.odd & ~tied; // of the sum after each element, if even before the span
    for (int span = 1; span < 64; span *= 2) {
        parity ^= (parity << span) & ~tied;
        tied |= tied << span;
    }
    if (*odd)
        parity ^= ~tied;
    const uint64_t before = parity << 1 | *odd;
    *odd = (unsigned)(parity >> 63);
    return __builtin_popcountll(before & t.up) - __builtin_popcountll(before & t.down);
}

// 2^e
static inline double binade(double s) { return f64_of_bits(bits_of_f64(fabs(s)) & ~((UINT64_C(1) << 52) - 1)); }

// Returns whether it is far from where the ulp, or the sum, is no normal float.
static inline bool is_usual(double low) { return low > 0x1p-90 && low < 0x1p90; }

// u/2
static inline double half_ulp(double low, enum ordered_sum what)
{
    return low * (what == SUM_WIDE ? 0x1p-53 : 0x1p-24);
}

// A number whose ulp is u in the type that terms are in: adding it and subtracting it again rounds to multiples of u,
// and the subtraction is exact. The sum's lowest bit is q's parity.
static inline double rounder(double low, enum ordered_sum what) { return low * (what == SUM_SQUARES ? 0x1p29 : 1.5); }

// The terms of `sum`, in f32: x, but 0 where it is -inf.
static inline vf32 terms_f32(const float *x)
{
    const vf32 a = load_once(x);
    return (vf32)((vi32)a & (a != -INFINITY));
}

// The terms of the other sums, in f64. A square has low added to it, which rounds it as addition to the sum does.
ALWAYS_INLINE void terms_f64(vf64 a[2], const float *x, float mean, double low, enum ordered_sum what)
{
    vf32 d = load_once(x);
    if (what == SUM_SQUARES)
        d = (vf32)((vi32)(d - mean) & (d != -INFINITY));
    a[0] = widen_f32(lower_half(d));
    a[1] = widen_f32(upper_half(d));
    if (what == SUM_SQUARES) {
        a[0] = a[0] * a[0] + low;
        a[1] = a[1] * a[1] + low;
    }
}

// The sum of all lanes, added in f64. Exact where the sum of a run is (struct ordered_run).
OPERATION(double, sum_f32(vf32 v), sum_f64(widen_f32(lower_half(v)) + widen_f32(upper_half(v))))

// run_f32 of numbers that are not negative, as most summed numbers are: their size is their sum. Returns false if some
// number is negative or -0; *run is then undefined.
static inline bool run_weights(const float *x, size_t n, double low, struct ordered_run *run)
{
    const float magic = (float)rounder(low, SUM);
    vf32 sum = {0}, rest = {0};
    vi32 signs = {0};
    for (size_t i = 0; i < n; i += LANES) {
        const vf32 a = load_once(x + i), q = (magic + a) - magic;
        signs |= (vi32)a;
        sum += q;
        rest = max_f32(rest, abs_f32(a - q));
    }
    const double all = sum_f32(sum);
    *run = (struct ordered_run){all, all, any(rest >= (float)half_ulp(low, SUM)), !any(signs < 0)};
    return run->rising;
}

static inline struct ordered_run run_f32(const float *x, size_t n, double low)
{
    const float magic = (float)rounder(low, SUM);
    vf32 sum = {0}, size = {0}, rest = {0};
    struct ordered_run run;
    if (x[0] >= 0.0f && run_weights(x, n, low, &run))
        return run;
    for (size_t i = 0; i < n; i += LANES) {
        const vf32 a = terms_f32(x + i), q = (magic + a) - magic;
        sum += q;
        size += abs_f32(q);
        rest = max_f32(rest, abs_f32(a - q));
    }
    return (struct ordered_run){sum_f32(sum), sum_f32(size), any(rest >= (float)half_ulp(low, SUM))};
}

ALWAYS_INLINE struct ordered_run run_f64(const float *x, size_t n, float mean, double low, enum ordered_sum what)
{
    const double magic = rounder(low, what);
    vf64 sum[2] = {{0}, {0}}, size[2] = {{0}, {0}}, rest[2] = {{0}, {0}};
    for (size_t i = 0; i < n; i += LANES) {
        vf64 a[2];
        terms_f64(a, x + i, mean, low, what);
        UNROLL
        for (int k = 0; k < 2; k++) {
            const vf64 q = (a[k] + magic) - magic;
            sum[k] += q;
            size[k] += abs_f64(q);
            rest[k] = max_f64(rest[k], abs_f64(a[k] - q));
        }
    }
    const double all = sum_f64(sum[0] + sum[1]), squares = all - (double)n * low;
    const bool tied = any((vi32)(max_f64(rest[0], rest[1]) >= half_ulp(low, what)));
    if (what == SUM_SQUARES)
        return (struct ordered_run){squares, squares, tied};
    return (struct ordered_run){all, sum_f64(size[0] + size[1]), tied};
}

static inline struct ordered_ties ties_f32(const float *x, double low)
{
    const float magic = (float)rounder(low, SUM), tie = (float)half_ulp(low, SUM);
    struct ordered_ties t = {0, 0, 0};
    for (int i = 0; i < SHORT_RUN; i += LANES) {
        const vf32 a = terms_f32(x + i), b = magic + a, rest = a - (b - magic);
        t.up |= (uint64_t)equal_32(rest, tie) << i;
        t.down |= (uint64_t)equal_32(rest, -tie) << i;
        t.odd |= (uint64_t)signs_32((vi32)b << 31) << i;
    }
    return t;
}

ALWAYS_INLINE struct ordered_ties ties_f64(const float *x, float mean, double low, enum ordered_sum what)
{
    const double magic = rounder(low, what), tie = half_ulp(low, what);
    struct ordered_ties t = {0, 0, 0};
    for (int i = 0; i < SHORT_RUN; i += LANES) {
        vf64 a[2];
        terms_f64(a, x + i, mean, low, what);
        UNROLL
        for (int k = 0; k < 2; k++) {
            const int at = i + k * LANES_F64;
            const vf64 b = a[k] + magic, rest = a[k] - (b - magic);
            t.up |= (uint64_t)equal_64(rest, tie) << at;
            t.down |= (uint64_t)equal_64(rest, -tie) << at;
            t.odd |= (uint64_t)signs_64((vi64)((vu64)b << 63)) << at;
        }
    }
    return t;
}

// Returns whether no element moves the sum towards 0.
static bool none_against(const float *x, size_t n, double s)
{
    const uint32_t sign = bits_of_f32(s < 0 ? -0.0f : 0.0f);
    uint32_t any = 0;
    for (size_t i = 0; i < n; i++)
        any |= bits_of_f32(x[i]) ^ sign;
    return !(any >> 31);
}

// Returns whether the sum stays in [low, 2 low) at every element. drift: how far ties can take it. At the lower end a
// sum of exactly low is in danger although q is 0, as the floats below it are closer; a sum above it is not. The
// comparisons hold for rounded operands too, as rounding is monotone, and fail for NaN.
static bool stays(const struct ordered_run *r, double low, double drift, const float *x, size_t n, bool squares,
                  double s)
{
    if (!(r->size < low / 2))
        return false;
    const double up = (r->size + r->sum) / 2, down = (r->size - r->sum) / 2;
    const double away = s > 0 ? up : down, back = s > 0 ? down : up;
    return fabs(s) + away + drift < 2 * low &&
           (fabs(s) - back - drift > low || squares || (r->rising && s > 0) || none_against(x, n, s));
}

// Returns whether every element is the mean, as in a constant row.
static bool none_differs(const float *x, size_t n, float mean)
{
    vi32 differs = {0};
    for (size_t i = 0; i < n; i += LANES)
        differs |= load_vf32(x + i) != mean;
    return !any(differs);
}

// Adds n elements to *s in vectors. Returns false, with *s as it was, if the result could differ from adding in order.
ALWAYS_INLINE bool add_run(const float *x, size_t n, float mean, double *s, enum ordered_sum what)
{
    assert(n % SHORT_RUN == 0);
    const double low = binade(*s);
    const bool squares = what == SUM_SQUARES;
    if (squares && bits_of_f64(*s) == 0 && none_differs(x, n, mean))
        return true;
    if (!is_usual(low) || (squares && *s < 0))
        return false;
    const struct ordered_run r = what == SUM ? run_f32(x, n, low) : run_f64(x, n, mean, low, what);
    const double ulp = 2 * half_ulp(low, what);
    if (!stays(&r, low, r.tied ? (double)n * ulp : 0, x, n, squares, *s))
        return false;
    unsigned odd = (unsigned)((int64_t)(*s / ulp) & 1);
    int steps = 0;
    for (size_t i = 0; r.tied && i < n; i += SHORT_RUN)
        steps += tie_steps(what == SUM ? ties_f32(x + i, low) : ties_f64(x + i, mean, low, what), &odd);
    *s = *s + r.sum + steps * ulp;
    return true;
}

// Adds n elements in scalar code.
ALWAYS_INLINE double add_plain(const float *x, size_t n, float mean, double s, enum ordered_sum what)
{
    if (what == SUM_WIDE)
        return kern_scalar.sum_wide(x, n, s);
    return what == SUM ? kern_scalar.sum(x, n, (float)s) : kern_scalar.sum_squares(x, n, mean, (float)s);
}

// Doubles the length of a run if add_run succeeded, halves it if not. If the shortest run fails, adds some elements in
// scalar code, twice as many after each failure.
ALWAYS_INLINE double add_ordered(const float *x, size_t n, float mean, double s, enum ordered_sum what)
{
    size_t i = 0, len = LONG_RUN, stretch = SHORT_RUN;
    while (n - i >= SHORT_RUN) {
        while (len > n - i)
            len /= 2;
        if (add_run(x + i, len, mean, &s, what)) {
            i += len;
            len = len < LONG_RUN ? len * 2 : len;
            stretch = SHORT_RUN;
        } else if (len > SHORT_RUN) {
            len /= 2;
        } else {
            const size_t plain = stretch < n - i ? stretch : n - i;
            s = add_plain(x + i, plain, mean, s, what);
            i += plain;
            stretch = stretch < LONG_RUN ? stretch * 2 : stretch;
        }
    }
    return i < n ? add_plain(x + i, n - i, mean, s, what) : s;
}

static float row_sum(const float *x, size_t n, float s) { return (float)add_ordered(x, n, 0, s, SUM); }

static double row_sum_wide(const float *x, size_t n, double s) { return add_ordered(x, n, 0, s, SUM_WIDE); }

static float row_sum_squares(const float *x, size_t n, float mean, float s)
{
    return (float)add_ordered(x, n, mean, s, SUM_SQUARES);
}

#endif
