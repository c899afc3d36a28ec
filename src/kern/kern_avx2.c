// SPDX-License-Identifier: MIT
// The AVX2 tier (and F16C): eight floats or four doubles at a time; the scalar tier does the ends.
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

static inline __m256 least(void)
{
    return _mm256_set1_ps(-INFINITY);
}

static inline __m256i load_bytes(const void *at)
{
    return _mm256_loadu_si256((const __m256i_u *)at);
}

static inline __m256 load_floats(const void *at)
{
    return _mm256_castsi256_ps(load_bytes(at));
}

// size bytes, less than a vector, before what rest has there.
static inline __m256i load_first(const void *at, size_t size, __m256i rest)
{
    __m256i v = rest;
    memcpy(&v, at, size);
    return v;
}

static inline float max_of(__m256 v)
{
    const __m128 a = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    const __m128 b = _mm_max_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_max_ss(b, _mm_movehdup_ps(b)));
}

static inline bool block_f32(const char *x, size_t n, float *max)
{
    const __m256 inf = _mm256_set1_ps(INFINITY);
    __m256 m[4] = {least(), least(), least(), least()}, bad[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
    size_t i = 0;
    for (; i + 32 <= n; i += 32)
        UNROLL
    for (size_t k = 0; k < 4; k++) {
        const __m256 a = load_floats(x + (i + k * 8) * sizeof(float));
        bad[k % 2] = _mm256_or_ps(bad[k % 2], _mm256_cmp_ps(a, inf, _CMP_NLT_UQ));
        m[k] = _mm256_max_ps(m[k], a);
    }
    for (; i < n; i += 8) {
        const char *at = x + i * sizeof(float);
        const __m256 some =
            _mm256_castsi256_ps(load_first(at, n - i < 8 ? (n - i) * sizeof(float) : 32, _mm256_castps_si256(least())));
        bad[0] = _mm256_or_ps(bad[0], _mm256_cmp_ps(some, inf, _CMP_NLT_UQ));
        m[0] = _mm256_max_ps(m[0], some);
    }
    *max = max_of(_mm256_max_ps(_mm256_max_ps(m[0], m[1]), _mm256_max_ps(m[2], m[3])));
    return _mm256_movemask_ps(_mm256_or_ps(bad[0], bad[1])) != 0;
}

// Bits of half-precision floats as signed integers in the order of their values; -0 is before +0. Its own inverse.
static inline __m256i order16(__m256i h)
{
    return _mm256_xor_si256(h, _mm256_and_si256(_mm256_srai_epi16(h, 15), _mm256_set1_epi16(0x7fff)));
}

// The largest of 16 signed integers: the complement of the smallest unsigned one, in a way.
static inline uint16_t max16(__m256i v)
{
    const __m128i a = _mm_max_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    return (uint16_t)(_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_xor_si128(a, _mm_set1_epi16(0x7fff)))) ^ 0x7fff);
}

// NaN and +inf lie above and below all others.
static inline bool block_16(const char *x, size_t n, uint16_t inf, uint16_t *max)
{
    const __m256i minus_inf = _mm256_set1_epi16((short)(inf | 0x8000));
    const __m256i lowest = order16(minus_inf);
    __m256i hi[2] = {lowest, lowest}, lo[2] = {lowest, lowest};
    size_t i = 0;
    for (; i + 32 <= n; i += 32)
        UNROLL
    for (size_t k = 0; k < 2; k++) {
        const __m256i a = order16(load_bytes(x + (i + k * 16) * sizeof(uint16_t)));
        hi[k] = _mm256_max_epi16(hi[k], a);
        lo[k] = _mm256_min_epi16(lo[k], a);
    }
    for (; i < n; i += 16) {
        const size_t size = n - i < 16 ? (n - i) * sizeof(uint16_t) : 32;
        const __m256i a = order16(load_first(x + i * sizeof(uint16_t), size, minus_inf));
        hi[0] = _mm256_max_epi16(hi[0], a);
        lo[0] = _mm256_min_epi16(lo[0], a);
    }
    hi[0] = _mm256_max_epi16(hi[0], hi[1]);
    lo[0] = _mm256_min_epi16(lo[0], lo[1]);
    *max = max16(hi[0]);
    const __m256i below = _mm256_cmpgt_epi16(lowest, lo[0]);
    const __m256i above = _mm256_cmpgt_epi16(hi[0], _mm256_set1_epi16((short)(inf - 1)));
    return !_mm256_testz_si256(_mm256_or_si256(below, above), _mm256_set1_epi16(-1));
}

