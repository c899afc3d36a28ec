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
OPERATION(vf64, multiply_add(vf64 a, vf64 b, vf64 c), _mm512_fmadd_pd(a, b, c))
OPERATION(vf64, entry_16(const double *table, vi64 i), _mm512_permutex2var_pd(load_vf64(table), (__m512i)i, load_vf64(table + 8)))
OPERATION(vu32, compress(vu32 v, unsigned lanes), (vu32)_mm512_maskz_compress_epi32((__mmask16)lanes, (__m512i)v))

static inline size_t split(uint64_t *front, uint64_t *back, vu64 v, vu64 pivot)
{
    const __mmask8 above = _mm512_cmpgt_epu64_mask((__m512i)v, (__m512i)pivot);
    const unsigned n = (unsigned)__builtin_popcount(above);
    _mm512_storeu_si512(front, _mm512_maskz_compress_epi64(above, (__m512i)v));
    const __m512i rest = _mm512_maskz_compress_epi64((__mmask8)~above, (__m512i)v);
    _mm512_storeu_si512(back - LANES_F64, _mm512_maskz_expand_epi64((__mmask8)(0xffu << n), rest)); // a masked store costs more
    return n;
}

// Few keys are sorted by a network (Batcher's bitonic one) of as many registers as hold them, whatever they are: branches that are guessed wrong
// would cost more. Key i of 8 * n stands in lane i / n of v[i % n], so that most keys meet without leaving their lanes.

enum { FEW = 64, FEWER = 32 };

// The larger ones of two; in the lanes `lower` the smaller.
OPERATION(__m512i, met(__m512i a, __m512i b, __mmask8 lower), _mm512_mask_min_epu64(_mm512_max_epu64(a, b), lower, a, b))

OPERATION(__m512i, swapped(__m512i v, int distance),
          distance == 1 ? _mm512_permutex_epi64(v, 0xb1) : _mm512_permutex_epi64(v, 0x4e))
OPERATION(__m512i, reversed(__m512i v, int lanes),
          lanes == 2   ? _mm512_permutex_epi64(v, 0xb1)
          : lanes == 4 ? _mm512_permutex_epi64(v, 0x1b)
                       : _mm512_permutexvar_epi64(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), v))
OPERATION(__mmask8, lower_lanes(int distance), distance == 1 ? 0xaa : distance == 2 ? 0xcc : 0xf0)

ALWAYS_INLINE void meet(__m512i *a, __m512i *b)
{
    const __m512i larger = _mm512_max_epu64(*a, *b);
    *b = _mm512_min_epu64(*a, *b);
    *a = larger;
}

// Sorts what rises and then falls, or the other way round, in each lane of `size` registers.
ALWAYS_INLINE void merge_registers(__m512i *v, int n, int size)
{
    UNROLL
    for (int distance = size / 2; distance; distance /= 2) {
        UNROLL
        for (int i = 0; i < n; i++)
            if (!(i & distance))
                meet(&v[i], &v[i + distance]);
    }
}

// Two lists that fall, one of them reversed, rise and then fall.
ALWAYS_INLINE void sort_lanes(__m512i *v, int n)
{
    UNROLL
    for (int size = 2; size <= n; size *= 2) {
        UNROLL
        for (int i = 0; i < n; i++)
            if (!(i & (size / 2)))
                meet(&v[i], &v[i ^ (size - 1)]);
        merge_registers(v, n, size / 2);
    }
}

ALWAYS_INLINE void merge_lanes(__m512i *v, int n, int lanes)
{
    __m512i other[8];
    UNROLL
    for (int i = 0; i < n; i++)
        other[i] = reversed(v[n - 1 - i], lanes);
    UNROLL
    for (int i = 0; i < n; i++)
        v[i] = met(v[i], other[i], lower_lanes(lanes / 2));
    UNROLL
    for (int distance = lanes / 4; distance; distance /= 2) {
        UNROLL
        for (int i = 0; i < n; i++)
            v[i] = met(v[i], swapped(v[i], distance), lower_lanes(distance));
    }
    merge_registers(v, n, n);
}

// From lanes that follow each other to registers that do: each turn deals two registers' lanes out in turn.
ALWAYS_INLINE void deal(__m512i *v, int n)
{
    const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    __m512i old[8];
    UNROLL
    for (int i = 0; i < n; i++)
        old[i] = v[i];
    UNROLL
    for (int i = 0; i < n / 2; i++) {
        v[2 * i] = _mm512_permutex2var_epi64(old[i], low, old[i + n / 2]);
        v[2 * i + 1] = _mm512_permutex2var_epi64(old[i], high, old[i + n / 2]);
    }
}

