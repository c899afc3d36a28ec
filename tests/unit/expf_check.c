// SPDX-License-Identifier: MIT
// expf_check [STEP]: our expf against the C library's over every STEP-th float from -inf to 88 (STEP 1: all 2.2 thousand million).
// Where libm uses FMA it rounds two values the other way: the one that samplers.md names and one above 0, which no sampler reaches.
#include "kern/expf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t compared, different;

static void compare(uint32_t bits)
{
    const float x = f32_of_bits(bits), ours = kern_expf(x), theirs = expf(x);
    compared++;
    if (bits_of_f32(ours) == bits_of_f32(theirs) || x == -0x1.f8cbb2p+5f || x == 0x1.04845ep+5f)
        return;
    if (different++ < 10)
        printf("expf(%a) = %a, libm %a\n", (double)x, (double)ours, (double)theirs);
}

int main(int argc, char **argv)
{
    const uint32_t step = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 997;
    const uint32_t last = bits_of_f32(88.0f), minus_inf = 0xff800000u;
    for (uint64_t b = 0; b <= last; b += step)
        compare((uint32_t)b);
    for (uint64_t b = 0x80000000u; b <= minus_inf; b += step)
        compare((uint32_t)b);
    compare(last);
    compare(minus_inf);
    printf("%" PRIu64 " floats compared\n%d passed, %" PRIu64 " failed\n", compared, different == 0, different);
    return different != 0;
}
