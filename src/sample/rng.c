// SPDX-License-Identifier: MIT
#include "sample/rng.h"

enum { N = 624, M = 397 };

void rng_seed(struct rng *r, uint32_t seed)
{
    r->state[0] = seed;
    for (uint32_t i = 1; i < N; i++)
        r->state[i] = UINT32_C(1812433253) * (r->state[i - 1] ^ r->state[i - 1] >> 30) + i;
    r->next = N;
}

static void refill(struct rng *r)
{
    uint32_t *const s = r->state;
    for (unsigned i = 0; i < N; i++) {
        const uint32_t y = (s[i] & 0x80000000u) | (s[(i + 1) % N] & 0x7fffffffu);
        s[i] = s[(i + M) % N] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    r->next = 0;
}

uint32_t rng_u32(struct rng *r)
{
    if (r->next == N)
        refill(r);
    uint32_t y = r->state[r->next++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

double rng_f64(struct rng *r)
{
    const double low = rng_u32(r), high = rng_u32(r);
    const double u = (low + high * 0x1p32) * 0x1p-64;
    return u < 1.0 ? u : 0x1.fffffffffffffp-1;
}

float rng_f32(struct rng *r)
{
    const float u = (float)rng_u32(r) * 0x1p-32f;
    return u < 1.0f ? u : 0x1.fffffep-1f;
}
