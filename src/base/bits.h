// SPDX-License-Identifier: MIT
// Bit-level views of floats: conversions from the narrow formats and the order-preserving keys that selection and
// sorting work on.
#ifndef SAMPL_BASE_BITS_H
#define SAMPL_BASE_BITS_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "sampl reads little-endian data in place and needs a little-endian machine"
#endif

static inline uint32_t bits_of_f32(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float f32_of_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline uint64_t bits_of_f64(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline double f64_of_bits(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

// IEEE binary16 -> binary32, exact. A signalling NaN becomes quiet, as the F16C instruction makes it.
static inline float f32_of_f16(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16, rest = h & 0x7fffu;
    if (rest >= 0x7c00u)
        return f32_of_bits(sign | 0x7f800000u | (rest & 0x3ffu) << 13 | (rest > 0x7c00u ? 0x400000u : 0u));
    if (rest >= 0x400u)
        return f32_of_bits(sign | ((rest << 13) + (112u << 23)));
    const float tiny = (float)rest * 0x1p-24f; // subnormal: rest units of 2^-24
    return f32_of_bits(sign | bits_of_f32(tiny));
}

// bfloat16 -> binary32, exact: it is the upper half.
static inline float f32_of_bf16(uint16_t h) { return f32_of_bits((uint32_t)h << 16); }

// binary32 -> IEEE binary16, to nearest, ties to even: the bits that the F16C instruction gives. A NaN becomes quiet.
static inline uint16_t f16_of_f32(float x)
{
    const uint32_t u = bits_of_f32(x), sign = u >> 16 & 0x8000u, rest = u & 0x7fffffffu;
    if (rest > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u | (rest >> 13 & 0x3ffu));
    if (rest >= 0x477ff000u) // 65520, from where on infinity is nearest
        return (uint16_t)(sign | 0x7c00u);
    if (rest < 0x38800000u) // below 2^-14: the hardware's own addition rounds to units of 2^-24
        return (uint16_t)(sign | (bits_of_f32(f32_of_bits(rest) + 0.5f) - 0x3f000000u));
    return (uint16_t)(sign | ((rest + 0xfffu + (rest >> 13 & 1u) - (112u << 23)) >> 13));
}

// A map from floats to unsigned integers that keeps their order; -0 and +0 get the same key. x is not NaN.
static inline uint32_t order_bits(float x)
{
    const uint32_t u = bits_of_f32(x + 0.0f);
    return u & 0x80000000u ? ~u : u | 0x80000000u;
}

// The float (never -0) that order_bits maps to key.
static inline float order_value(uint32_t key) { return f32_of_bits(key & 0x80000000u ? key & 0x7fffffffu : ~key); }

// A candidate's rank as one integer: a larger key ranks before a smaller one, that is, descending by logit, lower id
// first on ties.
static inline uint64_t rank_key(float logit, uint32_t id) { return (uint64_t)order_bits(logit) << 32 | (uint32_t)~id; }

static inline uint32_t rank_id(uint64_t key) { return ~(uint32_t)key; }

#endif
