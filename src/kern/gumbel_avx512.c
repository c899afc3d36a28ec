// SPDX-License-Identifier: MIT
// Gumbel noise: the AVX-512 tier.
#include "kern/gumbel.h"

#ifdef __x86_64__

#include <immintrin.h>
#include <math.h>

static inline __m512i words(__m512i counter)
{
    const __m512i state =
        _mm512_add_epi32(_mm512_mullo_epi32(counter, _mm512_set1_epi32(GUMBEL_MUL)), _mm512_set1_epi32((int)GUMBEL_ADD));
    const __m512i by = _mm512_add_epi32(_mm512_srli_epi32(state, 28), _mm512_set1_epi32(4));
    const __m512i mixed = _mm512_xor_si512(_mm512_srlv_epi32(state, by), state);
    const __m512i w = _mm512_mullo_epi32(mixed, _mm512_set1_epi32(GUMBEL_MIX));
    return _mm512_xor_si512(w, _mm512_srli_epi32(w, 22));
}

// c[i] + c[i + 1] * w
static inline __m512d pair(int i, __m512d w)
{
    return _mm512_add_pd(_mm512_set1_pd(logf_series[i]), _mm512_mul_pd(_mm512_set1_pd(logf_series[i + 1]), w));
}

// -ln x, as logf.h has it, eight at a time
static inline __m256 minus_log_8(__m256 x)
{
    const __m512d one = _mm512_set1_pd(1.0);
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i k =
        _mm256_and_si256(_mm256_sub_epi32(bits, _mm256_set1_epi32((int)LOGF_BASE)), _mm256_set1_epi32((int)0xff800000u));
    const __m512d z = _mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_sub_epi32(bits, k)));
    const __m512d s = _mm512_div_pd(_mm512_sub_pd(z, one), _mm512_add_pd(z, one));
    const __m512d w = _mm512_mul_pd(s, s), w2 = _mm512_mul_pd(w, w), w4 = _mm512_mul_pd(w2, w2);
    const __m512d a = _mm512_add_pd(pair(0, w), _mm512_mul_pd(pair(2, w), w2));
    const __m512d b = _mm512_add_pd(pair(4, w), _mm512_mul_pd(pair(6, w), w2));
    const __m512d high = _mm512_mul_pd(pair(8, w), _mm512_mul_pd(w4, w4));
    const __m512d series = _mm512_add_pd(_mm512_add_pd(a, _mm512_mul_pd(b, w4)), high);
    const __m512d twice = _mm512_add_pd(s, s);
    const __m512d rest = _mm512_add_pd(twice, _mm512_mul_pd(twice, _mm512_mul_pd(w, series)));
    const __m512d whole = _mm512_mul_pd(_mm512_cvtepi32_pd(_mm256_srai_epi32(k, 23)), _mm512_set1_pd(LOGF_LN2));
    return _mm256_xor_ps(_mm512_cvtpd_ps(_mm512_add_pd(whole, rest)), _mm256_set1_ps(-0.0f));
}

static inline __m256 noise_8(__m256 word)
{
    const __m256 u = _mm256_mul_ps(word, _mm256_set1_ps(0x1p-32f));
    return minus_log_8(minus_log_8(_mm256_min_ps(_mm256_max_ps(u, _mm256_set1_ps(GUMBEL_LEAST)), _mm256_set1_ps(GUMBEL_MOST))));
}

static inline __m512 noisy_16(__m512 logit, __m512i id, uint32_t s, float temp)
{
    const __m512 w = _mm512_cvtepu32_ps(words(_mm512_add_epi32(id, _mm512_set1_epi32((int)s))));
    const __m256 low = noise_8(_mm512_castps512_ps256(w)), high = noise_8(_mm512_extractf32x8_ps(w, 1));
    const __m512 noise = _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
    const __m512 noisy = _mm512_add_ps(logit, _mm512_mul_ps(_mm512_set1_ps(temp), noise));
    const __m512 rounded = _mm512_cvtph_ps(_mm512_cvtps_ph(noisy, _MM_FROUND_TO_NEAREST_INT));
    const __m512 masked = _mm512_set1_ps(-INFINITY);
    return _mm512_mask_mov_ps(rounded, _mm512_cmp_ps_mask(logit, masked, _CMP_EQ_OQ), masked);
}

void gumbel_avx512(float *x, const float *logit, const uint32_t *id, size_t n, uint32_t s, float temp)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(x + i, noisy_16(_mm512_loadu_ps(logit + i), _mm512_loadu_si512(id + i), s, temp));
    const __mmask16 rest = (__mmask16)((1u << (n - i)) - 1);
    if (rest)
        _mm512_mask_storeu_ps(x + i, rest,
                              noisy_16(_mm512_maskz_loadu_ps(rest, logit + i), _mm512_maskz_loadu_epi32(rest, id + i), s, temp));
}

size_t gumbel_hot_avx512(uint32_t *hot, uint32_t first, size_t n, uint32_t s, uint32_t least)
{
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i lowest = _mm512_set1_epi32((int)least);
    size_t found = 0, i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m512i at = _mm512_add_epi32(_mm512_set1_epi32((int)(s + first + (uint32_t)i)), lane);
        const unsigned a = _mm512_cmpge_epu32_mask(words(at), lowest);
        const unsigned b = _mm512_cmpge_epu32_mask(words(_mm512_add_epi32(at, _mm512_set1_epi32(16))), lowest);
        for (unsigned hit = a | b << 16; hit; hit &= hit - 1)
            hot[found++] = first + (uint32_t)i + (uint32_t)__builtin_ctz(hit);
    }
    return found + gumbel_hot_scalar(hot + found, first + (uint32_t)i, n - i, s, least);
}

#endif
