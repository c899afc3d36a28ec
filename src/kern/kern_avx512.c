// SPDX-License-Identifier: MIT
// The AVX-512 tier (F, BW, DQ, VL): sixteen floats or eight doubles at a time; masks take care of the ends.
#include "kern/kern.h"

#ifdef __x86_64__

#include "base/bits.h"
#include "kern/expf.h"
#include "kern/gumbel.h"
#include "kern/ordered.h"
#include "kern/unroll.h"

#include <immintrin.h>
#include <math.h>
#include <stdbool.h>

// The first n of 16 lanes; n < 16.
static inline __mmask16 first16(size_t n)
{
    return (__mmask16)((1u << n) - 1);
}

static inline __m512 least(void)
{
    return _mm512_set1_ps(-INFINITY);
}

static inline __m512 load_first(const void *x, size_t n, __m512 rest)
{
    return _mm512_mask_loadu_ps(rest, first16(n), x);
}

static inline bool block_f32(const char *x, size_t n, float *max)
{
    const __m512 inf = _mm512_set1_ps(INFINITY);
    __m512 m0 = least(), m1 = least();
    __mmask16 bad0 = 0, bad1 = 0;
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const char *at = x + i * sizeof(float);
        const __m512 a = _mm512_loadu_ps(at), b = _mm512_loadu_ps(at + sizeof a);
        bad0 |= _mm512_cmp_ps_mask(a, inf, _CMP_NLT_UQ);
        bad1 |= _mm512_cmp_ps_mask(b, inf, _CMP_NLT_UQ);
        m0 = _mm512_max_ps(m0, a);
        m1 = _mm512_max_ps(m1, b);
    }
    for (; i < n; i += 16) {
        const char *at = x + i * sizeof(float);
        const __m512 a = n - i < 16 ? load_first(at, n - i, least()) : _mm512_loadu_ps(at);
        bad0 |= _mm512_cmp_ps_mask(a, inf, _CMP_NLT_UQ);
        m0 = _mm512_max_ps(m0, a);
    }
    *max = _mm512_reduce_max_ps(_mm512_max_ps(m0, m1));
    return bad0 | bad1;
}

// Bits of half-precision floats as signed integers in the order of their values; -0 is before +0. Its own inverse.
static inline __m512i order16(__m512i h)
{
    return _mm512_xor_si512(h, _mm512_and_si512(_mm512_srai_epi16(h, 15), _mm512_set1_epi16(0x7fff)));
}

// The largest of 32 signed integers: the complement of the smallest unsigned one, in a way.
static inline uint16_t max16(__m512i v)
{
    const __m256i a = _mm256_max_epi16(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
    const __m128i b = _mm_max_epi16(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    return (uint16_t)(_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_xor_si128(b, _mm_set1_epi16(0x7fff)))) ^ 0x7fff);
}

// NaN and +inf lie above and below all others.
static inline bool block_16(const char *x, size_t n, uint16_t inf, uint16_t *max)
{
    const __m512i minus_inf = _mm512_set1_epi16((short)(inf | 0x8000));
    const __m512i least = order16(minus_inf);
    __m512i hi = least, lo = least;
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m512i a = order16(_mm512_loadu_si512(x + i * sizeof(uint16_t)));
        hi = _mm512_max_epi16(hi, a);
        lo = _mm512_min_epi16(lo, a);
    }
    if (i < n) {
        const __mmask32 rest = (__mmask32)((1u << (n - i)) - 1);
        const __m512i a = order16(_mm512_mask_loadu_epi16(minus_inf, rest, x + i * sizeof(uint16_t)));
        hi = _mm512_max_epi16(hi, a);
        lo = _mm512_min_epi16(lo, a);
    }
    *max = max16(hi);
    return _mm512_cmpge_epi16_mask(hi, _mm512_set1_epi16((short)inf)) | _mm512_cmplt_epi16_mask(lo, least);
}

static inline __m512 wide_f16(__m256i h)
{
    return _mm512_cvtph_ps(h);
}

static inline __m512 wide_bf16(__m256i h)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

static inline void widen_16(float *dst, const uint16_t *src, size_t n, __m512 (*wide)(__m256i))
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(dst + i, wide(_mm256_loadu_si256((const __m256i_u *)(src + i))));
    const __mmask16 m = first16(n - i);
    if (m)
        _mm512_mask_storeu_ps(dst + i, m, wide(_mm256_maskz_loadu_epi16(m, src + i)));
}

