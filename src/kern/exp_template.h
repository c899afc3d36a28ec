// SPDX-License-Identifier: MIT
// Exponentials of logits, sums of them, and logarithms. A part of kern_template.h, with the same parameters.
//
// Plain algorithm: kern_expf, kern_exp, libm_logf and libm_pow, element by element.
// Why it is too slow: a softmax of a whole row is mostly exponentials, 20 operations each, which vectors do 4 to 16 at
// a time.
// Idea: the same tables and polynomials in f64 vectors.
// Why the bits are the same: where a result stays f64 (exp_above, log_quick), each operation is that of the scalar
// function, in its order. Where it is rounded to f32 (expf_vector, logs), the polynomial is added up in another order
// and products may be fused, so that the f64 may differ in its last bits; no float differs by that, which prove-expf
// and prove-logf check for every float. row_pow_shares says why it may take a short cut.
#ifndef SAMPL_KERN_EXP_TEMPLATE_H
#define SAMPL_KERN_EXP_TEMPLATE_H

#include "kern/libm_pow.h"
#include "kern/ordered_template.h"

#define F64(x) ((x) - (vf64){0}) // in every lane

// 2^(k/32), the whole number k being in the low bits, as in expf.h.
static inline vf64 expf_scale(vf64 k) { return (vf64)((vu64)expf_entry((vi64)k) + ((vu64)k << (52 - 5))); }

#ifndef HAS_SCALES
static inline void expf_scales(vf64 s[2], const vf64 k[2])
{
    s[0] = expf_scale(k[0]);
    s[1] = expf_scale(k[1]);
}
#endif

// kern_expf of each lane; undefined for arguments that underflow. The cubic is added up in another order, and products
// may be fused, so the last bits of an f64 may differ. No float differs by that (make prove-expf).
ALWAYS_INLINE vf32 expf_vector(vf32 x)
{
    vf64 shifted[2] = {widen_f32(lower_half(x)), widen_f32(upper_half(x))}, r[2], s[2], y[2];
    UNROLL
    for (int i = 0; i < 2; i++) {
        const vf64 z = shifted[i] * EXPF_SCALE;
        shifted[i] = z + EXPF_SHIFT;
        r[i] = z - (shifted[i] - EXPF_SHIFT);
    }
    expf_scales(s, shifted);
    UNROLL
    for (int i = 0; i < 2; i++) {
        y[i] = multiply_add(F64(EXPF_C0), r[i], F64(EXPF_C1));
        y[i] = multiply_add(y[i], r[i], F64(EXPF_C2));
        y[i] = multiply_add(y[i], r[i], F64(1.0)) * s[i];
    }
    return join(narrow_f64(y[0]), narrow_f64(y[1]));
}

ALWAYS_INLINE vf32 expf_less(vf32 x, float max)
{
    const vf32 d = x - max;
    if (LANES > 4 && !at_least_32(d, EXPF_UNDERFLOW)) // with few lanes the test costs more than it saves
        return (vf32){0};
    return zero_below(expf_vector(d), d, EXPF_UNDERFLOW);
}

enum { SIDE = 4 }; // vectors side by side: one alone mostly waits for itself

#define EACH \
    UNROLL   \
    for (size_t k = 0; k < vectors; k++)

// w[k] = kern_exp of x[k] >= EXP_UNDERFLOW, of so many vectors
ALWAYS_INLINE void exp_above(vf64 *w, const vf64 *x, size_t vectors)
{
    vf64 shifted[SIDE], whole[SIDE], r[SIDE], s[SIDE], t[SIDE];
    EACH shifted[k] = x[k] * EXPF_SCALE + EXPF_SHIFT;
    EACH whole[k] = shifted[k] - EXPF_SHIFT;
    EACH r[k] = (x[k] - whole[k] * EXP_HI) - whole[k] * EXP_LO;
    EACH s[k] = expf_scale(shifted[k]);
    EACH t[k] = 1.0 / 120 + r[k] * (1.0 / 720);
    EACH t[k] = 1.0 / 24 + r[k] * t[k];
    EACH t[k] = 1.0 / 6 + r[k] * t[k];
    EACH t[k] = 0.5 + r[k] * t[k];
    EACH t[k] = r[k] + r[k] * r[k] * t[k];
    EACH w[k] = s[k] + s[k] * t[k];
}

