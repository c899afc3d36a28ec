// SPDX-License-Identifier: MIT
// Functions of the C library that samplers use, with the same bits on every machine: those of glibc (2.36, on x86-64).
#ifndef SAMPL_KERN_LIBM_H
#define SAMPL_KERN_LIBM_H

#include "base/bits.h"

#include <math.h>
#include <stdbool.h>

// logf, all in f64. With x = 2^k * z, z from 0x3f330000 up to twice that, and of 16 parts of that range the i-th that z
// lies in: a number c near the middle of the part, r = z / c - 1, and ln x = k ln 2 + ln c + ln(1 + r), the last a
// polynomial. make prove-logf checks every float. 1/c and ln c
static const double libm_logf_inverse[16] = {
    0x1.661ec79f8f3bep+0, 0x1.571ed4aaf883dp+0, 0x1.49539f0f010bp+0,  0x1.3c995b0b80385p+0, 0x1.30d190c8864a5p+0,
    0x1.25e227b0b8eap+0,  0x1.1bb4a4a1a343fp+0, 0x1.12358f08ae5bap+0, 0x1.0953f419900a7p+0, 0x1p+0,
    0x1.e608cfd9a47acp-1, 0x1.ca4b31f026aap-1,  0x1.b2036576afce6p-1, 0x1.9c2d163a1aa2dp-1, 0x1.886e6037841edp-1,
    0x1.767dcf5534862p-1};
static const double libm_logf_log[16] = {
    -0x1.57bf7808caadep-2, -0x1.2bef0a7c06ddbp-2, -0x1.01eae7f513a67p-2, -0x1.b31d8a68224e9p-3, -0x1.6574f0ac07758p-3,
    -0x1.1aa2bc79c81p-3,   -0x1.a4e76ce8c0e5ep-4, -0x1.1973c5a611cccp-4, -0x1.252f438e10c1ep-5, 0x0p+0,
    0x1.aa5aa5df25984p-5,  0x1.c5e53aa362eb4p-4,  0x1.526e57720db08p-3,  0x1.bc2860d22477p-3,   0x1.1058bc8a07ee1p-2,
    0x1.4043057b6ee09p-2};

static inline float libm_logf(float x)
{
    if (!(x > 0.0f && x < INFINITY))
        return x == 0.0f ? -INFINITY : x > 0.0f ? x : NAN;
    const bool subnormal = x < 0x1p-126f;
    const uint32_t bits = subnormal ? bits_of_f32(x * 0x1p23f) - (23u << 23) : bits_of_f32(x),
                   above = bits - 0x3f330000u;
    const double k = (double)((int32_t)above >> 23), z = (double)f32_of_bits(bits - (above & 0xff800000u));
    const double r = z * libm_logf_inverse[above >> 19 & 15] - 1.0, r2 = r * r;
    const double whole = libm_logf_log[above >> 19 & 15] + k * 0x1.62e42fefa39efp-1;
    return (float)((-0x1.00ea348b88334p-2 * r2 + (0x1.5575b0be00b6ap-2 * r + -0x1.ffffef20a4123p-2)) * r2 +
                   (whole + r));
}

// log2f takes c and r from the same tables. exp2f uses expf's 2^x. powf is 2^(y log2 x), with more bits of log2 x.
// fma() stands where glibc's build fuses. make prove-libm compares them with glibc's: log2f and exp2f are equal on
// every float, powf on 10^9 random pairs.
float libm_log2f(float x);
float libm_exp2f(float x);
float libm_powf(float x, float y);

// Those of f64, for x >= 0 and finite in pow.
double libm_exp(double x);
double libm_pow(double x, double y);
// The upper half of pow's logarithm, of a positive finite x. It is more exact than glibc's log, so it differs from it
// in the last bit at times.
double libm_log(double x);
// ln x to a unit in the last place or so, without fused operations, which are slow where they are calls: for what is
// said of distributions.
double libm_log_quick(double x);

#endif
