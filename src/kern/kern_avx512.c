// SPDX-License-Identifier: MIT
// The AVX-512 tier (F, BW, DQ, VL): sixteen floats at a time; masks take care of the ends.
#include "kern/kern.h"

#ifdef __x86_64__

#define TIER          avx512
#define VECTOR        64
#define MAX_KEEPS_NAN 0
#define HAS_COMPRESS
#define HAS_SPLIT
#define HAS_RANK
#define SIDE_BY_SIDE 4
#include "kern/expf.h"
#include "kern/vector.h"

#include <immintrin.h>
#include <math.h>
#include <stdbool.h>

// What kern_template.h asks for.

OPERATION(vf32, max_f32(vf32 a, vf32 b), _mm512_max_ps(a, b))
OPERATION(vf32, min_f32(vf32 a, vf32 b), _mm512_min_ps(a, b))
OPERATION(vf64, max_f64(vf64 a, vf64 b), _mm512_max_pd(a, b))
OPERATION(vi16, max_i16(vi16 a, vi16 b), (vi16)_mm512_max_epi16((__m512i)a, (__m512i)b))
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
OPERATION(vf32, masked_below(vf32 x, float floor),
          _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, splat(floor), _CMP_LT_OQ), splat(-INFINITY)))
OPERATION(vf32, load_first(const void *at, size_t n, vf32 rest), _mm512_mask_loadu_ps(rest, (__mmask16)((1u << n) - 1), at))
OPERATION(vf64, widen_f32(hf32 v), _mm512_cvtps_pd(v))
OPERATION(vu32, widen_u16(hu16 v), (vu32)_mm512_cvtepu16_epi32((__m256i)v))
OPERATION(vf64, f64_of_i32(hi32 v), _mm512_cvtepi32_pd((__m256i)v))
OPERATION(vf32, f32_of_f16s(hu16 h), _mm512_cvtph_ps((__m256i)h))
OPERATION(vf32, round_to_f16(vf32 x), _mm512_cvtph_ps(_mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT)))
OPERATION(vf64, entry_16(const double *table, vi64 i), _mm512_permutex2var_pd(load_vf64(table), (__m512i)i, load_vf64(table + 8)))
OPERATION(vu32, compress(vu32 v, unsigned lanes), (vu32)_mm512_maskz_compress_epi32((__mmask16)lanes, (__m512i)v))

OPERATION(vi64, plus_one_where_above(vi64 n, vu64 a, vu64 b),
          (vi64)_mm512_mask_add_epi64((__m512i)n, _mm512_cmpgt_epu64_mask((__m512i)a, (__m512i)b), (__m512i)n,
                                      _mm512_set1_epi64(1)))

static inline size_t split(uint64_t *front, uint64_t *back, vu64 v, vu64 pivot)
{
    const __mmask8 above = _mm512_cmpgt_epu64_mask((__m512i)v, (__m512i)pivot);
    const unsigned n = (unsigned)__builtin_popcount(above);
    _mm512_storeu_si512(front, _mm512_maskz_compress_epi64(above, (__m512i)v));
    const __m512i rest = _mm512_maskz_compress_epi64((__mmask8)~above, (__m512i)v);
    _mm512_storeu_si512(back - LANES_F64, _mm512_maskz_expand_epi64((__mmask8)(0xffu << n), rest)); // a masked store costs more
    return n;
}

enum { FEW = 32 };

// Which of the lanes from i on there are.
OPERATION(__mmask8, few_lanes(size_t n, size_t i), (__mmask8)(~(~UINT64_C(0) << n) >> i))
OPERATION(vu64, load_few(const uint64_t *from, size_t n, size_t i), (vu64)_mm512_maskz_loadu_epi64(few_lanes(n, i), from + i))

