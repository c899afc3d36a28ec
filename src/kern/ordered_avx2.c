// SPDX-License-Identifier: MIT
// The vector parts of ordered.h's sums for the AVX2 tier.
#include "kern/ordered.h"

#ifdef __x86_64__

#include <immintrin.h>
#include <math.h>

static inline __m256 least(void)
{
    return _mm256_set1_ps(-INFINITY);
}

static inline float max_of(__m256 v)
{
    const __m128 a = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    const __m128 b = _mm_max_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_max_ss(b, _mm_movehdup_ps(b)));
}

static inline __m256 abs_ps(__m256 x)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
}

static inline __m256d abs_pd(__m256d x)
{
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
}

static inline double sum_of(__m256d v)
{
    const __m128d a = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(a, _mm_unpackhi_pd(a, a)));
}

static inline double max_of_pd(__m256d v)
{
    const __m128d a = _mm_max_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_max_sd(a, _mm_unpackhi_pd(a, a)));
}

static inline double sum_of_ps(__m256 v)
{
    return sum_of(_mm256_add_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(v)), _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1))));
}

static inline __m256 drop_minus_inf(__m256 x, __m256 value)
{
    return _mm256_and_ps(_mm256_cmp_ps(x, least(), _CMP_NEQ_UQ), value);
}

// Adding a number whose ulp is u rounds to multiples of u; subtracting it is exact.

static inline __m256 load_sum(const float *x)
{
    const __m256 a = _mm256_loadu_ps(x);
    return drop_minus_inf(a, a);
}

static struct run run_sum(const float *x, size_t n, float mean, double low)
{
    (void)mean;
    const __m256 magic = _mm256_set1_ps(1.5f * (float)low);
    __m256 sum = _mm256_setzero_ps(), size = sum, rest = sum;
    for (size_t i = 0; i < n; i += 8) {
        const __m256 a = load_sum(x + i);
        const __m256 q = _mm256_sub_ps(_mm256_add_ps(magic, a), magic);
        sum = _mm256_add_ps(sum, q);
        size = _mm256_add_ps(size, abs_ps(q));
        rest = _mm256_max_ps(rest, abs_ps(_mm256_sub_ps(a, q)));
    }
    return (struct run){sum_of_ps(sum), sum_of_ps(size), max_of(rest)};
}

static inline struct ties ties_sum(const float *x, float mean, double low)
{
    (void)mean;
    const __m256 magic = _mm256_set1_ps(1.5f * (float)low), tie = _mm256_set1_ps((float)low * 0x1p-24f);
    struct ties t = {0, 0, 0};
    for (int i = 0; i < ORDERED_TIES; i += 8) {
        const __m256 a = load_sum(x + i);
        const __m256 b = _mm256_add_ps(magic, a);
        const __m256 rest = _mm256_sub_ps(a, _mm256_sub_ps(b, magic));
        const __m256 up = _mm256_cmp_ps(rest, tie, _CMP_EQ_OQ),
                     down = _mm256_cmp_ps(_mm256_add_ps(rest, tie), _mm256_setzero_ps(), _CMP_EQ_OQ);
        const __m256 odd = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(b), 31));
        t.up |= (uint64_t)_mm256_movemask_ps(up) << i;
        t.down |= (uint64_t)_mm256_movemask_ps(down) << i;
        t.odd |= (uint64_t)_mm256_movemask_ps(odd) << i;
    }
    return t;
}

static struct run run_sum_wide(const float *x, size_t n, float mean, double low)
{
    (void)mean;
    const __m256d magic = _mm256_set1_pd(1.5 * low);
    __m256d sum = _mm256_setzero_pd(), size = sum, rest = sum;
    for (size_t i = 0; i < n; i += 4) {
        const __m256d a = _mm256_cvtps_pd(_mm_loadu_ps(x + i));
        const __m256d q = _mm256_sub_pd(_mm256_add_pd(magic, a), magic);
        sum = _mm256_add_pd(sum, q);
        size = _mm256_add_pd(size, abs_pd(q));
        rest = _mm256_max_pd(rest, abs_pd(_mm256_sub_pd(a, q)));
    }
    return (struct run){sum_of(sum), sum_of(size), max_of_pd(rest)};
}

