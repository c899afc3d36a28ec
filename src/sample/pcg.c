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

uint64_t pcg_u64(struct pcg *g)
{
    const uint64_t mul_hi = UINT64_C(0x2360ED051FC65DA4), mul_lo = UINT64_C(0x4385DF649FCCF645);
    const uint64_t add_hi = UINT64_C(0x5851F42D4C957F2D), add_lo = UINT64_C(0x14057B7EF767814F);
    const uint64_t product = g->lo * mul_lo, lo = product + add_lo;
    uint64_t hi = multiply_high(g->lo, mul_lo) + g->hi * mul_lo + g->lo * mul_hi + add_hi + (lo < product);
    *g = (struct pcg){hi, lo};
    hi ^= hi >> 32;
    hi *= UINT64_C(0xda942042e4dd58b5);
    hi ^= hi >> 48;
    return hi * (lo | 1);
}

float pcg_f32(struct pcg *g)
{
    return (float)((uint32_t)(pcg_u64(g) >> 32) & 0xffffffu) * 0x1p-24f;
}