// Adds the terms of vectors * LANES_F64 elements, a multiple of eight.
ALWAYS_INLINE void add_softmax(vf64 *weights, vf64 *products, const float *x, float max, const float *y, float max_y,
                               size_t vectors)
{
    enum { PARTS = 8 / LANES_F64 };
    vf64 d[SIDE], w[SIDE], e[SIDE];
    vi64 some[SIDE];
    EACH d[k] = widen_f32(load_hf32(x + k * LANES_F64)) - (double)max;
    EACH some[k] = d[k] >= EXP_UNDERFLOW;
    EACH e[k] = y ? d[k] - (widen_f32(load_hf32(y + k * LANES_F64)) - (double)max_y) : d[k];
    EACH d[k] = (vf64)((vi64)d[k] & some[k]);
    exp_above(w, d, vectors);
    EACH weights[k % PARTS] += (vf64)((vi64)w[k] & some[k]);
    EACH products[k % PARTS] += (vf64)((vi64)(w[k] * e[k]) & some[k]);
}

static void row_softmax_sums(double sum[16], const float *x, float max, const float *y, float max_y, size_t n)
{
    enum { PARTS = 8 / LANES_F64, STEP = SIDE * LANES_F64 };
    const size_t vectors = PARTS;
    vf64 weights[PARTS], products[PARTS];
    size_t i = 0;
    EACH weights[k] = load_vf64(sum + k * LANES_F64);
    EACH products[k] = load_vf64(sum + 8 + k * LANES_F64);
    if (!y)
        for (; i + STEP <= n; i += STEP)
            add_softmax(weights, products, x + i, max, NULL, 0, SIDE);
    for (; i + 8 <= n; i += 8)
        add_softmax(weights, products, x + i, max, y ? y + i : NULL, max_y, PARTS);
    EACH store_vf64(sum + k * LANES_F64, weights[k]);
    EACH store_vf64(sum + 8 + k * LANES_F64, products[k]);
    if (i < n) // i is a multiple of 8
        kern_scalar.softmax_sums(sum, x + i, max, y ? y + i : NULL, max_y, n - i);
}

static void row_shares(double *p, const float *x, float max, double sum, size_t n)
{
    enum { STEP = SIDE * LANES_F64 };
    const size_t vectors = SIDE;
    size_t i = 0;
    for (; i + STEP <= n; i += STEP) {
        vf64 d[SIDE], w[SIDE];
        vi64 some[SIDE];
        EACH d[k] = widen_f32(load_hf32(x + i + k * LANES_F64)) - (double)max;
        EACH some[k] = d[k] >= EXP_UNDERFLOW;
        EACH d[k] = (vf64)((vi64)d[k] & some[k]);
        exp_above(w, d, vectors);
        EACH store_vf64(p + i + k * LANES_F64, (vf64)((vi64)w[k] & some[k]) / sum);
    }
    if (i < n)
        kern_scalar.shares(p + i, x + i, max, sum, n - i);
}

