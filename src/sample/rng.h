// SPDX-License-Identifier: MIT
// Random generators, and the exact ways in which other programs turn their words into numbers.
#ifndef SAMPL_SAMPLE_RNG_H
#define SAMPL_SAMPLE_RNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The 32-bit Mersenne Twister (Matsumoto and Nishimura 1998; std::mt19937), as llama.cpp uses it. Its 624 words of
// state are made when it has drawn many words. Until then it is a seed and a count, because a run may have millions of
// sequences that draw a few times each.
struct rng {
    uint32_t seed;
    uint32_t low, high; // while young: words `drawn` and `drawn` + 397 of the seeded state, if `ready`
    bool ready;
    uint64_t drawn;       // words drawn or left out while it is young
    struct twister *full; // the whole state; NULL while it is young
};

// The standard seeding, init_genrand. The struct is zeroed, or was given to rng_free.
void rng_seed(struct rng *r, uint32_t seed);

// Frees the state. The struct, which may be zeroed, can be seeded again.
void rng_free(struct rng *r);

uint32_t rng_u32(struct rng *r);

// Writes the next n words.
void rng_words(struct rng *r, uint32_t *to, size_t n);

// Returns a number from [0, 1): (w0 + w1 * 2^32) / 2^64 in f64 of two words, w0 first.
double rng_f64(struct rng *r);

// Returns a number from [0, 1): a word / 2^32 in f32.
float rng_f32(struct rng *r);

// Advances the generator by n words. The next draw may take a few milliseconds.
void rng_discard(struct rng *r, uint64_t n);

// PCG-DXSM, 128 bits of state and 64 of output (O'Neill 2014, and the multiplier of 2019), as Go's math/rand/v2 has it.
struct pcg {
    uint64_t hi, lo;
};

// Go's NewPCG(hi, lo).
void pcg_seed(struct pcg *g, uint64_t hi, uint64_t lo);

uint64_t pcg_u64(struct pcg *g);

// Advances the generator by n calls of pcg_u64, in the time of about 64.
void pcg_discard(struct pcg *g, uint64_t n);

// Returns a number from [0, 1) as Go's Float32 does: the low 24 bits of the output's upper half, over 2^24.
float pcg_f32(struct pcg *g);

#endif