static void widen_f16(float *dst, const void *src, size_t n)
{
    const char *from = src;
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(dst + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i_u *)(from + i * sizeof(uint16_t)))));
    kern_scalar.widen[DTYPE_F16](dst + i, from + i * sizeof(uint16_t), n - i);
}

static void widen_bf16(float *dst, const void *src, size_t n)
{
    const char *from = src;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256i h = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i_u *)(from + i * sizeof(uint16_t))));
        _mm256_storeu_ps(dst + i, _mm256_castsi256_ps(_mm256_slli_epi32(h, 16)));
    }
    kern_scalar.widen[DTYPE_BF16](dst + i, from + i * sizeof(uint16_t), n - i);
}

static inline size_t find(const float *x, size_t n, float value)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const int hit = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(x + i), _mm256_set1_ps(value), _CMP_EQ_OQ));
        if (hit)
            return i + (size_t)__builtin_ctz((unsigned)hit);
    }
    while (x[i] != value)
        i++;
    return i;
}

static inline float some_max(const float *x, size_t n)
{
    __m256 m[4] = {least(), least(), least(), least()};
    size_t i = 0;
    for (; i + 32 <= n; i += 32)
        UNROLL
    for (size_t k = 0; k < 4; k++)
        m[k] = _mm256_max_ps(m[k], _mm256_loadu_ps(x + i + k * 8));
    for (; i + 8 <= n; i += 8)
        m[0] = _mm256_max_ps(m[0], _mm256_loadu_ps(x + i));
    const float rest = kern_scalar.max(x + i, n - i);
    const float max = max_of(_mm256_max_ps(_mm256_max_ps(m[0], m[1]), _mm256_max_ps(m[2], m[3])));
    return rest > max ? rest : max;
}

// The keys of 8 elements.
static inline void put_keys(uint64_t *keys, __m256 x, uint32_t id)
{
    const __m256i bits = _mm256_castps_si256(_mm256_add_ps(x, _mm256_setzero_ps()));
    const __m256i flip = _mm256_or_si256(_mm256_srai_epi32(bits, 31), _mm256_set1_epi32(INT32_MIN));
    const __m256i high = _mm256_xor_si256(bits, flip);
    const __m256i low = _mm256_sub_epi32(_mm256_set1_epi32((int)~id), _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));
    const __m256i even = _mm256_unpacklo_epi32(low, high), odd = _mm256_unpackhi_epi32(low, high); // pairs 0 1 4 5 and 2 3 6 7
    _mm256_storeu_si256((__m256i_u *)keys, _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256((__m256i_u *)(keys + 4), _mm256_permute2x128_si256(even, odd, 0x31));
}

static size_t collect_f32(uint64_t *keys, const float *x, size_t n, uint32_t first_id, float floor)
{
    const __m256 lowest = _mm256_set1_ps(floor);
    size_t found = 0, i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256 a = _mm256_loadu_ps(x + i);
        unsigned hit = (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(a, lowest, _CMP_GE_OQ));
        if (hit == 0xff) {
            put_keys(keys + found, a, first_id + (uint32_t)i);
            found += 8;
            continue;
        }
        for (; hit; hit &= hit - 1) {
            const size_t at = i + (size_t)__builtin_ctz(hit);
            keys[found++] = rank_key(x[at], first_id + (uint32_t)at);
        }
    }
    return found + kern_scalar.collect(keys + found, x + i, n - i, first_id + (uint32_t)i, floor);
}

