// SPDX-License-Identifier: MIT
// A SIMD tier's kernels of Gumbel noise: gumbel.h and logf.h in vectors. A part of kern_template.h, with the same parameters.
#ifndef SAMPL_KERN_GUMBEL_TEMPLATE_H
#define SAMPL_KERN_GUMBEL_TEMPLATE_H

#include "kern/gumbel.h"

#include <assert.h>
#include <math.h>

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

#endif
