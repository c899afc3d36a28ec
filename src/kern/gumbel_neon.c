// SPDX-License-Identifier: MIT
// Gumbel noise: the NEON tier.
#include "kern/gumbel.h"

#ifdef __aarch64__

#include <arm_neon.h>
#include <math.h>

static inline uint32x4_t words(uint32x4_t counter)
{
    const uint32x4_t state = vaddq_u32(vmulq_u32(counter, vdupq_n_u32(GUMBEL_MUL)), vdupq_n_u32(GUMBEL_ADD));
    const int32x4_t by = vreinterpretq_s32_u32(vaddq_u32(vshrq_n_u32(state, 28), vdupq_n_u32(4)));
    const uint32x4_t mixed = veorq_u32(vshlq_u32(state, vnegq_s32(by)), state);
    const uint32x4_t w = vmulq_u32(mixed, vdupq_n_u32(GUMBEL_MIX));
    return veorq_u32(w, vshrq_n_u32(w, 22));
}

// c[i] + c[i + 1] * w
static inline float64x2_t pair(int i, float64x2_t w)
{
    return vaddq_f64(vdupq_n_f64(logf_series[i]), vmulq_f64(vdupq_n_f64(logf_series[i + 1]), w));
}

// -ln x, as logf.h has it, two at a time
static inline float32x2_t minus_log_2(float32x2_t x)
{
    const float64x2_t one = vdupq_n_f64(1.0);
    const uint32x2_t bits = vreinterpret_u32_f32(x);
    const uint32x2_t k = vand_u32(vsub_u32(bits, vdup_n_u32(LOGF_BASE)), vdup_n_u32(0xff800000u));
    const float64x2_t z = vcvt_f64_f32(vreinterpret_f32_u32(vsub_u32(bits, k)));
    const float64x2_t s = vdivq_f64(vsubq_f64(z, one), vaddq_f64(z, one));
    const float64x2_t w = vmulq_f64(s, s), w2 = vmulq_f64(w, w), w4 = vmulq_f64(w2, w2);
    const float64x2_t a = vaddq_f64(pair(0, w), vmulq_f64(pair(2, w), w2));
    const float64x2_t b = vaddq_f64(pair(4, w), vmulq_f64(pair(6, w), w2));
    const float64x2_t high = vmulq_f64(pair(8, w), vmulq_f64(w4, w4));
    const float64x2_t series = vaddq_f64(vaddq_f64(a, vmulq_f64(b, w4)), high);
    const float64x2_t twice = vaddq_f64(s, s);
    const float64x2_t rest = vaddq_f64(twice, vmulq_f64(twice, vmulq_f64(w, series)));
    const float64x2_t exponent = vcvtq_f64_s64(vmovl_s32(vshr_n_s32(vreinterpret_s32_u32(k), 23)));
    return vneg_f32(vcvt_f32_f64(vaddq_f64(vmulq_f64(exponent, vdupq_n_f64(LOGF_LN2)), rest)));
}

static inline float32x4_t minus_log_4(float32x4_t x)
{
    return vcombine_f32(minus_log_2(vget_low_f32(x)), minus_log_2(vget_high_f32(x)));
}

static inline float32x4_t noise_4(uint32x4_t word)
{
    const float32x4_t u = vmulq_f32(vcvtq_f32_u32(word), vdupq_n_f32(0x1p-32f));
    return minus_log_4(minus_log_4(vminq_f32(vmaxq_f32(u, vdupq_n_f32(GUMBEL_LEAST)), vdupq_n_f32(GUMBEL_MOST))));
}

void gumbel_neon(float *x, const float *logit, const uint32_t *id, size_t n, uint32_t s, float temp)
{
    const float32x4_t masked = vdupq_n_f32(-INFINITY);
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const float32x4_t noise = noise_4(words(vaddq_u32(vld1q_u32(id + i), vdupq_n_u32(s))));
        const float32x4_t a = vld1q_f32(logit + i);
        const float32x4_t noisy = vaddq_f32(a, vmulq_f32(vdupq_n_f32(temp), noise));
        vst1q_f32(x + i, vbslq_f32(vceqq_f32(a, masked), masked, vcvt_f32_f16(vcvt_f16_f32(noisy))));
    }
    gumbel_scalar(x + i, logit + i, id + i, n - i, s, temp);
}

// Looks at 16 words at once, as most are too small.
size_t gumbel_hot_neon(uint32_t *hot, uint32_t first, size_t n, uint32_t s, uint32_t least)
{
    static const uint32_t lane[4] = {0, 1, 2, 3};
    size_t found = 0, i = 0;
    for (; i + 16 <= n; i += 16) {
        uint32x4_t at = vaddq_u32(vdupq_n_u32(s + first + (uint32_t)i), vld1q_u32(lane)), most = vdupq_n_u32(0);
        for (int k = 0; k < 4; k++) {
            most = vmaxq_u32(most, words(at));
            at = vaddq_u32(at, vdupq_n_u32(4));
        }
        if (vmaxvq_u32(most) >= least)
            found += gumbel_hot_scalar(hot + found, first + (uint32_t)i, 16, s, least);
    }
    return found + gumbel_hot_scalar(hot + found, first + (uint32_t)i, n - i, s, least);
}

#endif