// libm_log_quick of normal numbers; for other positive numbers some finite number.
static inline vf64 log_quick(vf64 x)
{
    const vu64 bits = (vu64)x, above = bits - UINT64_C(0x3fe6955500000000);
    const vf64 z = (vf64)(bits - (above & UINT64_C(0xfff) << 52)), upper = (vf64)((vu64)z & ~UINT64_C(0xffffffff));
    const vf64 k = (vf64)((vu64)((vi64)above >> 52) + (vu64)F64(EXPF_SHIFT)) - EXPF_SHIFT;
    const vi64 at = (vi64)(above >> 45 & 127);
    const vf64 inverse = entry_of(libm_log_inverse, at), log = entry_of(libm_log_of_c, at),
               rest = entry_of(libm_log_rest, at);
    const vf64 r = (upper * inverse - 1.0) + (z - upper) * inverse;
    const vf64 series =
        1.0 / 2 - r * (1.0 / 3 - r * (1.0 / 4 - r * (1.0 / 5 - r * (1.0 / 6 - r * (1.0 / 7 - r * (1.0 / 8))))));
    return k * LN2_UPPER + log + (r + (k * LN2_LOWER + rest - r * r * series));
}

// p / m, or 1 where p is 0.
static inline vf64 ratio_or_1(vf64 p, vf64 m)
{
    const vi64 some = p > 0.0;
    return (vf64)(((vi64)(p / m) & some) | ((vi64)F64(1.0) & ~some));
}

// Where a ratio is no normal number, its term is too small beside the other one to be noticed.
static void row_divergences(double sum[KERN_LANES], const double *p, const double *q, size_t n)
{
    enum { PARTS = KERN_LANES / LANES_F64 };
    size_t i = 0;
    for (; i + KERN_LANES <= n; i += KERN_LANES) {
        for (size_t k = 0; k < PARTS; k++) {
            const vf64 a = load_vf64(p + i + k * LANES_F64), b = load_vf64(q + i + k * LANES_F64), m = 0.5 * (a + b);
            const vf64 both = 0.5 * (a * log_quick(ratio_or_1(a, m)) + b * log_quick(ratio_or_1(b, m)));
            store_vf64(sum + k * LANES_F64, load_vf64(sum + k * LANES_F64) + (vf64)((vi64)both & (a != b)));
        }
    }
    if (i < n) // i is a multiple of KERN_LANES
        kern_scalar.divergences(sum, p + i, q + i, n - i);
}

// Copies the x with x - max >= floor to `to`, which has room for LANES more than n; returns how many.
ALWAYS_INLINE size_t pack(float *to, const float *x, size_t n, float max, float floor)
{
    size_t kept = 0, i = 0;
    for (; i + LANES <= n; i += LANES) {
        const vf32 a = load_once(x + i);
        unsigned hit = at_least_32(a - max, floor);
#ifdef HAS_COMPRESS
        store_vu32(to + kept, compress((vu32)a, hit));
        kept += (size_t)__builtin_popcount(hit);
#else
        if (hit == ALL_LANES) {
            store_vf32(to + kept, a);
            kept += LANES;
        } else {
            for (; hit; hit &= hit - 1)
                to[kept++] = x[i + (size_t)__builtin_ctz(hit)];
        }
#endif
    }
    for (; i < n; i++)
        if (x[i] - max >= floor)
            to[kept++] = x[i];
    return kept;
}

static size_t row_pack(float *to, const float *x, size_t n, float max, float floor)
{
    return pack(to, x, n, max, floor);
}

