// SPDX-License-Identifier: MIT
// PCG-DXSM, 128 bits of state and 64 of output (O'Neill 2014, and the multiplier of 2019), as Go's math/rand/v2 has it.
#ifndef SAMPL_SAMPLE_PCG_H
#define SAMPL_SAMPLE_PCG_H

#include <stdint.h>

struct pcg {
    uint64_t hi, lo;
};

// Go's NewPCG(hi, lo).
void pcg_seed(struct pcg *g, uint64_t hi, uint64_t lo);

uint64_t pcg_u64(struct pcg *g);

// Leaves the generator as n calls of pcg_u64 would, in the time of some 64.
void pcg_discard(struct pcg *g, uint64_t n);

// Uniform in [0, 1), Go's Float32: the low 24 bits of the output's upper half, over 2^24.
float pcg_f32(struct pcg *g);

#endif
