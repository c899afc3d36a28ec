// SPDX-License-Identifier: MIT
// Gumbel noise: the scalar tier, which the others have to match.
#include "kern/gumbel.h"

#include <math.h>

void gumbel_scalar(float *x, const float *logit, const uint32_t *id, size_t n, uint32_t s, float temp)
{
    for (size_t i = 0; i < n; i++) {
        const float noisy = logit[i] + temp * gumbel_noise(gumbel_word(s + id[i]));
        x[i] = logit[i] == -INFINITY ? -INFINITY : f32_of_f16(f16_of_f32(noisy));
    }
}

size_t gumbel_hot_scalar(uint32_t *hot, uint32_t first, size_t n, uint32_t s, uint32_t least)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t id = first + (uint32_t)i;
        if (gumbel_word(s + id) >= least)
            hot[found++] = id;
    }
    return found;
}
