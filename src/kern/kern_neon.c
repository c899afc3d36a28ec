// SPDX-License-Identifier: MIT
// The NEON tier (AArch64): four floats or two doubles at a time; the scalar tier does the ends.
#include "kern/kern.h"

#ifdef __aarch64__

#include "base/bits.h"
#include "kern/expf.h"
#include "kern/gumbel.h"
#include "kern/ordered.h"
#include "kern/unroll.h"

#include <arm_neon.h>
#include <math.h>
#include <stdbool.h>

static inline float32x4_t least(void)
{
    return vdupq_n_f32(-INFINITY);
}

static inline float32x4_t load_floats(const char *at)
{
    return vreinterpretq_f32_u8(vld1q_u8((const uint8_t *)at));
}

static inline int16x8_t load_halves(const char *at)
{
    return vreinterpretq_s16_u8(vld1q_u8((const uint8_t *)at));
}

// A maximum is NaN if an element is. Ends of rows are left to the scalar tier.
static inline bool block_f32(const char *x, size_t n, float *max)
{
    float32x4_t m[4] = {least(), least(), least(), least()};
    if (n < KERN_BLOCK) {
        *max = 0;
        return true;
    }
    for (size_t i = 0; i < KERN_BLOCK; i += 16) {
        UNROLL
        for (size_t k = 0; k < 4; k++)
            m[k] = vmaxq_f32(m[k], load_floats(x + (i + k * 4) * sizeof(float)));
    }
    *max = vmaxvq_f32(vmaxq_f32(vmaxq_f32(m[0], m[1]), vmaxq_f32(m[2], m[3])));
    return !(*max < INFINITY);
}

// Bits of half-precision floats as signed integers in the order of their values; -0 is before +0. Its own inverse.
static inline int16x8_t order16(int16x8_t h)
{
    return veorq_s16(h, vandq_s16(vshrq_n_s16(h, 15), vdupq_n_s16(0x7fff)));
}

// NaN and +inf lie above and below all others.
static inline bool block_16(const char *x, size_t n, uint16_t inf, uint16_t *max)
{
    if (n < KERN_BLOCK) {
        *max = 0;
        return true;
    }
    const int lowest = -inf - 1; // -inf, ordered
    const int16x8_t none = vdupq_n_s16((int16_t)lowest);
    int16x8_t hi[2] = {none, none}, lo[2] = {none, none};
    for (size_t i = 0; i < KERN_BLOCK; i += 16) {
        UNROLL
        for (size_t k = 0; k < 2; k++) {
            const int16x8_t a = order16(load_halves(x + (i + k * 8) * sizeof(uint16_t)));
            hi[k] = vmaxq_s16(hi[k], a);
            lo[k] = vminq_s16(lo[k], a);
        }
    }
    const int high = vmaxvq_s16(vmaxq_s16(hi[0], hi[1])), low = vminvq_s16(vminq_s16(lo[0], lo[1]));
    *max = (uint16_t)high;
    return high >= inf || low < lowest;
}

static void widen_f16(float *dst, const void *src, size_t n)
{
    const char *from = src;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const float16x8_t h = vreinterpretq_f16_s16(load_halves(from + i * sizeof(uint16_t)));
        vst1q_f32(dst + i, vcvt_f32_f16(vget_low_f16(h)));
        vst1q_f32(dst + i + 4, vcvt_high_f32_f16(h));
    }
    kern_scalar.widen[DTYPE_F16](dst + i, from + i * sizeof(uint16_t), n - i);
}

static void widen_bf16(float *dst, const void *src, size_t n)
{
    const char *from = src;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const int16x8_t h = load_halves(from + i * sizeof(uint16_t));
        vst1q_f32(dst + i, vreinterpretq_f32_s32(vshll_n_s16(vget_low_s16(h), 16)));
        vst1q_f32(dst + i + 4, vreinterpretq_f32_s32(vshll_high_n_s16(h, 16)));
    }
    kern_scalar.widen[DTYPE_BF16](dst + i, from + i * sizeof(uint16_t), n - i);
}

static inline size_t find(const float *x, size_t n, float value)
{
    size_t i = 0;
    while (i + 4 <= n && !vmaxvq_u32(vceqq_f32(vld1q_f32(x + i), vdupq_n_f32(value))))
        i += 4;
    while (x[i] != value)
        i++;
    return i;
}

static inline float some_max(const float *x, size_t n)
{
    float32x4_t m[4] = {least(), least(), least(), least()};
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        UNROLL
        for (size_t k = 0; k < 4; k++)
            m[k] = vmaxq_f32(m[k], vld1q_f32(x + i + k * 4));
    }
    const float rest = kern_scalar.max(x + i, n - i);
    const float max = vmaxvq_f32(vmaxq_f32(vmaxq_f32(m[0], m[1]), vmaxq_f32(m[2], m[3])));
    return rest > max ? rest : max;
}

// The keys of 4 elements.
static inline void put_keys(uint64_t *keys, float32x4_t x, uint32_t id)
{
    static const uint32_t lane[4] = {0, 1, 2, 3};
    const int32x4_t bits = vreinterpretq_s32_f32(vaddq_f32(x, vdupq_n_f32(0)));
    const int32x4_t flip = vorrq_s32(vshrq_n_s32(bits, 31), vdupq_n_s32(INT32_MIN));
    const uint32x4x2_t halves = {{vsubq_u32(vdupq_n_u32(~id), vld1q_u32(lane)), vreinterpretq_u32_s32(veorq_s32(bits, flip))}};
    const uint32x4x2_t pairs = vzipq_u32(halves.val[0], halves.val[1]);
    vst1q_u64(keys, vreinterpretq_u64_u32(pairs.val[0]));
    vst1q_u64(keys + 2, vreinterpretq_u64_u32(pairs.val[1]));
}

