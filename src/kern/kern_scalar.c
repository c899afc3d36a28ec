// SPDX-License-Identifier: MIT
// The reference tier: plain C, one element at a time. Compiled without auto-vectorisation, so that it is what its name
// says.
#include "kern/kern.h"

#include "base/bits.h"
#include "base/number.h"
#include "kern/counter_noise.h"
#include "kern/expf.h"
#include "kern/gumbel.h"
#include "kern/libm.h"

#include <assert.h>
#include <math.h>

ALWAYS_INLINE size_t scan(const void *row, size_t n, float *block_max, enum dtype type)
{
    for (size_t start = 0; start < n; start += KERN_BLOCK) {
        const size_t end = n - start < KERN_BLOCK ? n : start + KERN_BLOCK;
        float max = -INFINITY;
        for (size_t i = start; i < end; i++) {
            const float x = row_element(row, type, i);
            if (!(x < INFINITY))
                return i;
            if (x > max)
                max = x;
        }
        block_max[start / KERN_BLOCK] = max;
    }
    return n;
}

ALWAYS_INLINE void widen(float *dst, const void *src, size_t n, enum dtype type)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = row_element(src, type, i);
}

static float row_max(const float *x, size_t n)
{
    float max = -INFINITY;
    for (size_t i = 0; i < n; i++)
        if (x[i] > max)
            max = x[i];
    return max;
}

static size_t row_argmax(const float *x, size_t n)
{
    assert(n > 0);
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (x[i] > x[best])
            best = i;
    return best;
}

ALWAYS_INLINE size_t collect(uint64_t *keys, const void *x, size_t n, uint32_t first_id, float floor, enum dtype type)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const float a = row_element(x, type, i);
        if (a >= floor)
            keys[found++] = rank_key(a, first_id + (uint32_t)i);
    }
    return found;
}

#include "kern/sort_template.h"

#include "kern/rank_template.h"

static void row_exp_sub(float *p, const float *x, float max, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = kern_expf(x[i] - max);
}

static size_t row_pack(float *to, const float *x, size_t n, float max, float floor)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (x[i] - max >= floor)
            to[kept++] = x[i];
    return kept;
}

static void row_softmax_sums(double sum[16], const float *x, float max, const float *y, float max_y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double d = (double)x[i] - max, w = kern_exp(d);
        if (w == 0.0)
            continue;
        sum[i % 8] += w;
        sum[8 + i % 8] += w * (y ? d - ((double)y[i] - max_y) : d);
    }
}

static void row_shares(double *p, const float *x, float max, double sum, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = kern_exp((double)x[i] - max) / sum;
}

static double times_log(double p, double m) { return p > 0.0 ? p * libm_log_quick(p / m) : 0.0; }

static void row_divergences(double sum[KERN_LANES], const double *p, const double *q, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double m = 0.5 * (p[i] + q[i]);
        sum[i % KERN_LANES] += p[i] == q[i] ? 0.0 : 0.5 * (times_log(p[i], m) + times_log(q[i], m));
    }
}

static void row_log(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = libm_logf(x[i]);
}

static void row_entropy_terms(float *y, const float *x, const float *log, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] > 0.0f ? -(x[i] * log[i]) : 0.0f;
}

static void row_pow_shares(double *x, size_t n, double total, double power)
{
    for (size_t i = 0; i < n; i++)
        x[i] = libm_pow(x[i] / total, power);
}

static float row_exp_sum(const float *x, size_t n, float max, float s)
{
    for (size_t i = 0; i < n; i++)
        s += kern_expf(x[i] - max);
    return s;
}

static size_t row_weigh(double sum[16], const float *x, size_t n, float max, float floor)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(x[i] - max >= floor))
            continue;
        const double w = kern_expf(x[i] - max);
        sum[k % 8] += w;
        sum[8 + k++ % 8] += w * w;
    }
    return k;
}

static float row_sum(const float *x, size_t n, float s)
{
    for (size_t i = 0; i < n; i++)
        if (x[i] != -INFINITY)
            s += x[i];
    return s;
}

