// SPDX-License-Identifier: MIT
// The generator against known values: C++ [rand.predef] gives the 10000th output of a default mt19937; the first ones are Matsumoto and
// Nishimura's; the uniforms were worked out from them by hand.
#include "sample/rng.h"

#include <inttypes.h>
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
    static const uint64_t steps[] = {1, 0, 623, 1, 624, 1248, 100, 524, 1247, 1000003};
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
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
