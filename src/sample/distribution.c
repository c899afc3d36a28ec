// SPDX-License-Identifier: MIT
#include "sample/distribution.h"

#include "kern/expf.h"
#include "kern/libm.h"

#include <math.h>

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

void softmax_add(struct softmax *s, double logit, double mean)
{
    const double w = kern_exp(logit - s->max);
    s->sum += w;
    s->sum_d += w * (mean - s->max);
    s->log_sum = libm_log_quick(s->sum);
}

double softmax_prob(const struct softmax *s, float x) { return kern_exp((double)x - s->max) / s->sum; }

double softmax_entropy(const struct softmax *s)
{
    const double entropy = s->log_sum - s->sum_d / s->sum;
    return entropy <= 0.0 ? 0.0 : entropy; // NaN stays
}
