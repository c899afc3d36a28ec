// SPDX-License-Identifier: MIT
#include "base/number.h"

#include "base/bits.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXACT = 22 }; // powers of ten up to this one are exact in f64

static const double power[EXACT + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// The parts of a number in text.
struct written {
    uint64_t digits; // all digits as one integer, if they fit
    int exponent;    // of ten
    int count;       // of digits, leading zeros not counted
    bool negative;
};

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

// Eight digits at once; Lemire, "Quickly parsing eight digits" (2018).
static inline bool eight_digits(const char *p, uint64_t *v)
{
    uint64_t u;
    memcpy(&u, p, sizeof u);
    if (((u & 0xf0f0f0f0f0f0f0f0) ^ 0x3030303030303030) | (((u + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0) ^ 0x3030303030303030))
        return false;
    u = (u & 0x0f0f0f0f0f0f0f0f) * 2561 >> 8;
    u = (u & 0x00ff00ff00ff00ff) * 6553601 >> 16;
    *v = (u & 0x0000ffff0000ffff) * 42949672960001 >> 32;
    return true;
}

// Adds the digits at p to d; returns where they end.
static inline const char *take_digits(const char *p, const char *end, struct written *d)
{
    const char *const start = p;
    uint64_t eight;
    while (end - p >= 8 && eight_digits(p, &eight)) {
        d->digits = d->digits * 100000000 + eight;
        p += 8;
    }
    for (; p < end && is_digit(*p); p++)
        d->digits = d->digits * 10 + (uint64_t)(*p - '0');
    d->count += (int)(p - start);
    return p;
}

static const char *split(const char *p, const char *end, struct written *d)
{
    *d = (struct written){.negative = p < end && *p == '-'};
    p += d->negative;
    if (p == end || !is_digit(*p))
        return NULL;
    if (*p == '0') {
        p++;
        if (p < end && is_digit(*p))
            return NULL; // JSON has no leading zeros
    } else {
        p = take_digits(p, end, d);
    }
    if (p < end && *p == '.') {
        const char *const point = ++p;
        if (!d->count)
            while (p < end && *p == '0')
                p++;
        p = take_digits(p, end, d);
        if (p == point)
            return NULL;
        d->exponent = (int)(point - p);
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        const bool down = p < end && *p == '-';
        p += p < end && (*p == '-' || *p == '+');
        if (p == end || !is_digit(*p))
            return NULL;
        int e = 0;
        for (; p < end && is_digit(*p); p++)
            e = e < 100000 ? e * 10 + (*p - '0') : e;
        d->exponent += down ? -e : e;
    }
    return p;
}

// The C library rounds correctly; it needs a NUL. The text of a number is at most as long as the reader's window.
static float by_library(const char *p, const char *end)
{
    char few[128], *const text = (size_t)(end - p) < sizeof few ? few : malloc((size_t)(end - p) + 1);
    if (!text)
        return f32_of_bits(0x7fc00000); // reported as NaN rather than misread
    memcpy(text, p, (size_t)(end - p));
    text[end - p] = '\0';
    const float x = strtof(text, NULL);
    if (text != few)
        free(text);
    return x;
}

// Up to 19 digits times a power of ten up to 10^22, in f64: the conversion of the digits and the product (or quotient; the power is exact)
// err by half an ulp each, so the f64 is within 2 ulp of the number. Rounding it to f32 is then right unless the 29 bits that
// rounding drops lie within 2 of a half; the result must be a normal f32, since a subnormal drops more bits.
const char *json_number(const char *p, const char *end, float *x)
{
    struct written d;
    assert(p <= end);
    const char *const stop = split(p, end, &d);
    if (!stop)
        return NULL;
    if (d.count <= 19 && d.exponent >= -EXACT && d.exponent <= EXACT) {
        const double v = d.exponent < 0 ? (double)d.digits / power[-d.exponent] : (double)d.digits * power[d.exponent];
        const uint64_t dropped = bits_of_f64(v) & 0x1fffffff;
        const uint64_t from_half = dropped > 0x10000000 ? dropped - 0x10000000 : 0x10000000 - dropped;
        if (!d.digits || (from_half > 4 && v >= 0x1p-126 && v < 0x1p127)) {
            *x = (float)(d.negative ? -v : v);
            return stop;
        }
    }
    *x = by_library(p, stop);
    return stop;
}

enum { MOST = 9 }; // digits that always suffice

// x * 10^k within 2^-50 of its size: each step rounds once.
static double scaled(double x, int k)
{
    for (; k > EXACT; k -= EXACT)
        x *= power[EXACT];
    for (; k < -EXACT; k += EXACT)
        x /= power[EXACT];
    return k < 0 ? x / power[-k] : x * power[k];
}

// As %g writes it: a number of MOST digits, its first worth 10^exponent, without zeros at its end.
static void write_decimal(uint32_t number, int exponent, char *to)
{
    char digit[MOST] = {0};
    int n = MOST;
    assert(number >= power[MOST - 1] && number < power[MOST]);
    for (; number % 10 == 0; number /= 10)
        n--;
    for (int i = n; i--; number /= 10)
        digit[i] = (char)('0' + number % 10);
    const bool scientific = exponent < -4 || exponent >= n;
    const int whole = scientific ? 1 : exponent + 1; // digits before the point
    if (whole <= 0) {
        *to++ = '0';
        *to++ = '.';
        for (int i = whole; i < 0; i++)
            *to++ = '0';
    }
    for (int i = 0; i < n; i++) {
        if (i && i == whole)
            *to++ = '.';
        *to++ = digit[i];
    }
    if (scientific) {
        const int e = abs(exponent);
        *to++ = 'e';
        *to++ = exponent < 0 ? '-' : '+';
        *to++ = (char)('0' + e / 10);
        *to++ = (char)('0' + e % 10);
    }
    *to = '\0';
}

// 0 < x < FLT_MAX, scaled to MOST digits before the point, and rounded to ever fewer of them as long as they read back to it, which is when
// they lie nearer to it than half the gap to the next float. (If fewer do, so do all numbers of digits between.) False: a difference is so
// small that f64 cannot tell.
static bool quickly(float x, char *text)
{
    const double slack = 1e-5;
    const double lower = f32_of_bits(bits_of_f32(x) - 1), upper = f32_of_bits(bits_of_f32(x) + 1);
    int binary;
    assert(x > 0 && x < FLT_MAX);
    frexp((double)x, &binary);
    int exponent = (int)floor((binary - 1) * 0.30102999566398120); // of the first digit: right, or one too low
    if (scaled((double)x, MOST - 1 - exponent) >= power[MOST])
        exponent++;
    const int scale = MOST - 1 - exponent;
    const double v = scaled((double)x, scale), below = scaled((double)x - lower, scale) / 2,
                 above = scaled(upper - (double)x, scale) / 2;
    double best = 0;
    for (int zeros = 0; zeros < MOST; zeros++) {
        const double unit = power[zeros], rounded = floor(v / unit + 0.5) * unit;
        const double off = fabs(v - rounded), room = rounded < v ? below : above;
        if (off > room + slack)
            break;
        if (off > room - slack || fabs(off - unit / 2) < slack)
            return false;
        best = rounded;
    }
    const bool carried = best >= power[MOST];
    write_decimal((uint32_t)(carried ? best / 10 : best), exponent + carried, text);
    return true;
}

// By way of printf and strtof, for whatever f64 cannot decide.
static void slowly(float x, char *text)
{
    int digits = 0;
    do
        snprintf(text, NUMBER_TEXT, "%.*g", ++digits, (double)x);
    while (digits < MOST && strtof(text, NULL) != x);
}

const char *number_text(float x, char text[NUMBER_TEXT])
{
    const float size = fabsf(x);
    *text = '-';
    if (!(size > 0 && size < FLT_MAX && quickly(size, text + (x < 0))))
        slowly(x, text);
    return text;
}

const char *number_text_wide(double x, char text[NUMBER_TEXT])
{
    if (isnan(x))
        return number_text(NAN, text);
    int digits = 15; // what fewer digits can say, 15 say, too: %g drops zeros
    do
        snprintf(text, NUMBER_TEXT, "%.*g", digits, x);
    while (digits++ < 17 && strtod(text, NULL) != x);
    return text;
}
