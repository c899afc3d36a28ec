// SPDX-License-Identifier: MIT
// The inner loops, behind one table of functions per SIMD tier. The scalar table is the definition: every other tier returns the same
// bits for every input (tests/unit/kern_check.c compares them). Kernels allocate nothing, read no more than n elements, and take
// data of any alignment; where n is 0 an array may be null.
#ifndef SAMPL_KERN_KERN_H
#define SAMPL_KERN_KERN_H

#include <stddef.h>
#include <stdint.h>

enum dtype { DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_COUNT };

// Bytes of one element.
static inline size_t dtype_size(enum dtype t)
{
    return t == DTYPE_F32 ? 4 : 2;
}

#define KERN_BLOCK 256 // elements that share one maximum in a row's index
#define KERN_LANES 8   // of sums in f64 that are not in order, the same on every tier
#define KERN_MANY  32  // lanes of sum_lanes, which is to wait for nothing

// Their total.
static inline double kern_lanes_total(const double lane[KERN_LANES])
{
    double sum = 0.0;
    for (size_t i = 0; i < KERN_LANES; i++)
        sum += lane[i];
    return sum;
}

// Where a sum is said to be taken in order, the result is what adding one element after the other gives, each addition rounded to
// nearest; a tier may come to the same bits in another way (see ordered_template.h).
struct kern {
    const char *name; // of the tier: "scalar", "avx2", ...

    // One pass over a row as it lies in memory: block_max[b] = the largest of elements b*KERN_BLOCK ... (the last block may be
    // short). Returns n when all is well, else the index of the first element that is NaN or +inf; block_max is then undefined.
    size_t (*scan[DTYPE_COUNT])(const void *row, size_t n, float *block_max);

    // dst[i] = src[i] widened to f32, exact. (F32: a copy.)
    void (*widen[DTYPE_COUNT])(float *dst, const void *src, size_t n);

    // The largest of x[0..n); -inf when n is 0. No NaN; of -0 and +0 either may be returned.
    float (*max)(const float *x, size_t n);

    // The index of the first largest of x[0..n); n > 0, no NaN.
    size_t (*argmax)(const float *x, size_t n);

    // Appends rank_key(x[i], first_id + i) for every x[i] >= floor, widened to f32, to keys, in rising i; returns how many. keys has room
    // for n.
    size_t (*collect[DTYPE_COUNT])(uint64_t *keys, const void *x, size_t n, uint32_t first_id, float floor);

    // Moves the k largest of key[0..n) to the front, falling; the others follow in no order. No two keys are equal. tmp has room for n.
    void (*sort)(uint64_t *key, size_t n, size_t k, uint64_t *tmp);

    // The k largest of x[0..n), falling, the lower index first where they are equal: their indices to id, their values to y, both with room for n.
    // 0 < k <= n, no NaN. key and tmp are scratch with room for n.
    void (*rank)(uint32_t *id, float *y, const float *x, size_t n, size_t k, uint64_t *key, uint64_t *tmp);

    // p[i] = expf(x[i] - max), the difference in f32, expf as in expf.h; x[i] - max <= 88, not NaN. p may be x.
    void (*exp_sub)(float *p, const float *x, float max, size_t n);

    // Copies the x[i] with x[i] - max >= floor to `to`, in rising i; returns how many. to has room for KERN_BLOCK more than n.
    size_t (*pack)(float *to, const float *x, size_t n, float max, float floor);

    // With d = x[i] - max in f64, w = exp(d) as in expf.h, and e = d less y[i] - max_y unless y is NULL: sum[i % 8] += w and
    // sum[8 + i % 8] += w * e, in rising i. x[i] <= max, which is finite, not NaN; where w is 0 nothing is added.
    void (*softmax_sums)(double sum[16], const float *x, float max, const float *y, float max_y, size_t n);

    // p[i] = exp(x[i] - max) / sum in f64, exp as in softmax_sums. x[i] <= max, which is finite, not NaN.
    void (*shares)(double *p, const float *x, float max, double sum, size_t n);

    // With m = (p[i] + q[i]) / 2: sum[i % 8] += (p[i] * ln(p[i] / m) + q[i] * ln(q[i] / m)) / 2, in rising i, ln as libm_log_quick. Where p[i]
    // is q[i] that is 0, and so is 0 times a logarithm. None is negative or above 1, or less than 2^-1040 times the other, unless it is 0.
    void (*divergences)(double sum[KERN_LANES], const double *p, const double *q, size_t n);

