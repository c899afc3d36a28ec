// SPDX-License-Identifier: MIT
// The vector parts of ordered.h's sums for the NEON tier.
#include "kern/ordered.h"

#ifdef __aarch64__

#include <arm_neon.h>
#include <math.h>

static inline float32x4_t least(void)
{
    return vdupq_n_f32(-INFINITY);
}

// Adding a number whose ulp is u rounds to multiples of u; subtracting it is exact.

static inline float32x4_t drop_minus_inf(float32x4_t x, float32x4_t value)
{
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(value), vceqq_f32(x, least())));
}

static inline float32x4_t load_sum(const float *x)
{
    const float32x4_t a = vld1q_f32(x);
    return drop_minus_inf(a, a);
}

static struct run run_sum(const float *x, size_t n, float mean, double low)
{
    (void)mean;
    const float32x4_t magic = vdupq_n_f32(1.5f * (float)low);
    float32x4_t sum = vdupq_n_f32(0), size = sum, rest = sum;
    for (size_t i = 0; i < n; i += 4) {
        const float32x4_t a = load_sum(x + i);
        const float32x4_t q = vsubq_f32(vaddq_f32(magic, a), magic);
        sum = vaddq_f32(sum, q);
        size = vaddq_f32(size, vabsq_f32(q));
        rest = vmaxq_f32(rest, vabdq_f32(a, q));
    }
    return (struct run){(double)vaddvq_f32(sum), (double)vaddvq_f32(size), (double)vmaxvq_f32(rest)};
}

// One bit a lane
static inline uint64_t bits_of_lanes(uint32x4_t mask)
{
    static const uint32_t bit[4] = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(mask, vld1q_u32(bit)));
}

static inline struct ties ties_sum(const float *x, float mean, double low)
{
    (void)mean;
    const float tie = (float)low * 0x1p-24f;
    const float32x4_t magic = vdupq_n_f32(1.5f * (float)low);
    struct ties t = {0, 0, 0};
    for (int i = 0; i < ORDERED_TIES; i += 4) {
        const float32x4_t a = load_sum(x + i);
        const float32x4_t b = vaddq_f32(magic, a);
        const float32x4_t rest = vsubq_f32(a, vsubq_f32(b, magic));
        t.up |= bits_of_lanes(vceqq_f32(rest, vdupq_n_f32(tie))) << i;
        t.down |= bits_of_lanes(vceqq_f32(rest, vdupq_n_f32(-tie))) << i;
        t.odd |= bits_of_lanes(vtstq_u32(vreinterpretq_u32_f32(b), vdupq_n_u32(1))) << i;
    }
    return t;
}

static struct run run_sum_wide(const float *x, size_t n, float mean, double low)
{
    (void)mean;
    const float64x2_t magic = vdupq_n_f64(1.5 * low);
    float64x2_t sum = vdupq_n_f64(0), size = sum, rest = sum;
    for (size_t i = 0; i < n; i += 2) {
        const float64x2_t a = vcvt_f64_f32(vld1_f32(x + i));
        const float64x2_t q = vsubq_f64(vaddq_f64(magic, a), magic);
        sum = vaddq_f64(sum, q);
        size = vaddq_f64(size, vabsq_f64(q));
        rest = vmaxq_f64(rest, vabdq_f64(a, q));
    }
    return (struct run){vaddvq_f64(sum), vaddvq_f64(size), vmaxvq_f64(rest)};
}

// The next 2 elements' ties, by the rest and by a number with q's parity.
static inline void put_ties(struct ties *t, int i, float64x2_t rest, double tie, float64x2_t parity)
{
    const uint64x2_t up = vceqq_f64(rest, vdupq_n_f64(tie)), down = vceqq_f64(rest, vdupq_n_f64(-tie));
    const uint64x2_t odd = vreinterpretq_u64_f64(parity);
    t->up |= ((vgetq_lane_u64(up, 0) & 1) | (vgetq_lane_u64(up, 1) & 2)) << i;
    t->down |= ((vgetq_lane_u64(down, 0) & 1) | (vgetq_lane_u64(down, 1) & 2)) << i;
    t->odd |= ((vgetq_lane_u64(odd, 0) & 1) | (vgetq_lane_u64(odd, 1) & 1) << 1) << i;
}

static inline struct ties ties_sum_wide(const float *x, float mean, double low)
{
    (void)mean;
    const float64x2_t magic = vdupq_n_f64(1.5 * low);
    struct ties t = {0, 0, 0};
    for (int i = 0; i < ORDERED_TIES; i += 2) {
        const float64x2_t a = vcvt_f64_f32(vld1_f32(x + i));
        const float64x2_t b = vaddq_f64(magic, a);
        put_ties(&t, i, vsubq_f64(a, vsubq_f64(b, magic)), low * 0x1p-53, b);
    }
    return t;
}

// The numbers that rounding squares takes: adding low rounds as f64 addition to the sum does, then adding ulp to multiples of u.
struct magic {
    float64x2_t low, ulp;
};

static inline struct magic magic_squares(double low)
{
    return (struct magic){vdupq_n_f64(low), vdupq_n_f64(low * 0x1p29)};
}

// low + the squared distance from the mean of 2 elements
static inline float64x2_t squares(const float *x, float32x2_t mean, const struct magic *m)
{
    const float32x2_t a = vld1_f32(x);
    const uint32x2_t none = vceq_f32(a, vdup_n_f32(-INFINITY));
    const float32x2_t d = vreinterpret_f32_u32(vbic_u32(vreinterpret_u32_f32(vsub_f32(a, mean)), none));
    const float64x2_t wide = vcvt_f64_f32(d);
    return vaddq_f64(m->low, vmulq_f64(wide, wide));
}

static struct run run_sum_squares(const float *x, size_t n, float mean, double low)
{
    const struct magic m = magic_squares(low);
    float64x2_t sum = vdupq_n_f64(0), rest = sum;
    for (size_t i = 0; i < n; i += 2) {
        const float64x2_t t = squares(x + i, vdup_n_f32(mean), &m);
        const float64x2_t q = vsubq_f64(vaddq_f64(t, m.ulp), m.ulp); // and low
        sum = vaddq_f64(sum, q);
        rest = vmaxq_f64(rest, vabdq_f64(t, q));
    }
    const double total = vaddvq_f64(sum) - (double)n * low;
    return (struct run){total, total, vmaxvq_f64(rest)};
}

static inline struct ties ties_sum_squares(const float *x, float mean, double low)
{
    const struct magic m = magic_squares(low);
    struct ties t = {0, 0, 0};
    for (int i = 0; i < ORDERED_TIES; i += 2) {
        const float64x2_t a = squares(x + i, vdup_n_f32(mean), &m);
        const float64x2_t b = vaddq_f64(a, m.ulp);
        put_ties(&t, i, vsubq_f64(a, vsubq_f64(b, m.ulp)), low * 0x1p-24, b);
    }
    return t;
}

#define TIER neon
#include "kern/ordered_tier.h"

#endif
