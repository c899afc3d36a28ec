// SPDX-License-Identifier: MIT
// rng_check: compares mt19937 with the 10000th output of C++ [rand.predef] and the first outputs of Matsumoto and Nishimura. Compares the
// uniform numbers with values that were computed from these by hand. Also checks PCG-DXSM, and the hashes of the Gumbel noises.
#include "kern/counter_noise.h"
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
    struct pcg parts, whole; // more steps than a loop could do
    pcg_seed(&parts, 3, 4);
    whole = parts;
    for (int i = 0; i < 3; i++)
        pcg_discard(&parts, UINT64_C(0x5555555555555555));
    pcg_discard(&whole, UINT64_MAX);
    expect_word("pcg after 2^64 - 1 calls", pcg_u64(&whole), pcg_u64(&parts));
}

// Checks jumps that are longer than a loop could step: a jump equals its parts in any order.
static void check_far(void)
{
    static const uint64_t parts[] = {UINT64_C(1) << 54, UINT64_C(0x1234567890abcdef), 777, UINT64_C(0xaaaaaaaaaaaaaaaa),
                                     6000001};
    uint64_t all = 0;
    struct rng forth, back, whole;
    rng_seed(&forth, 11);
    rng_seed(&back, 11);
    rng_seed(&whole, 11);
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
    rng_free(&forth);
    rng_free(&back);
    rng_free(&whole);
}

// The first words of the hash of the Gumbel noise, computed from its definition in arbitrary precision.
static void check_gumbel(void)
{
    expect_word("word of 0", gumbel_word(0), 0x07bb2fe2);
    expect_word("word of 1", gumbel_word(1), 0xa8beea3c);
    expect_word("word of 2654435761", gumbel_word(2654435761u), 0x703cc78a);
    expect_word("word of the largest", gumbel_word(UINT32_MAX), 0xe62a4902);
    const double least = -log(-log((double)1e-7f)), most = -log(-log((double)(1.0f - 1e-7f)));
    expect("noise of the least word", fabs(gumbel_noise(0) - least) < 1e-6, 1);
    expect("noise of the largest word", fabs(gumbel_noise(UINT32_MAX) - most) < 1e-6 && most < 16, 1);
    expect("noise of a middle word", fabs(gumbel_noise(0x80000000u) - -log(log(2.0))) < 1e-7, 1);
}

static void expect_philox(struct philox counter, uint32_t k0, uint32_t k1, struct philox want)
{
    const struct philox got = philox(counter, k0, k1);
    for (int i = 0; i < 4; i++)
        expect_word("a word of Philox", got.word[i], want.word[i]);
}

// Random123's known answers of philox4x32-10 and, as sampl-spec(7) has them, the noise of seed 42 at position 5.
static void check_counters(void)
{
    expect_philox((struct philox){{0}}, 0, 0, (struct philox){{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
    expect_philox((struct philox){{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0,
                  (struct philox){{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
    static const uint32_t word[] = {0x01cefd3b, 0xf7d59e25, 0x77d8a08b}, hash[] = {0x402a59ad, 0xf39c5d09, 0x1967f287};
    const uint32_t key = philox((struct philox){{5}}, 42, 0).word[0];
    expect_word("the key of seed 42, position 5", key, 0x5099d809);
    for (uint32_t id = 0; id < 3; id++) {
        expect_word("the word of an id", philox((struct philox){{id}}, key, 0).word[0], word[id]);
        expect_word("the hash of a column", murmur((uint32_t[]){42, 0, 5, id}), hash[id]);
    }
    expect_word("murmur of 0", murmur((uint32_t[]){0, 0, 0, 0}), 0x8134cdf8);
    expect_word("murmur of 1, 0, 2, 3", murmur((uint32_t[]){1, 0, 2, 3}), 0x23b53f91);
}

// Compares draws among weights with a plain loop: random weights, equal weights, mostly 0, and sums within 2^-49 of the draw.
static void check_discrete(void)
{
    enum { MOST = 9000 };
    static float p[MOST];
    struct rng r, drawn, ahead; // the last two draw the same numbers
    rng_seed(&r, 11);
    rng_seed(&drawn, 12);
    rng_seed(&ahead, 12);
    for (int round = 0; round < 600; round++) {
        const size_t n = 2 + rng_u32(&r) % (round % 20 ? 300 : MOST - 1);
        for (size_t i = 0; i < n; i++)
            p[i] = round % 4 == 0 ? rng_f32(&r) : round % 4 == 1 ? 0.1f : rng_u32(&r) % 50 ? 0.0f : rng_f32(&r);
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
        expect("a draw among weights", (double)rng_discrete(&drawn, kern_select(NULL), p, n, &draw), (double)want);
        expect("the index of the draw", draw, u);
    }
    rng_free(&r);
    rng_free(&drawn);
    rng_free(&ahead);
}

// Leaves out words between the draws of a young generator. Each count of drawn words is met on the way.
static void check_young(void)
{
    for (uint32_t gap = 0; gap < 240; gap++) {
        struct rng all, some;
        rng_seed(&all, gap);
        rng_seed(&some, gap);
        for (uint32_t k = 0; k < 300; k++) {
            const uint32_t x = rng_u32(&all);
            if (k == 3)
                rng_discard(&some, gap);
            if (k < 3 || k >= 3 + gap)
                expect("a word of a young generator", rng_u32(&some), x);
        }
        rng_free(&all);
        rng_free(&some);
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
    rng_free(&r);

    rng_seed(&r, 5489);
    expect("f64: low word first", rng_f64(&r), (3499211612.0 + 581869302.0 * 4294967296.0) / 18446744073709551616.0);
    expect("f32: third word over 2^32", rng_f32(&r), (float)3890346734u / 4294967296.0f);

    // skips words: some, none, to the end of a refill, over several refills
    static const uint64_t steps[] = {1,   0,    623,     1,       624,     1248,    100,
                                     524, 1247, 1000003, 4194303, 4194304, 9000011, 5000000};
    for (size_t n = 0; n <= sizeof steps / sizeof *steps; n++) {
        struct rng skipping;
        rng_free(&r);
        rng_seed(&r, 7);
        rng_seed(&skipping, 7);
        for (size_t i = 0; i < n; i++) {
            for (uint64_t k = 0; k < steps[i]; k++)
                rng_u32(&r);
            rng_discard(&skipping, steps[i]);
        }
        for (int k = 0; k < 700; k++)
            expect("a word after discarded ones", rng_u32(&skipping), rng_u32(&r));
        rng_free(&skipping);
    }

    check_young();
    check_far();

    // This state gives two words of all ones: both mappings must stay below 1.
    rng_free(&r);
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
    rng_free(&r);
    check_pcg();
    check_gumbel();
    check_counters();
    check_discrete();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
