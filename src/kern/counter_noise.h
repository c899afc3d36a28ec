// SPDX-License-Identifier: MIT
// Two generators without state: words that depend on a counter and a key alone.
#ifndef SAMPL_KERN_COUNTER_NOISE_H
#define SAMPL_KERN_COUNTER_NOISE_H

#include <stdint.h>

struct philox {
    uint32_t word[4];
};

// The factors of words 0 and 2, and what each round adds to the key.
#define PHILOX_FACTOR_0 0xD2511F53u
#define PHILOX_FACTOR_2 0xCD9E8D57u
#define PHILOX_STEP_0   0x9E3779B9u
#define PHILOX_STEP_1   0xBB67AE85u

// Philox4x32-10 (Salmon et al. 2011): ten rounds; in each, two products of 32 by 32 bits change places with the halves
// of each other, and the key is advanced by Weyl constants.
static inline struct philox philox(struct philox c, uint32_t k0, uint32_t k1)
{
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)PHILOX_FACTOR_0 * c.word[0], b = (uint64_t)PHILOX_FACTOR_2 * c.word[2];
        c = (struct philox){
            {(uint32_t)(b >> 32) ^ c.word[1] ^ k0, (uint32_t)b, (uint32_t)(a >> 32) ^ c.word[3] ^ k1, (uint32_t)a}};
        k0 += PHILOX_STEP_0;
        k1 += PHILOX_STEP_1;
    }
    return c;
}

// Word 0 of the counter (id, 0, 0, 0) under the key (key, 0), as an int32_t w that is folded: w, or -w - 1 if w < 0.
static inline uint32_t philox_folded(uint32_t id, uint32_t key)
{
    const uint32_t w = philox((struct philox){{id}}, key, 0).word[0];
    return w ^ -(w >> 31);
}

static inline uint32_t rotated(uint32_t x, int by) { return x << by | x >> (32 - by); }

// MurmurHash3_x86_32 (Appleby): the state after one more word. The seed, 0, is the first state.
static inline uint32_t murmur_add(uint32_t state, uint32_t word)
{
    state ^= rotated(word * 0xcc9e2d51u, 15) * 0x1b873593u;
    return rotated(state, 13) * 5 + 0xe6546b64u;
}

// The hash of four words, of which the state after three and the last one are given.
static inline uint32_t murmur_last(uint32_t state, uint32_t word)
{
    uint32_t h = murmur_add(state, word) ^ 16; // bytes
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}

// The hash of four words, seed 0.
static inline uint32_t murmur(const uint32_t word[4])
{
    return murmur_last(murmur_add(murmur_add(murmur_add(0, word[0]), word[1]), word[2]), word[3]);
}

#endif