static void widen_f16(float *dst, const void *src, size_t n)
{
    widen_16(dst, src, n, wide_f16);
}

static void widen_bf16(float *dst, const void *src, size_t n)
{
    widen_16(dst, src, n, wide_bf16);
}

static inline size_t find(const float *x, size_t n, float value)
{
    const __m512 v = _mm512_set1_ps(value);
    for (size_t i = 0;; i += 16) {
        const __m512 a = n - i < 16 ? load_first(x + i, n - i, v) : _mm512_loadu_ps(x + i);
        const __mmask16 hit = _mm512_cmp_ps_mask(a, v, _CMP_EQ_OQ);
        if (hit)
            return i + (size_t)__builtin_ctz(hit);
    }
}

static inline float some_max(const float *x, size_t n)
{
    __m512 m[4] = {least(), least(), least(), least()};
    size_t i = 0;
    for (; i + 64 <= n; i += 64)
        UNROLL
    for (size_t k = 0; k < 4; k++)
        m[k] = _mm512_max_ps(m[k], _mm512_loadu_ps(x + i + k * 16));
    for (; i + 16 <= n; i += 16)
        m[0] = _mm512_max_ps(m[0], _mm512_loadu_ps(x + i));
    m[1] = _mm512_max_ps(m[1], load_first(x + i, n - i, least()));
    return _mm512_reduce_max_ps(_mm512_max_ps(_mm512_max_ps(m[0], m[1]), _mm512_max_ps(m[2], m[3])));
}

// 8 keys from their halves
static inline __m512i keys_8(__m256i high, __m256i low)
{
    return _mm512_or_si512(_mm512_slli_epi64(_mm512_cvtepu32_epi64(high), 32), _mm512_cvtepu32_epi64(low));
}

// Stores the keys of the lanes in hit; writes 8 or 16 keys, whatever their number.
static inline void put_keys(uint64_t *keys, __m512 x, uint32_t id, __mmask16 hit)
{
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i bits = _mm512_castps_si512(_mm512_add_ps(x, _mm512_setzero_ps()));
    const __m512i flip = _mm512_or_si512(_mm512_srai_epi32(bits, 31), _mm512_set1_epi32(INT32_MIN));
    __m512i high = _mm512_xor_si512(bits, flip), low = _mm512_sub_epi32(_mm512_set1_epi32((int)~id), lane);
    if (hit != 0xffff) {
        high = _mm512_maskz_compress_epi32(hit, high);
        low = _mm512_maskz_compress_epi32(hit, low);
    }
    _mm512_storeu_si512(keys, keys_8(_mm512_castsi512_si256(high), _mm512_castsi512_si256(low)));
    if (__builtin_popcount(hit) > 8)
        _mm512_storeu_si512(keys + 8, keys_8(_mm512_extracti64x4_epi64(high, 1), _mm512_extracti64x4_epi64(low, 1)));
}

static size_t collect_f32(uint64_t *keys, const float *x, size_t n, uint32_t first_id, float floor)
{
    const __m512 lowest = _mm512_set1_ps(floor);
    size_t found = 0, i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m512 a = _mm512_loadu_ps(x + i);
        const __mmask16 hit = _mm512_cmp_ps_mask(a, lowest, _CMP_GE_OQ);
        if (hit) {
            put_keys(keys + found, a, first_id + (uint32_t)i, hit);
            found += (size_t)__builtin_popcount(hit);
        }
    }
    return found + kern_scalar.collect(keys + found, x + i, n - i, first_id + (uint32_t)i, floor);
}

// expf.h, eight at a time; anything for arguments that underflow.
static inline __m256 exp8(__m256 x)
{
    const __m512d shift = _mm512_set1_pd(EXPF_SHIFT), one = _mm512_set1_pd(1.0);
    const __m512d z = _mm512_mul_pd(_mm512_cvtps_pd(x), _mm512_set1_pd(EXPF_SCALE));
    const __m512d shifted = _mm512_add_pd(z, shift);
    const __m512d r = _mm512_sub_pd(z, _mm512_sub_pd(shifted, shift));
    const __m512i k = _mm512_castpd_si512(shifted);
    const __m512d t0 = _mm512_permutex2var_pd(_mm512_loadu_pd(expf_table), k, _mm512_loadu_pd(expf_table + 8));
    const __m512d t1 = _mm512_permutex2var_pd(_mm512_loadu_pd(expf_table + 16), k, _mm512_loadu_pd(expf_table + 24));
    const __m512d t = _mm512_mask_blend_pd(_mm512_test_epi64_mask(k, _mm512_set1_epi64(16)), t0, t1);
    const __m512i e = _mm512_slli_epi64(_mm512_andnot_si512(_mm512_set1_epi64(31), k), 52 - 5);
    const __m512d s = _mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(t), e));
    const __m512d high = _mm512_add_pd(_mm512_mul_pd(_mm512_set1_pd(EXPF_C0), r), _mm512_set1_pd(EXPF_C1));
    const __m512d low = _mm512_add_pd(_mm512_mul_pd(_mm512_set1_pd(EXPF_C2), r), one);
    const __m512d y = _mm512_add_pd(_mm512_mul_pd(high, _mm512_mul_pd(r, r)), low);
    return _mm512_cvtpd_ps(_mm512_mul_pd(y, s));
}

