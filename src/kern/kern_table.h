// SPDX-License-Identifier: MIT
// The table of a tier, at the end of its file, which has defined TIER, its name, and all these functions.
#ifndef SAMPL_KERN_KERN_TABLE_H
#define SAMPL_KERN_KERN_TABLE_H

#include "kern/kern.h"

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
    .sum_lanes = row_sum_lanes,
    .sum_squares = row_sum_squares,
    .divide = row_divide,
    .multiply = row_multiply,
    .add_cubic = row_add_cubic,
    .favour = row_favour,
    .round_f16 = row_round_f16,
    .count = row_count,
    .mask_below = row_mask_below,
    .gumbel = row_gumbel,
    .gumbel_hot = row_gumbel_hot,
    .numbers = row_numbers,
};

#endif
