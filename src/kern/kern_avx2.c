// SPDX-License-Identifier: MIT
// The AVX2 tier (with F16C, POPCNT and BMI): eight floats at a time.
#include "kern/kern.h"

#ifdef __x86_64__

#define TIER          avx2
#define VECTOR        32
#define MAX_KEEPS_NAN 0
#define HAS_SPLIT
#include "kern/expf.h"
#include "kern/vector.h"

#include <immintrin.h>
#include <math.h>
#include <stdbool.h>

// Names that kern_template.h needs.

OPERATION(vf32, max_f32(vf32 a, vf32 b), _mm256_max_ps(a, b))
OPERATION(vf32, min_f32(vf32 a, vf32 b), _mm256_min_ps(a, b))
OPERATION(vf64, max_f64(vf64 a, vf64 b), _mm256_max_pd(a, b))
OPERATION(vu32, max_u32(vu32 a, vu32 b), (vu32)_mm256_max_epu32((__m256i)a, (__m256i)b))
OPERATION(hf32, lower_half(vf32 v), _mm256_castps256_ps128(v))
OPERATION(hf32, upper_half(vf32 v), _mm256_extractf128_ps(v, 1))
OPERATION(vf32, join(hf32 lower, hf32 upper), _mm256_set_m128(upper, lower))
OPERATION(bool, any(vi32 v), !_mm256_testz_si256((__m256i)v, (__m256i)v))
OPERATION(unsigned, signs_32(vi32 v), (unsigned)_mm256_movemask_ps((vf32)v))
OPERATION(unsigned, signs_64(vi64 v), (unsigned)_mm256_movemask_pd((vf64)v))
OPERATION(unsigned, equal_32(vf32 a, float b), signs_32(a == b))
OPERATION(vf64, widen_f32(hf32 v), _mm256_cvtps_pd(v))
OPERATION(vu32, widen_u16(hu16 v), (vu32)_mm256_cvtepu16_epi32((__m128i)v))
OPERATION(vf64, f64_of_i32(hi32 v), _mm256_cvtepi32_pd((__m128i)v))
OPERATION(vf32, f32_of_f16s(hu16 h), _mm256_cvtph_ps((__m128i)h))
OPERATION(vf32, round_to_f16(vf32 x), _mm256_cvtph_ps(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT)))
OPERATION(vf64, entry_16(const double *table, vi64 i), _mm256_i64gather_pd(table, (__m256i)i, sizeof(double)))
OPERATION(vf64, multiply_add(vf64 a, vf64 b, vf64 c), c + a * b)
OPERATION(vf64, entry_of(const double *table, vi64 i), _mm256_i64gather_pd(table, (__m256i)i, sizeof(double)))
OPERATION(vi64, expf_entry(vi64 k),
          (vi64)_mm256_i64gather_epi64((const void *)expf_table, (__m256i)(k & 31), sizeof(double)))

#include "kern/lanes_template.h"

static inline float largest_f32(vf32 v)
{
    const __m128 a = _mm_max_ps(lower_half(v), upper_half(v));
    const __m128 b = _mm_max_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_max_ss(b, _mm_movehdup_ps(b)));
}

static inline double sum_f64(vf64 v)
{
    const __m128d a = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(a, _mm_unpackhi_pd(a, a)));
}

// All ones in the first n lanes.
static inline __m256i first_lanes(size_t n) { return (__m256i)(lane_numbers() < (uint32_t)n); }

static inline vf32 load_first(const void *at, size_t n, vf32 rest)
{
    const __m256i mask = first_lanes(n);
    return _mm256_blendv_ps(rest, _mm256_maskload_ps(at, mask), (vf32)mask);
}

static inline void store_first(void *at, size_t n, vf32 v) { _mm256_maskstore_ps(at, first_lanes(n), v); }

static inline size_t split(uint64_t *front, uint64_t *back, vu64 v, vu64 pivot)
{
    // the lanes that have a bit and then those that have none, a byte for each half of a lane
    static const uint64_t order[16] = {0x0706050403020100, 0x0706050403020100, 0x0706050401000302, 0x0706050403020100,
                                       0x0706030201000504, 0x0706030205040100, 0x0706010005040302, 0x0706050403020100,
                                       0x0504030201000706, 0x0504030207060100, 0x0504010007060302, 0x0504070603020100,
                                       0x0302010007060504, 0x0302070605040100, 0x0100070605040302, 0x0706050403020100};
    const unsigned above = signs_64(v > pivot);
    const __m256i places = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)order[above]));
    const vu64 sorted = (vu64)_mm256_permutevar8x32_epi32((__m256i)v, places);
    store_vu64(front, sorted);
    store_vu64(back - LANES_F64, sorted);
    return (size_t)__builtin_popcount(above);
}

