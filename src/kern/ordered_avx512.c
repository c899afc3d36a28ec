// SPDX-License-Identifier: MIT
// The vector parts of ordered.h's sums for the AVX-512 tier.
#include "kern/ordered.h"

#ifdef __x86_64__

#include <immintrin.h>
#include <math.h>

static inline __m512 least(void)
{
    return _mm512_set1_ps(-INFINITY);
}

static inline __m512 abs_ps(__m512 x)
{
    return _mm512_andnot_ps(_mm512_set1_ps(-0.0f), x);
}

static inline __m512d abs_pd(__m512d x)
{
    return _mm512_andnot_pd(_mm512_set1_pd(-0.0), x);
}

static inline __m512 drop_minus_inf(__m512 x, __m512 value)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, least(), _CMP_NEQ_UQ), value);
}

// Adding a number whose ulp is u rounds to multiples of u; subtracting it is exact.

static inline __m512 load_sum(const float *x)
{
    const __m512 a = _mm512_loadu_ps(x);
    return drop_minus_inf(a, a);
}

static struct run run_sum(const float *x, size_t n, float mean, double low)
{
    (void)mean;
    const __m512 magic = _mm512_set1_ps(1.5f * (float)low);
    __m512 sum = _mm512_setzero_ps(), size = sum, rest = sum;
    for (size_t i = 0; i < n; i += 16) {
        const __m512 a = load_sum(x + i);
        const __m512 q = _mm512_sub_ps(_mm512_add_ps(magic, a), magic);
        sum = _mm512_add_ps(sum, q);
        size = _mm512_add_ps(size, abs_ps(q));
        rest = _mm512_max_ps(rest, abs_ps(_mm512_sub_ps(a, q)));
    }
    return (struct run){_mm512_reduce_add_ps(sum), _mm512_reduce_add_ps(size), _mm512_reduce_max_ps(rest)};
}

static inline struct ties ties_sum(const float *x, float mean, double low)
{
    (void)mean;
    const float tie = (float)low * 0x1p-24f;
    const __m512 magic = _mm512_set1_ps(1.5f * (float)low);
    struct ties t = {0, 0, 0};
    for (int i = 0; i < ORDERED_TIES; i += 16) {
        const __m512 a = load_sum(x + i);
        const __m512 b = _mm512_add_ps(magic, a);
        const __m512 rest = _mm512_sub_ps(a, _mm512_sub_ps(b, magic));
        t.up |= (uint64_t)_mm512_cmp_ps_mask(rest, _mm512_set1_ps(tie), _CMP_EQ_OQ) << i;
        t.down |= (uint64_t)_mm512_cmp_ps_mask(rest, _mm512_set1_ps(-tie), _CMP_EQ_OQ) << i;
        t.odd |= (uint64_t)_mm512_test_epi32_mask(_mm512_castps_si512(b), _mm512_set1_epi32(1)) << i;
    }
    return t;
}

static struct run run_sum_wide(const float *x, size_t n, float mean, double low)
{
    (void)mean;
    const __m512d magic = _mm512_set1_pd(1.5 * low);
    __m512d sum = _mm512_setzero_pd(), size = sum, rest = sum;
    for (size_t i = 0; i < n; i += 8) {
        const __m512d a = _mm512_cvtps_pd(_mm256_loadu_ps(x + i));
        const __m512d q = _mm512_sub_pd(_mm512_add_pd(magic, a), magic);
        sum = _mm512_add_pd(sum, q);
        size = _mm512_add_pd(size, abs_pd(q));
        rest = _mm512_max_pd(rest, abs_pd(_mm512_sub_pd(a, q)));
    }
    return (struct run){_mm512_reduce_add_pd(sum), _mm512_reduce_add_pd(size), _mm512_reduce_max_pd(rest)};
}