// expf.h, four at a time; anything for arguments that underflow.
static inline __m128 exp4(__m128 x)
{
    const __m256d shift = _mm256_set1_pd(EXPF_SHIFT), one = _mm256_set1_pd(1.0);
    const __m256d z = _mm256_mul_pd(_mm256_cvtps_pd(x), _mm256_set1_pd(EXPF_SCALE));
    const __m256d shifted = _mm256_add_pd(z, shift);
    const __m256d r = _mm256_sub_pd(z, _mm256_sub_pd(shifted, shift));
    const __m256i k = _mm256_castpd_si256(shifted), mod = _mm256_set1_epi64x(31);
    const __m256d t = _mm256_i64gather_pd(expf_table, _mm256_and_si256(k, mod), sizeof(double));
    const __m256i e = _mm256_slli_epi64(_mm256_andnot_si256(mod, k), 52 - 5);
    const __m256d s = _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(t), e));
    const __m256d high = _mm256_add_pd(_mm256_mul_pd(_mm256_set1_pd(EXPF_C0), r), _mm256_set1_pd(EXPF_C1));
    const __m256d low = _mm256_add_pd(_mm256_mul_pd(_mm256_set1_pd(EXPF_C2), r), one);
    const __m256d y = _mm256_add_pd(_mm256_mul_pd(high, _mm256_mul_pd(r, r)), low);
    return _mm256_cvtpd_ps(_mm256_mul_pd(y, s));
}

static inline __m256 exp8(__m256 x)
{
    const __m256 positive = _mm256_cmp_ps(x, _mm256_set1_ps(EXPF_UNDERFLOW), _CMP_NLT_UQ);
    if (!_mm256_movemask_ps(positive))
        return _mm256_setzero_ps();
    const __m128 a = exp4(_mm256_castps256_ps128(x)), b = exp4(_mm256_extractf128_ps(x, 1));
    return _mm256_and_ps(positive, _mm256_set_m128(b, a));
}

static void exp_sub_f32(float *p, const float *x, float max, size_t n)
{
    const __m256 m = _mm256_set1_ps(max);
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(p + i, exp8(_mm256_sub_ps(_mm256_loadu_ps(x + i), m)));
    kern_scalar.exp_sub(p + i, x + i, max, n - i);
}

static void divide_f32(float *x, size_t n, float d)
{
    const __m256 by = _mm256_set1_ps(d);
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(x + i, _mm256_div_ps(_mm256_loadu_ps(x + i), by));
    kern_scalar.divide(x + i, n - i, d);
}

static void multiply_f32(float *x, size_t n, float f)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(x + i, _mm256_mul_ps(_mm256_loadu_ps(x + i), _mm256_set1_ps(f)));
    kern_scalar.multiply(x + i, n - i, f);
}

static void round_f16(float *x, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(x + i, _mm256_cvtph_ps(_mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT)));
    kern_scalar.round_f16(x + i, n - i);
}

static size_t count_f32(const float *x, size_t n, float floor)
{
    const __m256 least_kept = _mm256_set1_ps(floor);
    size_t count = 0, i = 0;
    for (; i + 8 <= n; i += 8)
        count +=
            (size_t)_mm_popcnt_u32((unsigned)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(x + i), least_kept, _CMP_GE_OQ)));
    return count + kern_scalar.count(x + i, n - i, floor);
}

static void mask_below_f32(float *x, size_t n, float floor)
{
    const __m256 lowest = _mm256_set1_ps(floor);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256 a = _mm256_loadu_ps(x + i);
        _mm256_storeu_ps(x + i, _mm256_blendv_ps(a, least(), _mm256_cmp_ps(a, lowest, _CMP_LT_OQ)));
    }
    kern_scalar.mask_below(x + i, n - i, floor);
}

static inline void blur_vectors(double *q, const double *p, const double *w, size_t reach, int count)
{
    __m256d sum[4];
    UNROLL
    for (int k = 0; k < count; k++)
        sum[k] = _mm256_loadu_pd(p + k * 4);
    for (size_t d = 1; d < reach; d++)
        UNROLL
    for (int k = 0; k < count; k++) {
        const __m256d both = _mm256_add_pd(_mm256_loadu_pd(p + k * 4 - d), _mm256_loadu_pd(p + k * 4 + d));
        sum[k] = _mm256_add_pd(sum[k], _mm256_mul_pd(_mm256_set1_pd(w[d]), both));
    }
    UNROLL
    for (int k = 0; k < count; k++)
        _mm256_storeu_pd(q + k * 4, sum[k]);
}

#define TIER    avx2
#define DOUBLES 4
#include "kern/kern_tier.h"

#endif
