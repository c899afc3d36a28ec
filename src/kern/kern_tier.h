// SPDX-License-Identifier: MIT
// What all SIMD tiers have in common. A tier's file includes this at its end, once, with TIER being its name and DOUBLES how many of them a
// vector holds, after these of its own:
//   bool block_f32(const char *x, size_t n, float *max)
//   bool block_16(const char *x, size_t n, uint16_t inf, uint16_t *max)
//       The largest of up to KERN_BLOCK elements, of -0 and +0 any; f16 and bf16 as order16 has them, inf being their infinity. True when
//       one is NaN or +inf, or when the block is left to the scalar tier for another reason.
//   size_t find(const float *x, size_t n, float value)
//       The first element equal to value; there is one.
//   float some_max(const float *x, size_t n)
//       The largest; of -0 and +0 any.
//   void blur_vectors(double *q, const double *p, const double *w, size_t reach, int count)
//       kern.h's blur of count (1 or 4) vectors side by side.
// and the kernels of the table that are not here.

#ifndef SAMPL_KERN_KERN_TIER_H
#define SAMPL_KERN_KERN_TIER_H

#define TIER_PASTE(a, b)        a##b
#define TIER_NAME(prefix, tier) TIER_PASTE(prefix, tier)
#define TIER_TEXT(tier)         #tier
#define TIER_QUOTE(tier)        TIER_TEXT(tier)
#define TIER_ORDERED            TIER_NAME(ordered_, TIER)

static inline uint16_t order16_of(unsigned h)
{
    return (uint16_t)(h & 0x8000u ? h ^ 0x7fffu : h);
}

// Of -0 and +0 the scalar tier returns the first: blocks with such a maximum, and bad ones, are left to it.
static size_t scan_f32(const void *row, size_t n, float *block_max)
{
    for (size_t start = 0; start < n; start += KERN_BLOCK) {
        const char *x = (const char *)row + start * sizeof(float);
        float *max = &block_max[start / KERN_BLOCK];
        const size_t len = n - start < KERN_BLOCK ? n - start : KERN_BLOCK;
        const bool bad = len == KERN_BLOCK ? block_f32(x, KERN_BLOCK, max) : block_f32(x, len, max);
        if (bad || *max == 0) {
            const size_t good = kern_scalar.scan[DTYPE_F32](x, len, max);
            if (good < len)
                return start + good;
        }
    }
    return n;
}

static inline size_t scan_16(const void *row, size_t n, float *block_max, enum dtype type)
{
    const uint16_t inf = type == DTYPE_F16 ? 0x7c00 : 0x7f80;
    for (size_t start = 0; start < n; start += KERN_BLOCK) {
        const char *x = (const char *)row + start * sizeof(uint16_t);
        const size_t len = n - start < KERN_BLOCK ? n - start : KERN_BLOCK;
        uint16_t max;
        const bool bad = len == KERN_BLOCK ? block_16(x, KERN_BLOCK, inf, &max) : block_16(x, len, inf, &max);
        if (bad || max == 0) { // +0, and maybe a -0 before it
            const size_t good = kern_scalar.scan[type](x, len, &block_max[start / KERN_BLOCK]);
            if (good < len)
                return start + good;
            continue;
        }
        const uint16_t h = order16_of(max);
        block_max[start / KERN_BLOCK] = type == DTYPE_F16 ? f32_of_f16(h) : f32_of_bf16(h);
    }
    return n;
}

static size_t scan_f16(const void *row, size_t n, float *block_max)
{
    return scan_16(row, n, block_max, DTYPE_F16);
}

static size_t scan_bf16(const void *row, size_t n, float *block_max)
{
    return scan_16(row, n, block_max, DTYPE_BF16);
}

static void widen_f32(float *dst, const void *src, size_t n)
{
    memcpy(dst, src, n * sizeof *dst);
}

static float max_f32(const float *x, size_t n)
{
    const float max = some_max(x, n);
    return max == 0 ? x[find(x, n, 0)] : max;
}

static size_t argmax_f32(const float *x, size_t n)
{
    enum { STEP = 1024 };
    size_t best = 0; // where the first step with the largest maximum begins
    float max = -INFINITY;
    for (size_t i = 0; i < n; i += STEP) {
        const float m = some_max(x + i, n - i < STEP ? n - i : STEP);
        if (m > max) {
            max = m;
            best = i;
        }
    }
    return best + find(x + best, n - best, max);
}

static float sum_f32(const float *x, size_t n, float s)
{
    return (float)ordered_sum(&TIER_ORDERED[ORDERED_SUM], x, n, 0, s);
}

static double sum_wide_f32(const float *x, size_t n, double s)
{
    return ordered_sum(&TIER_ORDERED[ORDERED_SUM_WIDE], x, n, 0, s);
}

static float sum_squares_f32(const float *x, size_t n, float mean, float s)
{
    return (float)ordered_sum(&TIER_ORDERED[ORDERED_SUM_SQUARES], x, n, mean, s);
}

static void blur_f64(double *q, const double *p, size_t n, const double *w, size_t reach)
{
    size_t i = 0;
    for (; i + 4 * DOUBLES <= n; i += 4 * DOUBLES)
        blur_vectors(q + i, p + i, w, reach, 4);
    for (; i + DOUBLES <= n; i += DOUBLES)
        blur_vectors(q + i, p + i, w, reach, 1);
    kern_scalar.blur(q + i, p + i, n - i, w, reach);
}

const struct kern TIER_NAME(kern_, TIER) = {
    .name = TIER_QUOTE(TIER),
    .scan = {scan_f32, scan_f16, scan_bf16},
    .widen = {widen_f32, widen_f16, widen_bf16},
    .max = max_f32,
    .argmax = argmax_f32,
    .collect = collect_f32,
    .exp_sub = exp_sub_f32,
    .sum = sum_f32,
    .sum_wide = sum_wide_f32,
    .sum_squares = sum_squares_f32,
    .divide = divide_f32,
    .multiply = multiply_f32,
    .round_f16 = round_f16,
    .count = count_f32,
    .mask_below = mask_below_f32,
    .blur = blur_f64,
    .gumbel = TIER_NAME(gumbel_, TIER),
    .gumbel_hot = TIER_NAME(gumbel_hot_, TIER),
};

#endif
