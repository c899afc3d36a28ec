// SPDX-License-Identifier: MIT
#include "sample/row.h"

#include "kern/libm.h"

#include <assert.h>
#include <math.h>

double list_unit_leading(double x)
{
    static const double power[] = {1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4,
                                   1e-3,  1e-2,  1e-1,  1e0,  1e1,  1e2,  1e3,  1e4};
    size_t i = sizeof power / sizeof *power - 1;
    while (i && power[i] > fabs(x))
        i--;
    return power[i];
}

double list_unit_half(const struct list_unit *u, double x)
{
    int exponent;
    if (!list_unit_coarse(u) || x == -INFINITY)
        return 0.0;
    const double number = u->probabilities ? libm_exp(x) : x;
    frexp(number, &exponent);
    // below 2^-14 the steps of f16 do not shrink any more
    const double least = u->binary == 0x1p-11f ? 0x1p-25 : 0.0;
    const double binary = number == 0.0 ? least : fmax(least, ldexp((double)u->binary, exponent - 1));
    const double half = fmax((double)u->decimal, (double)u->digit * list_unit_leading(number)) + binary;
    if (!u->probabilities)
        return half;
    return half < 0.999 * number ? -libm_log(1.0 - half / number) : INFINITY;
}

float row_cut(enum dtype type)
{
    static const float cut[DTYPE_COUNT] = {-0x1.fffffcp127f, -65472.0f, -0x1.fcp127f}; // f32, f16, bf16
    return cut[type];
}

float row_logit(const struct row *r, size_t place)
{
    const float x = row_element(r->data, r->type, place);
    return x < row_cut(r->type) ? -INFINITY : x;
}

size_t row_listed(const struct row *r)
{
    size_t below = 0;
    for (size_t i = 0; r->unlisted.partial && i < r->n; i++)
        below += (double)row_logit(r, i) + list_unit_half(&r->unlisted.unit, (double)row_logit(r, i)) <
                 (double)(list_unit_coarse(&r->unlisted.unit) ? nextafterf(r->unlisted.ceiling, -INFINITY)
                                                              : r->unlisted.ceiling);
    return (below || r->unlisted.extra_token) && r->n > 1 ? r->n - 1 : r->n;
}

void row_logits(const struct kern *kern, const struct row *r, size_t place, size_t len, float *logit)
{
    assert(place + len <= r->n);
    kern->widen[r->type](logit, (const char *)r->data + place * dtype_size(r->type), len);
    kern->mask_below(logit, logit, len, row_cut(r->type));
}
