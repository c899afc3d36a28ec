// SPDX-License-Identifier: MIT
// Steps of exp, log and pow in f64 (libm.h), so that kernels can have them in their instructions; with the bits of
// glibc on x86-64 with FMA: each fma() is a place where its build fuses.
#ifndef SAMPL_KERN_LIBM_POW_H
#define SAMPL_KERN_LIBM_POW_H

#include "kern/libm.h"
#include "kern/libm_tables.h"

// e^(x + rest), |x| < 1024: x = k ln2/128 + r; e^x = 2^(k/128) * e^r, the last by a polynomial.
static inline double exp_of(double x, double rest)
{
    const double shift = 0x1.8p+52, shifted = fma(x, 0x1.71547652b82fep+7, shift), k = shifted - shift;
    const double r = fma(k, -0x1.cf79abc9e3b3ap-47, fma(k, -0x1.62e42fefap-8, x)) + rest, r2 = r * r;
    const uint64_t n = bits_of_f64(shifted);
    const double low = fma(fma(0x1.555555555543cp-3, r, 0x1.ffffffffffdbdp-2), r2, libm_exp2_rest[n % 128] + r);
    const double t = fma(r2 * r2, fma(r, 0x1.1111167a4d017p-7, 0x1.55555cf172b91p-5), low);
    const uint64_t scale = bits_of_f64(libm_exp2_power[n % 128]) + ((n & ~UINT64_C(127)) << (52 - 7));
    if (fabs(x) < 512.0) {
        const double s = f64_of_bits(scale);
        return fma(s, t, s);
    }
    if (x > 0.0) { // it may be above the range, from where it is halved
        const double s = f64_of_bits(scale - (UINT64_C(1009) << 52));
        return 0x1p+1009 * fma(s, t, s);
    }
    // It may be below the normal numbers: rounded once, where it will lie. Here the product is not fused.
    const double s = f64_of_bits(scale + (UINT64_C(1022) << 52)), more = s * t, y = s + more;
    if (y >= 1.0)
        return 0x1p-1022 * y;
    const double high = 1.0 + y, lost = (1.0 - high + y) + (s - y + more);
    return 0x1p-1022 * (high + lost - 1.0);
}

// Splits a positive finite x = 2^k * z. Returns the part of libm_tables.h that z lies in.
static inline unsigned log_part(double x, double *k, double *z)
{
    const bool subnormal = x < 0x1p-1022;
    const uint64_t bits = subnormal ? bits_of_f64(x * 0x1p52) - (UINT64_C(52) << 52) : bits_of_f64(x);
    const uint64_t above = bits - UINT64_C(0x3fe6955500000000);
    *k = (double)((int64_t)above >> 52);
    *z = f64_of_bits(bits - (above & UINT64_C(0xfff) << 52));
    return above >> 45 & 127;
}

// ln 2, the upper part in so few bits that its products with k are exact
#define LN2_UPPER 0x1.62e42fefa38p-1
#define LN2_LOWER 0x1.ef35793c7673p-45

// ln x = high + *low, of a positive finite x; c and r = z / c - 1 as in libm_tables.h, ln(1 + r) by a polynomial.
static inline double log_of(double x, double *low)
{
    double k, z;
    const unsigned part = log_part(x, &k, &z);
    const double r = fma(z, libm_log_inverse[part], -1.0);
    const double whole = fma(k, LN2_UPPER, libm_log_of_c[part]), first = whole + r;
    const double half = -0.5 * r, square = r * half, second = first + square;
    const double p = fma(fma(fma(r, 0x1.0002b8b263fc3p+0, -0x1.2495b9b4845e9p+0), square,
                             fma(r, -0x1.555555529a47ap-1, 0x1.999999959554ep-1)),
                         square, fma(r, 0x1.0000000000006p-1, -0x1.555555555556p-1));
    const double lost = fma(k, LN2_LOWER, libm_log_rest[part]) + (whole - first + r) + fma(half, r, -square) +
                        (first - second + square);
    const double rest = fma(r * square, p, lost), high = second + rest;
    *low = second - high + rest;
    return high;
}

// libm_pow
static inline double pow_of(double x, double y)
{
    if (x == 1.0 || y == 0.0)
        return 1.0;
    if (isnan(y))
        return y;
    if (x == 0.0 || fabs(y) >= 0x1p63)
        return (x > 1.0) == (y > 0.0) ? INFINITY : 0.0;
    if (fabs(y) < 0x1p-65)
        return 1.0;
    double low;
    const double log = log_of(x, &low), high = y * log, rest = fma(y, low, fma(y, log, -high));
    if (fabs(high) < 0x1p-54)
        return 1.0;
    if (fabs(high) >= 1024.0)
        return high > 0.0 ? INFINITY : 0.0;
    return exp_of(high, rest);
}

#endif