static inline void scatter_few(uint64_t *to, const uint64_t *key, const uint64_t *place, size_t n)
{
    UNROLL
    for (size_t i = 0; i < FEW; i += LANES_F64) {
        const __mmask8 lanes = few_lanes(n, i);
        _mm512_mask_i64scatter_epi64(to, lanes, _mm512_maskz_loadu_epi64(lanes, place + i),
                                     _mm512_maskz_loadu_epi64(lanes, key + i), sizeof *to);
    }
}

// The gap between front and back is as large as what is not yet distributed; the last vectors write no more than that.
static size_t partition_words(uint32_t *to, const uint32_t *from, size_t n, uint32_t pivot)
{
    const __m512i pivots = _mm512_set1_epi32((int)pivot);
    size_t front = 0, back = n, i = 0;
    for (; i + 2 * LANES <= n; i += LANES) {
        const __m512i v = _mm512_loadu_si512(from + i);
        const __mmask16 below = _mm512_cmplt_epu32_mask(v, pivots);
        const unsigned here = (unsigned)__builtin_popcount(below);
        const __m512i rest = _mm512_maskz_compress_epi32((__mmask16)~below, v);
        _mm512_storeu_si512(to + front, _mm512_maskz_compress_epi32(below, v));
        _mm512_storeu_si512(to + back - LANES, _mm512_maskz_expand_epi32((__mmask16)(0xffffu << here), rest));
        front += here;
        back -= LANES - here;
    }
    for (; i < n; i += LANES) {
        const __mmask16 there = (__mmask16)(n - i < LANES ? (1u << (n - i)) - 1 : 0xffff);
        const __m512i v = _mm512_maskz_loadu_epi32(there, from + i);
        const __mmask16 below = _mm512_mask_cmplt_epu32_mask(there, v, pivots), others = there & (__mmask16)~below;
        const unsigned here = (unsigned)__builtin_popcount(below), rest = (unsigned)__builtin_popcount(others);
        back -= rest;
        _mm512_mask_storeu_epi32(to + front, (__mmask16)((1u << here) - 1), _mm512_maskz_compress_epi32(below, v));
        _mm512_mask_storeu_epi32(to + back, (__mmask16)((1u << rest) - 1), _mm512_maskz_compress_epi32(others, v));
        front += here;
    }
    return front;
}

// An element's place is the number of those that rank before it.
static void rank_few(uint32_t *id, float *y, const float *x, const uint32_t *from, size_t n, uint32_t index)
{
    __mmask16 there[2];
    __m512i ids[2], place[2];
    __m512 value[2];
    uint32_t one_id[FEW];
    float one[FEW];
    UNROLL
    for (size_t k = 0; k < 2; k++) {
        there[k] = (__mmask16)(~(~UINT64_C(0) << n) >> k * LANES);
        ids[k] = _mm512_and_si512(_mm512_maskz_loadu_epi32(there[k], from + k * LANES), _mm512_set1_epi32((int)index));
        value[k] = _mm512_mask_i32gather_ps(_mm512_setzero_ps(), there[k], ids[k], x, sizeof *x);
        place[k] = _mm512_setzero_si512();
        _mm512_storeu_si512(one_id + k * LANES, ids[k]);
        _mm512_storeu_ps(one + k * LANES, value[k]);
    }
    for (size_t j = 0; j < n; j++) {
        const __m512 v = _mm512_set1_ps(one[j]);
        const __m512i i = _mm512_set1_epi32((int)one_id[j]);
        UNROLL
        for (size_t k = 0; k < 2; k++) {
            const __mmask16 same = _mm512_cmp_ps_mask(v, value[k], _CMP_EQ_OQ),
                            above = _mm512_cmp_ps_mask(v, value[k], _CMP_GT_OQ);
            place[k] = _mm512_mask_add_epi32(place[k], above | _mm512_mask_cmplt_epu32_mask(same, i, ids[k]), place[k],
                                             _mm512_set1_epi32(1));
        }
    }
    UNROLL
    for (size_t k = 0; k < 2; k++) {
        _mm512_mask_i32scatter_epi32(id, there[k], place[k], ids[k], sizeof *id);
        _mm512_mask_i32scatter_ps(y, there[k], place[k], value[k], sizeof *y);
    }
}

