// SPDX-License-Identifier: MIT
// The AVX-512 tier (F, BW, DQ, VL): sixteen floats at a time; masks take care of the ends.
#include "kern/kern.h"

#ifdef __x86_64__

#define TIER          avx512
#define VECTOR        64
#define MAX_KEEPS_NAN 0
#define HAS_COMPRESS
#define HAS_SPLIT
#define HAS_SCALES
#include "kern/expf.h"
#include "kern/vector.h"

#include <immintrin.h>
#include <math.h>
#include <stdbool.h>

// Names that kern_template.h needs.

OPERATION(vf32, max_f32(vf32 a, vf32 b), _mm512_max_ps(a, b))
OPERATION(vf32, min_f32(vf32 a, vf32 b), _mm512_min_ps(a, b))
OPERATION(vf64, max_f64(vf64 a, vf64 b), _mm512_max_pd(a, b))
OPERATION(vu32, max_u32(vu32 a, vu32 b), (vu32)_mm512_max_epu32((__m512i)a, (__m512i)b))
OPERATION(float, largest_f32(vf32 v), _mm512_reduce_max_ps(v))
OPERATION(double, sum_f64(vf64 v), _mm512_reduce_add_pd(v))
OPERATION(hf32, lower_half(vf32 v), _mm512_castps512_ps256(v))
OPERATION(hf32, upper_half(vf32 v), _mm512_extractf32x8_ps(v, 1))
OPERATION(vf32, join(hf32 lower, hf32 upper), _mm512_insertf32x8(_mm512_castps256_ps512(lower), upper, 1))
OPERATION(bool, any(vi32 v), _mm512_test_epi32_mask((__m512i)v, (__m512i)v) != 0)
OPERATION(unsigned, signs_32(vi32 v), _mm512_movepi32_mask((__m512i)v))
OPERATION(unsigned, signs_64(vi64 v), _mm512_movepi64_mask((__m512i)v))
OPERATION(unsigned, equal_32(vf32 a, float b), _mm512_cmp_ps_mask(a, splat(b), _CMP_EQ_OQ))
OPERATION(unsigned, equal_64(vf64 a, double b), _mm512_cmp_pd_mask(a, _mm512_set1_pd(b), _CMP_EQ_OQ))
OPERATION(unsigned, at_least_32(vf32 a, float b), _mm512_cmp_ps_mask(a, splat(b), _CMP_GE_OQ))
OPERATION(vf32, zero_below(vf32 y, vf32 x, float floor), _mm512_maskz_mov_ps((__mmask16)at_least_32(x, floor), y))
OPERATION(vf32, masked_below(vf32 x, float floor),
          _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, splat(floor), _CMP_LT_OQ), splat(-INFINITY)))
OPERATION(vf32, load_first(const void *at, size_t n, vf32 rest),
          _mm512_mask_loadu_ps(rest, (__mmask16)((1u << n) - 1), at))
OPERATION(vf64, widen_f32(hf32 v), _mm512_cvtps_pd(v))
OPERATION(vu32, widen_u16(hu16 v), (vu32)_mm512_cvtepu16_epi32((__m256i)v))
OPERATION(vf64, f64_of_i32(hi32 v), _mm512_cvtepi32_pd((__m256i)v))
OPERATION(vf32, f32_of_f16s(hu16 h), _mm512_cvtph_ps((__m256i)h))
OPERATION(vf32, round_to_f16(vf32 x), _mm512_cvtph_ps(_mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT)))
OPERATION(vf64, multiply_add(vf64 a, vf64 b, vf64 c), _mm512_fmadd_pd(a, b, c))
OPERATION(vf64, entry_of(const double *table, vi64 i), _mm512_i64gather_pd((__m512i)i, table, sizeof(double)))
OPERATION(vf64, entry_16(const double *table, vi64 i),
          _mm512_permutex2var_pd(load_vf64(table), (__m512i)i, load_vf64(table + 8)))
OPERATION(vu32, compress(vu32 v, unsigned lanes), (vu32)_mm512_maskz_compress_epi32((__mmask16)lanes, (__m512i)v))

static inline size_t split(uint64_t *front, uint64_t *back, vu64 v, vu64 pivot)
{
    const __mmask8 above = _mm512_cmpgt_epu64_mask((__m512i)v, (__m512i)pivot);
    const unsigned n = (unsigned)__builtin_popcount(above);
    _mm512_storeu_si512(front, _mm512_maskz_compress_epi64(above, (__m512i)v));
    const __m512i rest = _mm512_maskz_compress_epi64((__mmask8)~above, (__m512i)v);
    _mm512_storeu_si512(back - LANES_F64,
                        _mm512_maskz_expand_epi64((__mmask8)(0xffu << n), rest)); // a masked store costs more
    return n;
}

static inline void store_first(void *at, size_t n, vf32 v) { _mm512_mask_storeu_ps(at, (__mmask16)((1u << n) - 1), v); }

