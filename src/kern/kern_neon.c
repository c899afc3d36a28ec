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
#include <stdbool.h>

static inline vf32 max_f32(vf32 a, vf32 b)
{
    return vmaxq_f32(a, b);
}

static inline vf32 min_f32(vf32 a, vf32 b)
{
    return vminq_f32(a, b);
}

static inline vf64 max_f64(vf64 a, vf64 b)
{
    return vmaxq_f64(a, b);
}

static inline vi16 max_i16(vi16 a, vi16 b)
{
    return vmaxq_s16(a, b);
}

static inline vi16 min_i16(vi16 a, vi16 b)
{
    return vminq_s16(a, b);
}

static inline vu32 max_u32(vu32 a, vu32 b)
{
    return vmaxq_u32(a, b);
}

static inline float largest_f32(vf32 v)
{
    return vmaxvq_f32(v);
}

static inline double largest_f64(vf64 v)
{
    return vmaxvq_f64(v);
}

static inline double sum_f64(vf64 v)
{
    return vaddvq_f64(v);
}

static inline int16_t largest_i16(vi16 v)
{
    return vmaxvq_s16(v);
}

static inline hf32 lower_half(vf32 v)
{
    return vget_low_f32(v);
}

static inline hf32 upper_half(vf32 v)
{
    return vget_high_f32(v);
}

static inline vf32 join(hf32 lower, hf32 upper)
{
    return vcombine_f32(lower, upper);
}

static inline bool any(vi32 v)
{
    return vmaxvq_u32((vu32)v) != 0;
}

static inline unsigned signs_32(vi32 v)
{
    return vaddvq_u32(((vu32)v >> 31) << lane_numbers());
}

static inline unsigned signs_64(vi64 v)
{
    const vu64 sign = (vu64)v >> 63;
    return (unsigned)(sign[0] | sign[1] << 1);
}

static inline vf32 load_first(const void *at, size_t n, vf32 rest)
{
    memcpy(&rest, at, n * sizeof(float));
    return rest;
}

static inline void store_first(void *at, size_t n, vf32 v)
{
    memcpy(at, &v, n * sizeof(float));
}

static inline vf64 widen_f32(hf32 v)
{
    return vcvt_f64_f32(v);
}

static inline vu32 widen_u16(hu16 v)
{
    return vmovl_u16(v);
}

static inline vf64 f64_of_i32(hi32 v)
{
    return vcvtq_f64_s64(vmovl_s32(v));
}

static inline vf32 f32_of_f16s(hu16 h)
{
    return vcvt_f32_f16((float16x4_t)h);
}

static inline vf32 round_to_f16(vf32 x)
{
    return vcvt_f32_f16(vcvt_f16_f32(x));
}

static inline vi64 expf_entry(vi64 k)
{
    return (vi64)(vf64){expf_table[k[0] & 31], expf_table[k[1] & 31]};
}

static inline void store_pairs(uint64_t *to, vu32 low, vu32 high)
{
    const uint32x4x2_t both = {{low, high}};
    vst2q_u32((uint32_t *)to, both);
}

#include "kern/kern_template.h"

#endif