static float row_sum_falling(const float *by, const float *x, size_t n, float s, uint64_t *key, uint64_t *tmp)
{
    for (size_t i = 0; i < n; i++)
        key[i] = (uint64_t)bits_of_f32(by[i]) << 32 | (uint32_t)~i;
    row_sort(key, n, n, tmp);
    for (size_t i = 0; i < n; i++)
        s += x[rank_id(key[i])];
    return s;
}

static double row_sum_wide(const float *x, size_t n, double s)
{
    for (size_t i = 0; i < n; i++)
        s += x[i];
    return s;
}

static float row_sum_squares(const float *x, size_t n, float mean, float s)
{
    for (size_t i = 0; i < n; i++) {
        if (x[i] == -INFINITY)
            continue;
        const double d = x[i] - mean;
        s = (float)((double)s + d * d);
    }
    return s;
}

static void row_divide(float *x, size_t n, float d)
{
    for (size_t i = 0; i < n; i++)
        x[i] /= d;
}

static void row_divide_wide(float *x, size_t n, double d)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((double)x[i] / d);
}

static void row_log_shares(float *y, const float *x, size_t n, float max, double log)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (float)((double)(x[i] - max) - log);
}

static void row_multiply(float *x, size_t n, float f)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= f;
}

static void row_add_cubic(float *x, size_t n, float top, float square, float cube)
{
    for (size_t i = 0; i < n; i++) {
        const float d = x[i] - top, y = -(square * d * d) + cube * d * d * d + top;
        x[i] = isnan(y) ? -INFINITY : y;
    }
}

static void row_dots(float *dot, const float *x, size_t nx, const float *y, size_t ny, size_t d)
{
    for (size_t i = 0; i < nx * ny; i++) {
        const float *const a = x + i / ny * d, *const b = y + i % ny * d;
        float lane[KERN_DOT_LANES] = {0};
        for (size_t at = 0; at < d; at += KERN_DOT_LANES)
            for (size_t l = 0; l < KERN_DOT_LANES; l++)
                lane[l] += a[at + l] * b[at + l];
        dot[i] = kern_dot_total(lane);
    }
}

static void row_favour(float *x, const float *p, size_t n, float at, float slope, float peak, float sharpness)
{
    for (size_t i = 0; i < n; i++) {
        const float d = fabsf((p[i] - at) * slope);
        if (x[i] != -INFINITY)
            x[i] = peak - sharpness * d * d / (1.0f + d);
    }
}

static void row_round_f16(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = f32_of_f16(f16_of_f32(x[i]));
}

static size_t row_count(const float *x, size_t n, float floor)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += x[i] >= floor;
    return count;
}

static void row_mask_below(float *y, const float *x, size_t n, float floor)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] < floor ? -INFINITY : x[i];
}

static void row_gumbel(float *x, const float *logit, const uint32_t *id, size_t n, uint32_t s, float temp)
{
    assert(temp > 0 && temp < INFINITY);
    for (size_t i = 0; i < n; i++) {
        const float noisy = logit[i] + temp * gumbel_noise(gumbel_word(s + id[i]));
        x[i] = logit[i] == -INFINITY ? -INFINITY : f32_of_f16(f16_of_f32(noisy));
    }
}

static size_t row_gumbel_hot(uint32_t *hot, uint32_t first, size_t n, uint32_t s, uint32_t least)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t id = first + (uint32_t)i;
        if (gumbel_word(s + id) >= least)
            hot[found++] = id;
    }
    return found;
}

static size_t row_philox_hot(uint32_t *hot, uint32_t first, size_t n, uint32_t key, uint32_t most)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t id = first + (uint32_t)i;
        if (philox_folded(id, key) <= most)
            hot[found++] = id;
    }
    return found;
}

static size_t row_numbers(const char **at, const char *end, float *x, size_t most)
{
    size_t n = 0;
    while (n < most && end - *at > 64) {
        const char *const comma = memchr(*at, ',', 64);
        if (!comma || !json_item(*at, comma, &x[n]))
            break;
        *at = comma + 1;
        n++;
    }
    return n;
}

#define TIER scalar
#include "kern/kern_table.h"
