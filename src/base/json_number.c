// SPDX-License-Identifier: MIT
#include "base/json_number.h"

#include "base/bits.h"

#include <stdbool.h>
#include <stdlib.h>

// The parts of a number in text.
struct decimal {
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
static inline const char *take_digits(const char *p, const char *end, struct decimal *d)
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

static const char *split(const char *p, const char *end, struct decimal *d)
{
    *d = (struct decimal){.negative = p < end && *p == '-'};
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
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    struct decimal d;
    const char *const stop = split(p, end, &d);
    if (!stop)
        return NULL;
    if (d.count <= 19 && d.exponent >= -22 && d.exponent <= 22) {
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
