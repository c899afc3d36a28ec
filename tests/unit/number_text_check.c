// SPDX-License-Identifier: MIT
// number_text_check [COUNT]: compares the text of floats with a version of printf and strtof, on COUNT random floats of each kind.
#include "base/builder.h"
#include "base/number.h"

#include "base/bits.h"
#include "random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int failed;

static void check(float x)
{
    char got[NUMBER_TEXT], want[40];
    int digits = 0;
    do
        snprintf(want, sizeof want, "%.*g", ++digits, (double)x);
    while (digits < 9 && bits_of_f32(strtof(want, NULL)) != bits_of_f32(x) && x == x);
    if (strcmp(number_text(x, got), want) != 0 && failed++ < 10)
        printf("%a: '%s', want '%s'\n", (double)x, got, want);
}

// Checks that the text reads back as x, and that no shorter text does.
static void check_wide(double x)
{
    char got[NUMBER_TEXT], want[40];
    int digits = 0, n = 0, zeros = 0;
    do
        snprintf(want, sizeof want, "%.*g", ++digits, x);
    while (digits < 17 && bits_of_f64(strtod(want, NULL)) != bits_of_f64(x));
    for (const char *at = number_text_wide(x, got); *at && *at != 'e'; at++) {
        zeros = *at == '0' ? zeros + 1 : *at >= '1' && *at <= '9' ? 0 : zeros;
        n += *at >= (n ? '0' : '1') && *at <= '9';
    }
    if ((bits_of_f64(strtod(got, NULL)) != bits_of_f64(x) || n - zeros > digits) && failed++ < 10)
        printf("%a: '%s', want '%s'\n", x, got, want);
}

// Compares builder_fixed with printf, for every number of digits.
static void check_fixed(double x)
{
    static struct builder got;
    for (int digits = 1; digits <= 6; digits++) {
        char want[400];
        const int width = (int)random_below(20);
        snprintf(want, sizeof want, "%*.*f", width, digits, x);
        builder_clear(&got);
        builder_fixed(&got, x, digits, width);
        if (strcmp(got.text, want) != 0 && failed++ < 10)
            printf("%a with %d digits: '%s', want '%s'\n", x, digits, got.text, want);
    }
}

static void both(float x)
{
    check(x);
    check(-x);
}

int main(int argc, char **argv)
{
    const long count = argc > 1 ? atol(argv[1]) : 100000;
    const float edge[] = {0,    1,    10,   100,     123456,   999999, 9999999,       1e8f,           999999.5f,
                          0.1f, 0.5f, 9.5f, 0.0001f, 0.00001f, 1e-45f, 3.4028235e38f, 1.17549435e-38f};
    for (size_t i = 0; i < sizeof edge / sizeof *edge; i++)
        both(edge[i]);
    both(f32_of_bits(0x7f800000u));
    for (int k = -149; k < 128; k++)
        for (int step = -2; step <= 2; step++)
            both(f32_of_bits(bits_of_f32(__builtin_ldexpf(1.0f, k)) + (uint32_t)(k > -148 ? step : 0)));
    for (uint32_t h = 0; h < 0x7c00; h++) // every f16 number
        both(f32_of_f16((uint16_t)h));
    for (long i = 0; i < count; i++) {
        const uint64_t wide = random_bits();
        if ((wide >> 52 & 0x7ff) != 0x7ff)
            check_wide(f64_of_bits(wide));
        check_wide((double)(wide >> 11) * 0x1p-53);
        // Of every magnitude, sums of probabilities, logits, and numbers at or next to half of a last digit.
        check_fixed(f64_of_bits(wide));
        check_fixed((double)(wide >> 11) * 0x1p-53);
        check_fixed((double)(float)((double)(int64_t)wide * 0x1p-58));
        const double half = ((double)(wide % 2000000) - 1000000 + 0.5) / (double[]){10, 100, 1e3, 1e4, 1e5, 1e6}[i % 6];
        check_fixed(half);
        check_fixed(nextafter(half, i & 1 ? 1e9 : -1e9));
        check_fixed((double)(wide % 4096) / 64);
        check_wide((double)(wide % 100000) / 1000);
        const uint32_t bits = (uint32_t)random_bits() & 0x7fffffffu;
        if (bits < 0x7f800000u)
            both(f32_of_bits(bits));                                              // of every magnitude
        both((float)((double)(random_bits() >> 40) * 0x1p-24));                   // probabilities
        both((float)((double)(random_bits() >> 40) * 0x1p-19));                   // logits
        both((float)(random_bits() % 100000) / (float)(1 << random_bits() % 12)); // few digits
    }
    if (failed)
        printf("%d wrong\n", failed);
    return failed != 0;
}
