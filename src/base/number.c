// SPDX-License-Identifier: MIT
#include "base/number.h"

#include "base/bits.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT = 22 }; // powers of ten up to this one are exact in f64

const double number_powers[] = {
    1e-60, 1e-59, 1e-58, 1e-57, 1e-56, 1e-55, 1e-54, 1e-53, 1e-52, 1e-51, 1e-50, 1e-49, 1e-48, 1e-47, 1e-46,
    1e-45, 1e-44, 1e-43, 1e-42, 1e-41, 1e-40, 1e-39, 1e-38, 1e-37, 1e-36, 1e-35, 1e-34, 1e-33, 1e-32, 1e-31,
    1e-30, 1e-29, 1e-28, 1e-27, 1e-26, 1e-25, 1e-24, 1e-23, 1e-22, 1e-21, 1e-20, 1e-19, 1e-18, 1e-17, 1e-16,
    1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9,  1e-8,  1e-7,  1e-6,  1e-5,  1e-4,  1e-3,  1e-2,  1e-1,
    1e0,   1e1,   1e2,   1e3,   1e4,   1e5,   1e6,   1e7,   1e8,   1e9,   1e10,  1e11,  1e12,  1e13,  1e14,
    1e15,  1e16,  1e17,  1e18,  1e19,  1e20,  1e21,  1e22,  1e23,  1e24,  1e25,  1e26,  1e27,  1e28,  1e29,
    1e30,  1e31,  1e32,  1e33,  1e34,  1e35,  1e36,  1e37,  1e38,  1e39,  1e40};
static const double *const power = number_powers + NUMBER_POWER;

// The parts of a number in text.
struct written {
    uint64_t digits; // all digits as one integer, if they fit
    int exponent;    // of ten
    int count;       // of digits, leading zeros not counted
    bool negative;
};

static inline bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }

// Adds the digits at p to d; returns where they end.
static inline const char *take_digits(const char *p, const char *end, struct written *d)
{
    const char *const start = p;
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

// Returns whether the f64 v, which is within 4 ulp of a number N, rounds to the same float as N.
//
// Plain algorithm: strtof, which compares all digits with the middle of two floats. It is too slow for every number.
// Idea: compute N in f64, as an integer times a power of ten, and ask strtof only if the error of that could matter.
// Why the bits are the same: the conversion of an integer of up to 19 digits, the power and the product each err by at
// most 2^-53 of their result, less than one ulp; so v is within 4 ulp of N. (kern/numbers_template.h has a fourth such
// step.) Rounding to f32 drops 29 bits. v and N round to different floats only if the middle of two floats lies between
// them or is one of them; then the dropped bits are within 4 of 0x10000000. The float must be normal, since a subnormal
// one drops more bits, and it must not overflow.
static inline bool rounds_right(double v)
{
    const uint64_t dropped = bits_of_f64(v) & 0x1fffffff,
                   nearly = 0x10000000 - 4; // |dropped - 0x10000000| > 4 in one comparison
    return dropped - nearly > 2 * 4 && v >= 0x1p-126 && v < 0x1p127;
}

const char *json_number(const char *p, const char *end, float *x)
{
    struct written d;
    assert(p <= end);
    const char *const stop = split(p, end, &d);
    if (!stop)
        return NULL;
    if (d.count <= 19 && d.exponent >= -NUMBER_POWER && d.exponent <= NUMBER_POWER_MOST) {
        const double v = (double)d.digits * power[d.exponent];
        if (!d.digits || rounds_right(v)) {
            *x = (float)(d.negative ? -v : v);
            return stop;
        }
    }
    *x = by_library(p, stop);
    return stop;
}

const char *json_word(const char *p, const char *end, float *x)
{
    static const struct {
        const char *text;
        float x;
    } words[] = {{"null", -INFINITY}, {"-Infinity", -INFINITY}, {"NaN", NAN}, {"Infinity", INFINITY}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t len = strlen(words[i].text);
        if ((size_t)(end - p) >= len && !memcmp(p, words[i].text, len)) {
            *x = words[i].x;
            return p + len;
        }
    }
    return NULL;
}

static inline bool is_space(char c)
{
    return (unsigned char)c <= ' ' && (c == ' ' || c == '\n' || c == '\r' || c == '\t');
}

bool json_item(const char *p, const char *comma, float *x)
{
    enum { LONGEST = 64 }; // of usual numbers
    while (is_space(*p))
        p++;
    return comma - p <= LONGEST && (json_number(p, comma, x) == comma || json_word(p, comma, x) == comma);
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

// Writes as %g does: a number of MOST digits, its first worth 10^exponent, without zeros at its end.
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

// 0 < x < FLT_MAX, scaled to MOST digits before the point, and rounded to ever fewer of them as long as they read back
// to it, which is when they lie nearer to it than half the gap to the next float. (If fewer do, so do all numbers of
// digits between.) False: a difference is so small that f64 cannot tell.
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
    // 15 digits say what fewer can, as %g drops zeros; but not of subnormal numbers, which have fewer bits.
    int digits = fabs(x) < DBL_MIN ? 1 : 15;
    do
        snprintf(text, NUMBER_TEXT, "%.*g", digits, x);
    while (digits++ < 17 && strtod(text, NULL) != x);
    return text;
}

const char *number_plain(char text[NUMBER_TEXT])
{
    const double x = strtod(text, NULL);
    if (strstr(text, "e+") && fabs(x) < 1e15) // all digits stand before the point
        snprintf(text, NUMBER_TEXT, "%.0f", x);
    return text;
}

const char *number_short(double x, int digits, char text[NUMBER_TEXT])
{
    snprintf(text, NUMBER_TEXT, "%.*g", digits, x);
    number_plain(text);
    char *const zero = text + (*text == '-');
    if (zero[0] == '0' && zero[1] == '.')
        memmove(zero, zero + 1, strlen(zero));
    return text;
}

bool whole_number(const char *text, const char *end, int64_t low, int64_t high, int64_t *out)
{
    char *stop;
    errno = 0;
    const long long v = strtoll(text, &stop, 10);
    *out = v;
    return stop != text && !isspace((unsigned char)*text) && stop == (end ? end : text + strlen(text)) && !errno &&
           v >= low && v <= high;
}

bool number_bits(const char *text, uint64_t *bits)
{
    const bool negative = *text == '-';
    const uint64_t most = negative ? (uint64_t)INT64_MAX + 1 : UINT64_MAX;
    const char *p = text + negative;
    uint64_t u = 0;
    bool fits = true;
    for (; isdigit((unsigned char)*p); p++) {
        const uint64_t digit = (uint64_t)(*p - '0');
        fits = fits && u <= (most - digit) / 10;
        u = 10 * u + digit;
    }
    *bits = negative ? -u : u;
    return fits && !*p;
}
