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

double libm_pow(double x, double y)
{
    assert(x >= 0.0 && x < INFINITY);
    return pow_of(x, y);
}
