// SPDX-License-Identifier: MIT
// Kernels: the inner loops, behind one table of functions for each SIMD tier. The scalar table is the definition: every
// other tier returns the same bits for every input (tests/unit/kern_check.c compares them). Kernels allocate nothing,
// read no more than n elements, and take data of any alignment. Where n is 0, an array may be null.
//
// A loop is a kernel if a row of some chain gains 10 % or more by it; each kernel's comment says what it computes, why
// it is a kernel, and who calls it. Shares of a row are of 128256 logits on avx512.
#ifndef SAMPL_KERN_KERN_H
#define SAMPL_KERN_KERN_H

#include "base/bits.h"

#include <stddef.h>

enum dtype { DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_COUNT };

// Bytes of one element.
static inline size_t dtype_size(enum dtype t) { return t == DTYPE_F32 ? 4 : 2; }

// The element at a place as it stands in memory, widened to f32.
static inline float row_element(const void *data, enum dtype type, size_t place)
{
    const char *const from = (const char *)data + place * dtype_size(type);
    float x;
    uint16_t half;
    if (type == DTYPE_F32) {
        memcpy(&x, from, sizeof x);
        return x;
    }
    memcpy(&half, from, sizeof half);
    return type == DTYPE_F16 ? f32_of_f16(half) : f32_of_bf16(half);
}

#define KERN_BLOCK 256 // elements that share one maximum in a row's index
#define KERN_LANES \
    8 // partial sums of an f64 sum whose order does not matter; the same on every tier, so that the bits are

#define KERN_DOT_LANES 16 // partial sums of a dot product in f32

// Adds up partial sums.
static inline double kern_lanes_total(const double lane[KERN_LANES])
{
    double sum = 0.0;
    for (size_t i = 0; i < KERN_LANES; i++)
        sum += lane[i];
    return sum;
}

// Adds up the partial sums of a dot product. Overwrites them.
static inline float kern_dot_total(float lane[KERN_DOT_LANES])
{
    for (size_t half = KERN_DOT_LANES / 2; half; half /= 2)
        for (size_t i = 0; i < half; i++)
            lane[i] += lane[i + half];
    return lane[0];
}

// "In order" means: the result is what adding one element after the other gives, each addition rounded to nearest. A
// tier may come to the same bits in another way (ordered_template.h). expf is that of expf.h; libm_log and so on are
// those of libm.h.
struct kern {
    const char *name; // of the tier: "scalar", "avx2", ...

    // ---- a row as it lies in memory

    // Finds the largest element of each block of KERN_BLOCK; the last block may be short. Returns n if all is well,
    // else the index of the first element that is NaN or +inf; block_max is then undefined. Every row is read by it
    // once. Caller: cand.c.
    size_t (*scan[DTYPE_COUNT])(const void *row, size_t n, float *block_max);

    // dst[i] = src[i] widened to f32, exact (F32: a copy). For chains that need every logit. Callers: cand_block.c,
    // run/.
    void (*widen[DTYPE_COUNT])(float *dst, const void *src, size_t n);

    // ---- selection and sorting

    // Returns the largest of x[0..n); -inf if n is 0; of -0 and +0 either. No x is NaN. Callers: many.
    float (*max)(const float *x, size_t n);

    // Returns the index of the first largest of x[0..n); n > 0, no x is NaN. All that greedy does to a row. Caller:
    // cand.c.
    size_t (*argmax)(const float *x, size_t n);

    // Appends rank_key(x[i], first_id + i) to keys for every x[i] >= floor, widened to f32, in rising i. Returns how
    // many. keys has room for n. The search of top_k and of heads reads most of a row by it. Caller: cand_rank.c.
    size_t (*collect[DTYPE_COUNT])(uint64_t *keys, const void *x, size_t n, uint32_t first_id, float floor);

    // Moves the k largest of key[0..n) to the front, falling; the others follow in any order. No two keys are equal.
    // tmp has room for n. Most of the time of wide top_k. Callers: cand_rank.c, cand.c, in/sparse.c, in/json_reply.c.
    void (*sort)(uint64_t *key, size_t n, size_t k, uint64_t *tmp);

    // Writes the k largest of x[0..n), falling, equal ones by rising index: indices to id, values to y. id, y, key and
    // tmp have room for n, the last two are scratch. 0 < k <= n, no x is NaN. For a whole row it takes 25 % less time
    // than collect and sort. Caller: cand_rank.c.
    void (*rank)(uint32_t *id, float *y, const float *x, size_t n, size_t k, uint64_t *key, uint64_t *tmp);

    // Returns how many x[i] are >= floor. Half of top_n_sigma's row. Callers: many.
    size_t (*count)(const float *x, size_t n, float floor);

