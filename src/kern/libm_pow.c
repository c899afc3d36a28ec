// SPDX-License-Identifier: MIT
#include "kern/libm_pow.h"

#include <assert.h>

double libm_exp(double x)
{
    if (fabs(x) < 0x1p-54)
        return 1.0 + x;
    if (!(fabs(x) < 1024.0))
        return x > 0.0 ? INFINITY : x < 0.0 ? 0.0 : x;
    return exp_of(x, 0.0);
}

double libm_log(double x)
{
    assert(x > 0.0 && x < INFINITY);
    double low;
    return log_of(x, &low);
}

double libm_log_quick(double x)
{
    if (!(x > 0.0 && x < INFINITY))
        return x == 0.0 ? -INFINITY : x > 0.0 ? x : NAN;
    double k, z;
    const unsigned part = log_part(x, &k, &z);
    const double inverse = libm_log_inverse[part], upper = f64_of_bits(bits_of_f64(z) & ~UINT64_C(0xffffffff));
    const double r = (upper * inverse - 1.0) + (z - upper) * inverse; // exact but for the addition
    const double series =
        1.0 / 2 - r * (1.0 / 3 - r * (1.0 / 4 - r * (1.0 / 5 - r * (1.0 / 6 - r * (1.0 / 7 - r * (1.0 / 8))))));
    return k * LN2_UPPER + libm_log_of_c[part] + (r + (k * LN2_LOWER + libm_log_rest[part] - r * r * series));
}

double libm_pow(double x, double y)
{
    assert(x >= 0.0 && x < INFINITY);
    return pow_of(x, y);
}
