// SPDX-License-Identifier: MIT
// The kernels of a SIMD tier, in GNU C's vector types. A tier's file includes this at its end, after it has defined
//
//   TIER             its name
//   VECTOR           the size of a register in bytes; and has then included vector.h
//   MAX_KEEPS_NAN    1 if max_f32 is NaN when an operand is, else 0
//
// and, as static inline functions, what vector types do not express, or what compilers make too much of. Those that
// several tiers define alike are in lanes_template.h.
//
//   vf32 max_f32(vf32 a, vf32 b)                   lane by lane, of -0 and +0 either; likewise min_f32, max_f64,
//                                                  max_u32
//   float largest_f32(vf32 v)                      of all lanes
//   double sum_f64(vf64 v)                         of all lanes, in any order
//   hf32 lower_half(vf32 v), upper_half(vf32 v)
//   vf32 join(hf32 lower, hf32 upper)
//   bool any(vi32 v)                               returns whether any bit is set
//   unsigned signs_32(vi32 v)                      the sign of each lane as a bit, lane 0 lowest; and so signs_64
//   unsigned equal_32(vf32 a, float b)             the lanes where a == b as bits, lane 0 lowest; likewise
//                                                  equal_64(vf64 a, double b)
//   unsigned at_least_32(vf32 a, float b)          the lanes where a >= b, the same way
//   vf32 masked_below(vf32 x, float floor)         -inf where x < floor, else x
//   vf32 zero_below(vf32 y, vf32 x, float floor)   0 where x < floor, else y; no lane of x is NaN
//   vf32 load_first(const void *at, size_t n, vf32 rest)
//                                                  n < LANES lanes from memory, the others from rest
//   void store_first(void *at, size_t n, vf32 v)   only the first n < LANES lanes
//   vf64 widen_f32(hf32 v), vu32 widen_u16(hu16 v), vf64 f64_of_i32(hi32 v), vf32 f32_of_f16s(hu16 h)
//                                                  exact
//   vf32 round_to_f16(vf32 x)                      to nearest, ties to even; as f32
//   vf64 multiply_add(vf64 a, vf64 b, vf64 c)      a * b + c, rounded once or twice
//   vi64 expf_entry(vi64 k)                        expf_table[k % 32]
//   vf64 entry_16(const double table[16], vi64 i)  table[i], i < 16; and so entry_of, of a table of any length
//   void store_pairs(uint64_t *to, vu32 low, vu32 high)
//                                                  to[i] = high[i] << 32 | low[i]
//
// A tier that has it defines HAS_COMPRESS and this:
//
//   vu32 compress(vu32 v, unsigned lanes)          the lanes that have a bit, moved together to the lowest
//
// one that has a faster one than exp_template.h HAS_SCALES and this:
//
//   void expf_scales(vf64 s[2], const vf64 k[2])   two vectors of expf_scale
//
// and one that has this HAS_SPLIT, for sorting:
//
//   size_t split(uint64_t *front, uint64_t *back, vu64 v, vu64 pivot)
//                                                  writes the lanes above the pivot to front and so on, the others so
//                                                  that they end at back; returns how many are above. May write
//                                                  LANES_F64 keys in both places.
#ifndef SAMPL_KERN_KERN_TEMPLATE_H
#define SAMPL_KERN_KERN_TEMPLATE_H

#include "base/bits.h"
#include "kern/expf.h"
#include "kern/gumbel.h"
#include "kern/ordered_template.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#define ALL_LANES (~0u >> (32 - LANES))

enum { DOT_BLOCK = LANES == 16 ? 4 : 2 }; // vectors a side of a block of dot products, whose sums fit the registers

// Loads LANES elements of a row, from index `at` on, and widens them to f32.
ALWAYS_INLINE vf32 load_row(const char *row, size_t at, enum dtype type)
{
    const char *const x = row + at * dtype_size(type);
    return type == DTYPE_F32   ? load_vf32(x)
           : type == DTYPE_F16 ? f32_of_f16s(load_hu16(x))
                               : (vf32)(widen_u16(load_hu16(x)) << 16);
}

