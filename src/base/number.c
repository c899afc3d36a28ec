// SPDX-License-Identifier: MIT
#include "base/number.h"

#include "base/bits.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { EXACT = 22 }; // powers of ten up to this one are exact in f64

static const uint64_t ten[] = {UINT64_C(1),
                               UINT64_C(10),
                               UINT64_C(100),
                               UINT64_C(1000),
                               UINT64_C(10000),
                               UINT64_C(100000),
                               UINT64_C(1000000),
                               UINT64_C(10000000),
                               UINT64_C(100000000),
                               UINT64_C(1000000000),
                               UINT64_C(10000000000),
                               UINT64_C(100000000000),
                               UINT64_C(1000000000000),
                               UINT64_C(10000000000000),
                               UINT64_C(100000000000000),
                               UINT64_C(1000000000000000),
                               UINT64_C(10000000000000000)};
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

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

// The number of eight digits, of which u has the values; Lemire, "Quickly parsing eight digits" (2018).
static inline uint64_t join_eight(uint64_t u)
{
    u = u * 2561 >> 8;
    u = (u & 0x00ff00ff00ff00ff) * 6553601 >> 16;
    return (u & 0x0000ffff0000ffff) * 42949672960001 >> 32;
}

static inline bool eight_digits(const char *p, uint64_t *v)
{
    uint64_t u;
    memcpy(&u, p, sizeof u);
    if (((u & 0xf0f0f0f0f0f0f0f0) ^ 0x3030303030303030) |
        (((u + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0) ^ 0x3030303030303030))
        return false;
    *v = join_eight(u & 0x0f0f0f0f0f0f0f0f);
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

// Digits times a power of ten, in f64: the conversion of the digits, the power and the product err by half an ulp each, where they are not
// exact, and so does the sum of two parts of them (kern/numbers_template.h): the f64 is within 4 ulp of the number. Rounding it to f32 is then
// right unless the 29 bits that rounding drops lie within 4 of a half; the result must be a normal f32, since a subnormal drops more bits.
static inline bool rounds_right(double v)
{
    const uint64_t dropped = bits_of_f64(v) & 0x1fffffff,
                   nearly = 0x10000000 - 4; // one comparison, as numbers are soon parsed
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

// ---- many numbers: their commas and points are found for 64 bytes at a time, so that no number waits for the one before it

// Bit i: p[i] is c.
static inline uint64_t places_of(const char *p, char c)
{
    uint64_t places = 0;
#ifdef __SSE2__
    for (unsigned i = 0; i < 64; i += 16) {
        const __m128i same = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + i)), _mm_set1_epi8(c));
        places |= (uint64_t)(unsigned)_mm_movemask_epi8(same) << i;
    }
#else
    const uint64_t low = 0x7f7f7f7f7f7f7f7f;
    for (unsigned i = 0; i < 64; i += 8) {
        uint64_t u;
        memcpy(&u, p + i, sizeof u);
        u ^= (unsigned char)c * UINT64_C(0x0101010101010101);
        places |= (~(((u & low) + low) | u | low) >> 7) * 0x0102040810204080 >> 56 << i;
    }
#endif
    return places;
}

// The places of c in text[0..len), len a multiple of 64 below 2^16. Returns how many there are.
static inline size_t find_all(const char *text, size_t len, char c, uint16_t *place)
{
    size_t n = 0;
    for (size_t block = 0; block < len; block += 64)
        for (uint64_t places = places_of(text + block, c); places; places &= places - 1)
            place[n++] = (uint16_t)(block + (unsigned)__builtin_ctzll(places));
    return n;
}

static inline uint64_t load_eight(const char *p)
{
    uint64_t u;
    memcpy(&u, p, sizeof u);
    return u ^ 0x3030303030303030;
}

// Are all eight bytes below 10?
static inline bool are_digits(uint64_t u)
{
    return !(((u + 0x7676767676767676) | u) & 0x8080808080808080);
}

// Most numbers: up to 2 digits before the point and 16 behind it, or 8 in all. False: it is another. 17 bytes before its end can be read.
static inline bool plain_number(const char *digits, const char *point, const char *end, float *x, bool negative)
{
    static const uint64_t last[] = {0, // so many of eight characters
                                    UINT64_C(0xff) << 56,
                                    UINT64_C(0xffff) << 48,
                                    UINT64_C(0xffffff) << 40,
                                    UINT64_C(0xffffffff) << 32,
                                    UINT64_C(0xffffffffff) << 24,
                                    UINT64_C(0xffffffffffff) << 16,
                                    UINT64_C(0xffffffffffffff) << 8,
                                    UINT64_MAX};
    const size_t whole = (size_t)(point - digits), part = (size_t)(end - point) - (point < end);
    uint64_t all;
    if (whole - 1 > 7 || (point < end && !part) || (*digits == '0' && whole > 1))
        return false;
    if (whole <= 2 && part <= 16) {
        const size_t high = part > 8 ? part - 8 : 0;
        const uint64_t u = load_eight(end - 8) & last[part - high];
        if (!are_digits(u) || !is_digit(*digits) || !is_digit(point[-1]))
            return false;
        all = ((uint64_t)(point[-1] - '0') + (whole == 2 ? 10 * (uint64_t)(*digits - '0') : 0)) * ten[part] +
              join_eight(u);
        if (high) {
            const uint64_t v = load_eight(end - 16) & last[high];
            if (!are_digits(v))
                return false;
            all += join_eight(v) * 100000000;
        }
    } else if (part < 8 && whole + part <= 8) { // the digits before a point are moved up to the others
        const uint64_t behind = point < end ? last[part] : UINT64_MAX;
        const uint64_t u = ((load_eight(end - 8) & behind) | (load_eight(end - 9) & ~behind)) & last[whole + part];
        if (!are_digits(u))
            return false;
        all = join_eight(u);
    } else {
        return false;
    }
    const double v = (double)(int64_t)all * power[-(int)part];
    *x = f32_of_bits(bits_of_f32((float)v) | (uint32_t)negative << 31);
    return rounds_right(v);
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

size_t json_numbers(const char **at, const char *end, float *x, size_t most)
{
    enum { CHUNK = 1024, BEFORE = 17 };
    uint16_t comma[CHUNK], point[CHUNK + 1];
    const char *const begin = *at, *p = begin;
    size_t n = 0;
    bool more = true;
    while (more && n < most && end - p > 64) {
        const char *const text = p;
        const size_t len = end - p > CHUNK ? CHUNK : (size_t)(end - p - 1) / 64 * 64,
                     commas = find_all(text, len, ',', comma);
        point[find_all(text, len, '.', point)] = CHUNK;
        size_t k = 0;
        for (size_t i = 0; i < commas && n < most; i++) {
            const char *const stop = text + comma[i];
            while (is_space(*p))
                p++;
            while (text + point[k] < p)
                k++;
            const char *const parted = text + point[k] < stop ? text + point[k] : stop;
            const bool negative = *p == '-';
            const bool plain = p - begin >= BEFORE && plain_number(p + negative, parted, stop, &x[n], negative);
            more = plain || json_item(p, stop, &x[n]);
            if (!more)
                break;
            n++;
            p = stop + 1;
        }
        more = more && p > text;
    }
    *at = p;
    return n;
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
