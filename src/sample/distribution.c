// SPDX-License-Identifier: MIT
#include "sample/distribution.h"

#include "kern/expf.h"
#include "kern/libm.h"

#include <math.h>

enum { BLOCK = 1024 };

struct softmax softmax_of(const struct kern *kern, const float *x, size_t n)
{
    double sum[2 * KERN_LANES] = {0};
    const float max = kern->max(x, n);
    kern->softmax_sums(sum, x, max, NULL, 0.0f, n);
    return softmax_from(max, sum);
}

struct softmax softmax_from(float max, const double sum[2 * KERN_LANES])
{
    const double all = kern_lanes_total(sum);
    return (struct softmax){max, all, kern_lanes_total(sum + KERN_LANES), libm_log_quick(all)};
}

double softmax_prob(const struct softmax *s, float x)
{
    return kern_exp((double)x - s->max) / s->sum;
}

void softmax_probs(const struct kern *kern, const struct softmax *s, const float *x, size_t n, double *p)
{
    kern->shares(p, x, s->max, s->sum, n);
}

double softmax_entropy(const struct softmax *s)
{
    return fmax(0.0, s->log_sum - s->sum_d / s->sum);
}

double softmax_divergence(const struct kern *kern, const struct softmax *a, const float *x, size_t n,
                          const struct softmax *b, softmax_fetch_fn *fetch, const void *arg)
{
    double sum[2 * KERN_LANES] = {0}; // with the differences of the logits, each less its largest
    float y[BLOCK];
    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t len = n - at < BLOCK ? n - at : BLOCK;
        fetch(arg, at, len, y);
        kern->softmax_sums(sum, x + at, a->max, y, b->max, len);
    }
    return fmax(0.0, kern_lanes_total(sum + KERN_LANES) / a->sum - a->log_sum + b->log_sum);
}