// The next 4 elements' ties, by the rest and by a number with q's parity.
static inline void put_ties(struct ties *t, int i, __m256d rest, __m256d tie, __m256d parity)
{
    const __m256d up = _mm256_cmp_pd(rest, tie, _CMP_EQ_OQ);
    const __m256d down = _mm256_cmp_pd(_mm256_add_pd(rest, tie), _mm256_setzero_pd(), _CMP_EQ_OQ);
    const __m256d odd = _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(parity), 63));
    t->up |= (uint64_t)_mm256_movemask_pd(up) << i;
    t->down |= (uint64_t)_mm256_movemask_pd(down) << i;
    t->odd |= (uint64_t)_mm256_movemask_pd(odd) << i;
}

static inline struct ties ties_sum_wide(const float *x, float mean, double low)
{
    (void)mean;
    const __m256d magic = _mm256_set1_pd(1.5 * low), tie = _mm256_set1_pd(low * 0x1p-53);
    struct ties t = {0, 0, 0};
    for (int i = 0; i < ORDERED_TIES; i += 4) {
        const __m256d a = _mm256_cvtps_pd(_mm_loadu_ps(x + i));
        const __m256d b = _mm256_add_pd(magic, a);
        put_ties(&t, i, _mm256_sub_pd(a, _mm256_sub_pd(b, magic)), tie, b);
    }
    return t;
}

// The numbers that rounding squares takes: adding low rounds as f64 addition to the sum does, then adding ulp to multiples of u.
struct magic {
    __m256d low, ulp;
};

static inline struct magic magic_squares(double low)
{
    return (struct magic){_mm256_set1_pd(low), _mm256_set1_pd(low * 0x1p29)};
}

// low + the squared distance from the mean of 4 elements
static inline __m256d squares(const float *x, __m128 mean, const struct magic *m)
{
    const __m128 a = _mm_loadu_ps(x);
    const __m128 d = _mm_and_ps(_mm_cmpneq_ps(a, _mm_set1_ps(-INFINITY)), _mm_sub_ps(a, mean));
    const __m256d wide = _mm256_cvtps_pd(d);
    return _mm256_add_pd(m->low, _mm256_mul_pd(wide, wide));
}

static struct run run_sum_squares(const float *x, size_t n, float mean, double low)
{
    const struct magic m = magic_squares(low);
    const __m128 centre = _mm_set1_ps(mean);
    __m256d sum = _mm256_setzero_pd(), rest = sum;
    for (size_t i = 0; i < n; i += 4) {
        const __m256d t = squares(x + i, centre, &m);
        const __m256d q = _mm256_sub_pd(_mm256_add_pd(t, m.ulp), m.ulp); // and low
        sum = _mm256_add_pd(sum, q);
        rest = _mm256_max_pd(rest, abs_pd(_mm256_sub_pd(t, q)));
    }
    const double total = sum_of(sum) - (double)n * low;
    return (struct run){total, total, max_of_pd(rest)};
}

static inline struct ties ties_sum_squares(const float *x, float mean, double low)
{
    const struct magic m = magic_squares(low);
    const __m256d tie = _mm256_set1_pd(low * 0x1p-24);
    struct ties t = {0, 0, 0};
    for (int i = 0; i < ORDERED_TIES; i += 4) {
        const __m256d a = squares(x + i, _mm_set1_ps(mean), &m);
        const __m256d b = _mm256_add_pd(a, m.ulp);
        put_ties(&t, i, _mm256_sub_pd(a, _mm256_sub_pd(b, m.ulp)), tie, b);
    }
    return t;
}

#define TIER avx2
#include "kern/ordered_tier.h"

#endif