static inline void store_pairs(uint64_t *to, vu32 low, vu32 high)
{
    const __m256i even = _mm256_unpacklo_epi32((__m256i)low, (__m256i)high); // pairs 0 1 4 5
    const __m256i odd = _mm256_unpackhi_epi32((__m256i)low, (__m256i)high);  // pairs 2 3 6 7
    store_vi64(to, (vi64)_mm256_permute2x128_si256(even, odd, 0x20));
    store_vi64(to + 4, (vi64)_mm256_permute2x128_si256(even, odd, 0x31));
}

// Names that numbers_template.h needs.

OPERATION(vu8, beyond_u8(vu8 a, vu8 b), (vu8)_mm256_subs_epu8((__m256i)a, (__m256i)b))
OPERATION(vi64, widen_i32(hi32 v), (vi64)_mm256_cvtepi32_epi64((__m128i)v))
OPERATION(vu16, join_bytes(vu8 v, vu16 w), (vu16)_mm256_maddubs_epi16((__m256i)v, (__m256i)w))
OPERATION(vu32, join_16s(vu16 v, vu32 w), (vu32)_mm256_madd_epi16((__m256i)v, (__m256i)w))
OPERATION(vu16, pack_lanes(vu32 a, vu32 b), (vu16)_mm256_packus_epi32((__m256i)a, (__m256i)b))
OPERATION(uint64_t, lowest_bit(uint64_t bits), _tzcnt_u64(bits))
OPERATION(vu64, times_low(vu64 a, vu64 b), (vu64)_mm256_mul_epu32((__m256i)a, (__m256i)b))
OPERATION(vu32, four_bytes(const char *base, vi32 at), (vu32)_mm256_i32gather_epi32((const void *)base, (__m256i)at, 1))
OPERATION(uint32_t, same_32(__m256i v, char c),
          (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, _mm256_set1_epi8(c))))
OPERATION(uint64_t, same_bytes(const char *p, char c),
          same_32((__m256i)load_vu8(p), c) | (uint64_t)same_32((__m256i)load_vu8(p + 32), c) << 32)

static inline vu8 even_lanes(const char *base, const uint16_t *at)
{
    return (vu8)_mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)(base + at[0]))),
                                        _mm_loadu_si128((const void *)(base + at[2])), 1);
}

static inline vu64 eight_bytes(const char *base, const uint16_t *at)
{
    return (vu64)_mm256_i64gather_epi64((const void *)base, _mm256_cvtepu16_epi64(_mm_loadl_epi64((const void *)at)),
                                        1);
}

static inline hu32 first_of_lanes(vu8 a, vu8 b)
{
    const __m256i first = _mm256_unpacklo_epi32((__m256i)a, (__m256i)b); // the first pair of each lane
    return (hu32)_mm256_castsi256_si128(_mm256_permute4x64_epi64(first, 0 | 2 << 2));
}

static inline void keep_digits(vu8 text[4], vi32 places, vu8 zero)
{
    const __m256i number = _mm256_setr_epi32(0, 0, 0, 0, 2, 2, 2, 2),
                  bit = _mm256_set1_epi64x((int64_t)0x8040201008040201);
    const __m256i byte = _mm256_setr_epi64x(0, 0x0101010101010101, 0, 0x0101010101010101);
    UNROLL
    for (int q = 0; q < 4; q++) {
        const __m256i of_lane =
            _mm256_permutevar8x32_epi32((__m256i)places, number + _mm256_set1_epi32((q & 1) + (q & 2) * 2));
        const __m256i kept = _mm256_and_si256(_mm256_shuffle_epi8(of_lane, byte), bit);
        text[q] = (text[q] - zero) & (vu8)_mm256_cmpeq_epi8(kept, bit);
    }
}

#include "kern/numbers_template.h"

#include "kern/kern_template.h"

#endif
