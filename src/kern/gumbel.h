// SPDX-License-Identifier: MIT
// Noise for the Gumbel-max draw (Gumbel 1954), without state: a PCG hash of a counter (PCG-RXS-M-XS-32; O'Neill 2014) makes a uniform
// number, and the inverse of the Gumbel distribution makes noise of that. More noise comes of a larger word.
#ifndef SAMPL_KERN_GUMBEL_H
#define SAMPL_KERN_GUMBEL_H

#include "kern/logf.h"

#include <stddef.h>

#define GUMBEL_MUL   747796405u
#define GUMBEL_ADD   2891336453u
#define GUMBEL_MIX   277803737u
#define GUMBEL_LEAST 1e-7f          // u is held between this
#define GUMBEL_MOST  (1.0f - 1e-7f) // and this

static inline uint32_t gumbel_word(uint32_t counter)
{
    const uint32_t state = counter * GUMBEL_MUL + GUMBEL_ADD;
    const uint32_t w = (state >> ((state >> 28) + 4) ^ state) * GUMBEL_MIX;
    return w ^ w >> 22;
}

static inline float gumbel_noise(uint32_t word)
{
    float u = (float)word * 0x1p-32f;
    u = u < GUMBEL_LEAST ? GUMBEL_LEAST : u > GUMBEL_MOST ? GUMBEL_MOST : u;
    return -kern_logf(-kern_logf(u));
}

#endif