// Packs the elements that count, LONG_RUN at a time, and weighs STEP of them at once, which gives each lane of the sums
// the same number of elements. Fewer than STEP wait for the next run; at the end -inf, which weighs 0, fills them up.
static size_t row_weigh(double sum[16], const float *x, size_t n, float max, float floor)
{
    enum { PARTS = 8 / LANES_F64, STEP = LANES > 8 ? LANES : 8 };
    vf64 weights[PARTS], squares[PARTS];
    float some[STEP + LONG_RUN + LANES];
    size_t waiting = 0, all = 0;
    UNROLL
    for (size_t k = 0; k < PARTS; k++) {
        weights[k] = load_vf64(sum + k * LANES_F64);
        squares[k] = load_vf64(sum + 8 + k * LANES_F64);
    }
    for (size_t i = 0; i < n; i += LONG_RUN) {
        const bool last = n - i <= LONG_RUN;
        const size_t kept = pack(some + waiting, x + i, last ? n - i : LONG_RUN, max, floor);
        size_t ready = waiting + kept, at = 0;
        all += kept;
        while (last && ready % STEP)
            some[ready++] = -INFINITY;
        for (; at + STEP <= ready; at += STEP) {
            UNROLL
            for (size_t k = 0; k < STEP / LANES; k++) {
                const vf32 w = expf_less(load_vf32(some + at + k * LANES), max);
                const vf64 low = widen_f32(lower_half(w)), high = widen_f32(upper_half(w));
                weights[2 * k % PARTS] += low;
                squares[2 * k % PARTS] += low * low;
                weights[(2 * k + 1) % PARTS] += high;
                squares[(2 * k + 1) % PARTS] += high * high;
            }
        }
        waiting = ready - at;
        memmove(some, some + at, waiting * sizeof *some);
    }
    UNROLL
    for (size_t k = 0; k < PARTS; k++) {
        store_vf64(sum + k * LANES_F64, weights[k]);
        store_vf64(sum + 8 + k * LANES_F64, squares[k]);
    }
    return all;
}

// Computes one exponential for equal elements side by side, as in sorted rows with ties.
static void row_exp_sub(float *p, const float *x, float max, size_t n)
{
    enum { GROUP = 4 * LANES };
    size_t i = 0;
    float known = NAN; // w is its exponential
    vf32 w = {0};
    for (; i + GROUP <= n; i += GROUP) {
        if (x[i] == x[i + GROUP - 1] && none_differs(x + i, GROUP, x[i])) {
            if (x[i] != known)
                w = expf_less(splat(known = x[i]), max);
            for (size_t k = 0; k < GROUP; k += LANES)
                store_vf32(p + i + k, w);
            continue;
        }
        for (size_t k = 0; k < GROUP; k += LANES)
            store_vf32(p + i + k, expf_less(load_once(x + i + k), max));
    }
    if (i < n)
        map(p + i, x + i, n - i, expf_less, max);
}

// Returns a difference from the largest logit below which an exponential is less than half an ulp of the sum, so that
// adding it does not change the sum.
static inline float negligible_below(float sum)
{
    const int exponent = (int)(bits_of_f32(sum) >> 23) - 127;
    const float bound = (float)(exponent - 24) * 0x1.62e43p-1f - 0x1p-7f;
    return bound > EXPF_UNDERFLOW ? bound : EXPF_UNDERFLOW;
}

// Returns whether no element of a long run is below floor.
static inline bool none_below(const float *x, float floor)
{
    vf32 least[4] = {load_vf32(x), load_vf32(x), load_vf32(x), load_vf32(x)};
    for (size_t i = 0; i < LONG_RUN; i += 4 * LANES) {
        UNROLL
        for (size_t k = 0; k < 4; k++)
            least[k] = min_f32(least[k], load_vf32(x + i + k * LANES));
    }
    return at_least_32(min_f32(min_f32(least[0], least[1]), min_f32(least[2], least[3])), floor) == ALL_LANES;
}

// Packs the elements that are not negligible. If a run had no negligible element, the next one probably has none, and
// is not packed if none_below confirms it.
static float row_exp_sum(const float *x, size_t n, float max, float s)
{
    bool all = false;
    for (size_t i = 0; i < n; i += LONG_RUN) {
        float w[LONG_RUN + LANES];
        const size_t len = n - i < LONG_RUN ? n - i : LONG_RUN;
        const float floor = negligible_below(s);
        all = all && len == LONG_RUN && none_below(x + i, max + floor);
        const size_t kept = all ? len : pack(w, x + i, len, max, floor);
        row_exp_sub(w, all ? x + i : w, max, kept);
        s = row_sum(w, kept, s);
        all = kept == len;
    }
    return s;
}

