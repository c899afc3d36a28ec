// SPDX-License-Identifier: MIT
// expf_check [STEP]: compares sampl's expf with the C library's for every STEP-th float from -inf to 88 (STEP 1: all 2.2 thousand million).
// Also checks that logf on (0, 1] and expf below 0 are monotone: typ_p and cut-offs by weight need this.
// With FMA, libm rounds two values differently: the value that samplers.md names, and one above 0, which no sampler uses.
#include "kern/expf.h"
#include "kern/libm.h"

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

// Checks that kern_exp is within two units in the last place of long double's exp, and that its range ends where it says.
static int exp_close(void)
{
    if (kern_exp(-INFINITY) != 0.0 || kern_exp(nextafter(EXP_UNDERFLOW, -1e9)) != 0.0 || kern_exp(0.0) != 1.0)
        return 0;
    for (double x = 0.0; x >= EXP_UNDERFLOW; x -= x > -1.0 ? 1e-5 * (1.0 - x) : 0.00137) {
        const long double off = ((long double)kern_exp(x) - expl((long double)x)) / expl((long double)x);
        if (!(fabsl(off) <= 0x1p-51L)) {
            printf("exp is off by %Lg at %a\n", off, x);
            return 0;
        }
    }
    return 1;
}

// Checks that f does not fall from each float of [from, to) to the next of larger bits, or does not rise for negative floats. All floats
// have one sign. Checks windows of 1000 floats.
static int goes_one_way(const char *name, float (*f)(float x), uint32_t from, uint32_t to, uint32_t step)
{
    const uint32_t skip = step == 1 ? 0 : step * 1000;
    const float sign = from >> 31 ? -1.0f : 1.0f;
    for (uint32_t b = from; b < to; b += skip) {
        const uint32_t end = to - b > 1000 ? b + 1000 : to;
        float last = f(f32_of_bits(b));
        for (; b < end; b++) {
            const float next = f(f32_of_bits(b + 1));
            if (sign * next < sign * last) {
                printf("%s turns at %a\n", name, (double)f32_of_bits(b));
                return 0;
            }
            last = next;
        }
        if (to - b <= skip)
            break;
    }
    return 1;
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
    different += !exp_close();
    different += !goes_one_way("logf", libm_logf, 1, bits_of_f32(1.0f), step);
    different += !goes_one_way("expf", kern_expf, 0x80000000u, bits_of_f32(EXPF_UNDERFLOW) + 1, step);
    printf("%" PRIu64 " floats compared\n%d passed, %" PRIu64 " failed\n", compared, different == 0, different);
    return different != 0;
}