    // y[i] = x[i], or -inf where x[i] < floor. y may be x. Each filter by a threshold ends with it. Callers: cand.c,
    // cand_block.c.
    void (*mask_below)(float *y, const float *x, size_t n, float floor);

    // Copies the x[i] with x[i] - max >= floor to `to`, in rising i. Returns how many. `to` has room for KERN_BLOCK
    // more than n. The lazy heads of typ_p and top_h read a row by it. Caller: cand_head.c.
    size_t (*pack)(float *to, const float *x, size_t n, float max, float floor);

    // ---- exponentials and logarithms

    // p[i] = expf(x[i] - max), the difference in f32; x[i] - max <= 88, not NaN. p may be x. Most of a softmax.
    // Callers: many.
    void (*exp_sub)(float *p, const float *x, float max, size_t n);

    // Returns s + expf(x[0] - max) + ..., in order, in f32. s is not negative. The total of a softmax whose
    // probabilities nobody needs.
    // Caller: cand_rank.c.
    float (*exp_sum)(const float *x, size_t n, float max, float s);

    // Counts the x with x - max >= floor by k, from 0, and adds w = expf(x - max) in f64: sum[k % 8] += w and sum[8 + k
    // % 8] += w * w. Returns the number of such x. The mass of a row, from which thresholds are computed. Caller:
    // cand_rank.c.
    size_t (*weigh)(double sum[16], const float *x, size_t n, float max, float floor);

    // With d = x[i] - max in f64, w = exp(d) as in expf.h, and e = d less y[i] - max_y unless y is NULL: sum[i % 8] +=
    // w and sum[8 + i % 8] += w * e, in rising i. Where w is 0, nothing is added. x[i] <= max, which is finite, not
    // NaN. The entropy and divergence of whole rows.
    // Callers: distribution.c, run/measure.c.
    void (*softmax_sums)(double sum[16], const float *x, float max, const float *y, float max_y, size_t n);

    // p[i] = exp(x[i] - max) / sum in f64, exp as in softmax_sums. x[i] <= max, which is finite, not NaN. Probabilities
    // of whole rows that are compared with others. Caller: distribution.c.
    void (*shares)(double *p, const float *x, float max, double sum, size_t n);

    // With m = (p[i] + q[i]) / 2: sum[i % 8] += (p[i] * ln(p[i] / m) + q[i] * ln(q[i] / m)) / 2, in rising i, ln as
    // libm_log_quick. A term is 0 where p[i] is q[i], and so is 0 times a logarithm. No p or q is negative or above 1,
    // or less than 2^-1040 times the other, unless it is 0. The Jensen-Shannon divergence of whole rows, two logarithms
    // an element. Caller: run/.
    void (*divergences)(double sum[KERN_LANES], const double *p, const double *q, size_t n);

    // y[i] = libm_logf(x[i]); x[i] is at least 0 and finite. y may be x. Logarithms of whole rows. Callers:
    // cand_head.c, samplers.
    void (*log)(float *y, const float *x, size_t n);

    // y[i] = -(x[i] * log[i]), or 0 where x[i] is 0. log: as the kernel log gives for x; y may be log. An entropy that
    // is summed in order; 12 % of the instructions of typ_p. Caller: cand_head.c.
    void (*entropy_terms)(float *y, const float *x, const float *log, size_t n);

    // x[i] = libm_pow(x[i] / total, power); 0 <= x[i] <= total, which is above 0; power is not negative. Without it,
    // skew takes 3.7 times as long.
    // Caller: samplers/skew.c.
    void (*pow_shares)(double *x, size_t n, double total, double power);

    // ---- sums

    // Returns s + x[0] + x[1] + ..., in order, in f32: the total of a softmax. Leaves out elements that are -inf. No x
    // is NaN or +inf. Callers: many.
    float (*sum)(const float *x, size_t n, float s);

    // Returns s + the x[i] in falling order of by[i], in f32. Where by[i] are equal, x[i] are. None is negative (but an
    // x may be -0) or infinite, nor is s. key and tmp have room for n each. Without it, typ_p takes 3.5 times as long.
    // Caller: cand_head.c.
    float (*sum_falling)(const float *by, const float *x, size_t n, float s, uint64_t *key, uint64_t *tmp);

    // Returns s + x[0] + x[1] + ..., in order, in f64. No x is infinite. Totals of whole rows that a draw is compared
    // with. Callers: draw.c, samplers.
    double (*sum_wide)(const float *x, size_t n, double s);

