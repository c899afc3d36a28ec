// SPDX-License-Identifier: MIT
#include "sample/pcg.h"

void pcg_seed(struct pcg *g, uint64_t hi, uint64_t lo)
{
    *g = (struct pcg){hi, lo};
}

// The upper half of a product.
static uint64_t multiply_high(uint64_t a, uint64_t b)
{
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)middle;
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

// x * factor + more, mod 2^128.
static struct pcg multiply_add(struct pcg x, struct pcg factor, struct pcg more)
{
    const uint64_t product = x.lo * factor.lo, lo = product + more.lo;
    return (struct pcg){multiply_high(x.lo, factor.lo) + x.hi * factor.lo + x.lo * factor.hi + more.hi + (lo < product), lo};
}

static const struct pcg factor = {UINT64_C(0x2360ED051FC65DA4), UINT64_C(0x4385DF649FCCF645)},
                        increment = {UINT64_C(0x5851F42D4C957F2D), UINT64_C(0x14057B7EF767814F)};

uint64_t pcg_u64(struct pcg *g)
{
    *g = multiply_add(*g, factor, increment);
    uint64_t hi = g->hi ^ g->hi >> 32;
    hi *= UINT64_C(0xda942042e4dd58b5);
    hi ^= hi >> 48;
    return hi * (g->lo | 1);
}

// Steps of 1, 2, 4, ... calls are of the same form as one (F. Brown, Random Number Generation with Arbitrary Strides, 1994).
void pcg_discard(struct pcg *g, uint64_t n)
{
    const struct pcg none = {0, 0};
    struct pcg f = factor, i = increment;
    for (; n; n >>= 1) {
        if (n & 1)
            *g = multiply_add(*g, f, i);
        i = multiply_add(i, f, i);
        f = multiply_add(f, f, none);
    }
}

float pcg_f32(struct pcg *g)
{
    return (float)((uint32_t)(pcg_u64(g) >> 32) & 0xffffffu) * 0x1p-24f;
}
