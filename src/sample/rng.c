// SPDX-License-Identifier: MIT
#include "sample/rng.h"

#include <stdlib.h>
#include <string.h>

enum { N = 624, M = 397 };
static const uint32_t matrix = 0x9908b0df;

struct twister {
    uint32_t state[N];
    unsigned next; // index of the next word to temper; N: refill first
};

// Returns word i of the seeded state, from the word before it.
static uint32_t seeded(uint32_t before, uint32_t i) { return UINT32_C(1812433253) * (before ^ before >> 30) + i; }

static void twister_seed(struct twister *r, uint32_t seed)
{
    r->state[0] = seed;
    for (uint32_t i = 1; i < N; i++)
        r->state[i] = seeded(r->state[i - 1], i);
    r->next = N;
}

static uint32_t twist(uint32_t high, uint32_t low)
{
    const uint32_t y = (high & 0x80000000u) | (low & 0x7fffffffu);
    return y >> 1 ^ (matrix & -(y & 1));
}

// Four words, which compilers keep in a vector register.
enum { LANES = 4 };
typedef uint32_t words __attribute__((vector_size(4 * LANES)));
typedef uint32_t words_anywhere __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

static inline words load(const uint32_t *at) { return *(const words_anywhere *)at; }
static inline void store(uint32_t *at, words w) { *(words_anywhere *)at = w; }

// s[i] = from[i] ^ twist(s[i], s[i + 1]) for i < n, one after the other.
//
// Plain algorithm: the last line alone. Too slow: an engine that draws noise for each token of a vocabulary spends most
// of a row here. Idea: four words at a time. A word needs the next one before that changes, and one of `from`, which is
// at least 227 words away, so that the words of a vector do not need each other: the same words.
static void twist_run(uint32_t *s, const uint32_t *from, size_t n)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const words y = (load(s + i) & 0x80000000u) | (load(s + i + 1) & 0x7fffffffu);
        store(s + i, load(from + i) ^ y >> 1 ^ (matrix & -(y & 1)));
    }
    for (; i < n; i++)
        s[i] = from[i] ^ twist(s[i], s[i + 1]);
}

static void refill(struct twister *r)
{
    uint32_t *const s = r->state;
    twist_run(s, s + M, N - M);
    twist_run(s + N - M, s, M - 1);
    s[N - 1] = s[M - 1] ^ twist(s[N - 1], s[0]);
    r->next = 0;
}

