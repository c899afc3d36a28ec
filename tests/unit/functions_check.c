// SPDX-License-Identifier: MIT
// functions_check [COUNT]: compares samples/vectors/functions.c, which ports copy, with the program's functions on
// COUNT random arguments of each, over all exponents, and where results underflow.
#include "kern/expf.h"
#include "kern/libm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes" // a file to copy has no header
#include "../../samples/vectors/functions.c"

static uint64_t compared, different;

static void judge(const char *name, double x, double y, double theirs, double ours)
{
    compared++;
    if (bits_of_f64(theirs) != bits_of_f64(ours) && different++ < 10)
        printf("%s(%a, %a) = %a, expected %a\n", name, x, y, theirs, ours);
}

static void judge_float(float x, float y)
{
    const float power = x > 0.0f && x < INFINITY ? x : 1.0f,
                low = -fabsf(x) < -0x1p10f ? -0x1p-4f * fabsf(y) : -fabsf(x);
    judge("expf", (double)low, 0.0, (double)spec_expf(low), (double)kern_expf(low));
    judge("logf", (double)power, 0.0, (double)spec_logf(power), (double)libm_logf(power));
    judge("log2f", (double)power, 0.0, (double)spec_log2f(power), (double)libm_log2f(power));
    judge("powf", (double)power, (double)y, (double)spec_powf(power, y), (double)libm_powf(power, y));
}

static void judge_double(double x, double y)
{
    judge("exp", y, 0.0, spec_exp(y), libm_exp(y));
    judge("log", x, 0.0, spec_log(x), libm_log(x));
    judge("log_quick", x, 0.0, spec_log_quick(x), libm_log_quick(x));
    judge("pow", x, y, spec_pow(x, y), libm_pow(x, y));
}

static uint64_t state = 1;

static uint64_t random_bits(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state ^ state >> 29) * UINT64_C(0xbf58476d1ce4e5b9) ^ state >> 32;
}

// A number from -most to most.
static double random_within(double most) { return most * ((double)(int64_t)random_bits() * 0x1p-63); }

int main(int argc, char **argv)
{
    const long count = argc > 1 ? atol(argv[1]) : 1000000;
    for (long i = 0; i < count; i++) {
        const float x = f32_of_bits((uint32_t)random_bits() & 0x7fffffffu);
        if (x < INFINITY)
            judge_float(x, (float)random_within(i % 2 ? 3.0 : 1600.0));
        judge_float((float)(1.0 + random_within(0.5)), (float)random_within(200.0));
        const double wide = f64_of_bits(random_bits() & (UINT64_MAX >> 1));
        if (wide > 0.0 && wide < INFINITY)
            judge_double(wide, random_within(i % 2 ? 2.0 : 760.0));
        judge_double(1.0 + random_within(0.5), random_within(i % 2 ? 1100.0 : 30.0));
    }
    printf("%" PRIu64 " results compared, %" PRIu64 " different\n", compared, different);
    return different || compared < 4 * (uint64_t)count;
}