// Finds the largest of n elements, a multiple of LANES; -inf if n is 0; of -0 and +0 either. Returns false if one of
// them is NaN or +inf, as their sum then is, too; and perhaps if the sum overflows.
ALWAYS_INLINE bool largest(const char *x, size_t n, enum dtype type, float *max)
{
    const vf32 least = splat(-INFINITY);
    vf32 m[4] = {least, least, least, least}, sum[4] = {{0}, {0}, {0}, {0}};
    size_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        UNROLL
        for (size_t k = 0; k < 4; k++) {
            const size_t at = i + k * LANES;
            const vf32 a = type == DTYPE_F32 ? load_once(x + at * sizeof(float)) : load_row(x, at, type);
            m[k] = max_f32(m[k], a);
            sum[k] += a;
        }
    }
    for (; i < n; i += LANES) {
        const vf32 a = load_row(x, i, type);
        m[0] = max_f32(m[0], a);
        sum[0] += a;
    }
    const vf32 most = max_f32(max_f32(m[0], m[1]), max_f32(m[2], m[3])), total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    *max = largest_f32(most);
    return !any(~((MAX_KEEPS_NAN ? most : total) < INFINITY));
}

// Leaves two kinds of blocks to the scalar tier: those with a bad element, and those whose largest element is -0 or +0,
// as the scalar tier returns the first one.
ALWAYS_INLINE size_t scan(const char *row, size_t n, float *block_max, enum dtype type)
{
    // In bytes. The end of a block keeps the processor itself from seeing far enough ahead.
    enum { LINE = 64, AHEAD = 4096 };
    const size_t bytes = KERN_BLOCK * dtype_size(type), all = n * dtype_size(type);
    for (size_t start = 0; start < n; start += KERN_BLOCK) {
        const char *const x = row + start * dtype_size(type);
        for (size_t at = AHEAD; at < AHEAD + bytes && (size_t)(x - row) + AHEAD + bytes <= all; at += LINE)
            __builtin_prefetch(x + at);
        const size_t len = n - start < KERN_BLOCK ? n - start : KERN_BLOCK, whole = len / LANES * LANES;
        float *const max = &block_max[start / KERN_BLOCK];
        bool good;
        if (len == KERN_BLOCK) { // a constant, for the compiler to unroll the loop
            good = largest(x, KERN_BLOCK, type, max);
        } else {
            float rest = -INFINITY;
            good = largest(x, whole, type, max) &&
                   kern_scalar.scan[type](x + whole * dtype_size(type), len - whole, &rest) == len - whole;
            *max = rest > *max ? rest : *max;
        }
        if (good && *max != 0)
            continue;
        const size_t first_bad = kern_scalar.scan[type](x, len, max);
        if (first_bad < len)
            return start + first_bad;
    }
    return n;
}

ALWAYS_INLINE void widen(float *dst, const char *src, size_t n, enum dtype type)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        store_vf32(dst + i, load_row(src, i, type));
    for (; i < n; i++)
        dst[i] = row_element(src, type, i);
}

static float row_max(const float *x, size_t n)
{
    const size_t whole = n / LANES * LANES;
    float max;
    largest((const char *)x, whole, DTYPE_F32, &max);
    for (size_t i = whole; i < n; i++)
        max = x[i] > max ? x[i] : max;
    return max == 0 ? kern_scalar.max(x, n) : max; // -0 or +0, whichever is first
}

static size_t row_argmax(const float *x, size_t n)
{
    const float max = row_max(x, n);
    assert(n > 0);
    size_t i = 0;
    while (i + LANES <= n && !any(load_vf32(x + i) == max))
        i += LANES;
    while (x[i] != max)
        i++;
    return i;
}

// Appends rank_key(x[i], id + i) for each bit i of hit, which is not 0; returns how many. May write LANES of them.
static inline size_t put_keys(uint64_t *keys, vf32 x, uint32_t id, unsigned hit)
{
#ifndef HAS_COMPRESS
    if (hit != ALL_LANES) {
        size_t n = 0;
        for (; hit; hit &= hit - 1) {
            const unsigned i = (unsigned)__builtin_ctz(hit);
            keys[n++] = rank_key(x[i], id + i);
        }
        return n;
    }
#endif
    const vi32 bits = (vi32)(x + 0.0f);
    vu32 order = (vu32)(bits ^ ((bits < 0) | INT32_MIN)), rest = ~id - lane_numbers();
#ifdef HAS_COMPRESS
    if (hit != ALL_LANES) {
        order = compress(order, hit);
        rest = compress(rest, hit);
    }
#endif
    store_pairs(keys, rest, order);
    return (size_t)__builtin_popcount(hit);
}

// Looks at four vectors at once, as most hold nothing to collect.
ALWAYS_INLINE size_t collect(uint64_t *keys, const char *x, size_t n, uint32_t first_id, float floor, enum dtype type)
{
    size_t found = 0, i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        vi32 hits = {0};
        UNROLL
        for (size_t k = 0; k < 4; k++)
            hits |= load_row(x, i + k * LANES, type) >= floor;
        if (!any(hits))
            continue;
        UNROLL
        for (size_t k = 0; k < 4; k++) {
            const size_t at = i + k * LANES;
            const vf32 a = load_row(x, at, type);
            const unsigned hit = at_least_32(a, floor);
            if (hit)
                found += put_keys(keys + found, a, first_id + (uint32_t)at, hit);
        }
    }
    if (i < n)
        found +=
            kern_scalar.collect[type](keys + found, x + i * dtype_size(type), n - i, first_id + (uint32_t)i, floor);
    return found;
}