    // s = (float)((double)s + (double)d * d) for each d = x[i] - mean (f32), in order. Leaves out elements that are
    // -inf. Without it, top_n_sigma takes 4 times as long. Caller: samplers/top_n_sigma.c.
    float (*sum_squares)(const float *x, size_t n, float mean, float s);

    // dot[i * ny + k] = the dot product of the vectors x[i * d] and y[k * d], which have d numbers each, a multiple of
    // KERN_DOT_LANES. In f32: lane l adds up the products of the elements l, l + 16, l + 32, ... in this order; then
    // lane l adds lane l + 8, l + 4, l + 2 and l + 1. Symmetric in x and y. Without it, scatter with embeddings takes
    // 20 times as long. Caller: neighbours.c.
    void (*dots)(float *dot, const float *x, size_t nx, const float *y, size_t ny, size_t d);

    // ---- transforms of logits and probabilities

    // x[i] /= d. Temperature and the end of a softmax. Callers: many.
    void (*divide)(float *x, size_t n, float d);

    // x[i] = (float)((double)x[i] / d). The end of a softmax whose sum is f64. Callers: softmax_wide.c, samplers.
    void (*divide_wide)(float *x, size_t n, double d);

    // y[i] = (float)((double)(x[i] - max) - log), the first difference in f32. x[i] - max is not NaN. y may
    // be x. Log-probabilities
    // of whole rows. Callers: samplers.
    void (*log_shares)(float *y, const float *x, size_t n, float max, double log);

    // x[i] *= f. The temperature of akunu's engines, 13 % of a row. Caller: samplers/engine_stages.c.
    void (*multiply)(float *x, size_t n, float f);

    // x[i] = -(square * d * d) + cube * d * d * d + top with d = x[i] - top; -inf where that is NaN. No x[i] is above
    // top, no factor is NaN. Without it, smoothing takes 2.5 times as long. Caller: samplers/smoothing.c.
    void (*add_cubic)(float *x, size_t n, float top, float square, float cube);

    // x[i] = peak - sharpness * d * d / (1 + d) with d = |(p[i] - at) * slope|; -inf stays. No factor is NaN. x may be
    // p. 18 % of the instructions of adaptive_p. Caller: samplers/adaptive_p.c.
    void (*favour)(float *x, const float *p, size_t n, float at, float slope, float peak, float sharpness);

    // x[i] rounded to f16, to nearest, ties to even. No x is NaN. Half of the instructions of akunu-gpu's sort.
    // Callers: cand.c, cand_block.c.
    void (*round_f16)(float *x, size_t n);

    // x[i] = logit[i] + temp * noise(word(s + id[i])) as in gumbel.h, rounded to f16; -inf where logit[i] is -inf. temp
    // is positive and finite; no logit is NaN or +inf. Two logarithms an element. Caller: samplers/gumbel.c.
    void (*gumbel)(float *x, const float *logit, const uint32_t *id, size_t n, uint32_t s, float temp);

    // Writes the ids first <= id < first + n whose word(s + id) is at least `least` to hot, rising. Returns how many.
    // hot has room for n. Without it, akunu-gpu takes 3 times as long. Caller: samplers/gumbel.c.
    size_t (*gumbel_hot)(uint32_t *hot, uint32_t first, size_t n, uint32_t s, uint32_t least);

    // Writes the ids first <= id < first + n whose folded word of Philox (counter_noise.h: philox_folded) is at most
    // `most` to hot, rising. Returns how many. hot has room for n. Nearly all that vllm-v2 does to a row. Caller:
    // samplers/gumbel_counter.c.
    size_t (*philox_hot)(uint32_t *hot, uint32_t first, size_t n, uint32_t key, uint32_t most);

    // ---- JSON

    // Reads up to `most` numbers and words at *at into x, as json_item reads each (base/number.h), as long as a comma
    // follows. *at is then behind the last comma, or in white space behind that. Stops before a number that is written
    // in an unusual way, is too long, or may go on behind end, and somewhere in the last 100 bytes before end; the
    // tier decides where. Returns how many it read. Most of the time of reading JSON rows.
    // Caller: in/json_text.c.
    size_t (*numbers)(const char **at, const char *end, float *x, size_t most);
};

// The table of the tier called name, or of the best tier this machine has when name is NULL. NULL: no such tier here.
const struct kern *kern_select(const char *name);

// The i-th tier this machine can run, best last; NULL past the end.
const struct kern *kern_tier(size_t i);

// The tiers but the scalar one exist where the architecture has them.
extern const struct kern kern_scalar, kern_avx2, kern_avx512, kern_neon, kern_simd128;

// For functions of kern/ that have constants among their parameters: each caller gets code for its constants.
#define ALWAYS_INLINE static inline __attribute__((always_inline))

#endif