static inline __m512 exp16(__m512 x)
{
    const __mmask16 positive = _mm512_cmp_ps_mask(x, _mm512_set1_ps(EXPF_UNDERFLOW), _CMP_NLT_UQ);
    if (!positive)
        return _mm512_setzero_ps();
    const __m256 a = exp8(_mm512_castps512_ps256(x)), b = exp8(_mm512_extractf32x8_ps(x, 1));
    return _mm512_maskz_mov_ps(positive, _mm512_insertf32x8(_mm512_castps256_ps512(a), b, 1));
}

static void exp_sub_f32(float *p, const float *x, float max, size_t n)
{
    const __m512 m = _mm512_set1_ps(max);
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(p + i, exp16(_mm512_sub_ps(_mm512_loadu_ps(x + i), m)));
    if (i < n)
        _mm512_mask_storeu_ps(p + i, first16(n - i), exp16(_mm512_sub_ps(load_first(x + i, n - i, m), m)));
}

static void divide_f32(float *x, size_t n, float d)
{
    const __m512 by = _mm512_set1_ps(d);
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(x + i, _mm512_div_ps(_mm512_loadu_ps(x + i), by));
    if (i < n)
        _mm512_mask_storeu_ps(x + i, first16(n - i), _mm512_div_ps(load_first(x + i, n - i, by), by));
}

static void multiply_f32(float *x, size_t n, float f)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(x + i, _mm512_mul_ps(_mm512_loadu_ps(x + i), _mm512_set1_ps(f)));
    kern_scalar.multiply(x + i, n - i, f);
}

static void round_f16(float *x, size_t n)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(x + i, _mm512_cvtph_ps(_mm512_cvtps_ph(_mm512_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT)));
    kern_scalar.round_f16(x + i, n - i);
}

static size_t count_f32(const float *x, size_t n, float floor)
{
    const __m512 least_kept = _mm512_set1_ps(floor);
    size_t count = 0, i = 0;
    for (; i + 16 <= n; i += 16)
        count += (size_t)_mm_popcnt_u32(_mm512_cmp_ps_mask(_mm512_loadu_ps(x + i), least_kept, _CMP_GE_OQ));
    return count + kern_scalar.count(x + i, n - i, floor);
}

static void mask_below_f32(float *x, size_t n, float floor)
{
    const __m512 lowest = _mm512_set1_ps(floor);
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m512 a = _mm512_loadu_ps(x + i);
        _mm512_storeu_ps(x + i, _mm512_mask_mov_ps(a, _mm512_cmp_ps_mask(a, lowest, _CMP_LT_OQ), least()));
    }
    const __m512 a = load_first(x + i, n - i, lowest);
    const __mmask16 below = _mm512_cmp_ps_mask(a, lowest, _CMP_LT_OQ);
    if (below)
        _mm512_mask_storeu_ps(x + i, below, least());
}

static inline void blur_vectors(double *q, const double *p, const double *w, size_t reach, int count)
{
    __m512d sum[4];
    UNROLL
    for (int k = 0; k < count; k++)
        sum[k] = _mm512_loadu_pd(p + k * 8);
    for (size_t d = 1; d < reach; d++)
        UNROLL
    for (int k = 0; k < count; k++) {
        const __m512d both = _mm512_add_pd(_mm512_loadu_pd(p + k * 8 - d), _mm512_loadu_pd(p + k * 8 + d));
        sum[k] = _mm512_add_pd(sum[k], _mm512_mul_pd(_mm512_set1_pd(w[d]), both));
    }
    UNROLL
    for (int k = 0; k < count; k++)
        _mm512_storeu_pd(q + k * 8, sum[k]);
}

#define TIER    avx512
#define DOUBLES 8
#include "kern/kern_tier.h"

#endif