static uint32_t temper(uint32_t y)
{
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

// Writes the next n words, tempered.
static void twister_words(struct twister *r, uint32_t *to, size_t n)
{
    while (n) {
        if (r->next == N)
            refill(r);
        const size_t len = n < N - r->next ? n : N - r->next;
        const uint32_t *const from = r->state + r->next;
        size_t i = 0;
        for (; i + LANES <= len; i += LANES) {
            words y = load(from + i);
            y ^= y >> 11;
            y ^= y << 7 & 0x9d2c5680u;
            y ^= y << 15 & 0xefc60000u;
            store(to + i, y ^ y >> 18);
        }
        for (; i < len; i++)
            to[i] = temper(from[i]);
        r->next += (unsigned)len;
        to += len;
        n -= len;
    }
}

static uint32_t twister_u32(struct twister *r)
{
    if (r->next == N)
        refill(r);
    return temper(r->state[r->next++]);
}

// ---- jumps
// Plain algorithm: to leave out n words, draw them. Too slow: a shard far into a long input would draw billions of
// words before its first row.
//
// Idea (Haramoto et al. 2008): over the field of two elements, where a sum is an exclusive or, every word of the
// generator is a fixed sum of earlier words. For the characteristic polynomial P of degree 19937, the sum of x[i + k]
// over the terms t^k of P is 0, for every i. The sum over the terms of any multiple of P is 0 as well. Let R be the
// remainder of t^n modulo P. Then t^n - R is a multiple of P, so that x[i + n] is the sum of x[i + k] over the terms
// t^k of R. R has at most 19937 terms, whatever n is. One squaring of the remainder for each bit of n computes R;
// running through the next 19937 words, and adding those that R has a term for, gives the state after the jump.
//
// Exclusive or is exact, so that the words after a jump are the words after drawing.
//
// A polynomial is an array of bits: bit i of word i / 64 is the coefficient of t^i.

enum { DEGREE = 19937, WORDS = DEGREE / 64 + 1, FAR = 1 << 22 }; // FAR: words that are as quickly drawn as jumped over

// p += part * t^shift.
static void add_shifted(uint64_t *p, uint64_t part, size_t shift)
{
    p[shift / 64] ^= part << shift % 64;
    p[shift / 64 + 1] ^= part >> 1 >> (63 - shift % 64);
}

// Writes the exponents of the terms of P, but for t^DEGREE, and returns how many there are, 134. P is the product in
// appendix A of Matsumoto and Nishimura 1998. All other terms are far below t^DEGREE, which makes the reduction in
// power_of_t simple.
static size_t characteristic(uint32_t *exponent)
{
    uint64_t p[WORDS + 1] = {1}, factor[WORDS + 1];
    size_t n = 0;
    for (unsigned i = 0; i < 32; i++) {
        memcpy(factor, p, sizeof p);
        memset(p, 0, sizeof p);
        for (size_t k = 0; k < WORDS && k <= i * N / 64; k++) { // by t^(N - 1) + t^(M - 1), and t once
            add_shifted(p, factor[k], 64 * k + N - 1 + (i == 31));
            add_shifted(p, factor[k], 64 * k + M - 1 + (i == 31));
        }
        p[0] ^= matrix >> i & 1;
    }
    for (uint32_t i = 0; i < DEGREE; i++)
        if (p[i / 64] >> i % 64 & 1)
            exponent[n++] = i;
    return n;
}

// Moves bit i of x to bit 2 i: the square of a polynomial, whose mixed terms cancel out.
static uint64_t spread_bits(uint32_t x)
{
    uint64_t y = x;
    y = (y | y << 16) & UINT64_C(0x0000ffff0000ffff);
    y = (y | y << 8) & UINT64_C(0x00ff00ff00ff00ff);
    y = (y | y << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    y = (y | y << 2) & UINT64_C(0x3333333333333333);
    return (y | y << 1) & UINT64_C(0x5555555555555555);
}

// p = t^n modulo P, one bit of n after the other from the highest: square p, multiply by t if the bit is set, reduce.
// Reduction replaces t^(DEGREE + at) by the lower terms of P times t^at, 64 terms at a time.
static void power_of_t(uint64_t p[2 * WORDS], uint64_t n)
{
    uint32_t exponent[DEGREE / 64];
    const size_t terms = characteristic(exponent);
    memset(p, 0, 2 * WORDS * sizeof *p);
    p[0] = 1;
    for (unsigned bit = 64; bit-- > 0;) {
        for (size_t i = WORDS; i-- > 0;) { // squared
            const uint64_t w = p[i];
            p[2 * i] = spread_bits((uint32_t)w);
            p[2 * i + 1] = spread_bits((uint32_t)(w >> 32));
        }
        for (size_t i = 2 * WORDS; n >> bit & 1 && i-- > 0;) // by t
            p[i] = p[i] << 1 | (i ? p[i - 1] >> 63 : 0);
        for (size_t at = 64 * WORDS - 64; at < 64 * WORDS; at -= 64) { // 64 terms from t^(DEGREE + at) on
            uint64_t *const high = p + (DEGREE + at) / 64;
            const uint64_t part = high[0] >> DEGREE % 64 | high[1] << (64 - DEGREE % 64);
            add_shifted(p, part, DEGREE + at);
            for (size_t k = 0; part && k < terms; k++)
                add_shifted(p, part, exponent[k] + at);
        }
    }
}

static void jump(struct twister *r, uint64_t n)
{
    uint64_t p[2 * WORDS];
    uint32_t x[2 * N], sum[N] = {0};
    n -= N - r->next; // from where a refill begins, so that all of x follows the recurrence
    power_of_t(p, n);
    refill(r);
    for (size_t k = 0; k < DEGREE; k++) {
        if (k % N == 0) {
            memcpy(x, r->state, sizeof r->state);
            refill(r);
            memcpy(x + N, r->state, sizeof r->state);
        }
        for (size_t i = 0; p[k / 64] >> k % 64 & 1 && i < N; i++)
            sum[i] ^= x[k % N + i];
    }
    memcpy(r->state, sum, sizeof sum);
    r->next = 0;
}

static void twister_discard(struct twister *r, uint64_t n)
{
    if (n >= FAR) {
        jump(r, n);
        return;
    }
    for (; n > N - r->next; refill(r))
        n -= N - r->next;
    r->next += (unsigned)n;
}

// ---- young generators
// Word i of the first refill needs only the words i, i + 1 and i + M of the seeded state, if i < N - M. Each word of
// the seeded state follows from the word before it. Two of them therefore make the next word of a young generator.

enum { YOUNG = N - M }; // words that a young generator can draw

void rng_seed(struct rng *r, uint32_t seed) { *r = (struct rng){.seed = seed}; }

void rng_free(struct rng *r)
{
    free(r->full);
    r->full = NULL;
}

// Finds the two words of the seeded state that the next word needs.
static void make_ready(struct rng *r)
{
    r->high = r->seed;
    for (uint32_t i = 0, word = r->seed; i <= r->drawn + M; word = seeded(word, ++i)) {
        r->low = i == r->drawn ? word : r->low;
        r->high = word;
    }
    r->ready = true;
}

static uint32_t young_u32(struct rng *r)
{
    if (!r->ready)
        make_ready(r);
    const uint32_t i = (uint32_t)r->drawn++, low = r->low, high = r->high;
    r->low = seeded(low, i + 1);
    r->high = seeded(high, i + 1 + M);
    return temper(high ^ twist(low, r->low));
}

// The whole state is first made where the young generator stands. If memory for the state is short, each word is drawn
// from a state on the stack. That is slow, but cannot fail.
uint32_t rng_u32(struct rng *r)
{
    struct twister once;
    if (r->full)
        return twister_u32(r->full);
    if (r->drawn < YOUNG)
        return young_u32(r);
    r->full = calloc(1, sizeof *r->full);
    struct twister *const t = r->full ? r->full : &once;
    twister_seed(t, r->seed);
    twister_discard(t, r->drawn++);
    return twister_u32(t);
}

void rng_discard(struct rng *r, uint64_t n)
{
    if (r->full) {
        twister_discard(r->full, n);
        return;
    }
    r->drawn += n;
    r->ready = r->ready && !n;
}

void rng_words(struct rng *r, uint32_t *to, size_t n)
{
    for (; n && !r->full; n--)
        *to++ = rng_u32(r);
    if (n)
        twister_words(r->full, to, n);
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

// ---- PCG

void pcg_seed(struct pcg *g, uint64_t hi, uint64_t lo) { *g = (struct pcg){hi, lo}; }

// Returns the upper half of a product of 64 by 64 bits.
static uint64_t multiply_high(uint64_t a, uint64_t b)
{
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)middle;
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

// Returns x * factor + more, modulo 2^128.
static struct pcg multiply_add(struct pcg x, struct pcg factor, struct pcg more)
{
    const uint64_t product = x.lo * factor.lo, lo = product + more.lo;
    return (struct pcg){multiply_high(x.lo, factor.lo) + x.hi * factor.lo + x.lo * factor.hi + more.hi + (lo < product),
                        lo};
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

// A step is x * factor + increment. Two steps are of the same form, with another factor and increment, and so are 4, 8,
// 16, ... steps. The bits of n say which of these are made (F. Brown, Random Number Generation with Arbitrary Strides,
// 1994). Integers modulo 2^128 are exact, so that the state is the one after n calls.
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

float pcg_f32(struct pcg *g) { return (float)((uint32_t)(pcg_u64(g) >> 32) & 0xffffffu) * 0x1p-24f; }
