// SPDX-License-Identifier: MIT
// The tier of WebAssembly's 128-bit vectors: four floats at a time.
#include "kern/kern.h"

#ifdef __wasm__

#define TIER          simd128
#define VECTOR        16
#define MAX_KEEPS_NAN 1
#include "base/bits.h"
#include "kern/expf.h"
#include "kern/vector.h"

#include <math.h>
#include <stdbool.h>
#include <wasm_simd128.h>

// Names that kern_template.h needs.

OPERATION(vf32, max_f32(vf32 a, vf32 b), (vf32)wasm_f32x4_max((v128_t)a, (v128_t)b))
OPERATION(vf32, min_f32(vf32 a, vf32 b), (vf32)wasm_f32x4_min((v128_t)a, (v128_t)b))
OPERATION(vf64, max_f64(vf64 a, vf64 b), (vf64)wasm_f64x2_max((v128_t)a, (v128_t)b))
OPERATION(vu32, max_u32(vu32 a, vu32 b), (vu32)wasm_u32x4_max((v128_t)a, (v128_t)b))
OPERATION(double, sum_f64(vf64 v), v[0] + v[1])
OPERATION(hf32, lower_half(vf32 v), __builtin_shufflevector(v, v, 0, 1))
OPERATION(hf32, upper_half(vf32 v), __builtin_shufflevector(v, v, 2, 3))
OPERATION(vf32, join(hf32 lower, hf32 upper), __builtin_shufflevector(lower, upper, 0, 1, 2, 3))
OPERATION(bool, any(vi32 v), wasm_v128_any_true((v128_t)v))
OPERATION(unsigned, signs_32(vi32 v), (unsigned)wasm_i32x4_bitmask((v128_t)v))
OPERATION(unsigned, signs_64(vi64 v), (unsigned)wasm_i64x2_bitmask((v128_t)v))
OPERATION(unsigned, equal_32(vf32 a, float b), signs_32(a == b))
OPERATION(vf64, widen_f32(hf32 v), __builtin_convertvector(v, vf64))
OPERATION(vf64, f64_of_i32(hi32 v), __builtin_convertvector(v, vf64))
OPERATION(vf64, multiply_add(vf64 a, vf64 b, vf64 c), c + a * b)

#include "kern/lanes_template.h"

// One instruction for all lanes, as clang 14 would convert each lane alone.
static inline vu32 widen_u16(hu16 v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return (vu32)wasm_u32x4_extend_low_u16x8(wasm_u64x2_splat(bits));
}

// Returns the floats of four halves. A half has 5 bits of exponent with bias 15, a float 8 with bias 127. If a half's
// bits are shifted to their place in a float, the float is the half's value times 2^-112, also if it is subnormal.
// Infinities, which are 2^16 by this rule, and NaNs, which are more, get the exponent 255. Signalling NaNs become
// quiet, as F16C makes them.
static inline vf32 f32_of_f16s(hu16 h)
{
    const vu32 w = widen_u16(h), rest = w & 0x7fff, sign = (w ^ rest) << 16;
    const vf32 size = (vf32)(rest << 13) * 0x1p112f;
    const vu32 exponent = (vu32)(size >= 0x1p16f) & 0x7f800000, quiet = (vu32)(size > 0x1p16f) & 0x400000;
    return (vf32)(sign | (vu32)size | exponent | quiet);
}

static inline vf32 round_to_f16(vf32 x)
{
    vf32 y;
    for (size_t i = 0; i < LANES; i++)
        y[i] = f32_of_f16(f16_of_f32(x[i]));
    return y;
}

static inline float largest_f32(vf32 v)
{
    const vf32 a = max_f32(v, __builtin_shufflevector(v, v, 2, 3, 0, 1));
    return max_f32(a, __builtin_shufflevector(a, a, 1, 0, 3, 2))[0];
}

static inline void store_pairs(uint64_t *to, vu32 low, vu32 high)
{
    store_vu32(to, __builtin_shufflevector(low, high, 0, 4, 1, 5));
    store_vu32(to + 2, __builtin_shufflevector(low, high, 2, 6, 3, 7));
}

// Names that numbers_template.h needs.

OPERATION(vu8, even_lanes(const char *base, const uint16_t *at), load_vu8(base + *at))
OPERATION(hu32, first_of_lanes(vu8 a, vu8 b), __builtin_shufflevector((vu32)a, (vu32)b, 0, 4))
OPERATION(vu8, beyond_u8(vu8 a, vu8 b), (vu8)wasm_u8x16_sub_sat((v128_t)a, (v128_t)b))
OPERATION(vu16, join_bytes(vu8 v, vu16 w), (vu16)wasm_u16x8_extadd_pairwise_u8x16((v128_t)(v *(vu8)w)))
OPERATION(vu32, join_16s(vu16 v, vu32 w), (vu32)wasm_i32x4_dot_i16x8((v128_t)v, (v128_t)w))
OPERATION(vu16, pack_lanes(vu32 a, vu32 b), (vu16)wasm_u16x8_narrow_i32x4((v128_t)a, (v128_t)b))
OPERATION(vu64, times_low(vu64 a, vu64 b), (a & UINT32_MAX) * (b & UINT32_MAX))
OPERATION(vi64, widen_i32(hi32 v), __builtin_convertvector(v, vi64))

static inline uint64_t same_bytes(const char *p, char c)
{
    uint64_t bits = 0;
    UNROLL
    for (size_t i = 0; i < 4; i++)
        bits |= (uint64_t)wasm_i8x16_bitmask((v128_t)(load_vu8(p + i * VECTOR) == (uint8_t)c)) << 16 * i;
    return bits;
}

static inline vu64 eight_bytes(const char *base, const uint16_t *at)
{
    vu64 v;
    memcpy(&v, base + at[0], sizeof(uint64_t));
    memcpy((char *)&v + sizeof(uint64_t), base + at[1], sizeof(uint64_t));
    return v;
}

static inline void keep_digits(vu8 text[4], vi32 places, vu8 zero)
{
    const vu8 bit = (vu8)(vu64){0x8040201008040201, 0x8040201008040201};
    UNROLL
    for (size_t q = 0; q < 4; q++) {
        const uint64_t kept = (uint32_t)places[q];
        const vu8 spread = (vu8)(vu64){(kept & 0xff) * 0x0101010101010101, (kept >> 8 & 0xff) * 0x0101010101010101};
        text[q] = (text[q] - zero) & (vu8)((spread & bit) == bit);
    }
}

#include "kern/numbers_template.h"

#include "kern/kern_template.h"

#endif
