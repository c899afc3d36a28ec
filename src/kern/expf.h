// SPDX-License-Identifier: MIT
// expf with the same bits on every machine: glibc's algorithm (2.36, without FMA) as the specification gives it, all in f64.
//
//   z = x * 32/ln2, k = z rounded to the nearest integer, r = z - k in [-1/2, 1/2]
//   e^x = 2^(k/32) * 2^(r/32), where 2^(r/32) is a cubic in r and 2^(k/32) = 2^(k/32 rounded down) * table[k mod 32]
//
// Agrees with glibc's expf (FMA build) on every float up to 88 but -0x1.f8cbb2p+5 and 0x1.04845ep+5; make prove-expf checks all of them.
#ifndef SAMPL_KERN_EXPF_H
#define SAMPL_KERN_EXPF_H

#include "base/bits.h"

#define EXPF_SCALE     (0x1.71547652b82fep+0 * 32) // 32/ln2
#define EXPF_SHIFT     0x1.8p+52                   // adding and subtracting it rounds to an integer
#define EXPF_C0        (0x1.c6af84b912394p-5 / (32.0 * 32 * 32))
#define EXPF_C1        (0x1.ebfce50fac4f3p-3 / (32.0 * 32))
#define EXPF_C2        (0x1.62e42ff0c52d6p-1 / 32.0)
#define EXPF_UNDERFLOW (-0x1.9fe368p+6f) // below this, about -103.97, the result is 0

// 2^(i/32), correctly rounded
static const double expf_table[32] = {
    0x1.0000000000000p+0, 0x1.059b0d3158574p+0, 0x1.0b5586cf9890fp+0, 0x1.11301d0125b51p+0, 0x1.172b83c7d517bp+0,
    0x1.1d4873168b9aap+0, 0x1.2387a6e756238p+0, 0x1.29e9df51fdee1p+0, 0x1.306fe0a31b715p+0, 0x1.371a7373aa9cbp+0,
    0x1.3dea64c123422p+0, 0x1.44e086061892dp+0, 0x1.4bfdad5362a27p+0, 0x1.5342b569d4f82p+0, 0x1.5ab07dd485429p+0,
    0x1.6247eb03a5585p+0, 0x1.6a09e667f3bcdp+0, 0x1.71f75e8ec5f74p+0, 0x1.7a11473eb0187p+0, 0x1.82589994cce13p+0,
    0x1.8ace5422aa0dbp+0, 0x1.93737b0cdc5e5p+0, 0x1.9c49182a3f090p+0, 0x1.a5503b23e255dp+0, 0x1.ae89f995ad3adp+0,
    0x1.b7f76f2fb5e47p+0, 0x1.c199bdd85529cp+0, 0x1.cb720dcef9069p+0, 0x1.d5818dcfba487p+0, 0x1.dfc97337b9b5fp+0,
    0x1.ea4afa2a490dap+0, 0x1.f50765b6e4540p+0,
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
    const double s = f64_of_bits(bits_of_f64(expf_table[k % 32]) + ((k & ~UINT64_C(31)) << (52 - 5)));
    const double y = (EXPF_C0 * r + EXPF_C1) * (r * r) + (EXPF_C2 * r + 1.0);
    return (float)(y * s);
}

// exp in f64, to a unit in the last place or so, for what is said of distributions: k as above, r = x - k * ln2/32, of two parts, and e^r by
// its series up to r^6.
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
    const double s = f64_of_bits(bits_of_f64(expf_table[n % 32]) + ((n & ~UINT64_C(31)) << (52 - 5)));
    const double t = 0.5 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720))));
    return s + s * (r + r * r * t);
}

#endif
