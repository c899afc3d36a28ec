// SPDX-License-Identifier: MIT
#include "in/list_unit.h"

#include "base/bits.h"

#include <math.h>

static const double power[UNIT_DIGITS + 1] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

// Returns true if x is a multiple of step, rounded to f32.
static bool is_multiple(float x, double step)
{
    return fabs((double)x - rint((double)x / step) * step) <= fabs((double)x) * 0x1.01p-24;
}

// The bf16 nearest to x; of f16 the same.
static float nearest(float x, int type)
{
    if (type)
        return f32_of_f16(f16_of_f32(x));
    const uint32_t bits = bits_of_f32(x);
    return f32_of_bits((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
}

void unit_add(struct unit_fit *fit, float x)
{
    const double leading = list_unit_leading((double)x);
    if (!isfinite(x) || x == 0.0f)
        return;
    if (!fit->some)
        for (int i = 0; i <= UNIT_DIGITS; i++)
            fit->by_decimals[0][i] = fit->by_decimals[1][i] = fit->by_digits[0][i] = fit->by_digits[1][i] = true;
    fit->digits = fit->some ? fit->digits : 1;
    fit->some = true;
    while (fit->decimals < UNIT_DIGITS && !is_multiple(x, 1.0 / power[fit->decimals]))
        fit->decimals++;
    while (fit->digits < UNIT_DIGITS && !is_multiple(x, leading / power[fit->digits - 1]))
        fit->digits++;
    for (int type = 0; type < 2; type++)
        for (int i = 0; i <= UNIT_DIGITS; i++) {
            const double off = fabs((double)x - (double)nearest(x, type)) - fabs((double)x) * 0x1p-24;
            fit->by_decimals[type][i] = fit->by_decimals[type][i] && off <= 0.5 / power[i];
            fit->by_digits[type][i] = fit->by_digits[type][i] && off <= 5.0 * leading / power[i];
        }
}

struct list_unit unit_of(const struct unit_fit *fit)
{
    static const float half[2] = {0x1p-8f, 0x1p-11f}; // of the power of two below a number
    struct list_unit unit = {.probabilities = fit->of_probs};
    if (!fit->some) {
        unit.decimal = INFINITY;
        return unit;
    }
    if (fit->decimals < UNIT_DIGITS)
        unit.decimal = (float)(0.5 / power[fit->decimals]);
    if (fit->digits < UNIT_DIGITS)
        unit.digit = (float)(5.0 / power[fit->digits]);
    for (int type = 0; type < 2 && unit.binary == 0.0f; type++)
        if (fit->by_decimals[type][fit->decimals] || fit->by_digits[type][fit->digits])
            unit.binary = half[type];
    return unit;
}