// Looks at 16 elements at once, as most have none to collect.
static size_t collect_f32(uint64_t *keys, const float *x, size_t n, uint32_t first_id, float floor)
{
    const float32x4_t lowest = vdupq_n_f32(floor);
    size_t found = 0, i = 0;
    for (; i + 16 <= n; i += 16) {
        const uint32x4_t a = vcgeq_f32(vld1q_f32(x + i), lowest), b = vcgeq_f32(vld1q_f32(x + i + 4), lowest);
        const uint32x4_t c = vcgeq_f32(vld1q_f32(x + i + 8), lowest), d = vcgeq_f32(vld1q_f32(x + i + 12), lowest);
        if (vminvq_u32(vandq_u32(vandq_u32(a, b), vandq_u32(c, d)))) {
            for (size_t k = 0; k < 16; k += 4)
                put_keys(keys + found + k, vld1q_f32(x + i + k), first_id + (uint32_t)(i + k));
            found += 16;
        } else if (vmaxvq_u32(vorrq_u32(vorrq_u32(a, b), vorrq_u32(c, d)))) {
            found += kern_scalar.collect(keys + found, x + i, 16, first_id + (uint32_t)i, floor);
        }
    }
    return found + kern_scalar.collect(keys + found, x + i, n - i, first_id + (uint32_t)i, floor);
}

// expf.h, two at a time; anything for arguments that underflow.
static inline float32x2_t exp_2(float32x2_t x)
{
    const float64x2_t shift = vdupq_n_f64(EXPF_SHIFT), one = vdupq_n_f64(1.0);
    const float64x2_t z = vmulq_f64(vcvt_f64_f32(x), vdupq_n_f64(EXPF_SCALE));
    const float64x2_t shifted = vaddq_f64(z, shift);
    const float64x2_t r = vsubq_f64(z, vsubq_f64(shifted, shift));
    const uint64x2_t k = vreinterpretq_u64_f64(shifted), mod = vdupq_n_u64(31);
    const float64x2_t t = {expf_table[vgetq_lane_u64(k, 0) % 32], expf_table[vgetq_lane_u64(k, 1) % 32]};
    const uint64x2_t e = vshlq_n_u64(vbicq_u64(k, mod), 52 - 5);
    const float64x2_t s = vreinterpretq_f64_u64(vaddq_u64(vreinterpretq_u64_f64(t), e));
    const float64x2_t high = vaddq_f64(vmulq_f64(vdupq_n_f64(EXPF_C0), r), vdupq_n_f64(EXPF_C1));
    const float64x2_t low = vaddq_f64(vmulq_f64(vdupq_n_f64(EXPF_C2), r), one);
    const float64x2_t y = vaddq_f64(vmulq_f64(high, vmulq_f64(r, r)), low);
    return vcvt_f32_f64(vmulq_f64(y, s));
}

static inline float32x4_t exp_4(float32x4_t x)
{
    const uint32x4_t zero = vcltq_f32(x, vdupq_n_f32(EXPF_UNDERFLOW));
    const float32x4_t y = vcombine_f32(exp_2(vget_low_f32(x)), exp_2(vget_high_f32(x)));
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(y), zero));
}

static void exp_sub_f32(float *p, const float *x, float max, size_t n)
{
    const float32x4_t m = vdupq_n_f32(max);
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        vst1q_f32(p + i, exp_4(vsubq_f32(vld1q_f32(x + i), m)));
    kern_scalar.exp_sub(p + i, x + i, max, n - i);
}

static void divide_f32(float *x, size_t n, float d)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        vst1q_f32(x + i, vdivq_f32(vld1q_f32(x + i), vdupq_n_f32(d)));
    kern_scalar.divide(x + i, n - i, d);
}

static void multiply_f32(float *x, size_t n, float f)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        vst1q_f32(x + i, vmulq_n_f32(vld1q_f32(x + i), f));
    kern_scalar.multiply(x + i, n - i, f);
}

static void round_f16(float *x, size_t n)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        vst1q_f32(x + i, vcvt_f32_f16(vcvt_f16_f32(vld1q_f32(x + i))));
    kern_scalar.round_f16(x + i, n - i);
}

static size_t count_f32(const float *x, size_t n, float floor)
{
    size_t count = 0, i = 0;
    for (; i + 4 <= n; i += 4)
        count += vaddvq_u32(vshrq_n_u32(vcgeq_f32(vld1q_f32(x + i), vdupq_n_f32(floor)), 31));
    return count + kern_scalar.count(x + i, n - i, floor);
}

static void mask_below_f32(float *x, size_t n, float floor)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const float32x4_t a = vld1q_f32(x + i);
        vst1q_f32(x + i, vbslq_f32(vcltq_f32(a, vdupq_n_f32(floor)), least(), a));
    }
    kern_scalar.mask_below(x + i, n - i, floor);
}

static inline void blur_vectors(double *q, const double *p, const double *w, size_t reach, int count)
{
    float64x2_t sum[4];
    UNROLL
    for (int k = 0; k < count; k++)
        sum[k] = vld1q_f64(p + k * 2);
    for (size_t d = 1; d < reach; d++) {
        UNROLL
        for (int k = 0; k < count; k++) {
            const float64x2_t both = vaddq_f64(vld1q_f64(p + k * 2 - d), vld1q_f64(p + k * 2 + d));
            sum[k] = vaddq_f64(sum[k], vmulq_f64(vdupq_n_f64(w[d]), both));
        }
    }
    UNROLL
    for (int k = 0; k < count; k++)
        vst1q_f64(q + k * 2, sum[k]);
}

#define TIER    neon
#define DOUBLES 2
#include "kern/kern_tier.h"

#endif
