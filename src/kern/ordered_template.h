// SPDX-License-Identifier: MIT
// The vector parts of ordered.h's sums, and a SIMD tier's kernels made of them. A part of kern_template.h, with the same parameters.
#ifndef SAMPL_KERN_ORDERED_TEMPLATE_H
#define SAMPL_KERN_ORDERED_TEMPLATE_H

#include "kern/ordered.h"

#include <assert.h>
#include <math.h>

// Adding a number whose ulp is u, 1.5 * low for example, and subtracting it again rounds to multiples of u; the subtraction is exact.

static inline double sum_f32(vf32 v)
{
    return sum_f64(widen_f32(lower_half(v)) + widen_f32(upper_half(v)));
}

// The ties of the elements from the i-th, by rest = x - q, and by a number that has q's parity in its lowest bit.
static inline void put_ties_32(struct ordered_ties *t, int i, vf32 rest, float tie, vf32 parity)
{
    t->up |= (uint64_t)equal_32(rest, tie) << i;
    t->down |= (uint64_t)equal_32(rest, -tie) << i;
    t->odd |= (uint64_t)signs_32((vi32)((vu32)parity << 31)) << i;
}

static inline void put_ties_64(struct ordered_ties *t, int i, vf64 rest, double tie, vf64 parity)
{
    t->up |= (uint64_t)equal_64(rest, tie) << i;
    t->down |= (uint64_t)equal_64(rest, -tie) << i;
    t->odd |= (uint64_t)signs_64((vi64)((vu64)parity << 63)) << i;
}

// sum: what is added is x, but 0 where x is -inf.

static inline vf32 load_finite(const float *x)
{
    const vf32 a = load_once(x);
    return (vf32)((vi32)a & (a != -INFINITY));
}

static struct ordered_run run_sum(const float *x, size_t n, float mean, double low)
{
    assert(n % ORDERED_TIES == 0);
    (void)mean;
    const float magic = 1.5f * (float)low;
    vf32 sum = {0}, size = {0}, rest = {0};
    for (size_t i = 0; i < n; i += LANES) {
        const vf32 a = load_finite(x + i);
        const vf32 q = (magic + a) - magic;
        sum += q;
        size += abs_f32(q);
        rest = max_f32(rest, abs_f32(a - q));
    }
    return (struct ordered_run){sum_f32(sum), sum_f32(size), largest_f32(rest)};
}

static inline struct ordered_ties ties_sum(const float *x, float mean, double low)
{
    (void)mean;
    const float magic = 1.5f * (float)low;
    struct ordered_ties t = {0, 0, 0};
    for (int i = 0; i < ORDERED_TIES; i += LANES) {
        const vf32 a = load_finite(x + i);
        const vf32 b = magic + a;
        put_ties_32(&t, i, a - (b - magic), (float)low * 0x1p-24f, b);
    }
    return t;
}

// sum_wide: x in f64.

static struct ordered_run run_sum_wide(const float *x, size_t n, float mean, double low)
{
    assert(n % ORDERED_TIES == 0);
    (void)mean;
    const double magic = 1.5 * low;
    vf64 sum = {0}, size = {0}, rest = {0};
    for (size_t i = 0; i < n; i += LANES_F64) {
        const vf64 a = widen_f32(load_hf32(x + i));
        const vf64 q = (magic + a) - magic;
        sum += q;
        size += abs_f64(q);
        rest = max_f64(rest, abs_f64(a - q));
    }
    return (struct ordered_run){sum_f64(sum), sum_f64(size), largest_f64(rest)};
}

static inline struct ordered_ties ties_sum_wide(const float *x, float mean, double low)
{
    (void)mean;
    const double magic = 1.5 * low;
    struct ordered_ties t = {0, 0, 0};
    for (int i = 0; i < ORDERED_TIES; i += LANES_F64) {
        const vf64 a = widen_f32(load_hf32(x + i));
        const vf64 b = magic + a;
        put_ties_64(&t, i, a - (b - magic), low * 0x1p-53, b);
    }
    return t;
}

// sum_squares: the square of x - mean in f64, but 0 where x is -inf. Adding low to it rounds as f64 addition to the sum does; adding
// low * 2^29, whose ulp is u, then rounds to multiples of u.

static inline vf32 distance(const float *x, float mean)
{
    const vf32 a = load_once(x);
    return (vf32)((vi32)(a - mean) & (a != -INFINITY));
}

static inline vf64 low_plus_square(hf32 d, double low)
{
    const vf64 wide = widen_f32(d);
    return low + wide * wide;
}

static struct ordered_run run_sum_squares(const float *x, size_t n, float mean, double low)
{
    assert(n % ORDERED_TIES == 0);
    const double magic = low * 0x1p29;
    vf64 sum[2] = {{0}, {0}}, rest[2] = {{0}, {0}};
    for (size_t i = 0; i < n; i += LANES) {
        const vf32 d = distance(x + i, mean);
        UNROLL
        for (int k = 0; k < 2; k++) {
            const vf64 a = low_plus_square(k ? upper_half(d) : lower_half(d), low);
            const vf64 q = (a + magic) - magic; // low + the rounded square
            sum[k] += q;
            rest[k] = max_f64(rest[k], abs_f64(a - q));
        }
    }
    const double total = sum_f64(sum[0] + sum[1]) - (double)n * low;
    return (struct ordered_run){total, total, largest_f64(max_f64(rest[0], rest[1]))};
}

static inline struct ordered_ties ties_sum_squares(const float *x, float mean, double low)
{
    const double magic = low * 0x1p29;
    struct ordered_ties t = {0, 0, 0};
    for (int i = 0; i < ORDERED_TIES; i += LANES) {
        const vf32 d = distance(x + i, mean);
        UNROLL
        for (int k = 0; k < 2; k++) {
            const vf64 a = low_plus_square(k ? upper_half(d) : lower_half(d), low);
            const vf64 b = a + magic;
            put_ties_64(&t, i + k * LANES_F64, a - (b - magic), low * 0x1p-24, b);
        }
    }
    return t;
}

#define DEFINE_STEPS(SLOT)                                                                  \
    static int steps_##SLOT(const float *x, size_t n, float mean, double low, unsigned odd) \
    {                                                                                       \
        int steps = 0;                                                                      \
        assert(n % ORDERED_TIES == 0);                                                      \
        for (size_t i = 0; i < n; i += ORDERED_TIES)                                        \
            steps += tie_steps(ties_##SLOT(x + i, mean, low), &odd);                        \
        return steps;                                                                       \
    }

DEFINE_STEPS(sum)
DEFINE_STEPS(sum_wide)
DEFINE_STEPS(sum_squares)

static float row_sum(const float *x, size_t n, float s)
{
    static const struct ordered o = {0x1p-23, run_sum, steps_sum, plain_sum};
    return (float)ordered_sum(&o, x, n, 0, s);
}

static double row_sum_wide(const float *x, size_t n, double s)
{
    static const struct ordered o = {0x1p-52, run_sum_wide, steps_sum_wide, plain_sum_wide};
    return ordered_sum(&o, x, n, 0, s);
}

static float row_sum_squares(const float *x, size_t n, float mean, float s)
{
    static const struct ordered o = {0x1p-23, run_sum_squares, steps_sum_squares, plain_sum_squares};
    return (float)ordered_sum(&o, x, n, mean, s);
}

#endif