    // y[i] = ln x[i], logf as in libm.h; x[i] is at least 0 and finite. y may be x.
    void (*log)(float *y, const float *x, size_t n);

    // y[i] = -(x[i] * log[i]); 0 where x[i] is 0. log: as log tells of x; y may be log.
    void (*entropy_terms)(float *y, const float *x, const float *log, size_t n);

    // x[i] = (x[i] / total)^power, libm_pow as in libm.h; 0 <= x[i] <= total, which is above 0; power is not negative.
    void (*raise_shares)(double *x, size_t n, double total, double power);

    // s + expf(x[0] - max) + ..., in order, in f32, with expf as in exp_sub. s is not negative.
    float (*exp_sum)(const float *x, size_t n, float max, float s);

    // With w = expf(x - max), as in exp_sub, of the k-th x with x - max >= floor: sum[k % 8] += w and sum[8 + k % 8] += w * w, in f64, in rising k.
    // Returns how many x that are.
    size_t (*weigh)(double sum[16], const float *x, size_t n, float max, float floor);

    // s + x[0] + x[1] + ..., in order, in f32. Elements that are -inf are left out. No NaN, no +inf.
    float (*sum)(const float *x, size_t n, float s);

    // s + the x[i] in falling order of by[i], in f32. Where by[i] are equal x[i] are; neither is negative (but an x may be -0) nor infinite, nor is s.
    // key and tmp have room for n each.
    float (*sum_falling)(const float *by, const float *x, size_t n, float s, uint64_t *key, uint64_t *tmp);

    // The same as sum in f64. No element is infinite.
    double (*sum_wide)(const float *x, size_t n, double s);

    // sum[i % 32] += x[i] in f64, in rising i. No element is infinite.
    void (*sum_lanes)(double sum[KERN_MANY], const float *x, size_t n);

    // s = (float)((double)s + (double)d * d) for each d = x[i] - mean (f32), in order. Elements that are -inf are left out.
    float (*sum_squares)(const float *x, size_t n, float mean, float s);

    // x[i] /= d.
    void (*divide)(float *x, size_t n, float d);

    // x[i] *= f.
    void (*multiply)(float *x, size_t n, float f);

    // x[i] = -(square * d * d) + cube * d * d * d + top with d = x[i] - top; -inf where that is NaN. No x[i] is above top; neither factor is NaN.
    void (*bend)(float *x, size_t n, float top, float square, float cube);

    // x[i] = peak - sharpness * d * d / (1 + d) with d = |(p[i] - at) * slope|; -inf stays. No factor is NaN.
    // x may be p.
    void (*lift)(float *x, const float *p, size_t n, float at, float slope, float peak, float sharpness);

    // x[i] rounded to f16, to nearest, ties to even. No NaN.
    void (*round_f16)(float *x, size_t n);

    // How many x[i] are >= floor.
    size_t (*count)(const float *x, size_t n, float floor);

    // y[i] = x[i], but -inf where x[i] < floor. y may be x.
    void (*mask_below)(float *y, const float *x, size_t n, float floor);

    // The Gumbel noise of gumbel.h. x[i] = logit[i] + temp * noise(word(s + id[i])), rounded to f16; -inf where logit[i] is -inf.
    // temp is positive and finite; no logit is NaN or +inf.
    void (*gumbel)(float *x, const float *logit, const uint32_t *id, size_t n, uint32_t s, float temp);

    // Writes the ids first <= id < first + n whose word(s + id) is at least `least` to hot, rising; returns how many. Room for n.
    size_t (*gumbel_hot)(uint32_t *hot, uint32_t first, size_t n, uint32_t s, uint32_t least);

    // Reads up to `most` numbers and words at *at into x, as json_item does each (base/number.h), as long as they have a comma behind them;
    // *at is then behind the last one, or in white space behind it. Stops before what is written in another way, is too long, or may go on
    // behind end, and somewhere in the last 100 bytes before that; where depends on the tier. Returns how many there were.
    size_t (*numbers)(const char **at, const char *end, float *x, size_t most);
};

// The table of the tier called name, or of the best tier this machine has when name is NULL. NULL: no such tier here.
const struct kern *kern_select(const char *name);

// The i-th tier this machine can run, best last; NULL past the end.
const struct kern *kern_tier(size_t i);

extern const struct kern kern_scalar, kern_avx2, kern_avx512,
    kern_neon; // the last three where the architecture has them

#endif
