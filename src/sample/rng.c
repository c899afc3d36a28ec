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

static uint32_t twist(uint32_t high, uint32_t low)
{
    const uint32_t y = (high & 0x80000000u) | (low & 0x7fffffffu);
    return y >> 1 ^ (0x9908b0dfu & -(y & 1));
}

static void refill(struct rng *r)
{
    uint32_t *const s = r->state;
    for (unsigned i = 0; i < N - M; i++)
        s[i] = s[i + M] ^ twist(s[i], s[i + 1]);
    for (unsigned i = N - M; i < N - 1; i++)
        s[i] = s[i + M - N] ^ twist(s[i], s[i + 1]);
    s[N - 1] = s[M - 1] ^ twist(s[N - 1], s[0]);
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

void rng_discard(struct rng *r, uint64_t n)
{
    for (; n > N - r->next; refill(r))
        n -= N - r->next;
    r->next += (unsigned)n;
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

// The first place whose cumulative probability reaches the draw; the last one's counts as 1.
size_t rng_discrete(struct rng *r, const struct kern *kern, const float *p, size_t n)
{
    if (n < 2)
        return 0;
    const double sum = kern->sum_wide(p, n, 0.0), u = rng_f64(r);
    double running = 0.0;
    size_t at = 0;
    for (; at + 1 < n; at++) {
        running += p[at] / sum;
        if (running >= u)
            break;
    }
    return at;
}
