// SPDX-License-Identifier: MIT
// libm_check [STEP [COUNT]]: compares libm_log2f and libm_exp2f with the C library's for every STEP-th float (STEP 1: all 4.3 thousand
// million). Compares libm_powf on COUNT random pairs, on pairs of special numbers, and where rounding is hard. These are small whole numbers,
// numbers next to 1, and the ends of the range. Compares libm_exp and libm_pow, 7 * COUNT times, with glibc's if it uses FMA, and libm_log_quick, COUNT
// times, with long double. Also checks a sum of their bits, which is equal on every system.
#include "kern/libm.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SUMMED 10000
#define SUM    UINT64_C(0x7f96db164abb1fb2)

static uint64_t compared, different;

static void judge(const char *name, float x, float y, float ours, float theirs)
{
    compared++;
    if (bits_of_f32(ours) == bits_of_f32(theirs) || (isnan(ours) && isnan(theirs)))
        return;
    if (different++ < 10)
        printf("%s(%a, %a) = %a, libm %a\n", name, (double)x, (double)y, (double)ours, (double)theirs);
}

static void power(float x, float y) { judge("powf", x, y, libm_powf(x, y), powf(x, y)); }

static uint64_t sum;
static bool fused; // whether the library's exp and pow are glibc's on x86-64 with FMA

static void judge_wide(const char *name, double x, double y, double ours, double theirs)
{
    sum = sum * 31 + (isnan(ours) ? 1 : bits_of_f64(ours));
    if (!fused)
        return;
    compared++;
    if (bits_of_f64(ours) == bits_of_f64(theirs) || (isnan(ours) && isnan(theirs)))
        return;
    if (different++ < 10)
        printf("%s(%a, %a) = %a, libm %a\n", name, x, y, ours, theirs);
}

static void judge_quick(double x)
{
    const double ours = libm_log_quick(x), right = (double)logl((long double)x);
    sum = sum * 31 + bits_of_f64(ours);
    compared++;
    if (!(fabs(ours - right) <= fabs(right) * 0x1p-52) && different++ < 10)
        printf("log(%a) = %a, expected %a\n", x, ours, right);
}

static uint64_t state = 1;

static uint64_t random_bits(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state ^ state >> 29) * UINT64_C(0xbf58476d1ce4e5b9) ^ state >> 32;
}

static double uniform(double low, double high) { return low + (high - low) * (double)(random_bits() >> 11) * 0x1p-53; }

// Compares exp, pow and log for arguments of samplers and statistics, near the ends of the range, and at random.
static void wide(void)
{
    const double x = uniform(0.0, 1.0), power = libm_exp(uniform(-3.0, 3.0)), any = f64_of_bits(random_bits()),
                 z = uniform(-750.0, 720.0);
    const double positive = f64_of_bits(random_bits() & INT64_MAX), base = (double)(float)uniform(1.0, 4.0),
                 times = (double)(random_bits() % 64);
    judge_wide("exp", any, 0, libm_exp(any), exp(any));
    judge_wide("exp", z, 0, libm_exp(z), exp(z));
    judge_wide("exp", -x, 0, libm_exp(-x), exp(-x));
    judge_wide("pow", x, power, libm_pow(x, power), pow(x, power));
    judge_wide("pow", base, times, libm_pow(base, times), pow(base, times));
    judge_quick(1.0 + (x - 0.5) * 0x1p-6);
    if (positive < INFINITY) {
        judge_quick(positive);
        const double y = z / libm_log(positive);
        judge_wide("pow", positive, any, libm_pow(positive, any), pow(positive, any));
        judge_wide("pow", positive, y, libm_pow(positive, y), pow(positive, y));
    }
}

int main(int argc, char **argv)
{
    const uint32_t step = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 9973;
    const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
    for (uint64_t b = 0; b <= UINT32_MAX; b += step) {
        const float x = f32_of_bits((uint32_t)b);
        judge("log2f", x, 0.0f, libm_log2f(x), log2f(x));
        judge("exp2f", x, 0.0f, libm_exp2f(x), exp2f(x));
    }
    static const float special[] = {
        0.0f,    0x1p-149f, 0x1p-126f,        0.5f,     1.0f, 1.5f, 2.0f, 3.0f, 0x1p23f, 0x1.fffffep+23f,
        0x1p24f, 0x1p31f,   0x1.fffffep+127f, INFINITY, NAN};
    enum { SPECIAL = sizeof special / sizeof *special };
    for (int i = 0; i < 4 * SPECIAL * SPECIAL; i++) {
        const float x = special[i / 4 % SPECIAL], y = special[i / 4 / SPECIAL];
        power(i & 1 ? -x : x, i & 2 ? -y : y);
    }
    for (int x = 1; x < 300; x++)
        for (int y = -64; y <= 64; y++) {
            power((float)x, (float)y / 4.0f);
            power(1.0f + (float)(x - 150) * 0x1p-23f, (float)y * 0x1p20f);
        }
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t bits = random_bits();
        const float x = f32_of_bits((uint32_t)(bits >> 32) & 0x7fffffffu), y = f32_of_bits((uint32_t)bits);
        // Half of the pairs are random; the other half has a y that gives a finite result.
        power(x, i % 2 ? y : (float)(int32_t)(uint32_t)bits * 0x1p-24f / fmaxf(1.0f, fabsf(libm_log2f(x))) * 1.2f);
    }
#if defined __GLIBC__ && defined __x86_64__
    volatile const double known = 0x1.98d4f2p+1; // its power has other bits without FMA
    fused = pow(known, 5.0) == 0x1.4c68dd2e98b61p+8;
#endif
    static const double ends[] = {
        0.0, 0x1p-1074, 0x1p-1022, 0x1p-66, 0x1p-54, 1.0, 0x1p63, 0x1.fffffffffffffp+1023, INFINITY, NAN};
    enum { ENDS = sizeof ends / sizeof *ends };
    for (int i = 0; i < 2 * ENDS * ENDS; i++) {
        const double x = ends[i / 2 % ENDS], y = i & 1 ? -ends[i / 2 / ENDS] : ends[i / 2 / ENDS];
        judge_wide("exp", y, 0, libm_exp(y), exp(y));
        if (x < INFINITY)
            judge_wide("pow", x, y, libm_pow(x, y), pow(x, y));
    }
    state = 2;
    for (uint64_t i = 0; i < count; i++) {
        wide();
        if (i + 1 == SUMMED && sum != SUM && different++ < 10)
            printf("the sum of %d is %#" PRIx64 "\n", SUMMED, sum);
    }
    printf("%" PRIu64 " numbers compared\n%d passed, %" PRIu64 " failed\n", compared, different == 0, different);
    return different != 0;
}
