// SPDX-License-Identifier: MIT
// What the tiers' ordered sums have in common. A tier's file includes this at its end, once, with TIER being its name, after its own
// run_SLOT and ties_SLOT for each slot: struct ordered's run, and the ties of ORDERED_TIES elements.
#ifndef SAMPL_KERN_ORDERED_TIER_H
#define SAMPL_KERN_ORDERED_TIER_H

#define DEFINE_STEPS(SLOT)                                                                  \
    static int steps_##SLOT(const float *x, size_t n, float mean, double low, unsigned odd) \
    {                                                                                       \
        int steps = 0;                                                                      \
        for (size_t i = 0; i < n; i += ORDERED_TIES)                                        \
            steps += tie_steps(ties_##SLOT(x + i, mean, low), &odd);                        \
        return steps;                                                                       \
    }

DEFINE_STEPS(sum)
DEFINE_STEPS(sum_wide)
DEFINE_STEPS(sum_squares)

#define ORDERED_PASTE(a, b)        a##b
#define ORDERED_NAME(prefix, tier) ORDERED_PASTE(prefix, tier)

const struct ordered ORDERED_NAME(ordered_, TIER)[ORDERED_COUNT] = {
    [ORDERED_SUM] = {0x1p-23, run_sum, steps_sum, plain_sum},
    [ORDERED_SUM_WIDE] = {0x1p-52, run_sum_wide, steps_sum_wide, plain_sum_wide},
    [ORDERED_SUM_SQUARES] = {0x1p-23, run_sum_squares, steps_sum_squares, plain_sum_squares},
};

#endif
