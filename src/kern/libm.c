// SPDX-License-Identifier: MIT
#include "kern/libm.h"

#include "kern/expf.h"

// log2 of the numbers c of libm_logf, rounded correctly.
static const double log2_c[16] = {
    -0x1.efec65b963019p-2, -0x1.b0b6832d4fca4p-2, -0x1.7418b0a1fb77bp-2, -0x1.39de91a6dcf7bp-2, -0x1.01d9bf3f2b631p-2,
    -0x1.97c1d1b3b7afp-3,  -0x1.2f9e393af3c9fp-3, -0x1.960cbbf788d5cp-4, -0x1.a6f9db6475fcep-5, 0x0p+0,
    0x1.338ca9f24f53dp-4,  0x1.476a9543891bap-3,  0x1.e840b4ac4e4d2p-3,  0x1.40645f0c6651cp-2,  0x1.88e9c2c1b9ff8p-2,
    0x1.ce0a44eb17bccp-2,
};

// A positive, finite number as 2^k * z and, of its part of z's range: r = z / c - 1 and k + log2 c.
struct split {
    double r, whole;
};

static struct split split(float x)
{
    const bool subnormal = x < 0x1p-126f;
    const uint32_t bits = subnormal ? bits_of_f32(x * 0x1p23f) - (23u << 23) : bits_of_f32(x),
                   above = bits - 0x3f330000u;
    const unsigned part = above >> 19 & 15;
    return (struct split){fma((double)f32_of_bits(bits - (above & 0xff800000u)), libm_logf_inverse[part], -1.0),
                          log2_c[part] + (double)((int32_t)above >> 23)};
}

float libm_log2f(float x)
{
    if (!(x > 0.0f && x < INFINITY))
        return x == 0.0f ? -INFINITY : x > 0.0f ? x : NAN;
    const struct split s = split(x);
    const double r = s.r, r2 = r * r;
    const double upper = fma(-0x1.712b6f70a7e4dp-2, r2, fma(0x1.ecabf496832ep-2, r, -0x1.715479ffae3dep-1));
    return (float)fma(upper, r2, fma(0x1.715475f35c8b8p+0, r, s.whole));
}

// 2^x for x in (-150, 128): that of expf, with 32 x in z's place.
static double exp2_of(double x)
{
    const double shift = EXPF_SHIFT / 32, shifted = x + shift, r = x - (shifted - shift);
    const uint64_t k = bits_of_f64(shifted);
    const double s = f64_of_bits(expf_table[k % 32] + (k << (52 - 5)));
    return fma(fma(0x1.c6af84b912394p-5, r, 0x1.ebfce50fac4f3p-3), r * r, fma(0x1.62e42ff0c52d6p-1, r, 1.0)) * s;
}

float libm_exp2f(float x)
{
    if (!(x > -150.0f && x < 128.0f))
        return x <= -150.0f ? 0.0f : x >= 128.0f ? INFINITY : NAN;
    return (float)exp2_of((double)x);
}

// Returns whether y is a whole number, and whether it is odd.
static bool is_whole(float y) { return fabsf(y) >= 0x1p24f || (float)(int32_t)y == y; }

static bool is_odd(float y) { return fabsf(y) < 0x1p24f && is_whole(y) && (int32_t)y % 2; }

float libm_powf(float x, float y)
{
    if (x == 1.0f || y == 0.0f)
        return 1.0f;
    if (isnan(x) || isnan(y) || (x < 0.0f && x > -INFINITY && !is_whole(y)))
        return NAN;
    const float a = fabsf(x), sign = signbit(x) && is_odd(y) ? -1.0f : 1.0f;
    if (isinf(y))
        return a == 1.0f ? 1.0f : (a > 1.0f) == (y > 0.0f) ? INFINITY : 0.0f;
    if (a == 0.0f || a == INFINITY)
        return sign * ((a > 0.0f) == (y > 0.0f) ? INFINITY : 0.0f);
    const struct split s = split(a);
    const double r = s.r, r2 = r * r;
    const double middle = fma(0x1.ec70a6ca7baddp-2, r, -0x1.7154748bef6c8p-1),
                 upper = fma(0x1.27616c9496e0bp-2, r, -0x1.71969a075c67ap-2);
    const double log2_a = fma(upper, r2 * r2, fma(middle, r2, fma(0x1.71547652ab82bp+0, r, s.whole)));
    const double log2_power = (double)y * log2_a;
    if (!(log2_power > -150.0 && log2_power < 128.0))
        return sign * (log2_power < 0.0 ? 0.0f : INFINITY);
    return sign * (float)exp2_of(log2_power);
}
