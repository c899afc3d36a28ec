// SPDX-License-Identifier: MIT
// expf with the same bits on every machine: glibc's algorithm (2.36, without FMA) as the specification gives it, all in
// f64.
//
//   z = x * 32/ln2, k = z rounded to the nearest integer, r = z - k in [-1/2, 1/2]
//   e^x = 2^(k/32) * 2^(r/32), where 2^(r/32) is a cubic in r and 2^(k/32) = 2^(k/32 rounded down) * table[k mod 32]
//
// Agrees with glibc's expf (FMA build) on every float up to 88 but -0x1.f8cbb2p+5 and 0x1.04845ep+5; make prove-expf
// checks all of them.
#ifndef SAMPL_KERN_EXPF_H
#define SAMPL_KERN_EXPF_H

#include "base/bits.h"

#define EXPF_SCALE     (0x1.71547652b82fep+0 * 32) // 32/ln2
#define EXPF_SHIFT     0x1.8p+52                   // adding and subtracting it rounds to an integer
#define EXPF_C0        (0x1.c6af84b912394p-5 / (32.0 * 32 * 32))
#define EXPF_C1        (0x1.ebfce50fac4f3p-3 / (32.0 * 32))
#define EXPF_C2        (0x1.62e42ff0c52d6p-1 / 32.0)
#define EXPF_UNDERFLOW (-0x1.9fe368p+6f) // below this, about -103.97, the result is 0

// The bits of 2^(i/32), correctly rounded, less i << 47: with k << 47 added to them they are 2^(k/32), i being k mod
// 32.
static const uint64_t expf_table[32] = {
    0x3ff0000000000000, 0x3fefd9b0d3158574, 0x3fefb5586cf9890f, 0x3fef9301d0125b51, 0x3fef72b83c7d517b,
    0x3fef54873168b9aa, 0x3fef387a6e756238, 0x3fef1e9df51fdee1, 0x3fef06fe0a31b715, 0x3feef1a7373aa9cb,
    0x3feedea64c123422, 0x3feece086061892d, 0x3feebfdad5362a27, 0x3feeb42b569d4f82, 0x3feeab07dd485429,
    0x3feea47eb03a5585, 0x3feea09e667f3bcd, 0x3fee9f75e8ec5f74, 0x3feea11473eb0187, 0x3feea589994cce13,
    0x3feeace5422aa0db, 0x3feeb737b0cdc5e5, 0x3feec49182a3f090, 0x3feed503b23e255d, 0x3feee89f995ad3ad,
    0x3feeff76f2fb5e47, 0x3fef199bdd85529c, 0x3fef3720dcef9069, 0x3fef5818dcfba487, 0x3fef7c97337b9b5f,
    0x3fefa4afa2a490da, 0x3fefd0765b6e4540,
};

// x is at most 88 (no overflow handling) and not NaN; -inf gives 0.
static inline float kern_expf(float x)
{
    if (x < EXPF_UNDERFLOW)
        return 0.0f;
    const double z = (double)x * EXPF_SCALE;
    const double shifted = z + EXPF_SHIFT;
    const double r = z - (shifted - EXPF_SHIFT);
    // The low bits of the shifted sum hold k in two's complement; its upper part goes straight into the exponent field.
    const uint64_t k = bits_of_f64(shifted);
    const double s = f64_of_bits(expf_table[k % 32] + (k << (52 - 5)));
    const double y = (EXPF_C0 * r + EXPF_C1) * (r * r) + (EXPF_C2 * r + 1.0);
    return (float)(y * s);
}

// exp in f64, to a unit in the last place or so, for what is said of distributions: k as above, r = x - k * ln2/32, of
// two parts, and e^r by its series up to r^6.
#define EXP_HI        (0x1.62e42feep-1 / 32) // so few bits that its products with k are exact
#define EXP_LO        (0x1.a39ef35793c76p-33 / 32)
#define EXP_UNDERFLOW (-700.0) // below this the result is 0

// x is at most 0 and not NaN; -inf gives 0.
static inline double kern_exp(double x)
{
    if (x < EXP_UNDERFLOW)
        return 0.0;
    const double shifted = x * EXPF_SCALE + EXPF_SHIFT, k = shifted - EXPF_SHIFT;
    const double r = (x - k * EXP_HI) - k * EXP_LO;
    const uint64_t n = bits_of_f64(shifted);
    const double s = f64_of_bits(expf_table[n % 32] + (n << (52 - 5)));
    const double t = 0.5 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720))));
    return s + s * (r + r * r * t);
}

#endif
