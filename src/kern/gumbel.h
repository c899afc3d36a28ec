// SPDX-License-Identifier: MIT
// Noise for the Gumbel-max draw (Gumbel 1954), without state: a PCG hash of a counter (PCG-RXS-M-XS-32; O'Neill 2014)
// makes a uniform number, and the inverse of the Gumbel distribution makes noise of that. More noise comes of a larger
// word.
#ifndef SAMPL_KERN_GUMBEL_H
#define SAMPL_KERN_GUMBEL_H

#include "base/bits.h"

// logf with the same bits on every machine, rounded correctly but for a handful of floats. All in f64, by the series of
// artanh:
//
//   x = 2^k * z, z in [sqrt(1/2), sqrt(2));  s = (z - 1) / (z + 1), so |s| <= 0.1716
//   ln x = k ln 2 + 2 atanh s = k ln 2 + 2 s (1 + w/3 + w^2/5 + ... + w^10/21), w = s^2
//
// The terms left out are below 2^-57 of the sum.
//
// Equals the C library's f64 logarithm, rounded to f32, on every normal float but 0x1.827a74p-7 and 0x1.2f1fd6p+3,
// which lie within 2^-53 of the middle between two floats; make prove-logf checks all of them. glibc's own logf rounds
// 0.1 % of floats the other way.
#define LOGF_BASE 0x3f3504f3u // sqrt(1/2), where z begins
#define LOGF_LN2  0x1.62e42fefa39efp-1

// 1/3, 1/5, ..., 1/21
static const double logf_series[10] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11,
                                       1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};

// x is positive and normal. The order of operations is part of the definition: SIMD tiers follow it.
static inline float kern_logf(float x)
{
    const double *const c = logf_series;
    const uint32_t from = bits_of_f32(x) - LOGF_BASE;
    const uint32_t k = from & 0xff800000u; // the exponent in place, two's complement
    const double z = f32_of_bits(bits_of_f32(x) - k);
    const double s = (z - 1.0) / (z + 1.0);
    const double w = s * s, w2 = w * w, w4 = w2 * w2;
    const double a = (c[0] + c[1] * w) + (c[2] + c[3] * w) * w2; // w^0 to w^3
    const double b = (c[4] + c[5] * w) + (c[6] + c[7] * w) * w2; // w^4 to w^7, over w^4
    const double d = c[8] + c[9] * w;                            // w^8 and w^9, over w^8
    const double series = (a + b * w4) + d * (w4 * w4);
    const double twice = s + s;
    return (float)((double)((int32_t)k >> 23) * LOGF_LN2 + (twice + twice * (w * series)));
}

#define GUMBEL_MUL   747796405u
#define GUMBEL_ADD   2891336453u
#define GUMBEL_MIX   277803737u
#define GUMBEL_LEAST 1e-7f          // u is held between this
#define GUMBEL_MOST  (1.0f - 1e-7f) // and this

static inline uint32_t gumbel_word(uint32_t counter)
{
    const uint32_t state = counter * GUMBEL_MUL + GUMBEL_ADD;
    const uint32_t w = (state >> ((state >> 28) + 4) ^ state) * GUMBEL_MIX;
    return w ^ w >> 22;
}

static inline float gumbel_noise(uint32_t word)
{
    float u = (float)word * 0x1p-32f;
    u = u < GUMBEL_LEAST ? GUMBEL_LEAST : u > GUMBEL_MOST ? GUMBEL_MOST : u;
    return -kern_logf(-kern_logf(u));
}

#endif