// The next 8 elements' ties, by the rest and by a number with q's parity.
static inline void put_ties(struct ties *t, int i, __m512d rest, __m512d tie, __m512d parity)
{
    t->up |= (uint64_t)_mm512_cmp_pd_mask(rest, tie, _CMP_EQ_OQ) << i;
    t->down |= (uint64_t)_mm512_cmp_pd_mask(rest, _mm512_sub_pd(_mm512_setzero_pd(), tie), _CMP_EQ_OQ) << i;
    t->odd |= (uint64_t)_mm512_test_epi64_mask(_mm512_castpd_si512(parity), _mm512_set1_epi64(1)) << i;
}

static inline struct ties ties_sum_wide(const float *x, float mean, double low)
{
    (void)mean;
    const __m512d magic = _mm512_set1_pd(1.5 * low), tie = _mm512_set1_pd(low * 0x1p-53);
    struct ties t = {0, 0, 0};
    for (int i = 0; i < ORDERED_TIES; i += 8) {
        const __m512d a = _mm512_cvtps_pd(_mm256_loadu_ps(x + i));
        const __m512d b = _mm512_add_pd(magic, a);
        put_ties(&t, i, _mm512_sub_pd(a, _mm512_sub_pd(b, magic)), tie, b);
    }
    return t;
}

// The numbers that rounding squares takes: adding low rounds as f64 addition to the sum does, then adding ulp to multiples of u.
struct magic {
    __m512d low, ulp;
};

static inline struct magic magic_squares(double low)
{
    return (struct magic){_mm512_set1_pd(low), _mm512_set1_pd(low * 0x1p29)};
}

// low + the squared distance from the mean of 8 elements
static inline __m512d squares(__m256 d, const struct magic *m)
{
    const __m512d wide = _mm512_cvtps_pd(d);
    return _mm512_add_pd(m->low, _mm512_mul_pd(wide, wide));
}

static inline __m512 distance(const float *x, __m512 mean)
{
    const __m512 a = _mm512_loadu_ps(x);
    return drop_minus_inf(a, _mm512_sub_ps(a, mean));
}

static inline void run_8(__m512d t, const struct magic *m, __m512d *sum, __m512d *rest)
{
    const __m512d q = _mm512_sub_pd(_mm512_add_pd(t, m->ulp), m->ulp); // and low
    *sum = _mm512_add_pd(*sum, q);
    *rest = _mm512_max_pd(*rest, abs_pd(_mm512_sub_pd(t, q)));
}

static struct run run_sum_squares(const float *x, size_t n, float mean, double low)
{
    const struct magic m = magic_squares(low);
    const __m512 centre = _mm512_set1_ps(mean);
    __m512d sum0 = _mm512_setzero_pd(), sum1 = sum0, rest0 = sum0, rest1 = sum0;
    for (size_t i = 0; i < n; i += 16) {
        const __m512 d = distance(x + i, centre);
        run_8(squares(_mm512_castps512_ps256(d), &m), &m, &sum0, &rest0);
        run_8(squares(_mm512_extractf32x8_ps(d, 1), &m), &m, &sum1, &rest1);
    }
    const double sum = _mm512_reduce_add_pd(_mm512_add_pd(sum0, sum1)) - (double)n * low;
    return (struct run){sum, sum, _mm512_reduce_max_pd(_mm512_max_pd(rest0, rest1))};
}

static inline struct ties ties_sum_squares(const float *x, float mean, double low)
{
    const struct magic m = magic_squares(low);
    const __m512 centre = _mm512_set1_ps(mean);
    const __m512d tie = _mm512_set1_pd(low * 0x1p-24);
    struct ties t = {0, 0, 0};
    for (int i = 0; i < ORDERED_TIES; i += 8) {
        const __m512 d = distance(x + i / 16 * 16, centre);
        const __m512d a = squares(i % 16 ? _mm512_extractf32x8_ps(d, 1) : _mm512_castps512_ps256(d), &m);
        const __m512d b = _mm512_add_pd(a, m.ulp);
        put_ties(&t, i, _mm512_sub_pd(a, _mm512_sub_pd(b, m.ulp)), tie, b);
    }
    return t;
}

#define TIER avx512
#include "kern/ordered_tier.h"

#endif
