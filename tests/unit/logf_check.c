// SPDX-License-Identifier: MIT
// logf_check [STEP]: compares sampl's logf with the C library's rounded f64 logarithm for every STEP-th normal positive float (STEP 1: all
// 2.1 thousand million). Compares libm_logf with the C library's logf, which must be glibc's, also for subnormals. Also counts the words
// whose noise would differ with the library's logf, which is no failure.
#include "kern/gumbel.h"
#include "kern/libm.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t compared, different, library, uniforms, noises;

static void differ(float x, float ours, double theirs)
{
    if (different++ < 10)
        printf("logf(%a) = %a, not %a\n", (double)x, (double)ours, theirs);
}

static void compare_with_libm(float x)
{
    const float ours = libm_logf(x), theirs = logf(x);
    if (bits_of_f32(ours) != bits_of_f32(theirs) && !(isnan(ours) && isnan(theirs)))
        differ(x, ours, (double)theirs);
}

static void compare(uint32_t bits)
{
    const float x = f32_of_bits(bits), ours = kern_logf(x);
    compared++;
    compare_with_libm(x);
    library += bits_of_f32(ours) != bits_of_f32(logf(x));
    if (bits_of_f32(ours) == bits_of_f32((float)log((double)x)) || x == 0x1.827a74p-7f || x == 0x1.2f1fd6p+3f)
        return;
    differ(x, ours, log((double)x));
}

// Returns whether gumbel.h makes this number of a word before clamping.
static int is_uniform(float u)
{
    const double word = (double)u * 0x1p32;
    return u >= GUMBEL_LEAST && u <= GUMBEL_MOST && word == floor(word);
}

int main(int argc, char **argv)
{
    const uint32_t step = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 997;
    for (uint32_t b = 0x00800000u; b < 0x7f800000u; b += step) {
        compare(b);
        const float u = f32_of_bits(b);
        if (!is_uniform(u))
            continue;
        uniforms++;
        noises += bits_of_f32(-logf(-logf(u))) != bits_of_f32(-kern_logf(-kern_logf(u)));
    }
    compare(0x7f7fffffu);
    for (uint32_t b = 0; b < 0x00800000u; b += step < 97 ? step : 97)
        compare_with_libm(f32_of_bits(b));
    compare_with_libm(INFINITY);
    compare_with_libm(-1.0f);
    printf("%" PRIu64 " floats compared; the library's logf differs on %" PRIu64 ", its noise on %" PRIu64
           " of %" PRIu64 "\n",
           compared, library, noises, uniforms);
    printf("%d passed, %" PRIu64 " failed\n", different == 0, different);
    return different != 0;
}
