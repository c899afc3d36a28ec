// SPDX-License-Identifier: MIT
// The table of a tier, at the end of its file, which has defined TIER, its name, and all these functions.
#ifndef SAMPL_KERN_KERN_TABLE_H
#define SAMPL_KERN_KERN_TABLE_H

#include "kern/kern.h"

// The kernels that read a row as it lies in memory are one function each, with the type of its elements as a constant.
#define DEFINE_FOR(NAME, TYPE)                                                                                \
    static size_t row_scan_##NAME(const void *row, size_t n, float *block_max)                                \
    {                                                                                                         \
        return scan(row, n, block_max, TYPE);                                                                 \
    }                                                                                                         \
    static void row_widen_##NAME(float *dst, const void *src, size_t n) { widen(dst, src, n, TYPE); }         \
    static size_t row_collect_##NAME(uint64_t *keys, const void *x, size_t n, uint32_t first_id, float floor) \
    {                                                                                                         \
        return collect(keys, x, n, first_id, floor, TYPE);                                                    \
    }

DEFINE_FOR(f32, DTYPE_F32)
DEFINE_FOR(f16, DTYPE_F16)
DEFINE_FOR(bf16, DTYPE_BF16)

#define PASTE(a, b)   a##b
#define NAME(a, b)    PASTE(a, b)
#define QUOTE_TEXT(a) #a
#define QUOTE(a)      QUOTE_TEXT(a)

const struct kern NAME(kern_, TIER) = {
    .name = QUOTE(TIER),
    .scan = {row_scan_f32, row_scan_f16, row_scan_bf16},
    .widen = {row_widen_f32, row_widen_f16, row_widen_bf16},
    .max = row_max,
    .argmax = row_argmax,
    .collect = {row_collect_f32, row_collect_f16, row_collect_bf16},
    .sort = row_sort,
    .rank = row_rank,
    .exp_sub = row_exp_sub,
    .pack = row_pack,
    .softmax_sums = row_softmax_sums,
    .shares = row_shares,
    .divergences = row_divergences,
    .log = row_log,
    .entropy_terms = row_entropy_terms,
    .pow_shares = row_pow_shares,
    .exp_sum = row_exp_sum,
    .weigh = row_weigh,
    .sum = row_sum,
    .sum_falling = row_sum_falling,
    .sum_wide = row_sum_wide,
    .sum_squares = row_sum_squares,
    .dots = row_dots,
    .divide = row_divide,
    .divide_wide = row_divide_wide,
    .log_shares = row_log_shares,
    .multiply = row_multiply,
    .add_cubic = row_add_cubic,
    .favour = row_favour,
    .round_f16 = row_round_f16,
    .count = row_count,
    .mask_below = row_mask_below,
    .gumbel = row_gumbel,
    .gumbel_hot = row_gumbel_hot,
    .philox_hot = row_philox_hot,
    .numbers = row_numbers,
};

#endif
