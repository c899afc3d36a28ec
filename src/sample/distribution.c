// SPDX-License-Identifier: MIT
#include "sample/distribution.h"

#include <math.h>

enum {
    BLOCK = 1024,
    LANES = 8, // sums taken side by side, which any compiler may vectorise without changing a bit; divides BLOCK
};

static double add_lanes(const double lane[LANES])
{
    double sum = 0.0;
    for (size_t i = 0; i < LANES; i++)
        sum += lane[i];
    return sum;
}

struct softmax softmax_of(const struct kern *kern, const float *x, size_t n)
{
    struct softmax s = {.max = kern->max(x, n)};
    double sum[LANES] = {0}, sum_d[LANES] = {0};
    float w[BLOCK];
    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t len = n - at < BLOCK ? n - at : BLOCK, whole = len & ~(size_t)(LANES - 1);
        kern->exp_sub(w, x + at, s.max, len);
        for (size_t i = 0; i < whole; i += LANES)
            for (size_t k = 0; k < LANES; k++) {
                const double d = (double)x[at + i + k] - s.max;
                sum[k] += w[i + k];
                sum_d[k] += w[i + k] > 0.0f ? w[i + k] * d : 0.0;
            }
        for (size_t i = whole; i < len; i++) {
            const double d = (double)x[at + i] - s.max;
            sum[i % LANES] += w[i];
            sum_d[i % LANES] += w[i] > 0.0f ? w[i] * d : 0.0;
        }
    }
    s.sum = add_lanes(sum);
    s.sum_d = add_lanes(sum_d);
    return s;
}

double softmax_log_sum(const struct softmax *s)
{
    return log(s->sum);
}

double softmax_entropy(const struct softmax *s)
{
    return fmax(0.0, log(s->sum) - s->sum_d / s->sum);
}

double softmax_divergence(const struct kern *kern, const struct softmax *a, const float *x, const uint32_t *id, size_t n,
                          const struct softmax *b, const float *y)
{
    double sum[LANES] = {0}; // of a's w times the difference of the logits, each less its largest
    float w[BLOCK];
    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t len = n - at < BLOCK ? n - at : BLOCK;
        kern->exp_sub(w, x + at, a->max, len);
        for (size_t i = 0; i < len; i++) {
            const double dy = (double)y[id ? id[at + i] : at + i] - b->max;
            if (w[i] > 0.0f)
                sum[i % LANES] += w[i] * ((double)x[at + i] - a->max - dy);
        }
    }
    return fmax(0.0, add_lanes(sum) / a->sum - log(a->sum) + log(b->sum));
}
