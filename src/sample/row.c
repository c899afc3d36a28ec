// SPDX-License-Identifier: MIT
#include "sample/row.h"

#include <assert.h>
#include <math.h>

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
        below += row_logit(r, i) < r->unlisted.ceiling;
    return (below || r->unlisted.extra_token) && r->n > 1 ? r->n - 1 : r->n;
}

void row_logits(const struct kern *kern, const struct row *r, size_t place, size_t len, float *logit)
{
    assert(place + len <= r->n);
    kern->widen[r->type](logit, (const char *)r->data + place * dtype_size(r->type), len);
    kern->mask_below(logit, logit, len, row_cut(r->type));
}