// libm.h, of positive and finite numbers that are k's power of 2 times z: products are fused as in expf_vector.
static inline hf32 libm_logf_half(hi32 part, hi32 k, hf32 z)
{
    const vi64 at = __builtin_convertvector(part, vi64);
    const vf64 r = widen_f32(z) * entry_16(libm_logf_inverse, at) - 1.0, r2 = r * r;
    const vf64 whole = entry_16(libm_logf_log, at) + f64_of_i32(k) * 0x1.62e42fefa39efp-1;
    const vf64 upper = multiply_add(F64(-0x1.00ea348b88334p-2), r2,
                                    multiply_add(F64(0x1.5575b0be00b6ap-2), r, F64(-0x1.ffffef20a4123p-2)));
    return narrow_f64(multiply_add(upper, r2, whole + r));
}

static inline vf32 logs(vf32 x, float unused)
{
    const vi32 subnormal = x < 0x1p-126f;
    const vu32 bits = (((vu32)(x * 0x1p23f) - (23u << 23)) & (vu32)subnormal) | ((vu32)x & ~(vu32)subnormal);
    const vu32 above = bits - 0x3f330000u;
    const vf32 part = (vf32)(above >> 19 & 15), k = (vf32)((vi32)above >> 23), z = (vf32)(bits - (above & 0xff800000u));
    const vf32 y = join(libm_logf_half((hi32)lower_half(part), (hi32)lower_half(k), lower_half(z)),
                        libm_logf_half((hi32)upper_half(part), (hi32)upper_half(k), upper_half(z)));
    return select_f32(x == 0.0f, splat(-INFINITY), y);
}

static void row_log(float *y, const float *x, size_t n) { map(y, x, n, logs, 1.0f); }

static void row_entropy_terms(float *y, const float *x, const float *log, size_t n)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const vf32 a = load_vf32(x + i);
        store_vf32(y + i, (vf32)((vi32) - (a * load_vf32(log + i)) & (a > 0.0f)));
    }
    if (i < n)
        kern_scalar.entropy_terms(y + i, x + i, log + i, n - i);
}

// Plain algorithm: pow_of for each share. It is too slow: most cumulative shares of a sorted row are close to 1.
// Idea: for a share 1 - d with small d, the first terms of the binomial series of (1 - d)^power give 1 - less * 2^-53.
// Results just below 1 are multiples of 2^-53, so less is rounded to a whole number.
// Why the bits are the same: libm_pow returns the same whole number unless less is close to the middle of two. Closer
// than 2^-9 (terms left out, and the table of libm_pow) and 8 ulp of less (its roundings), pow_of decides.
static void row_pow_shares(double *x, size_t n, double total, double power)
{
    const double near = 0x1p-9 / fmax(power, 1.0), f0 = (power - 1) / 2, f1 = (power - 2) / 3, f2 = (power - 3) / 4,
                 f3 = (power - 4) / 5, f4 = (power - 5) / 6;
    size_t i = 0;
    for (; i + LANES_F64 <= n; i += LANES_F64) {
        const vf64 share = load_vf64(x + i) / total, d = 1.0 - share;
        const vf64 less =
            0x1p53 * (d * power * (1.0 - d * f0 * (1.0 - d * f1 * (1.0 - d * f2 * (1.0 - d * f3 * (1.0 - d * f4))))));
        const vf64 whole = (less + 0x1.8p52) - 0x1.8p52, off = less - whole;
        const vf64 most = (0.5 - 0x1p-9) - 0x1p-50 * less;
        unsigned unsure = ~signs_64((d < near) & (off < most) & (off > -most)) & ((1u << LANES_F64) - 1);
        store_vf64(x + i, 1.0 - whole * 0x1p-53);
        for (; unsure; unsure &= unsure - 1) {
            const size_t k = (size_t)__builtin_ctz(unsure);
            x[i + k] = pow_of(share[k], power);
        }
    }
    if (i < n)
        kern_scalar.pow_shares(x + i, n - i, total, power);
}

#endif
