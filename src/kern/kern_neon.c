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

// What kern_template.h asks for.

OPERATION(vf32, max_f32(vf32 a, vf32 b), vmaxq_f32(a, b))
OPERATION(vf32, min_f32(vf32 a, vf32 b), vminq_f32(a, b))
OPERATION(vf64, max_f64(vf64 a, vf64 b), vmaxq_f64(a, b))
OPERATION(vi16, max_i16(vi16 a, vi16 b), vmaxq_s16(a, b))
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
OPERATION(unsigned, equal_64(vf64 a, double b), signs_64(a == b))
OPERATION(vf32, masked_below(vf32 x, float floor), select_f32(x < floor, splat(-INFINITY), x))
OPERATION(vf64, entry_16(const double *table, vi64 i), ((vf64){table[i[0]], table[i[1]]}))
OPERATION(vf64, widen_f32(hf32 v), vcvt_f64_f32(v))
OPERATION(vu32, widen_u16(hu16 v), vmovl_u16(v))
OPERATION(vf64, f64_of_i32(hi32 v), vcvtq_f64_s64(vmovl_s32(v)))
OPERATION(vf32, f32_of_f16s(hu16 h), vcvt_f32_f16((float16x4_t)h))
OPERATION(vf64, multiply_add(vf64 a, vf64 b, vf64 c), vfmaq_f64(c, a, b))
OPERATION(vf32, round_to_f16(vf32 x), vcvt_f32_f16(vcvt_f16_f32(x)))

static inline vf32 load_first(const void *at, size_t n, vf32 rest)
{
    memcpy(&rest, at, n * sizeof(float));
    return rest;
}

static inline void store_first(void *at, size_t n, vf32 v)
{
    memcpy(at, &v, n * sizeof(float));
}

static inline vi64 expf_entry(vi64 k)
{
    return (vi64)(vu64){expf_table[k[0] & 31], expf_table[k[1] & 31]};
}

static inline void store_pairs(uint64_t *to, vu32 low, vu32 high)
{
    const uint32x4x2_t both = {{low, high}};
    vst2q_u32((uint32_t *)to, both);
}

#define row_numbers json_numbers
#include "base/number.h"
#include "kern/kern_template.h"

#endif