ALWAYS_INLINE void sort_registers(__m512i *v, int n)
{
    sort_lanes(v, n);
    merge_lanes(v, n, 2);
    merge_lanes(v, n, 4);
    merge_lanes(v, n, 8);
    UNROLL
    for (int i = 1; i < n; i *= 2)
        deal(v, n);
}

// Which of the lanes from i on there are, of n > 0.
OPERATION(__mmask8, few_lanes(size_t n, size_t i), (__mmask8)(~UINT64_C(0) >> (FEW - n) >> i))

ALWAYS_INLINE void sort_fewer(uint64_t *to, const uint64_t *from, size_t n, int registers)
{
    __m512i v[8];
    UNROLL
    for (int i = 0; i < registers; i++)
        v[i] = _mm512_maskz_loadu_epi64(few_lanes(n, (size_t)i * 8), from + i * 8);
    sort_registers(v, registers);
    UNROLL
    for (int i = 0; i < registers; i++)
        _mm512_mask_storeu_epi64(to + i * 8, few_lanes(n, (size_t)i * 8), v[i]);
}

static void sort_few(uint64_t *to, const uint64_t *from, size_t n)
{
    if (n <= FEWER)
        sort_fewer(to, from, n, FEWER / 8);
    else
        sort_fewer(to, from, n, FEW / 8);
}

// The rank keys of the elements of x that indices tell.
static inline __m512i rank_keys(const float *x, __m256i index, __mmask8 there)
{
    const __m256 zero = _mm256_setzero_ps(), value = _mm256_mmask_i32gather_ps(zero, there, index, x, sizeof *x);
    const __m256i bits = _mm256_castps_si256(_mm256_add_ps(value, zero));
    const __m256i order = _mm256_xor_si256(bits, _mm256_or_si256(_mm256_srai_epi32(bits, 31), _mm256_set1_epi32(INT32_MIN)));
    const __m256i id = _mm256_xor_si256(index, _mm256_set1_epi32(-1));
    const __m512i key = _mm512_or_si512(_mm512_slli_epi64(_mm512_cvtepu32_epi64(order), 32), _mm512_cvtepu32_epi64(id));
    return _mm512_maskz_mov_epi64(there, key);
}

ALWAYS_INLINE void rank_fewer(uint32_t *id, float *y, const float *x, const uint32_t *from, size_t n, uint32_t index,
                              int registers)
{
    __m512i v[8];
    UNROLL
    for (int i = 0; i < registers; i++) {
        const __mmask8 there = few_lanes(n, (size_t)i * 8);
        const __m256i words = _mm256_maskz_loadu_epi32(there, from + i * 8);
        v[i] = rank_keys(x, _mm256_and_si256(words, _mm256_set1_epi32((int)index)), there);
    }
    sort_registers(v, registers);
    UNROLL
    for (int i = 0; i < registers; i++) {
        const __mmask8 there = few_lanes(n, (size_t)i * 8);
        const __m256i ids = _mm256_xor_si256(_mm512_cvtepi64_epi32(v[i]), _mm256_set1_epi32(-1));
        _mm256_mask_storeu_epi32(id + i * 8, there, ids);
        _mm256_mask_storeu_ps(y + i * 8, there, _mm256_mmask_i32gather_ps(_mm256_setzero_ps(), there, ids, x, sizeof *x));
    }
}

static void rank_few(uint32_t *id, float *y, const float *x, const uint32_t *from, size_t n, uint32_t index)
{
    if (n <= FEWER)
        rank_fewer(id, y, x, from, n, index, FEWER / 8);
    else
        rank_fewer(id, y, x, from, n, index, FEW / 8);
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
OPERATION(vu16, join_bytes(vu8 v, vu16 w), (vu16)_mm512_maddubs_epi16((__m512i)v, (__m512i)w))
OPERATION(vu32, join_16s(vu16 v, vu32 w), (vu32)_mm512_madd_epi16((__m512i)v, (__m512i)w))
OPERATION(vu16, pack_lanes(vu32 a, vu32 b), (vu16)_mm512_packus_epi32((__m512i)a, (__m512i)b))
OPERATION(uint64_t, lowest_bit(uint64_t bits), _tzcnt_u64(bits))
OPERATION(vu64, times_low(vu64 a, vu64 b), (vu64)_mm512_mul_epu32((__m512i)a, (__m512i)b))
OPERATION(unsigned, equal_bits(vi64 a, vi64 b), _mm512_cmpeq_epi64_mask((__m512i)a, (__m512i)b))
OPERATION(vu32, four_bytes(const char *base, vi32 at), (vu32)_mm512_i32gather_epi32((__m512i)at, base, 1))
OPERATION(vf64, entry_101(const double *table, vi64 i), _mm512_i64gather_pd((__m512i)i, table, sizeof(double)))

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