#include "kern/sort_template.h"

#include "kern/falling_template.h"
#include "kern/rank_template.h"

// to[i] = op(x[i], arg)
ALWAYS_INLINE void map(float *to, const float *x, size_t n, vf32 (*op)(vf32 x, float arg), float arg)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        store_vf32(to + i, op(load_once(x + i), arg));
    if (i < n)
        store_first(to + i, n - i, op(load_first(x + i, n - i, splat(arg)), arg));
}

#include "kern/exp_template.h"

OPERATION(vf32, divided(vf32 x, float d), x / d)
OPERATION(vf32, multiplied(vf32 x, float f), (x * f))
OPERATION(vf32, rounded(vf32 x, float unused), round_to_f16(x))

static void row_divide(float *x, size_t n, float d) { map(x, x, n, divided, d); }

static void row_divide_wide(float *x, size_t n, double d)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const vf32 v = load_once(x + i);
        store_vf32(x + i, join(narrow_f64(widen_f32(lower_half(v)) / d), narrow_f64(widen_f32(upper_half(v)) / d)));
    }
    if (i < n)
        kern_scalar.divide_wide(x + i, n - i, d);
}

static void row_log_shares(float *y, const float *x, size_t n, float max, double log)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const vf32 v = load_once(x + i) - max;
        store_vf32(y + i, join(narrow_f64(widen_f32(lower_half(v)) - log), narrow_f64(widen_f32(upper_half(v)) - log)));
    }
    if (i < n)
        kern_scalar.log_shares(y + i, x + i, n - i, max, log);
}

static void row_multiply(float *x, size_t n, float f) { map(x, x, n, multiplied, f); }

static inline vf32 cubic(vf32 x, float top, float square, float cube)
{
    const vf32 d = x - top, y = -(square * d * d) + cube * d * d * d + top;
    return select_f32(y == y, y, splat(-INFINITY));
}

static void row_add_cubic(float *x, size_t n, float top, float square, float cube)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        store_vf32(x + i, cubic(load_vf32(x + i), top, square, cube));
    if (i < n)
        store_first(x + i, n - i, cubic(load_first(x + i, n - i, splat(top)), top, square, cube));
}

// Dot products of nx vectors with ny others. As each number is loaded for several products, the loads do not bound the
// loop.
ALWAYS_INLINE void dots_of_block(float *dot, size_t stride, const float *x, size_t nx, const float *y, size_t ny,
                                 size_t d)
{
    enum { VECTORS = KERN_DOT_LANES / LANES };
    vf32 sum[DOT_BLOCK][DOT_BLOCK][VECTORS] = {{{{0}}}};
    for (size_t at = 0; at < d; at += KERN_DOT_LANES) {
        UNROLL
        for (size_t v = 0; v < VECTORS; v++) {
            vf32 b[DOT_BLOCK];
            UNROLL
            for (size_t k = 0; k < ny; k++) {
                b[k] = load_vf32(y + k * d + at + v * LANES);
                KEEP(b[k]);
            }
            UNROLL
            for (size_t i = 0; i < nx; i++) {
                vf32 a = load_vf32(x + i * d + at + v * LANES);
                KEEP(a);
                UNROLL
                for (size_t k = 0; k < ny; k++)
                    sum[i][k][v] += a * b[k];
            }
        }
    }
    UNROLL
    for (size_t i = 0; i < nx; i++) {
        UNROLL
        for (size_t k = 0; k < ny; k++) {
            float lane[KERN_DOT_LANES];
            memcpy(lane, sum[i][k], sizeof lane);
            dot[i * stride + k] = kern_dot_total(lane);
        }
    }
}

static void row_dots(float *dot, const float *x, size_t nx, const float *y, size_t ny, size_t d)
{
    const size_t whole_x = nx - nx % DOT_BLOCK, whole_y = ny - ny % DOT_BLOCK;
    for (size_t i = 0; i < whole_x; i += DOT_BLOCK)
        for (size_t k = 0; k < whole_y; k += DOT_BLOCK)
            dots_of_block(dot + i * ny + k, ny, x + i * d, DOT_BLOCK, y + k * d, DOT_BLOCK, d);
    for (size_t i = 0; i < nx; i++)
        for (size_t k = i < whole_x ? whole_y : 0; k < ny; k++)
            dots_of_block(dot + i * ny + k, ny, x + i * d, 1, y + k * d, 1, d);
}

