// SPDX-License-Identifier: MIT
// The NEON tier (AArch64): four floats at a time.
#include "kern/kern.h"

#ifdef __aarch64__

#define TIER          neon
#define VECTOR        16
#define MAX_KEEPS_NAN 1
#include "kern/expf.h"
#include "kern/vector.h"

#include <arm_neon.h>
#include <math.h>
#include <stdbool.h>

// Names that kern_template.h needs.

OPERATION(vf32, max_f32(vf32 a, vf32 b), vmaxq_f32(a, b))
OPERATION(vf32, min_f32(vf32 a, vf32 b), vminq_f32(a, b))
OPERATION(vf64, max_f64(vf64 a, vf64 b), vmaxq_f64(a, b))
OPERATION(vu32, max_u32(vu32 a, vu32 b), vmaxq_u32(a, b))
OPERATION(float, largest_f32(vf32 v), vmaxvq_f32(v))
OPERATION(double, sum_f64(vf64 v), vaddvq_f64(v))
OPERATION(hf32, lower_half(vf32 v), vget_low_f32(v))
OPERATION(hf32, upper_half(vf32 v), vget_high_f32(v))
OPERATION(vf32, join(hf32 lower, hf32 upper), vcombine_f32(lower, upper))
OPERATION(bool, any(vi32 v), vmaxvq_u32((vu32)v) != 0)
OPERATION(unsigned, signs_32(vi32 v), vaddvq_u32(((vu32)v >> 31) << lane_numbers()))
OPERATION(unsigned, signs_64(vi64 v), (unsigned)vaddvq_u64(((vu64)v >> 63) << (vu64){0, 1}))
OPERATION(unsigned, equal_32(vf32 a, float b), vaddvq_u32((vu32)(a == b) & (1u << lane_numbers())))
OPERATION(vf64, widen_f32(hf32 v), vcvt_f64_f32(v))
OPERATION(vu32, widen_u16(hu16 v), vmovl_u16(v))
OPERATION(vf64, f64_of_i32(hi32 v), vcvtq_f64_s64(vmovl_s32(v)))
OPERATION(vf32, f32_of_f16s(hu16 h), vcvt_f32_f16((float16x4_t)h))
OPERATION(vf64, multiply_add(vf64 a, vf64 b, vf64 c), vfmaq_f64(c, a, b))
OPERATION(vf32, round_to_f16(vf32 x), vcvt_f32_f16(vcvt_f16_f32(x)))

#include "kern/lanes_template.h"

static inline void store_pairs(uint64_t *to, vu32 low, vu32 high)
{
    const uint32x4x2_t both = {{low, high}};
    vst2q_u32((uint32_t *)to, both);
}

// Names that numbers_template.h needs.

OPERATION(vu8, even_lanes(const char *base, const uint16_t *at), vld1q_u8((const uint8_t *)base + *at))
OPERATION(hu32, first_of_lanes(vu8 a, vu8 b), vzip1_u32(vget_low_u32((vu32)a), vget_low_u32((vu32)b)))
OPERATION(vu8, beyond_u8(vu8 a, vu8 b), vqsubq_u8(a, b))
OPERATION(vu16, join_bytes(vu8 v, vu16 w), vpaddlq_u8(v *(vu8)w)) // of digits
OPERATION(vu32, join_16s(vu16 v, vu32 w),
          vpaddq_u32(vmull_u16(vget_low_u16(v), vget_low_u16((vu16)w)), vmull_high_u16(v, (vu16)w)))
OPERATION(vu16, pack_lanes(vu32 a, vu32 b), vqmovn_high_u32(vqmovn_u32(a), b))
OPERATION(vu64, times_low(vu64 a, vu64 b), vmull_u32(vmovn_u64(a), vmovn_u64(b)))
OPERATION(vi64, widen_i32(hi32 v), vmovl_s32(v))

static inline uint64_t same_bytes(const char *p, char c)
{
    const vu8 bit = (vu8)vdupq_n_u64(0x8040201008040201);
    vu8 same[4];
    UNROLL
    for (size_t i = 0; i < 4; i++)
        same[i] = (load_vu8(p + i * VECTOR) == (uint8_t)c) & bit;
    const vu8 sums = vpaddq_u8(vpaddq_u8(same[0], same[1]), vpaddq_u8(same[2], same[3]));
    return vgetq_lane_u64((vu64)vpaddq_u8(sums, sums), 0);
}

static inline vu64 eight_bytes(const char *base, const uint16_t *at)
{
    return vcombine_u64((uint64x1_t)vld1_u8((const uint8_t *)base + at[0]),
                        (uint64x1_t)vld1_u8((const uint8_t *)base + at[1]));
}

static inline void keep_digits(vu8 text[4], vi32 places, vu8 zero)
{
    const vu8 bit = (vu8)vdupq_n_u64(0x8040201008040201);
    UNROLL
    for (size_t q = 0; q < 4; q++) {
        const uint32_t kept = (uint32_t)places[q];
        text[q] =
            (text[q] - zero) & vtstq_u8(vcombine_u8(vdup_n_u8((uint8_t)kept), vdup_n_u8((uint8_t)(kept >> 8))), bit);
    }
}

#include "kern/numbers_template.h"

#include "kern/kern_template.h"

#endif