static inline void store_first(void *at, size_t n, vf32 v)
{
    _mm512_mask_storeu_ps(at, (__mmask16)((1u << n) - 1), v);
}

// The table in four registers: k's low four bits choose among 16 entries, the fifth between two such lots.
static inline vi64 expf_entry(vi64 k)
{
    const vf64 a = _mm512_permutex2var_pd(load_vf64(expf_table), (__m512i)k, load_vf64(expf_table + 8));
    const vf64 b = _mm512_permutex2var_pd(load_vf64(expf_table + 16), (__m512i)k, load_vf64(expf_table + 24));
    return (vi64)_mm512_mask_blend_pd(_mm512_test_epi64_mask((__m512i)k, _mm512_set1_epi64(16)), a, b);
}

static inline void store_pairs(uint64_t *to, vu32 low, vu32 high)
{
    const vi32 first = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
    store_vu32(to, (vu32)_mm512_permutex2var_epi32((__m512i)low, (__m512i)first, (__m512i)high));
    store_vu32(to + 8, (vu32)_mm512_permutex2var_epi32((__m512i)low, (__m512i)(first + 8), (__m512i)high));
}

// What numbers_template.h asks for.

OPERATION(uint64_t, same_bytes(const char *p, char c), _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(p), _mm512_set1_epi8(c)))
OPERATION(vu8, beyond_u8(vu8 a, vu8 b), (vu8)_mm512_subs_epu8((__m512i)a, (__m512i)b))
OPERATION(vi64, widen_i32(hi32 v), (vi64)_mm512_cvtepi32_epi64((__m256i)v))
OPERATION(vu8, shuffle_lanes(vu8 v, vi8 from), (vu8)_mm512_shuffle_epi8((__m512i)v, (__m512i)from))
OPERATION(vu16, join_bytes(vu8 v, vu16 w), (vu16)_mm512_maddubs_epi16((__m512i)v, (__m512i)w))
OPERATION(vu32, join_16s(vu16 v, vu32 w), (vu32)_mm512_madd_epi16((__m512i)v, (__m512i)w))
OPERATION(vu16, pack_lanes(vu32 a, vu32 b), (vu16)_mm512_packus_epi32((__m512i)a, (__m512i)b))
OPERATION(vf64, entry_101(const double *table, vi64 i), _mm512_i64gather_pd((__m512i)i, table, sizeof(double)))

static inline vu8 even_lanes(const char *base, const uint16_t *at)
{
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const void *)(base + at[0])));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(base + at[2])), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(base + at[4])), 2);
    return (vu8)_mm512_inserti32x4(v, _mm_loadu_si128((const void *)(base + at[6])), 3);
}

static inline hu32 same_in_lanes(vu8 a, vu8 b, char c)
{
    const uint64_t even = _mm512_cmpeq_epi8_mask((__m512i)a, _mm512_set1_epi8(c));
    const uint64_t odd = _mm512_cmpeq_epi8_mask((__m512i)b, _mm512_set1_epi8(c));
    return (hu32)_mm256_cvtepu16_epi32(_mm_unpacklo_epi16(_mm_cvtsi64_si128((int64_t)even), _mm_cvtsi64_si128((int64_t)odd)));
}

static inline hu32 last_of_lanes(vu8 a, vu8 b)
{
    const vi32 last = {3, 19, 7, 23, 11, 27, 15, 31};
    return (hu32)_mm512_castsi512_si256(_mm512_permutex2var_epi32((__m512i)a, (__m512i)last, (__m512i)b));
}

OPERATION(vi8, spread(vi32 v, vi32 from), (vi8)_mm512_permutexvar_epi32((__m512i)from, (__m512i)v))

#include "kern/numbers_template.h"

#include "kern/kern_template.h"

#endif
