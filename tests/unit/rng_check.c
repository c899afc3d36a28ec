// SPDX-License-Identifier: MIT
// The generator against known values: C++ [rand.predef] gives the 10000th output of a default mt19937; the first ones are Matsumoto and
// Nishimura's; the uniforms were worked out from them by hand. And PCG-DXSM and the hash of the Gumbel noise.
#include "kern/gumbel.h"
#include "sample/draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static int failed, passed;

static void expect(const char *what, double got, double want)
{
    if (got == want) {
        passed++;
        return;
    }
    failed++;
    printf("%s: %.17g, not %.17g\n", what, got, want);
}

static void expect_word(const char *what, uint64_t got, uint64_t want)
{
    if (got == want) {
        passed++;
        return;
    }
    failed++;
    printf("%s: %016" PRIx64 ", not %016" PRIx64 "\n", what, got, want);
}

// The first outputs of Go's NewPCG(1, 2), from its own tests.
static void check_pcg(void)
{
    struct pcg g;
    pcg_seed(&g, 1, 2);
    expect_word("pcg 1", pcg_u64(&g), UINT64_C(0xc4f5a58656eef510));
    expect_word("pcg 2", pcg_u64(&g), UINT64_C(0x9dcec3ad077dec6c));
    expect_word("pcg 3", pcg_u64(&g), UINT64_C(0xc8d04605312f8088));
    pcg_seed(&g, 1, 2);
    expect("pcg f32: low 24 bits of the high word", pcg_f32(&g), (double)0xf5a586 / 0x1000000);
    expect("pcg f32 again", pcg_f32(&g), (double)0xcec3ad / 0x1000000);
    for (uint64_t n = 0; n < 3000; n = n < 70 ? n + 1 : 2 * n - 5) {
        struct pcg steps, jump;
        pcg_seed(&steps, n, 99);
        pcg_seed(&jump, n, 99);
        for (uint64_t i = 0; i < n; i++)
            pcg_u64(&steps);
        pcg_discard(&jump, n);
        expect_word("pcg after a jump", pcg_u64(&jump), pcg_u64(&steps));
    }
    struct pcg parts, whole; // further than steps can go
    pcg_seed(&parts, 3, 4);
    whole = parts;
    for (int i = 0; i < 3; i++)
        pcg_discard(&parts, UINT64_C(0x5555555555555555));
    pcg_discard(&whole, UINT64_MAX);
    expect_word("pcg after 2^64 - 1 calls", pcg_u64(&whole), pcg_u64(&parts));
}

// Jumps further than steps can go: one is as good as its parts, in whatever order.
static void check_far(void)
{
    static const uint64_t parts[] = {UINT64_C(1) << 54, UINT64_C(0x1234567890abcdef), 777, UINT64_C(0xaaaaaaaaaaaaaaaa),
                                     6000001};
    uint64_t all = 0;
    struct rng forth, back, whole;
    rng_seed(&forth, 11);
    whole = back = forth;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        all += parts[i];
        rng_discard(&forth, parts[i]);
        rng_discard(&back, parts[sizeof parts / sizeof *parts - 1 - i]);
    }
    rng_discard(&whole, all);
    for (int k = 0; k < 700; k++) {
        const uint32_t x = rng_u32(&whole);
        expect("a word after a jump, by parts", rng_u32(&forth), x);
        expect("a word after a jump, by parts from the last", rng_u32(&back), x);
    }
}

// The first words of Gumbel's hash, worked out from its definition in arbitrary precision.
static void check_gumbel(void)
{
    expect_word("word of 0", gumbel_word(0), 0x07bb2fe2);
    expect_word("word of 1", gumbel_word(1), 0xa8beea3c);
    expect_word("word of 2654435761", gumbel_word(2654435761u), 0x703cc78a);
    expect_word("word of the largest", gumbel_word(UINT32_MAX), 0xe62a4902);
    const double least = -log(-log((double)1e-7f)), most = -log(-log((double)(1.0f - 1e-7f)));
    expect("noise of the least word", fabs(gumbel_noise(0) - least) < 1e-6, 1);
    expect("noise of the largest word", fabs(gumbel_noise(UINT32_MAX) - most) < 1e-6 && most < 16, 1);
    expect("noise of a word in the middle", fabs(gumbel_noise(0x80000000u) - -log(log(2.0))) < 1e-7, 1);
}

// Draws among weights against the plain loop: random ones, all equal, mostly 0, and some whose sum comes within 2^-49 of the draw.
static void check_discrete(void)
{
    enum { MOST = 9000 };
    static float p[MOST];
    struct rng r, ahead;
    rng_seed(&r, 11);
    for (int round = 0; round < 600; round++) {
        const size_t n = 2 + rng_u32(&r) % (round % 20 ? 300 : MOST - 1);
        for (size_t i = 0; i < n; i++)
            p[i] = round % 4 == 0 ? rng_f32(&r) : round % 4 == 1 ? 0.1f : rng_u32(&r) % 50 ? 0.0f : rng_f32(&r);
        ahead = r;
        const double u = rng_f64(&ahead);
        for (size_t i = 0; round % 4 == 3 && i < n; i++)
            p[i] = i == n / 3 ? (float)u : i == n / 2 ? (float)fabs(u - (float)u) : i == n - 1 ? (float)(1 - u) : 0.0f;
        double sum = 0.0, running = 0.0, draw;
        size_t want = 0;
        for (size_t i = 0; i < n; i++)
            sum += p[i];
        for (; want + 1 < n; want++) {
            running += p[want] / sum;
            if (running >= u)
                break;
        }
        expect("a draw among weights", (double)rng_discrete(&r, kern_select(NULL), p, n, &draw), (double)want);
        expect("what it drew", draw, u);
    }
}

int main(void)
{
    struct rng r;
    rng_seed(&r, 5489);
    uint32_t x = rng_u32(&r);
    expect("first of seed 5489", x, 3499211612.0);
    expect("second", rng_u32(&r), 581869302.0);
    for (int i = 3; i <= 10000; i++)
        x = rng_u32(&r);
    expect("10000th", x, 4123659995.0);

    rng_seed(&r, 5489);
    expect("f64: low word first", rng_f64(&r), (3499211612.0 + 581869302.0 * 4294967296.0) / 18446744073709551616.0);
    expect("f32: third word over 2^32", rng_f32(&r), (float)3890346734u / 4294967296.0f);

    // passing over words: some, none, to the end of a refill, over several
    static const uint64_t steps[] = {1,   0,    623,     1,       624,     1248,    100,
                                     524, 1247, 1000003, 4194303, 4194304, 9000011, 5000000};
    struct rng skipping;
    rng_seed(&r, 7);
    rng_seed(&skipping, 7);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        for (uint64_t k = 0; k < steps[i]; k++)
            rng_u32(&r);
        rng_discard(&skipping, steps[i]);
        struct rng a = r, b = skipping; // the words that follow, without taking them
        for (int k = 0; k < 700; k++)
            expect("a word after discarded ones", rng_u32(&b), rng_u32(&a));
    }

    check_far();

    // a state that tempers to all ones twice: both mappings must stay below 1
    rng_seed(&r, 1);
    float f = 0;
    double d = 0;
    for (int i = 0; i < 2000000; i++) {
        const float u = rng_f32(&r);
        f = u > f ? u : f;
        const double v = rng_f64(&r);
        d = v > d ? v : d;
    }
    expect("f32 stays below 1", f < 1.0f, 1);
    expect("f64 stays below 1", d < 1.0, 1);
    check_pcg();
    check_gumbel();
    check_discrete();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
