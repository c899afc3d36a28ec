// SPDX-License-Identifier: MIT
#include "base/number.h"

#include "base/bits.h"

#include <assert.h>
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
        if (from_half > 4 && v >= 0x1p-126 && v < 0x1p127) {
            *x = (float)(d.negative ? -v : v);
            return stop;
        }
        if (!d.digits) {
            *x = d.negative ? -0.0f : 0.0f;
            return stop;
        }
    }
    *x = by_library(p, stop);
    return stop;
}

enum { MOST = 9 }; // digits that always suffice; if fewer do, so do all numbers of digits between

// x * 10^k within 2^-50 of its size: each step rounds once.
static double scaled(double x, int k)
{
    for (; k > EXACT; k -= EXACT)
        x *= power[EXACT];
    for (; k < -EXACT; k += EXACT)
        x /= power[EXACT];
    return k < 0 ? x / power[-k] : x * power[k];
}

struct rounded {
    uint32_t digits; // exactly n of them
    int n;
    int exponent; // of the first digit
};

// x > 0 rounded to n digits. False when it lies so near the middle of two decimals that f64 cannot tell.
static bool round_to(double x, int n, struct rounded *d)
{
    int binary;
    assert(x > 0.0 && n > 0 && n <= MOST);
    frexp(x, &binary);
    d->exponent = (int)floor((binary - 1) * 0.30102999566398120); // right, or one too low
    double v = scaled(x, n - 1 - d->exponent);
    if (v >= power[n] - 0.5)
        v = scaled(x, n - 1 - ++d->exponent);
    const double whole = floor(v), rest = v - whole;
    d->n = n;
    d->digits = (uint32_t)(whole + (rest > 0.5));
    return fabs(rest - 0.5) > 1e-5 && v < power[n] - 0.51 && v > power[n - 1] + 0.51;
}

// As %g writes it. Returns the end.
static char *write_decimal(const struct rounded *d, char *to)
{
    char digit[MOST] = {0};
    uint32_t rest = d->digits;
    for (int i = d->n; i--; rest /= 10)
        digit[i] = (char)('0' + rest % 10);
    int n = d->n;
    while (n > 1 && digit[n - 1] == '0')
        n--;
    const bool scientific = d->exponent < -4 || d->exponent >= d->n;
    const int whole = scientific ? 1 : d->exponent + 1; // digits before the point
    if (whole <= 0) {
        *to++ = '0';
        *to++ = '.';
        for (int i = whole; i < 0; i++)
            *to++ = '0';
    }
    for (int i = 0; i < n || i < whole; i++) {
        if (i && i == whole)
            *to++ = '.';
        *to++ = i < n ? digit[i] : '0';
    }
    if (scientific) {
        const int e = abs(d->exponent);
        *to++ = 'e';
        *to++ = d->exponent < 0 ? '-' : '+';
        *to++ = (char)('0' + e / 10);
        *to++ = (char)('0' + e % 10);
    }
    *to = '\0';
    return to;
}

// By way of printf and strtof, for whatever f64 cannot decide.
static void slowly(float x, char *text)
{
    int low = 1, high = MOST;
    while (low < high) {
        const int digits = (low + high) / 2;
        snprintf(text, NUMBER_TEXT, "%.*g", digits, (double)x);
        if (strtof(text, NULL) == x)
            high = digits;
        else
            low = digits + 1;
    }
    snprintf(text, NUMBER_TEXT, "%.*g", low, (double)x);
}

// x > 0 with n digits; *same: they read back to it. False: f64 cannot tell.
static bool try_digits(float x, int n, char *text, bool *same)
{
    struct rounded d;
    float back;
    if (!round_to((double)x, n, &d))
        return false;
    const char *const end = write_decimal(&d, text);
    *same = json_number(text, end, &back) && back == x;
    return true;
}

static bool quickly(float x, char *text)
{
    char least[NUMBER_TEXT];
    bool same = true;
    int n = 8; // most numbers need eight or nine
    if (!try_digits(x, n, text, &same))
        return false;
    if (!same)
        return try_digits(x, MOST, text, &same) && same;
    while (--n && same) {
        if (!try_digits(x, n, least, &same))
            return false;
        if (same)
            strcpy(text, least);
    }
    return true;
}

const char *number_text(float x, char text[NUMBER_TEXT])
{
    char *const size = text + (signbit(x) != 0);
    *text = '-';
    if (isfinite(x) && x != 0.0f && quickly(fabsf(x), size))
        return text;
    slowly(x, text);
    return text;
}
