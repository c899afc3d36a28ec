// SPDX-License-Identifier: MIT
#include "sample/nucleus.h"

static bool enough(const struct nucleus *x, float sum, size_t n)
{
    return n >= x->least && (x->past ? sum > x->limit : sum >= x->limit);
}

void nucleus_take(struct nucleus *x, const struct kern *kern, const float *p, size_t n)
{
    enum { BLOCK = 512 };
    for (size_t at = 0, len; at < n && !x->full; at += len) {
        len = n - at < BLOCK ? n - at : BLOCK;
        const float through = kern->sum(p + at, len, x->sum);
        if (!enough(x, through, x->n + len)) { // nor is it before, as sums never fall
            x->n += len;
            x->sum = through;
            continue;
        }
        for (size_t i = at; !x->full; i++) {
            x->sum += p[i];
            x->full = enough(x, x->sum, ++x->n);
        }
    }
}