static void row_favour(float *x, const float *p, size_t n, float at, float slope, float peak, float sharpness)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const vf32 d = abs_f32((load_vf32(p + i) - at) * slope), y = peak - sharpness * d * d / (1.0f + d);
        store_vf32(x + i, select_f32(load_vf32(x + i) == -INFINITY, splat(-INFINITY), y));
    }
    if (i < n)
        kern_scalar.favour(x + i, p + i, n - i, at, slope, peak, sharpness);
}

static void row_round_f16(float *x, size_t n) { map(x, x, n, rounded, 0); }

static void row_mask_below(float *y, const float *x, size_t n, float floor) { map(y, x, n, masked_below, floor); }

static size_t row_count(const float *x, size_t n, float floor)
{
    vi32 counts = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        counts -= load_vf32(x + i) >= floor; // true is -1
    size_t count = i < n ? kern_scalar.count(x + i, n - i, floor) : 0;
    for (size_t k = 0; k < LANES; k++)
        count += (uint32_t)counts[k];
    return count;
}

// gumbel.h in vectors.

static inline vu32 words(vu32 counter)
{
    const vu32 state = counter * GUMBEL_MUL + GUMBEL_ADD;
    const vu32 w = (state >> ((state >> 28) + 4) ^ state) * GUMBEL_MIX;
    return w ^ w >> 22;
}

// -kern_logf(x)
static inline hf32 minus_logf_half(hf32 x)
{
    const double *const c = logf_series;
    const hu32 k = ((hu32)x - LOGF_BASE) & 0xff800000u;
    const vf64 z = widen_f32((hf32)((hu32)x - k));
    const vf64 s = (z - 1.0) / (z + 1.0);
    const vf64 w = s * s, w2 = w * w, w4 = w2 * w2;
    const vf64 a = (c[0] + c[1] * w) + (c[2] + c[3] * w) * w2;
    const vf64 b = (c[4] + c[5] * w) + (c[6] + c[7] * w) * w2;
    const vf64 d = c[8] + c[9] * w;
    const vf64 series = (a + b * w4) + d * (w4 * w4);
    const vf64 twice = s + s;
    const vf64 exponent = f64_of_i32((hi32)k >> 23);
    return -narrow_f64(exponent * LOGF_LN2 + (twice + twice * (w * series)));
}

static inline vf32 noise(vu32 word)
{
    const vf32 u = __builtin_convertvector(word, vf32) * 0x1p-32f;
    const vf32 held = min_f32(max_f32(u, splat(GUMBEL_LEAST)), splat(GUMBEL_MOST));
    return join(minus_logf_half(minus_logf_half(lower_half(held))), minus_logf_half(minus_logf_half(upper_half(held))));
}

static inline vf32 noisy(vf32 logit, vu32 id, uint32_t s, float temp)
{
    const vf32 rounded = round_to_f16(logit + temp * noise(words(id + s)));
    return select_f32(logit == -INFINITY, logit, rounded);
}

static void row_gumbel(float *x, const float *logit, const uint32_t *id, size_t n, uint32_t s, float temp)
{
    assert(temp > 0 && temp < INFINITY);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        store_vf32(x + i, noisy(load_vf32(logit + i), load_vu32(id + i), s, temp));
    if (i < n) {
        const vf32 zero = {0}, rest = load_first(logit + i, n - i, zero);
        store_first(x + i, n - i, noisy(rest, (vu32)load_first(id + i, n - i, zero), s, temp));
    }
}

// Looks at four vectors at once, as most have no word that large.
static size_t row_gumbel_hot(uint32_t *hot, uint32_t first, size_t n, uint32_t s, uint32_t least)
{
    size_t found = 0, i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        const uint32_t id = first + (uint32_t)i;
        const vu32 counter = lane_numbers() + (s + id);
        vu32 w[4], most = {0};
        UNROLL
        for (uint32_t k = 0; k < 4; k++) {
            w[k] = words(counter + k * LANES);
            most = max_u32(most, w[k]);
        }
        if (!any(most >= least))
            continue;
        UNROLL
        for (uint32_t k = 0; k < 4; k++)
            for (unsigned hit = signs_32(w[k] >= least); hit; hit &= hit - 1)
                hot[found++] = id + k * LANES + (uint32_t)__builtin_ctz(hit);
    }
    if (i < n)
        found += kern_scalar.gumbel_hot(hot + found, first + (uint32_t)i, n - i, s, least);
    return found;
}

#include "kern/philox_template.h"

#include "kern/kern_table.h"

#endif
