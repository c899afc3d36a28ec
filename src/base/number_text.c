// SPDX-License-Identifier: MIT
#include "base/number_text.h"

#include "base/json_number.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 9 }; // digits that always suffice; if fewer do, so do all numbers of digits between

// x * 10^k within 2^-50 of its size: powers up to 10^22 are exact in f64, and each step rounds once.
static double scaled(double x, int k)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    for (; k > 22; k -= 22)
        x *= 1e22;
    for (; k < -22; k += 22)
        x /= 1e22;
    return k < 0 ? x / power[-k] : x * power[k];
}

struct decimal {
    uint32_t digits; // exactly n of them
    int n;
    int exponent; // of the first digit
};

// x > 0 rounded to n digits. False when it lies so near the middle of two decimals that f64 cannot tell.
static bool round_to(double x, int n, struct decimal *d)
{
    static const double limit[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    int binary;
    frexp(x, &binary);
    d->exponent = (int)floor((binary - 1) * 0.30102999566398120); // right, or one too low
    double v = scaled(x, n - 1 - d->exponent);
    if (v >= limit[n] - 0.5)
        v = scaled(x, n - 1 - ++d->exponent);
    const double whole = floor(v), rest = v - whole;
    d->n = n;
    d->digits = (uint32_t)(whole + (rest > 0.5));
    return fabs(rest - 0.5) > 1e-5 && v < limit[n] - 0.51 && v > limit[n - 1] + 0.51;
}

// As %g writes it. Returns the end.
static char *write_decimal(const struct decimal *d, char *to)
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
    struct decimal d;
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