// The table in four registers: k's low four bits choose among 16 entries, the fifth between two such lots.
static inline vi64 expf_entry(vi64 k)
{
    const vf64 a = _mm512_permutex2var_pd(load_vf64(expf_table), (__m512i)k, load_vf64(expf_table + 8));
    const vf64 b = _mm512_permutex2var_pd(load_vf64(expf_table + 16), (__m512i)k, load_vf64(expf_table + 24));
    return (vi64)_mm512_mask_blend_pd(_mm512_test_epi64_mask((__m512i)k, _mm512_set1_epi64(16)), a, b);
}

// The lower halves of 16 entries, or the upper ones.
static inline __m512i table_halves(const uint64_t *entry, int upper)
{
    const vi32 at = 2 * (vi32)lane_numbers() + upper;
    return (__m512i)_mm512_permutex2var_epi32((__m512i)load_vu64(entry), (__m512i)at, (__m512i)load_vu64(entry + 8));
}

// The halves of the entries are looked up apart, of both vectors at once.
static inline void expf_scales(vf64 s[2], const vf64 k[2])
{
    const __m512i n =
        (__m512i)_mm512_shuffle_ps((__m512)k[0], (__m512)k[1], 0x88); // in the order that unpacking undoes
    const __m512i low = _mm512_permutex2var_epi32(table_halves(expf_table, 0), n, table_halves(expf_table + 16, 0));
    const __m512i high = _mm512_permutex2var_epi32(table_halves(expf_table, 1), n, table_halves(expf_table + 16, 1));
    const __m512i scaled = _mm512_add_epi32(high, _mm512_slli_epi32(n, 52 - 32 - 5));
    s[0] = (vf64)_mm512_unpacklo_epi32(low, scaled);
    s[1] = (vf64)_mm512_unpackhi_epi32(low, scaled);
}

static inline void store_pairs(uint64_t *to, vu32 low, vu32 high)
{
    const vi32 first = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
    store_vu32(to, (vu32)_mm512_permutex2var_epi32((__m512i)low, (__m512i)first, (__m512i)high));
    store_vu32(to + 8, (vu32)_mm512_permutex2var_epi32((__m512i)low, (__m512i)(first + 8), (__m512i)high));
}

// Names that numbers_template.h needs.

OPERATION(uint64_t, same_bytes(const char *p, char c),
          _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(p), _mm512_set1_epi8(c)))
OPERATION(vu8, beyond_u8(vu8 a, vu8 b), (vu8)_mm512_subs_epu8((__m512i)a, (__m512i)b))
OPERATION(vi64, widen_i32(hi32 v), (vi64)_mm512_cvtepi32_epi64((__m256i)v))
OPERATION(vu16, join_bytes(vu8 v, vu16 w), (vu16)_mm512_maddubs_epi16((__m512i)v, (__m512i)w))
OPERATION(vu32, join_16s(vu16 v, vu32 w), (vu32)_mm512_madd_epi16((__m512i)v, (__m512i)w))
OPERATION(vu16, pack_lanes(vu32 a, vu32 b), (vu16)_mm512_packus_epi32((__m512i)a, (__m512i)b))
OPERATION(uint64_t, lowest_bit(uint64_t bits), _tzcnt_u64(bits))
OPERATION(vu64, times_low(vu64 a, vu64 b), (vu64)_mm512_mul_epu32((__m512i)a, (__m512i)b))
OPERATION(unsigned, equal_bits(vi64 a, vi64 b), _mm512_cmpeq_epi64_mask((__m512i)a, (__m512i)b))
OPERATION(vu32, four_bytes(const char *base, vi32 at), (vu32)_mm512_i32gather_epi32((__m512i)at, base, 1))

static inline vu8 even_lanes(const char *base, const uint16_t *at)
{
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const void *)(base + at[0])));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(base + at[2])), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(base + at[4])), 2);
    return (vu8)_mm512_inserti32x4(v, _mm_loadu_si128((const void *)(base + at[6])), 3);
}

static inline vu64 eight_bytes(const char *base, const uint16_t *at)
{
    return (vu64)_mm512_i64gather_epi64(_mm512_cvtepu16_epi64(_mm_loadu_si128((const void *)at)), base, 1);
}

static inline hu32 first_of_lanes(vu8 a, vu8 b)
{
    const vi32 first = {0, 16, 4, 20, 8, 24, 12, 28};
    return (hu32)_mm512_castsi512_si256(_mm512_permutex2var_epi32((__m512i)a, (__m512i)first, (__m512i)b));
}

static inline void keep_digits(vu8 text[4], vi32 places, vu8 zero)
{
    const vi16 order = {0, 4, 8, 12, 2, 6, 10, 14, 16, 20, 24, 28, 18, 22, 26, 30};
    uint64_t kept[8]; // through memory, which takes less than from register to register
    _mm512_storeu_si512(kept, _mm512_permutexvar_epi16((__m512i)order, (__m512i)places));
    UNROLL
    for (size_t q = 0; q < 4; q++)
        text[q] = (vu8)_mm512_maskz_sub_epi8(*(const volatile uint64_t *)&kept[q], (__m512i)text[q], (__m512i)zero);
}

#include "kern/numbers_template.h"

#include "kern/kern_template.h"

#endif
