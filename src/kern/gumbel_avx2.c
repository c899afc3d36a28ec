// SPDX-License-Identifier: MIT
// Gumbel noise: the AVX2 tier.
#include "kern/gumbel.h"

#ifdef __x86_64__

#include <immintrin.h>
#include <math.h>

static inline __m256i words(__m256i counter)
{
    const __m256i state =
        _mm256_add_epi32(_mm256_mullo_epi32(counter, _mm256_set1_epi32(GUMBEL_MUL)), _mm256_set1_epi32((int)GUMBEL_ADD));
    const __m256i by = _mm256_add_epi32(_mm256_srli_epi32(state, 28), _mm256_set1_epi32(4));
    const __m256i mixed = _mm256_xor_si256(_mm256_srlv_epi32(state, by), state);
    const __m256i w = _mm256_mullo_epi32(mixed, _mm256_set1_epi32(GUMBEL_MIX));
    return _mm256_xor_si256(w, _mm256_srli_epi32(w, 22));
}

// c[i] + c[i + 1] * w
static inline __m256d pair(int i, __m256d w)
{
    return _mm256_add_pd(_mm256_set1_pd(logf_series[i]), _mm256_mul_pd(_mm256_set1_pd(logf_series[i + 1]), w));
}

// -ln x, as logf.h has it, four at a time
static inline __m128 minus_log_4(__m128 x)
{
    const __m256d one = _mm256_set1_pd(1.0);
    const __m128i bits = _mm_castps_si128(x);
    const __m128i k = _mm_and_si128(_mm_sub_epi32(bits, _mm_set1_epi32((int)LOGF_BASE)), _mm_set1_epi32((int)0xff800000u));
    const __m256d z = _mm256_cvtps_pd(_mm_castsi128_ps(_mm_sub_epi32(bits, k)));
    const __m256d s = _mm256_div_pd(_mm256_sub_pd(z, one), _mm256_add_pd(z, one));
    const __m256d w = _mm256_mul_pd(s, s), w2 = _mm256_mul_pd(w, w), w4 = _mm256_mul_pd(w2, w2);
    const __m256d a = _mm256_add_pd(pair(0, w), _mm256_mul_pd(pair(2, w), w2));
    const __m256d b = _mm256_add_pd(pair(4, w), _mm256_mul_pd(pair(6, w), w2));
    const __m256d high = _mm256_mul_pd(pair(8, w), _mm256_mul_pd(w4, w4));
    const __m256d series = _mm256_add_pd(_mm256_add_pd(a, _mm256_mul_pd(b, w4)), high);
    const __m256d twice = _mm256_add_pd(s, s);
    const __m256d rest = _mm256_add_pd(twice, _mm256_mul_pd(twice, _mm256_mul_pd(w, series)));
    const __m256d whole = _mm256_mul_pd(_mm256_cvtepi32_pd(_mm_srai_epi32(k, 23)), _mm256_set1_pd(LOGF_LN2));
    return _mm_xor_ps(_mm256_cvtpd_ps(_mm256_add_pd(whole, rest)), _mm_set1_ps(-0.0f));
}

// By way of f64, which has room for unsigned words.
static inline __m128 noise_4(__m128i word)
{
    const __m256d wide =
        _mm256_add_pd(_mm256_cvtepi32_pd(_mm_xor_si128(word, _mm_set1_epi32(INT32_MIN))), _mm256_set1_pd(0x1p31));
    const __m128 u = _mm_mul_ps(_mm256_cvtpd_ps(wide), _mm_set1_ps(0x1p-32f));
    return minus_log_4(minus_log_4(_mm_min_ps(_mm_max_ps(u, _mm_set1_ps(GUMBEL_LEAST)), _mm_set1_ps(GUMBEL_MOST))));
}

void gumbel_avx2(float *x, const float *logit, const uint32_t *id, size_t n, uint32_t s, float temp)
{
    const __m256 masked = _mm256_set1_ps(-INFINITY);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256i ids = _mm256_loadu_si256((const __m256i_u *)(id + i));
        const __m256i w = words(_mm256_add_epi32(ids, _mm256_set1_epi32((int)s)));
        const __m256 noise = _mm256_set_m128(noise_4(_mm256_extracti128_si256(w, 1)), noise_4(_mm256_castsi256_si128(w)));
        const __m256 a = _mm256_loadu_ps(logit + i);
        const __m256 noisy = _mm256_add_ps(a, _mm256_mul_ps(_mm256_set1_ps(temp), noise));
        const __m256 rounded = _mm256_cvtph_ps(_mm256_cvtps_ph(noisy, _MM_FROUND_TO_NEAREST_INT));
        _mm256_storeu_ps(x + i, _mm256_blendv_ps(rounded, masked, _mm256_cmp_ps(a, masked, _CMP_EQ_OQ)));
    }
    gumbel_scalar(x + i, logit + i, id + i, n - i, s, temp);
}

// Those of 8 words that are at least `least`, one bit each.
static inline unsigned reached(__m256i counter, __m256i least)
{
    const __m256i w = words(counter);
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_max_epu32(w, least), w)));
}

size_t gumbel_hot_avx2(uint32_t *hot, uint32_t first, size_t n, uint32_t s, uint32_t least)
{
    const __m256i lane = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0), lowest = _mm256_set1_epi32((int)least);
    size_t found = 0, i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m256i at = _mm256_add_epi32(_mm256_set1_epi32((int)(s + first + (uint32_t)i)), lane);
        const unsigned a = reached(at, lowest), b = reached(_mm256_add_epi32(at, _mm256_set1_epi32(8)), lowest);
        const unsigned c = reached(_mm256_add_epi32(at, _mm256_set1_epi32(16)), lowest);
        const unsigned d = reached(_mm256_add_epi32(at, _mm256_set1_epi32(24)), lowest);
        for (unsigned hit = a | b << 8 | c << 16 | d << 24; hit; hit &= hit - 1)
            hot[found++] = first + (uint32_t)i + (uint32_t)__builtin_ctz(hit);
    }
    return found + gumbel_hot_scalar(hot + found, first + (uint32_t)i, n - i, s, least);
}

#endif
